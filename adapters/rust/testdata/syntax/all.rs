//! The crate's documentation.
#![allow(dead_code)]

use std::collections::HashMap;
use std::{fmt::{self, Display as Show}, io::*};
use crate::other as renamed;
use Trait as _;
extern crate alloc as heap;

/// How many.
///
/// More.
pub const MAX: usize = 10;
pub(crate) static mut COUNTER: u32 = 0;

/// An order.
#[derive(Debug, Clone)]
// Plain words.
#[serde(rename_all = "camelCase")]
pub struct Order<'a, T: Clone, const N: usize>
where
    T: Display,
{
    /// Its name.
    #[serde(skip)]
    pub name: &'a str,
    items: Vec<T>, // trailing
    pub(super) total: [u8; N],
}

struct Unit;
pub struct Pair(pub i32, String);
union Bits { f: f32, u: u32 }

/** Block
 * documentation. */
#[repr(u8)]
pub enum Shape {
    Circle { radius: f64 },
    /// A square.
    Square(f64),
    Unit = 3,
}

pub trait Area: Sized + fmt::Debug {
    type Output: Default;
    const SIDES: u32 = 0;
    fn area(&self) -> f64;
    fn name() -> String { String::new() }
    fn boxed(self: Box<Self>, n: u8) {}
}

impl<'a, T: Clone, const N: usize> Order<'a, T, N> {
    pub fn new(name: &'a str) -> Self { Self { name, items: vec![], total: [0; N] } }
    pub async unsafe fn save(&mut self, (a, mut b): (i32, i32), _: u8, cb: impl Fn(i32) -> i32) -> Result<(), fmt::Error> {
        let x = 1;
        let x = x + 1;
        let Pair(first, ref second) = p else { return Ok(()) };
        let Order { name, items: list, .. } = self;
        let [head, .., tail] = arr;
        let typed: Vec<u8> = vec![];
        if let Some(inner) = opt && let Ok(v @ 1..=9) = res {}
        while let Some(next) = it.next() {}
        for (i, &item) in list.iter().enumerate() {}
        match shape {
            Shape::Circle { radius: r } | Shape::Other { r } if r > 0.0 => {}
            A(n) | B(n) => {}
            MAX => {}
            None => {}
            other => drop(other),
        }
        let f = |u: i32, w| u + w;
        const INNER: i32 = 1;
        fn nested<Q>(q: Q) -> Q { let z = q; z }
        struct Local { field: i32 }
        impl Local { fn m(&self) { let deep = self.field; } }
        println!("{x} {}", x, name = "ünïcode 😀");
        Ok(())
    }
}

impl<'a, T, const N: usize> fmt::Display for Order<'a, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, r#"raw "quoted""#) }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) }
}

impl From<u8> for crate::far::Away { type T = u8; fn from(v: u8) -> Self { todo!() } }
impl<T> Area for &[T] { fn area(&self) -> f64 { 0.0 } }

pub mod inner {
    //! Inside.

    /// Deep.
    pub fn deep() {}
    pub(in crate::inner) mod deeper { pub type Alias<T> = Vec<T>; }
}
mod elsewhere;

extern "C" {
    fn c_call(n: i32, ...) -> i32;
}

pub const unsafe extern "C" fn exported(r#type: u8) {}

#[macro_export]
macro_rules! square {
    ($x:expr) => { $x * $x };
}

#[cfg(unix)]
fn twice() {}
#[cfg(not(unix))]
fn twice() {}

fn größe() -> usize { 'outer: loop { break 'outer 1 } }

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn works() { assert_eq!(1, 1); }
}

fn calls(order: &Order<'_, u8, 1>) {
    println!("{}", describe(order.save(1)));
    parse::<u8>(order.name.parse::<u8>());
    shop::Order::<u8>::new(Order { name });
    (order.hook)(Some(1));
    if let Some(_) = shop::find() {}
}

/// Documented.
#[derive(Debug)] /* both */ #[cfg_attr(feature = "serde", derive(Serialize))]
struct Twice;
trait Bounded: Send + 'static + ?Sized {}
