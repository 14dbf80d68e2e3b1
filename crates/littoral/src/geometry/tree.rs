//! Shapes made of shapes: unions, differences, intersections, shells, rounded and moved ones.
//!
//! Each works on signed distances: union min(a, b), intersection max(a, b), difference max(a, −b). The results are
//! exact outside a union and bounds elsewhere: never larger than the true distance, and 1-Lipschitz, which is all
//! that searches over them need. A smooth union of radius k takes min(a, b) − k h²/4 with h = max(0, 1 − |a − b|/k):
//! a fillet, and nothing where the two surfaces are more than k apart (the quadratic smooth minimum of I. Quilez).

use std::sync::{Arc, OnceLock};

use glam::{DQuat, DVec3};

use super::mass::MassProperties;
use crate::scene::Shape;

/// A shape made of others.
#[derive(Debug)]
pub struct Tree {
    pub operation: Operation,
    /// At least one; exactly one where the operation takes one.
    pub of: Vec<Shape>,
    /// What takes a while to find out, in 2-D and in 3-D.
    pub(super) measured: [OnceLock<Measured>; 2],
}

#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// `smooth`: width of the fillet where two of them meet, m; 0 for none.
    Union {
        smooth: f64,
    },
    /// The first without the others.
    Difference {
        smooth: f64,
    },
    /// What all have in common.
    Intersection {
        smooth: f64,
    },
    /// A skin: `thickness` inwards from the surface; half of it to each side of a thin one.
    Shell {
        thickness: f64,
    },
    /// Grown by a radius, so that edges are round.
    Round {
        radius: f64,
    },
    Place(Placement),
}

/// Scaled, then turned, then moved.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    pub at: DVec3,
    pub rotation: DQuat,
    pub scale: f64,
}

/// Found by looking at the surface.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub bounds: (DVec3, DVec3),
    pub mass: MassProperties,
}

impl Placement {
    pub fn apply(&self, p: DVec3) -> DVec3 {
        self.at + self.rotation * (p * self.scale)
    }

    pub fn undo(&self, p: DVec3) -> DVec3 {
        self.rotation.inverse() * (p - self.at) / self.scale
    }
}

impl Tree {
    pub fn new(operation: Operation, of: Vec<Shape>) -> Arc<Tree> {
        Arc::new(Tree { operation, of, measured: Default::default() })
    }

    pub fn distance(&self, p: DVec3) -> f64 {
        let all = || self.of.iter().map(|shape| shape.distance(p));
        match self.operation {
            Operation::Union { smooth } => {
                all().reduce(|a, b| smooth_min(a, b, smooth)).unwrap_or(f64::INFINITY)
            }
            Operation::Intersection { smooth } => {
                all().reduce(|a, b| -smooth_min(-a, -b, smooth)).unwrap_or(f64::INFINITY)
            }
            Operation::Difference { smooth } => {
                all().reduce(|a, b| -smooth_min(-a, b, smooth)).unwrap_or(f64::INFINITY)
            }
            Operation::Shell { thickness } => {
                let d = self.of[0].distance(p);
                if self.of[0].is_thin() { d - 0.5 * thickness } else { d.max(-d - thickness) }
            }
            Operation::Round { radius } => self.of[0].distance(p) - radius,
            Operation::Place(placement) => self.of[0].distance(placement.undo(p)) * placement.scale,
        }
    }

    /// A box that surely holds the shape; the shape may be smaller.
    pub fn rough_bounds(&self) -> (DVec3, DVec3) {
        let mut all = self.of.iter().map(Shape::rough_bounds);
        let first = all.next().unwrap_or((DVec3::ZERO, DVec3::ZERO));
        let grown = |(min, max): (DVec3, DVec3), by: f64| (min - by, max + by);
        match self.operation {
            Operation::Union { smooth } => {
                let hull = all.fold(first, |a, b| (a.0.min(b.0), a.1.max(b.1)));
                // Each fillet adds at most k/4.
                grown(hull, 0.25 * smooth * (self.of.len() - 1) as f64)
            }
            Operation::Intersection { .. } => all.fold(first, |a, b| (a.0.max(b.0), a.1.min(b.1))),
            Operation::Difference { .. } => first,
            Operation::Shell { thickness } if self.of[0].is_thin() => grown(first, 0.5 * thickness),
            Operation::Shell { .. } => first,
            Operation::Round { radius } => grown(first, radius),
            Operation::Place(placement) => turned(first, &placement),
        }
    }

    pub fn is_thin(&self) -> bool {
        matches!(self.operation, Operation::Place(_)) && self.of[0].is_thin()
    }

    /// The thinnest wall that was asked for, m.
    pub fn thinnest(&self) -> f64 {
        let below = self.of.iter().map(Shape::thinnest).fold(f64::INFINITY, f64::min);
        match self.operation {
            Operation::Shell { thickness } => below.min(thickness),
            Operation::Round { radius } => below + 2.0 * radius,
            Operation::Place(placement) => below * placement.scale,
            _ => below,
        }
    }
}

fn smooth_min(a: f64, b: f64, k: f64) -> f64 {
    let least = a.min(b);
    if k <= 0.0 {
        return least;
    }
    let h = (1.0 - (a - b).abs() / k).max(0.0);
    least - 0.25 * k * h * h
}

/// Box around a box that was moved; endless sides stay endless.
fn turned((min, max): (DVec3, DVec3), placement: &Placement) -> (DVec3, DVec3) {
    if !(min.is_finite() && max.is_finite()) {
        return (DVec3::NEG_INFINITY, DVec3::INFINITY);
    }
    let corner = |i: usize| {
        let pick = |axis: usize| if i >> axis & 1 == 0 { min[axis] } else { max[axis] };
        placement.apply(DVec3::new(pick(0), pick(1), pick(2)))
    };
    let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    (0..8).map(corner).fold(start, |(low, high), p| (low.min(p), high.max(p)))
}
