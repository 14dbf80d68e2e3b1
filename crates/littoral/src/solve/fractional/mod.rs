//! Derivatives of order q, 0 < q < 1, of a path: what lies between a position and a velocity, and remembers.
//!
//! D^q f(t) = ∫ K(t − s) f′(s) ds from the start to t, with K(τ) = τ^−q / Γ(1−q)  [Caputo1967; Ozgen2010, Eq. 1].
//!
//! The path is known at the ends of steps, which may differ in length. It is known by its rate f′, as positions are by
//! velocities, or by its values f ([`Of`]). Between two steps the known quantity is a straight line; K is integrated
//! exactly. That is the product-trapezoidal rule, of second order for rates and of order 2−q for values.
//! [`weights`](self) has the rules over a window of steps; [`Exponentials`] takes in the whole past at a constant cost.
//! `memory.rs` applies both to columns. Kept honest by `littoral validate fractional-orders fractional-exponentials`.

mod exponentials;
mod weights;

pub use exponentials::{Exponentials, LOWEST_TOLERANCE, SPAN};
pub use weights::{Rule, Term, interval, response, window};

/// Orders that the operator takes: beyond them the kernel is nearly a constant, or nearly a pulse.
pub const ORDERS: [f64; 2] = [0.05, 0.95];

/// What a column holds of the path that is differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Its rate f′: D^q of positions comes from velocities.
    Rates,
    /// The path f itself: D^q of velocities comes from velocities.
    Values,
}
