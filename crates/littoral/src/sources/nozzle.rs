//! Where particles leave a nozzle, and how fast each of its columns flows.
//!
//! A nozzle is cut into a square lattice of places, stretched a little so that together they have exactly its
//! area; what leaves a place is a column of that cross-section. With a parabolic profile [Poiseuille] columns
//! flow at u = w ū, where w is 2(1 − r²/R²) through a round opening, 3/2 (1 − r²/R²) through a slit, and
//! the series of the rectangular duct through a rectangle; it is scaled so that its mean over the places is 1.

use std::f64::consts::PI;

use glam::DVec3;

use crate::scene::{Dimensions, Opening, Profile};

/// A place from which one column of particles flows.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// From the middle of the source, m.
    pub offset: DVec3,
    /// Unit vector of the flow.
    pub direction: DVec3,
    /// Speed of this column over that of the source.
    pub pace: f64,
    /// Length of a column that makes a particle, m.
    pub interval: f64,
    /// m³ (m² in 2-D).
    pub volume: f64,
}

/// The two axes across a flow: the first is level, the second leans up. Straight up or down, they are x and z.
pub fn across(direction: DVec3, dimensions: Dimensions) -> (DVec3, DVec3) {
    if dimensions == Dimensions::Two {
        return (DVec3::new(-direction.y, direction.x, 0.0), DVec3::ZERO);
    }
    let level = DVec3::Y.cross(direction);
    if level.length() < 1e-6 {
        return (DVec3::X, DVec3::Z);
    }
    let level = level.normalize();
    (level, direction.cross(level))
}

/// The places of a nozzle.
pub fn places(
    opening: &Opening,
    profile: Profile,
    direction: DVec3,
    spacing: f64,
    dimensions: Dimensions,
) -> Vec<Place> {
    let (u, v) = across(direction, dimensions);
    let (grid, step) = match (opening, dimensions) {
        (Opening::Round { radius }, Dimensions::Three) => disc(*radius, spacing),
        (_, Dimensions::Two) => row(opening.half_width(), 0.0, spacing),
        (Opening::Rectangle { width, height }, Dimensions::Three) => row(0.5 * width, 0.5 * height, spacing),
    };
    let weights: Vec<f64> = grid.iter().map(|place| weight(opening, profile, *place, dimensions)).collect();
    let mean = weights.iter().sum::<f64>() / grid.len() as f64;
    let area = if dimensions == Dimensions::Two { step[0] } else { step[0] * step[1] };
    let place = |(place, weight): (&[f64; 2], &f64)| Place {
        offset: u * place[0] + v * place[1],
        direction,
        pace: weight / mean,
        interval: spacing,
        volume: area * spacing,
    };
    grid.iter().zip(&weights).map(place).collect()
}

/// A rectangle of whole places; flat where `half_height` is 0. Places, and their distances.
fn row(half_width: f64, half_height: f64, spacing: f64) -> (Vec<[f64; 2]>, [f64; 2]) {
    let count = |half: f64| (2.0 * half / spacing).round().max(1.0);
    let (nx, ny) = (count(half_width), count(half_height));
    let step = [2.0 * half_width / nx, 2.0 * half_height / ny];
    let at = |k: f64, n: f64, step: f64| (k + 0.5 - 0.5 * n) * step;
    let rows = 0..ny as usize;
    let one =
        |j: usize| (0..nx as usize).map(move |i| [at(i as f64, nx, step[0]), at(j as f64, ny, step[1])]);
    (rows.flat_map(one).collect(), step)
}

/// A disc: the shells of a square lattice, around a point or around a cell of it, whose area comes closest to
/// the disc's; then stretched to have it exactly.
fn disc(radius: f64, spacing: f64) -> (Vec<[f64; 2]>, [f64; 2]) {
    let wanted = PI * (radius / spacing).powi(2);
    let reach = (radius / spacing).ceil() as i64 + 1;
    let mut best: Vec<[f64; 2]> = vec![[0.0; 2]];
    let misfit = |count: usize| (count as f64 / wanted).ln().abs();
    for centre in [0.0, 0.5] {
        let mut lattice: Vec<[f64; 2]> = (-reach..=reach)
            .flat_map(|j| (-reach..=reach).map(move |i| [i as f64 + centre, j as f64 + centre]))
            .collect();
        let square = |p: &[f64; 2]| p[0] * p[0] + p[1] * p[1];
        // A stable sort: within a shell, places keep the lattice's order.
        lattice.sort_by(|a, b| square(a).total_cmp(&square(b)));
        for count in 1..lattice.len() {
            let shell_ends = square(&lattice[count]) > square(&lattice[count - 1]) + 1e-9;
            if shell_ends && misfit(count) < misfit(best.len()) - 1e-12 {
                best = lattice[..count].to_vec();
            }
        }
    }
    let step = radius * (PI / best.len() as f64).sqrt();
    (best.into_iter().map(|[x, y]| [x * step, y * step]).collect(), [step; 2])
}

/// Speed at a place, up to a factor.
fn weight(opening: &Opening, profile: Profile, [x, y]: [f64; 2], dimensions: Dimensions) -> f64 {
    if profile == Profile::Flat {
        return 1.0;
    }
    match (opening, dimensions) {
        (Opening::Round { radius }, Dimensions::Three) => 1.0 - (x * x + y * y) / (radius * radius),
        (_, Dimensions::Two) => 1.0 - (x / opening.half_width()).powi(2),
        (Opening::Rectangle { width, height }, Dimensions::Three) => {
            duct(x / width, y / height, height / width)
        }
    }
    // A place at the rim of a stretched lattice still flows, if slowly.
    .max(1e-3)
}

/// Flow through a rectangular duct, at (x, y) in widths and heights from its middle [White, 3-48].
fn duct(x: f64, y: f64, aspect: f64) -> f64 {
    // Along its shorter side the series converges at once.
    if aspect < 1.0 {
        return duct(y, x, 1.0 / aspect);
    }
    (0..12)
        .map(|k| {
            let n = f64::from(2 * k + 1);
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            // cosh(a)/cosh(b) for a ≤ b, without overflow.
            let (a, b) = (n * PI * y.abs() * aspect, 0.5 * n * PI * aspect);
            let ratio = libm::exp(a - b) * (1.0 + libm::exp(-2.0 * a)) / (1.0 + libm::exp(-2.0 * b));
            sign * (1.0 - ratio) * libm::cos(n * PI * x) / n.powi(3)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: DVec3 = DVec3::X;

    #[test]
    fn places_have_the_area_of_the_opening_and_flow_its_mean() {
        let openings = [
            Opening::Round { radius: 0.5 },
            Opening::Round { radius: 1.0 },
            Opening::Round { radius: 3.3 },
            Opening::Rectangle { width: 7.3, height: 2.2 },
        ];
        for opening in openings {
            for profile in [Profile::Flat, Profile::Parabolic] {
                for dimensions in [Dimensions::Two, Dimensions::Three] {
                    let places = places(&opening, profile, X, 1.0, dimensions);
                    let flow: f64 = places.iter().map(|p| p.pace * p.volume / p.interval).sum();
                    let area = opening.area(dimensions);
                    assert!(
                        (flow / area - 1.0).abs() < 1e-12,
                        "{opening:?} {dimensions:?}: {flow} of {area}"
                    );
                    let near = places.iter().flat_map(|a| places.iter().map(|b| a.offset.distance(b.offset)));
                    let near = near.filter(|d| *d > 0.0).fold(f64::INFINITY, f64::min);
                    assert!(near > 0.85, "{opening:?}: places {near} apart");
                }
            }
        }
    }

    #[test]
    fn profiles_are_those_of_developed_flow() {
        let middle = |opening: Opening, dimensions| {
            let all = places(&opening, Profile::Parabolic, X, 0.02, dimensions);
            all.iter().map(|p| p.pace).fold(0.0, f64::max)
        };
        // Exact ratios of the fastest to the mean flow; lattices of 50 places across are within a per cent.
        let round = Opening::Round { radius: 0.5 };
        assert!((middle(round.clone(), Dimensions::Three) - 2.0).abs() < 0.02);
        assert!((middle(round, Dimensions::Two) - 1.5).abs() < 0.02);
        let square = Opening::Rectangle { width: 1.0, height: 1.0 };
        assert!((middle(square, Dimensions::Three) - 2.096).abs() < 0.02);
        let flat = Opening::Rectangle { width: 8.0, height: 0.4 };
        assert!((middle(flat, Dimensions::Three) - 1.5 / (1.0 - 0.63 * 0.05)).abs() < 0.02);
    }

    #[test]
    fn a_level_nozzle_stands_upright() {
        let (u, v) = across(DVec3::X, Dimensions::Three);
        assert!((v - DVec3::Y).length() < 1e-12 && (u.dot(DVec3::Z).abs() - 1.0).abs() < 1e-12);
        assert_eq!(across(-DVec3::Y, Dimensions::Three), (DVec3::X, DVec3::Z));
    }
}
