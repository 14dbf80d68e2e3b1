//! Dispersion: fluids that mix [Bayraktar2010, 5.4; ZhuFox2002].
//!
//! Each particle carries a concentration c of solute, 0 to 1, which spreads between neighbours:
//!
//!   V_i dc_i/dt = Σ_j 2 D_ij V_i V_j (c_i − c_j) W'/r,   D_ij = 2 D_i D_j/(D_i + D_j)
//!
//! Scaled so that a lattice at rest is exact for a quadratic profile. [Bayraktar2010, Eq. 5.15] divides by the number
//! densities of both particles, which is the same for equal ones; with our V_i on the left what one particle gains
//! another loses, to the last bit: the flux of a pair is computed from either side with the same roundings. It
//! is added in double precision and kept in two columns, so that the sum of all solute, Σ V c, does not drift. The
//! harmonic mean keeps solute out of bodies that do not disperse.
//!
//! Explicit steps are cut so short that a particle gives away at most half of what it has over its neighbours:
//! concentrations then stay between the lowest and the highest that there were, and so within 0 and 1.
//!
//! Solute may weigh something [Bayraktar2010, Eq. 5.14]: m = V (ρ₀ + αc), at the volume of the solvent, with α the
//! `density_gain`, the same for all bodies. What flows takes the mean velocity of the two particles with it, so that
//! momentum is kept.
//!
//! Kept honest by `littoral validate dispersion` and the tests below.

use std::ops::Range;

use glam::Vec4;
use rayon::prelude::*;

use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Around, Behaviour, Solved};
use crate::columns::{CONCENTRATION, CONCENTRATION_REST, MASS, MIXED, SOLUTE_FLOW, VELOCITY, VOLUME};
use crate::discretisation::Discretisation;
use crate::kernels::{Kernel, lattice_sum};
use crate::pair::{Own, Pair, Sum};
use crate::particles::Particles;
use crate::resolve::{Coefficient, Resolved};
use crate::simd::*;
use crate::solids::Wrench;
use crate::structure::Structure;

pub static SCHEMA: Schema = Schema {
    name: "dispersion",
    summary: "solute that spreads: fluids that mix",
    law: "dc/dt = w D ∇²c, and ρ₀ grows by αc",
    half_weight: "half the diffusivity",
    reference: "Bayraktar2010, Eqs. 5.13–5.16; ZhuFox2002",
    properties: &[
        Property {
            name: "diffusivity",
            meaning: "how fast solute spreads, D",
            kind: Kind::Number {
                unit: Unit::SquareMetrePerSecond,
                default: Default::Required,
                min: 0.0,
                max: 1e3,
            },
        },
        Property {
            name: "concentration",
            meaning: "concentration c that new particles have; keys over time colour a jet",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.0), min: 0.0, max: 1.0 },
        },
        Property {
            name: "density_gain",
            meaning: "what a concentration of 1 adds to the rest density, α; the same for all bodies",
            kind: Kind::Number {
                unit: Unit::KilogramPerCubicMetre,
                default: Default::Value(0.0),
                min: 0.0,
                max: 1e5,
            },
        },
    ],
};

pub struct Dispersion;

impl Behaviour for Dispersion {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn require_columns(&self, particles: &mut Particles) {
        particles.require(&CONCENTRATION);
        particles.require(&CONCENTRATION_REST);
        particles.require(&MIXED);
        particles.require(&SOLUTE_FLOW);
    }

    fn born(&self, now: &Resolved, body: u32, time: f64, born: Range<usize>, particles: &mut Particles) {
        let Some(concentration) = now.of_body(body, "concentration", time) else { return };
        particles.get_mut(&CONCENTRATION)[born.clone()].fill(concentration);
        let gain = now.of_body(body, "density_gain", time).unwrap_or(0.0);
        particles.update(&MASS, |mass, particles| {
            for i in born {
                mass[i] += particles.get(&VOLUME)[i] * gain * concentration;
            }
        });
    }

    fn weigh(&self, now: &Resolved, particles: &mut Particles) {
        let gain = now.field("density_gain").coefficient();
        if gain.is_zero() {
            return;
        }
        particles.update(&MASS, |mass, particles| {
            let rows = particles.get(&VOLUME).iter().zip(particles.get(&CONCENTRATION));
            for (i, (mass, (volume, concentration))) in mass.iter_mut().zip(rows).enumerate() {
                *mass += volume * gain.at(i) * concentration;
            }
        });
    }

    fn has_solve(&self, _used: &BehaviourUse) -> bool {
        true
    }

    fn solve(
        &self,
        now: &Resolved,
        around: &Around,
        _structure: &mut Structure,
        particles: &mut Particles,
        _pushes: &mut [Wrench],
    ) -> Option<Solved> {
        let diffusivity = now.weighted("diffusivity");
        if diffusivity.max() <= 0.0 {
            return None;
        }
        let flux = Flux::new(diffusivity.coefficient(), around.discretisation);
        let cuts = flux.cuts(diffusivity.max(), around, particles);
        let dt = around.dt / cuts as f32;
        let gain = now.field("density_gain").max();
        if gain > 0.0 {
            remember(particles);
        }
        for _ in 0..cuts {
            if gain > 0.0 {
                carry(flux, gain * dt, around, particles);
            }
            spread(flux, dt, around, particles);
        }
        if gain > 0.0 {
            take_along(gain, particles);
        }
        Some(Solved { iterations: cuts, residual: 0.0 })
    }
}

/// One step of the concentrations.
fn spread(flux: Flux, dt: f32, around: &Around, particles: &mut Particles) {
    let mut mixed = particles.take(&MIXED);
    let exchange = Exchange {
        flux,
        concentration: particles.get(&CONCENTRATION),
        rest: particles.get(&CONCENTRATION_REST),
        volume: particles.get(&VOLUME),
        dt,
    };
    around.rows.sum(&exchange, &mut mixed);
    particles.update2((&CONCENTRATION, &CONCENTRATION_REST), |concentration, rest, _| {
        let rows = (concentration, rest, &mixed).into_par_iter().with_min_len(8192);
        rows.for_each(|(concentration, rest, mixed)| (*concentration, *rest) = (mixed.x, mixed.y));
    });
    particles.put(&MIXED, mixed);
}

/// Empties the column of momentum; its fourth entry keeps the concentration as it is now.
fn remember(particles: &mut Particles) {
    particles.update(&SOLUTE_FLOW, |flow, particles| {
        let rows = flow.iter_mut().zip(particles.get(&CONCENTRATION));
        rows.for_each(|(row, &concentration)| *row = Vec4::new(0.0, 0.0, 0.0, concentration));
    });
}

/// Adds the momentum of the mass that solute brings in one step.
fn carry(flux: Flux, gain: f32, around: &Around, particles: &mut Particles) {
    particles.update(&SOLUTE_FLOW, |momentum, particles| {
        let carried = Carried { flux, concentration: particles.get(&CONCENTRATION) };
        around.rows.each(&carried, momentum, |sum, flow| *sum += flow * gain);
    });
}

/// Mass follows the concentration, and what came has brought its momentum.
fn take_along(gain: f32, particles: &mut Particles) {
    particles.update2((&MASS, &VELOCITY), |mass, velocity, particles| {
        let volume = particles.get(&VOLUME);
        let rows = (mass, velocity, particles.get(&SOLUTE_FLOW), particles.get(&CONCENTRATION));
        let rows = rows.into_par_iter().with_min_len(8192).enumerate();
        rows.for_each(|(i, (mass, velocity, flow, concentration))| {
            let before = *mass;
            *mass += gain * volume[i] * (concentration - flow.w);
            *velocity = (*velocity * before + flow.truncate().extend(0.0)) / *mass;
        });
    });
}

/// What flows between two particles.
#[derive(Clone, Copy)]
struct Flux<'a> {
    kernel: Kernel,
    diffusivity: Coefficient<'a>,
    /// Makes the lattice at rest exact for a quadratic profile, times 2.
    scale: f32,
    /// Σ 2V|W'|/r of that lattice, 1/m².
    rate: f32,
}

impl<'a> Flux<'a> {
    fn new(diffusivity: Coefficient<'a>, d: &Discretisation) -> Flux<'a> {
        let kernel = d.density;
        let weight = |r: f64| -f64::from(kernel.slope_at(r as f32)) / r;
        let spacing = f64::from(d.spacing);
        // c = x²/2 has the Laplacian 1 = Σ V x² |W'|/r.
        let scale = 2.0 / lattice_sum(&kernel, spacing, |x, r| x[0] * x[0] * weight(r));
        let rate = scale * lattice_sum(&kernel, spacing, |_, r| weight(r));
        Flux { kernel, diffusivity, scale: scale as f32, rate: rate as f32 }
    }

    /// 2 D_ij V_i V_j W'/r: negative.
    #[inline(always)]
    fn conductance<S: Simd>(&self, own: &Own, pair: &Pair<S>) -> Lanes<S> {
        let diffusivity = match self.diffusivity {
            Coefficient::Uniform(one) => splat(pair.simd, one),
            Coefficient::Column(column) => {
                let own = column[own.index];
                // SAFETY: the loop only offers valid rows.
                let other = unsafe { gather_scalar(pair.simd, column, pair.others) };
                other * own * 2.0 / (other + own).max(splat(pair.simd, f32::MIN_POSITIVE))
            }
        };
        // In an order that is the same from either side, so that fluxes cancel to the last bit.
        pair.volume * own.volume * (diffusivity * pair.gradient_over_r(&self.kernel) * self.scale)
    }

    /// Into how many pieces a step must be cut.
    fn cuts(&self, diffusivity: f32, around: &Around, particles: &mut Particles) -> u32 {
        // Crowded particles exchange more than a lattice does, but not four times as much.
        if around.dt * diffusivity * self.rate * 4.0 < MOST_EXCHANGED {
            return 1;
        }
        let mut rates = particles.take(&SOLUTE_FLOW);
        around.rows.each(&Rate(*self), &mut rates, |out, rate| out.w = rate);
        let volume = particles.get(&VOLUME);
        let rate = rates.iter().zip(volume).map(|(row, volume)| row.w / volume).fold(0.0, f32::max);
        rates.iter_mut().for_each(|row| row.w = 0.0);
        particles.put(&SOLUTE_FLOW, rates);
        (around.dt * rate / MOST_EXCHANGED).ceil().max(1.0) as u32
    }
}

/// Part of its difference to its neighbours that a particle gives away in one step.
const MOST_EXCHANGED: f32 = 0.5;

/// The concentration after a step.
struct Exchange<'a> {
    flux: Flux<'a>,
    concentration: &'a [f32],
    rest: &'a [f32],
    volume: &'a [f32],
    dt: f32,
}

impl Sum for Exchange<'_> {
    /// Volume of solute gained in a second, m³/s.
    type Partial<S: Simd> = f64;
    /// The new concentration, and what of it a single number cannot hold.
    type Total = Vec4;

    #[inline(always)]
    fn start<S: Simd>(&self, _simd: S) -> f64 {
        0.0
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, partial: &mut f64) {
        let flow = difference(self.concentration, own, pair) * self.flux.conductance(own, pair);
        *partial += flow.to_array().into_iter().map(f64::from).sum::<f64>();
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, partial: f64) -> Vec4 {
        let i = own.index;
        let before = f64::from(self.concentration[i]) + f64::from(self.rest[i]);
        let after = before + partial * f64::from(self.dt) / f64::from(self.volume[i]);
        let high = after as f32;
        Vec4::new(high, (after - f64::from(high)) as f32, 0.0, 0.0)
    }
}

/// c_i − c_j.
#[inline(always)]
fn difference<S: Simd>(concentration: &[f32], own: &Own, pair: &Pair<S>) -> Lanes<S> {
    // SAFETY: the loop only offers valid rows.
    let other = unsafe { gather_scalar(pair.simd, concentration, pair.others) };
    splat(pair.simd, concentration[own.index]) - other
}

/// What the solute that comes brings along of its velocity.
struct Carried<'a> {
    flux: Flux<'a>,
    concentration: &'a [f32],
}

impl Sum for Carried<'_> {
    type Partial<S: Simd> = Lanes3<S>;
    /// m³/s · m/s.
    type Total = Vec4;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes3<S> {
        Lanes3::zero(simd)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, partial: &mut Lanes3<S>) {
        let flow = difference(self.concentration, own, pair) * self.flux.conductance(own, pair);
        let own_velocity = Lanes3::splat(pair.simd, own.velocity.truncate().into());
        *partial = *partial + (pair.velocity + own_velocity) * (flow * 0.5);
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _own: &Own, partial: Lanes3<S>) -> Vec4 {
        let [x, y, z] = partial.sum();
        Vec4::new(x, y, z, 0.0)
    }
}

/// How fast a particle alone among others would lose its solute, m³/s.
struct Rate<'a>(Flux<'a>);

impl Sum for Rate<'_> {
    type Partial<S: Simd> = Lanes<S>;
    type Total = f32;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes<S> {
        splat(simd, 0.0)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, partial: &mut Lanes<S>) {
        let apart = pair.r.simd_gt(splat(pair.simd, 0.0));
        let conductance = self.0.conductance(own, pair);
        *partial -= apart.select(conductance, splat(pair.simd, 0.0));
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _own: &Own, partial: Lanes<S>) -> f32 {
        sum(partial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::BODY;
    use crate::scene;
    use crate::world::World;

    /// Two fluids that stir each other in a periodic box.
    fn stirred(dispersion: &str, density_gain: f64) -> World {
        let text = format!(
            r#"
            dimensions = 2
            [world]
            gravity = [0, 0]
            box = {{ min = [0, 0], max = [0.1, 0.1], periodic = ["x", "y"] }}
            [sph]
            spacing = 0.01
            [time]
            until = 100
            [[body]]
            name = "left"
            jitter = 0.1
            velocity = [0, 0.1]
            shape.box = {{ min = [0, 0], max = [0.05, 0.1] }}
            behaviours.tait = {{ sound_speed = 1, background = 0.1 }}
            behaviours.dispersion = {{ {dispersion}, concentration = 1, density_gain = {density_gain} }}
            [[body]]
            name = "right"
            velocity = [0, -0.1]
            shape.box = {{ min = [0.05, 0], max = [0.1, 0.1] }}
            behaviours.tait = {{ sound_speed = 1, background = 0.1 }}
            behaviours.dispersion = {{ {dispersion}, density_gain = {density_gain} }}
            "#
        );
        World::new(&scene::load("test", &text, &[]).unwrap_or_else(|p| panic!("{p}")).0)
    }

    fn solute(world: &World) -> f64 {
        let p = &world.particles;
        let rows = p.get(&VOLUME).iter().zip(p.get(&CONCENTRATION)).zip(p.get(&CONCENTRATION_REST));
        rows.map(|((&v, &c), &rest)| f64::from(v) * (f64::from(c) + f64::from(rest))).sum()
    }

    #[test]
    fn ten_thousand_steps_lose_no_solute() {
        let mut world = stirred("diffusivity = 1e-4", 0.0);
        let before = solute(&world);
        for _ in 0..10_000 {
            world.step(world.clock.step).unwrap();
        }
        // 48 bits of each particle's share, rounded 10⁴ times.
        assert!((solute(&world) / before - 1.0).abs() < 1e-12, "{}", solute(&world) / before - 1.0);
        let concentration = world.particles.get(&CONCENTRATION);
        assert!(concentration.iter().all(|c| (0.0..=1.0).contains(c)));
        let spread = concentration.iter().map(|c| (c - 0.5).abs()).fold(0.0, f32::max);
        assert!(spread < 0.05, "not mixed: {spread}");
    }

    #[test]
    fn fast_diffusion_is_cut_and_stays_within_bounds() {
        let mut world = stirred("diffusivity = 1", 0.0);
        let before = solute(&world);
        world.step(1e-3).unwrap();
        let solved = world.solves.get("dispersion");
        assert!(solved.iterations > 10, "{solved:?}");
        assert!(world.particles.get(&CONCENTRATION).iter().all(|c| (0.0..=1.0).contains(c)));
        assert!((solute(&world) / before - 1.0).abs() < 1e-13);
    }

    #[test]
    fn heavy_solute_keeps_mass_and_momentum() {
        let mut world = stirred("diffusivity = 1e-3", 500.0);
        let measure = |world: &World| {
            let rows = world.particles.get(&MASS).iter().zip(world.particles.get(&VELOCITY));
            rows.fold((0.0, 0.0), |(m, p), (&mass, v)| {
                (m + f64::from(mass), p + f64::from(mass) * f64::from(v.y))
            })
        };
        let before = measure(&world);
        assert!((before.0 - 0.005 * (1500.0 + 1000.0)).abs() < 1e-5, "{}", before.0);
        for _ in 0..100 {
            world.step(world.clock.step).unwrap();
        }
        let after = measure(&world);
        let lightest = world.particles.get(&MASS).iter().copied().fold(f32::MAX, f32::min);
        assert!(lightest > 1.001e-4 * 1000.0, "solute has arrived: {lightest}");
        assert!((after.0 / before.0 - 1.0).abs() < 1e-6);
        // Of the momentum of either half, which is 0.5 to 0.75 kg·m/s; f32 over 100 steps.
        assert!((after.1 - before.1).abs() < 1e-5, "{} {}", after.1, before.1);
    }

    #[test]
    fn solute_stays_out_of_bodies_that_do_not_disperse() {
        let text = r#"
            dimensions = 2
            [world]
            gravity = [0, 0]
            [sph]
            spacing = 0.01
            [[body]]
            name = "ink"
            shape.box = { min = [0, 0], max = [0.05, 0.1] }
            behaviours.dispersion = { diffusivity = 1e-3, concentration = 1 }
            [[body]]
            name = "oil"
            shape.box = { min = [0.05, 0], max = [0.1, 0.1] }
        "#;
        let mut world = World::new(&scene::load("test", text, &[]).unwrap_or_else(|p| panic!("{p}")).0);
        world.step(0.01).unwrap();
        let rows = world.particles.get(&CONCENTRATION).iter().zip(world.particles.get(&BODY));
        for (&c, &body) in rows {
            assert_eq!(c, if body == 0 { 1.0 } else { 0.0 });
        }
    }
}
