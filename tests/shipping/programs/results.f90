! Results that are memory of the caller, a status with what failed, and complex numbers as values.
program results
  use all_kinds_kernels
  use, intrinsic :: iso_c_binding
  implicit none
  real(c_float) :: out(3), x(2)
  integer(c_int16_t) :: halved(2, 1), last
  integer(c_int64_t) :: failure(3)
  complex(c_float_complex) :: numbers(2)
  complex(c_double_complex) :: answer
  logical(c_bool) :: is_large
  print '(f0.1, 1x, f0.1)', doubled(3_c_int64_t, [1., 2., 4.], out), out(3)
  call halves(1_c_int64_t, [8_c_int8_t, 2_c_int8_t, 6_c_int8_t], halved, last, is_large)
  print '(3(z0, 1x), l1)', halved, last, is_large
  x = [4., -1.]
  failure = 0
  print '(i0, 1x, f0.1, 1x, i0)', rooted(2_c_int64_t, x, failure), x(1), failure(2)
  numbers = [(1., 2.), (0., 1.)]
  call by_number(2_c_int64_t, numbers, (0., 1.), (0d0, 2d0), answer)
  print '(4(f0.1, 1x))', numbers(1), answer
end program results
