// A number of threads, and names that are words of Rust.
#[path = "DECLARED"]
mod threaded;

fn main() {
    let (x, mut y, mut out) = ([1f64, 2., 3., 4.], [0f64; 4], [0f64; 4]);
    unsafe { threaded::twice(4, x.as_ptr(), y.as_mut_ptr(), 3) };
    println!("{y:?} {}", unsafe { threaded::total(4, x.as_ptr(), y.as_mut_ptr(), 2) });
    let pairs: Vec<f64> = y.iter().flat_map(|&v| [v, v]).collect();
    unsafe { threaded::clashing(4, 10., x.as_ptr(), pairs.as_ptr(), out.as_mut_ptr()) };
    println!("{out:?}");
}
