//! Incompressible fluid: the default pressure. The solve itself, with its equations, is in `solve/pressure.rs`; here
//! stands what a scene says of it, and where in a step it works.
//!
//! Kept honest by `littoral validate hydrostatic-incompressible`.

use glam::DVec3;
use rayon::prelude::*;

use crate::behaviour::{BehaviourUse, Schema};
use crate::behaviours::{Behaviour, sand};
use crate::columns::*;
use crate::resolve::{Field, Resolved};
use crate::solids::{Coupling, Wrench};
use crate::solve::pressure::{HASTE, Region, Setting, Tolerance};
use crate::step::rows;
use crate::world::World;

pub static SCHEMA: Schema = Schema {
    name: "incompressible",
    summary: "incompressible fluid: in each step, the pressure that keeps its volume is solved for",
    law: "dδ/dt = 0 inside and Δt dδ/dt ≤ 1 − δ at surfaces, by pressures that pull inside only, with δ = ρ/ρ₀; tolerances stand in `[solver]`",
    half_weight: "a particle that fills half its volume: others may come closer to it; none at all at 0",
    reference: "Bender2017; Lenaerts2009, 3.2; Solenthaler2008",
    properties: &[],
};

/// Part of the tolerated error of the density by which friction may spoil what the pressure has made of the velocities. With all of it, a deep column between
/// smooth walls trembled.
const SPOILT: f32 = 0.2;

pub struct Incompressible;

impl Behaviour for Incompressible {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    /// The last of all: `World::solve_pressure`.
    fn has_solve(&self, _used: &BehaviourUse) -> bool {
        true
    }
}

impl World {
    /// Whether a pressure is solved for. Either all fluids of a world are incompressible, or none.
    pub fn is_incompressible(&self) -> bool {
        weight_of_volume(&self.behaviours).is_some()
    }

    /// Stage 3: density.
    pub(crate) fn prepare_incompressible(&mut self) {
        self.pack_for_pressure();
        let mut solve = std::mem::take(&mut self.pressure_solve);
        solve.prepare(&self.setting(0.0));
        if self.bodies.iter().any(|body| body.holds_shape) {
            let body = self.particles.get(&BODY);
            solve.leave_out(|i| self.bodies[body[i] as usize].holds_shape);
        }
        self.particles.update(&DENSITY, |density, particles| {
            let columns = (particles.get(&MASS), particles.get(&VOLUME), solve.ratios());
            let rows = density.par_iter_mut().with_min_len(8192).zip(columns.into_par_iter());
            rows.for_each(|(density, (mass, volume, ratio))| *density = ratio * mass / volume);
        });
        self.pressure_solve = solve;
    }

    /// Stage 6: velocities that keep the volume, and do not shear where friction can stop it.
    pub(crate) fn solve_pressure(&mut self, dt: f32) {
        let grains = sand::grains(&self.behaviours, self.particles.len());
        let grains = grains.as_deref();
        self.press(dt, grains, None);
        if let Some((method, grains)) = sand::method(&self.behaviours).zip(grains) {
            let mut region = std::mem::take(&mut self.near_grains);
            let body = self.particles.get(&BODY);
            let holds_shape = |i: usize| self.bodies[body[i] as usize].holds_shape;
            region.find(grains, &self.setting(dt).rows, holds_shape);
            let mut rubbing = Vec::new();
            for _ in 0..method.passes() {
                rubbing = self.solve_with(dt, Behaviour::rub);
                if self.press_again(dt, grains, &region) <= SPOILT * self.solver.density_error {
                    break;
                }
            }
            self.near_grains = region;
            self.push_with(rubbing);
        }
        self.push_solids();
        self.shift(dt, grains);
    }

    /// Finds the pressures, and adds what they push to the velocities. Returns how far δ was off.
    fn press(&mut self, dt: f32, grains: Option<&[bool]>, region: Option<&Region>) -> f32 {
        self.pack_for_pressure();
        let mut solve = std::mem::take(&mut self.pressure_solve);
        let (mut velocity, mut pressure) = (self.particles.take(&VELOCITY), self.particles.take(&PRESSURE));
        let coupling = Coupling::new(&self.solids, &self.walls);
        let setting = Setting { coupling: coupling.as_ref(), grains, region, ..self.setting(dt) };
        let tolerance = Tolerance::new(self.solver.density_error, self.solver.iterations);
        let tolerance = if grains.is_some() { tolerance.for_grains() } else { tolerance };
        let solved = solve.solve(&setting, &mut velocity, &mut pressure, tolerance);
        self.particles.put(&VELOCITY, velocity);
        self.particles.put(&PRESSURE, pressure);
        self.pressure_solve = solve;
        self.solves.add("pressure", solved);
        self.pressure_solve.first_error()
    }

    /// The same near grains, where velocities hold the push of the pressures as they were, and something else since.
    fn press_again(&mut self, dt: f32, grains: &[bool], region: &Region) -> f32 {
        self.pressure_solve.push(self.particles.get_mut(&VELOCITY), -dt, Some(region));
        self.press(dt, Some(grains), Some(region))
    }

    /// Finds how positions are to be shifted, if at all.
    fn shift(&mut self, dt: f32, grains: Option<&[bool]>) {
        let mut solve = std::mem::take(&mut self.pressure_solve);
        let coupling = Coupling::new(&self.solids, &self.walls);
        let setting = Setting { coupling: coupling.as_ref(), grains, ..self.setting(dt) };
        let tolerance = Tolerance::new(self.solver.density_error, self.solver.iterations);
        let shifted = match self.solver.shift {
            true => Some(solve.shift(&setting, tolerance)),
            false => solve.loosen(&setting, tolerance),
        };
        self.pressure_solve = solve;
        if let Some(shifted) = shifted {
            self.solves.add("shift", shifted);
        }
    }

    /// Adds what the pressures do to solids to their wrenches.
    fn push_solids(&mut self) {
        if self.solids.is_empty() {
            return;
        }
        let pressure = self.particles.get(&PRESSURE);
        let mut pushing = std::mem::take(&mut self.packed.pushing);
        pushing.clear();
        pushing
            .extend(self.packed.place.iter().zip(pressure).map(|(row, p)| row.truncate().extend(row.w * p)));
        let law = self.pressure_solve.wall_push(self.discretisation.pressure);
        let rows = rows(&self.packed, &self.walls, &self.neighbourhood, &self.periods).with_place(&pushing);
        let centres: Vec<DVec3> = self.solids.iter().map(|solid| solid.pose.position).collect();
        let mut wrenches = vec![Wrench::default(); self.solids.len()];
        rows.reactions(&[law], &centres, &mut self.reaction_scratch, &mut wrenches);
        for (solid, wrench) in self.solids.iter_mut().zip(wrenches) {
            solid.wrench += wrench;
        }
        self.packed.pushing = pushing;
    }

    /// Rows as the solve reads them: volume times weight, velocity, weight over rest density.
    fn pack_for_pressure(&mut self) {
        let weight =
            weight_of_volume(&self.behaviours).expect("asked for only where there is one").coefficient();
        let (volume, mass) = (self.particles.get(&VOLUME), self.particles.get(&MASS));
        let (position, velocity) = (self.particles.get(&POSITION), self.particles.get(&VELOCITY));
        let pins = self.particles.try_get(&PIN);
        // What holds a shape fills its volume whatever its weight, and gives way unless it is pinned.
        let (body, bodies) = (self.particles.get(&BODY), &self.bodies);
        let pores = self.behaviours.iter().find(|now| now.behaviour.schema().name == "contact");
        let pores = pores.map(|contact| contact.field("pores"));
        let has_shapes = bodies.iter().any(|body| body.holds_shape);
        let rows = (&mut self.packed.place, &mut self.packed.motion).into_par_iter().with_min_len(8192);
        rows.enumerate().for_each(|(i, (place, motion))| {
            let is_shaped = has_shapes && bodies[body[i] as usize].holds_shape;
            // A weave with pores stands in the way of only a part of the fluid.
            let closed = || pores.map_or(1.0, |pores| 1.0 - pores.at(i));
            let weight = if is_shaped { closed() } else { weight.at(i) };
            let gives_way = pins.is_none_or(|pins| pins[i] == 0);
            *place = position[i].truncate().extend(volume[i] * weight);
            let mobility = if gives_way { weight * volume[i] / mass[i] } else { 0.0 };
            *motion = velocity[i].truncate().extend(mobility);
        });
    }

    fn setting(&self, dt: f32) -> Setting<'_> {
        let d = &self.discretisation;
        let rows = rows(&self.packed, &self.walls, &self.neighbourhood, &self.periods);
        // About ten of the longest steps: taken back faster, it is thrown out as speed.
        let relaxation = (d.smoothing_length() / self.clock.acceleration.max(f32::MIN_POSITIVE)).sqrt();
        Setting {
            rows,
            relaxation,
            haste: HASTE * self.clock.speed * dt / d.smoothing_length(),
            density: &d.density,
            pressure: &d.pressure,
            dt,
            shifts: self.solver.shift,
            grains: None,
            region: None,
            coupling: None,
            rigid: &self.structure.rigid,
        }
    }
}

/// How much of its volume each particle fills, where there is an incompressible fluid at all.
fn weight_of_volume(behaviours: &[Resolved]) -> Option<&Field> {
    behaviours.iter().find(|now| std::ptr::eq(now.behaviour.schema(), &SCHEMA)).map(Resolved::weight)
}
