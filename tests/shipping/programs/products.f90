! Arrays of C in Fortran: the dimensions stand in the opposite order.
program products
  use all_kinds_kernels
  use, intrinsic :: iso_c_binding
  implicit none
  real(c_float) :: a(3, 2), b(2, 3), c(2, 2)
  a = reshape([1., 2., 3., 4., 5., 6.], [3, 2])
  b = reshape([1., 0., 2., 1., 0., 3.], [2, 3])
  call product(2_c_int64_t, 3_c_int64_t, 2_c_int64_t, a, b, c)
  print '(4(f0.1, 1x))', c
  print '(f0.1)', mean(4_c_int64_t, [1, 2, 3, 4], 3)
end program products
