//! Adhesion: walls and solids attract the fluid, so that it clings to them.
//!
//! The force of a wall sample b on particle i is −κ V_i V_b (x_i − x_b) W, as between two particles under
//! `cohesion`, with κ such that parting the fluid from the wall takes the work W_a for each area. By Young and
//! Dupré, W_a = σ(1 + cos θ) for a fluid of surface tension σ that meets the wall at the angle θ: 2σ wets it
//! completely, 0 not at all. In [Bayraktar2010, 5.1.3] fluid clings by negative pressures, which have no number that
//! could be measured, and which a fluid that is only pressed does not have.
//!
//! Fluid and wall are lattices of which few layers reach each other, so κ is found on the lattice: the integral over a
//! continuum, as for cohesion, would give 0.62 of the work at a support of two spacings, and 0.86 at three. Solids have one
//! layer of samples, with larger volumes: they hold the fluid as the box does, to 3 % at a support of three.
//!
//! The first layer of fluid is pulled with 3.8 W_a/Δx² for each volume at a support of two spacings; with 1.5 W_a/Δx² at
//! three, where the second has 0.3 W_a/Δx². It hangs where that is more than its weight ρg: adhesion is a matter of
//! millimetres. At Δx = 1 cm, water that wets (0.14 J/m²) is held with half its weight, and falls.
//!
//! Kept honest by the work of parting in `law_tests.rs` and by the layer below, which hangs or falls.

use crate::behaviour::{Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Behaviour, Law as AnyLaw, LimitState};
use crate::discretisation::Discretisation;
use crate::kernels::Kernel;
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::resolve::{Coefficient, Resolved};
use crate::scene::Dimensions;
use crate::simd::*;
use crate::timestep::{Limit, Limits};

pub static SCHEMA: Schema = Schema {
    name: "adhesion",
    summary: "fluid clings to walls and solids",
    law: "f_i = −w κ V_i Σ V_b (x_i − x_b) W over wall samples, with κ such that fluid and wall part at the work W_a",
    half_weight: "half the attraction",
    reference: "Bayraktar2010, 5.1.3; Akinci2013",
    properties: &[Property {
        name: "work_of_adhesion",
        meaning: "work of parting fluid and wall, J/m²: σ(1 + cos θ) for the contact angle θ",
        kind: Kind::Number { unit: Unit::NewtonPerMetre, default: Default::Required, min: 0.0, max: 1e3 },
    }],
};

pub struct Adhesion;

impl Behaviour for Adhesion {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn pair_law<'a>(&self, now: &'a Resolved, d: &Discretisation) -> Option<AnyLaw<'a>> {
        let work = now.weighted("work_of_adhesion").coefficient();
        (!work.is_zero()).then(|| AnyLaw::Adhesion(Law::new(work, d)))
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        // As for cohesion; the wall does not give way, so the reduced mass is the particle's own.
        let d = state.discretisation;
        let strength = now.weighted("work_of_adhesion").max() * strength_of_unit_work(d);
        if strength > 0.0 {
            limits.offer(Limit::Stiffness, (state.lightest / strength).sqrt());
        }
    }
}

/// −κ V_i V_b (x_i − x_b) W.
#[derive(Clone, Copy)]
pub struct Law<'a> {
    kernel: Kernel,
    work: Coefficient<'a>,
    /// κ for a work of adhesion of 1 J/m².
    strength: f32,
}

impl<'a> Law<'a> {
    pub fn new(work: Coefficient<'a>, d: &Discretisation) -> Law<'a> {
        Law { kernel: d.density, work, strength: strength_of_unit_work(d) }
    }
}

/// κ that makes the work of lifting a lattice of fluid off a lattice of samples 1 J/m².
///
/// A bond of length r holds the energy κ V² ∫ s W ds from r to the support. Layers m spacings apart come in m pairs.
fn strength_of_unit_work(d: &Discretisation) -> f32 {
    let (spacing, support) = (f64::from(d.spacing), f64::from(d.support));
    let n = (support / spacing).ceil() as i32;
    let side = if d.dimensions == Dimensions::Three { n } else { 0 };
    let mut bonds = Vec::new();
    for m in 1..=n {
        for (a, b) in (-n..=n).flat_map(|a| (-side..=side).map(move |b| (a, b))) {
            bonds.push((spacing * f64::from(a * a + b * b + m * m).sqrt(), f64::from(m)));
        }
    }
    let steps = 400;
    let width = support / f64::from(steps);
    let energy = |k: i32| {
        let s = width * (f64::from(k) + 0.5);
        let shorter: f64 = bonds.iter().filter(|(r, _)| *r < s).map(|(_, pairs)| pairs).sum();
        shorter * s * f64::from(d.density.w_at(s as f32)) * width
    };
    let sum: f64 = (0..steps).map(energy).sum();
    (1.0 / (f64::from(d.cell_volume()) * spacing * sum)) as f32
}

impl PairLaw for Law<'_> {
    #[inline(always)]
    fn force<S: Simd>(&self, _own: &Own, pair: &Pair<S>) -> Lanes3<S> {
        Lanes3::zero(pair.simd)
    }

    #[inline(always)]
    fn wall_force<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let strength = -self.work.at(own.index) * own.volume * self.strength;
        wall.x * (wall.volume * strength * wall.w(&self.kernel))
    }
}

#[cfg(test)]
mod tests {
    use crate::columns::POSITION;
    use crate::scene;
    use crate::world::World;

    /// A layer of water, one spacing thick, under a ceiling that pulls with this work of adhesion, J/m²: how far its middle has
    /// sunk after a while, in spacings.
    fn sunk(ceiling: &str, work: f64) -> f64 {
        let text = format!(
            r#"
            [world]
            box = {{ min = [0, -0.5, 0], max = [0.1, 0.1, 0.1], {sides} }}
            [sph]
            spacing = 0.01
            [[body]]
            name = "water"
            density = 1000
            shape.box = {{ min = [0, 0.09, 0], max = [0.1, 0.1, 0.1] }}
            behaviours.incompressible = {{}}
            behaviours.viscosity.dynamic_viscosity = 0.1
            behaviours.adhesion.work_of_adhesion = {work}
            {ceiling}
            "#,
            sides = match ceiling {
                "" => r#"periodic = ["x", "z"], open = ["-y"]"#,
                _ => r#"open = ["x", "y", "z"]"#, // solids do not wrap
            }
        );
        let (scene, _) =
            scene::load("ceiling", &text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
        let mut world = World::new(&scene);
        world.advance_to(0.15).unwrap();
        let x = world.particles.get(&POSITION);
        (0.095 - x.iter().map(|x| f64::from(x.y)).sum::<f64>() / x.len() as f64) / 0.01
    }

    /// At a support of two spacings the first layer is pulled with 3.84 W_a/Δx² for each volume, against ρg.
    #[test]
    fn a_layer_hangs_where_adhesion_carries_its_weight() {
        let carries = 1000.0 * 9.81 * 0.01f64.powi(2) / 3.84;
        let solid = "[[solid]]\nshape.box = { min = [-0.1, 0.1, -0.1], max = [0.2, 0.2, 0.2] }";
        for ceiling in ["", solid] {
            let (less, more) = (sunk(ceiling, 0.9 * carries), sunk(ceiling, 1.1 * carries));
            println!("sunk by {less} and {more} spacings");
            // In free fall it would be 11 spacings by now.
            assert!(less > 1.0, "{less}");
            assert!(more < 0.2, "{more}");
        }
    }
}
