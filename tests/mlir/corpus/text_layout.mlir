// RUN-FLAGS: --allow-unregistered-dialect
// Comments and white space wherever they may stand, and lines that are broken in odd places.
   #map   =   affine_map < ( d0 , d1 ) [ s0 ] -> ( d0+d1*2 , s0-1 ) >   // after a definition
	func.func	@tabs ( %A : memref< 8x8xf32 > , %n : index )->(f32){  // tabs and spaces
%0=arith.constant 1.0:f32
	%1 = arith.addf // between the words
	  %0 , // between the operands
	  %0 : f32
  affine.for%i=0to%n{affine.for%j=%n to 10 step 2{
    %x=affine.load%A[%i,%j+symbol(%n)-1]:memref<8x8xf32>affine.store%x,%A[%j,
      %i
      +
      2]:memref<8x8xf32>}}
  // a comment on its own line
  return %1:f32}func.func @same_line(){return}

func.func @nothing_inside() {

  // Only a comment.

  return } // the end

func.func @semicolons_are_no_separators(%p: i1) { scf.if %p { } else { } return }

// A comment with "quotes", %names, { braces and // more slashes.
"test.broken"() {
  key
    =
  "value" ,   // comma before a comment
  other = [ 1
  , 2 ] } : ( )
  -> ( )
func.func @directly_followed(%x: f32) -> f32 { %0 = arith.addf %x, %x : f32 %1 = arith.mulf %0, %0 : f32 return %1 : f32 }
// The text ends in a comment without a newline.