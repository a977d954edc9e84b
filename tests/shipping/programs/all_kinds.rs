// Slices, a status with what failed, and complex numbers as values.
#[path = "DECLARED"]
mod all_kinds;

use all_kinds::{by_number, mean, product, rooted, Complex32, Complex64};

fn main() {
    let (a, b) = ([1f32, 2., 3., 4., 5., 6.], [1f32, 0., 2., 1., 0., 3.]);
    let mut c = [0f32; 4];
    unsafe { product(2, 3, 2, a.as_ptr(), b.as_ptr(), c.as_mut_ptr()) };
    println!("{c:?} {}", unsafe { mean(4, [1, 2, 3, 4].as_ptr(), 3) });
    let (mut x, mut failure) = ([4f32, -1.], [0i64; 3]);
    let status = unsafe { rooted(2, x.as_mut_ptr(), failure.as_mut_ptr()) };
    println!("{status} {} {}", x[0], failure[1]);
    let mut numbers = [Complex32 { re: 1., im: 2. }, Complex32 { re: 0., im: 1. }];
    let mut answer = Complex64::default();
    let (by, turn) = (Complex32 { re: 0., im: 1. }, Complex64 { re: 0., im: 2. });
    unsafe { by_number(2, numbers.as_mut_ptr(), by, turn, &mut answer) };
    println!("{} {} {} {}", numbers[0].re, numbers[0].im, answer.re, answer.im);
}
