// RUN: affine-simplify-min-max
// FIXED POINT: yes
func.func private @use(index)
func.func @f(%n: index, %m: index) {
  BODY
  return
}
// ----- one is less than another
%a = affine.min affine_map<()[s0, s1] -> (s0 + 4, s0, s1)>()[%n, %m]
%b = affine.max affine_map<()[s0, s1] -> (s0, s1, s0 - 1)>()[%n, %m]
call @use(%a) : (index) -> () call @use(%b) : (index) -> ()
// ----- one is left
%a = affine.min affine_map<()[s0] -> (s0, s0 + 4)>()[%n]
call @use(%a) : (index) -> ()
// ----- twice the same
%a = affine.min affine_map<()[s0, s1] -> (s0, s1, s0 - 1 + 1)>()[%n, %m]
call @use(%a) : (index) -> ()
// ----- constants
%c3 = arith.constant 3 : index %c8 = arith.constant 8 : index
%a = affine.min affine_map<()[s0, s1] -> (s0, s1)>()[%c8, %c3]
%b = arith.addi %c3, %a : index
call @use(%b) : (index) -> ()
// ----- minima of minima
%a = affine.min affine_map<()[s0] -> (s0, 8)>()[%n]
%b = affine.min affine_map<()[s0, s1] -> (s0, s1)>()[%a, %m]
call @use(%b) : (index) -> ()
// ----- what nobody uses
%e = affine.apply affine_map<()[s0] -> (s0 + 4)>()[%n]
%a = affine.min affine_map<()[s0, s1] -> (s0, s1)>()[%e, %n]
call @use(%a) : (index) -> ()
// ----- loops that never run
%a = affine.for %i = max affine_map<() -> (0, 4)>() to 2 iter_args(%b = %n) -> index {
  %c = affine.max affine_map<(d0)[s0] -> (d0, s0)>(%i)[%n]
  affine.yield %c : index
}
call @use(%a) : (index) -> ()
// ----- numbers that say where they lie
// EXCEPT: run
%a = test.value_with_bounds {max = 5 : index, min = 0 : index}
%b = test.value_with_bounds {max = 20 : index, min = 8 : index}
%c = affine.min affine_map<()[s0, s1, s2] -> (s0, s1, s2, 64)>()[%a, %b, %n]
%d = affine.max affine_map<()[s0, s1] -> (s0, 7, s1)>()[%a, %b]
"test.use"(%c, %d) : (index, index) -> ()
