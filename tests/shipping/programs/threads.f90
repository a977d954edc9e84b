! A number of threads, and names that are one where capitals do not count.
program threads
  use threaded_kernels
  use, intrinsic :: iso_c_binding
  implicit none
  real(c_double) :: x(4), y(4), out(4)
  x = [1, 2, 3, 4]
  call twice(4_c_int64_t, x, y, 3)
  print '(4(f0.1, 1x))', y
  print '(f0.1)', total(4_c_int64_t, x, y, 2)
  call clashing(4_c_int64_t, 10d0, x, spread(y, 1, 2), out)
  print '(4(f0.1, 1x))', out
end program threads
