//! One time step. The order of the stages is visible here and nowhere else.

use std::time::Instant;

use glam::{DVec3, Vec4};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use thiserror::Error;

use crate::backend::cpu::Rows;
use crate::behaviours::pressure::{self, pair_terms, wall_term};
use crate::behaviours::{Around, Behaviour, Law, Solved, wall_contact};
use crate::columns::*;
use crate::integrate;
use crate::neighbourhood::{MAX_SKIN, Neighbourhood, Periods};
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::scene::WallModel;
use crate::solids::Wrench;
use crate::sources;
use crate::structure::Structure;
use crate::structure::nodes::GONE;
use crate::timers::Stage;
use crate::walls::Walls;
use crate::world::{Packed, World};

/// Particles that one thread moves as fast as two. In tests of our own none: they look at what threads do to small worlds.
const FEW: usize = if cfg!(test) { 0 } else { 2000 };

/// Why a step could not be taken. The state before it is intact in the last frame.
#[derive(Clone, Debug, Error)]
pub enum StepError {
    #[error(
        "particle {id} of body `{body}` has no finite {what} after step {step} (t = {time:.6} s). \
         The time step was {dt:.3e} s, limited by {limit}. Try a smaller `time.caution`, or look for bodies \
         that start too close together"
    )]
    NotFinite {
        id: u32,
        body: String,
        what: &'static str,
        step: u64,
        time: f64,
        dt: f64,
        limit: &'static str,
    },
    #[error(
        "stability asks for a time step of {step:.3e} s at t = {time:.6} s (limited by {limit}), below \
         `time.minimum_step` = {minimum:.3e} s. Something moves too fast or is too stiff for this spacing"
    )]
    TooSmall { step: f64, time: f64, minimum: f64, limit: &'static str },
}

/// What behaviours see of a world while they change its particles: all fields but those.
macro_rules! around {
    ($world:ident, $rest_density:expr, $dt:expr) => {
        Around {
            rows: rows(&$world.packed, &$world.walls, &$world.neighbourhood, &$world.periods),
            discretisation: &$world.discretisation,
            rest_density: $rest_density,
            solver: &$world.solver,
            interfaces: &$world.interfaces,
            solids: &$world.solids,
            histories: &$world.histories,
            time: $world.clock.time,
            dt: $dt,
        }
    };
}

/// A behaviour's share of stage 6: [`Behaviour::solve`] or [`Behaviour::rub`].
pub(crate) type Share = fn(
    &(dyn Behaviour + 'static),
    &Resolved,
    &Around,
    &mut Structure,
    &mut Particles,
    &mut [Wrench],
) -> Option<Solved>;

impl World {
    /// Advances the world by `dt` seconds; by less where an integrator that looks at its error asks for it.
    pub fn step(&mut self, dt: f64) -> Result<(), StepError> {
        self.timed(Stage::Exchange, |world| world.refine(dt as f32));
        self.timed(Stage::Solids, |world| {
            world.aim_solids(dt);
            world.set_pins();
            world.aim_pins(dt);
        });
        if let Some(method) = integrate::Method::of(self.clock.settings.integrator) {
            let taken = self.advance_by_stages(method, dt);
            return self.finish_step(taken);
        }
        self.timed(Stage::Motion, |world| integrate::before_forces(world, dt));
        self.evaluate_forces(dt as f32);
        if self.has_solve() {
            self.timed(Stage::Motion, |world| integrate::kick(world, dt));
            self.timed(Stage::Solids, |world| world.predict_solids(dt));
            self.timed(Stage::Solve, |world| {
                let pushes = world.solve_with(dt as f32, Behaviour::solve);
                world.push_with(pushes);
                if world.is_incompressible() {
                    world.solve_pressure(dt as f32);
                }
                // Whatever solves have made of them.
                world.aim_pins(dt);
                world.resolve_contacts(dt as f32);
            });
            self.timed(Stage::Motion, |world| {
                world.raise_barrier();
                integrate::drift(world, dt);
            });
        } else {
            self.timed(Stage::Motion, |world| integrate::after_forces(world, dt));
        }
        self.timed(Stage::Relax, |world| {
            world.relax(dt as f32);
            world.hold_fluid();
        });
        self.finish_step(dt)
    }

    /// What comes after particles have moved.
    fn finish_step(&mut self, dt: f64) -> Result<(), StepError> {
        self.clock.steps += 1;
        self.clock.bound[self.clock.binding as usize] += 1;
        self.check_finite(dt)?;
        self.timed(Stage::Memory, |world| world.remember(dt));
        self.timed(Stage::Exchange, |world| {
            world.flow_through_pores(dt);
            sources::exchange(world);
        });
        self.timed(Stage::Clock, World::choose_step);
        self.check_step()
    }

    /// Stages 1 to 4: from positions and velocities to accelerations.
    pub(crate) fn evaluate_forces(&mut self, dt: f32) {
        // Before the timeline, whose values stand in the order of the particles: the search may change it.
        self.timed(Stage::Neighbours, |world| world.find_neighbours(dt));
        self.structure.nodes.find(&self.particles);
        self.timed(Stage::Timeline, World::evaluate_timeline);
        self.solids.iter_mut().for_each(|solid| solid.wrench = Wrench::default());
        self.timed(Stage::Prepare, World::pack);
        if self.is_incompressible() {
            self.timed(Stage::Prepare, World::prepare_incompressible);
        } else if self.has_pressure() {
            self.timed(Stage::Prepare, World::find_pressure);
        }
        if self.discretisation.walls == WallModel::Sph {
            self.timed(Stage::Prepare, World::continue_flow);
        }
        self.timed(Stage::Prepare, |world| {
            world.prepare_behaviours(dt);
            world.pack_remembered();
        });
        self.timed(Stage::Forces, |world| world.sum_forces(dt));
    }

    /// Steps until `end`, s, which is met exactly.
    pub fn advance_to(&mut self, end: f64) -> Result<(), StepError> {
        self.advance_with(end, |_| {})
    }

    /// The same, telling after each step how the world is.
    ///
    /// A few particles are moved by one thread, however many there are: a step has a hundred loops and more, and threads would wait
    /// for each other longer than it takes. The bits are the same.
    pub fn advance_with(&mut self, end: f64, tell: impl FnMut(&World) + Send) -> Result<(), StepError> {
        if self.particles.len() > FEW || rayon::current_num_threads() == 1 {
            // As one of the pool's threads: from outside, each loop would be handed over and waited for.
            rayon::scope(|_| self.take_steps(end, tell))
        } else {
            self.advance_alone(end, tell)
        }
    }

    /// On one thread. Each world has its own, so that many small ones may run at once.
    pub(crate) fn advance_alone(
        &mut self,
        end: f64,
        tell: impl FnMut(&World) + Send,
    ) -> Result<(), StepError> {
        // Taken out while the world is busy.
        let alone = self.alone.take().or_else(|| ThreadPoolBuilder::new().num_threads(1).build().ok());
        let result = match &alone {
            Some(thread) => thread.install(|| self.take_steps(end, tell)),
            None => self.take_steps(end, tell),
        };
        self.alone = alone;
        result
    }

    fn take_steps(&mut self, end: f64, mut tell: impl FnMut(&World)) -> Result<(), StepError> {
        while self.clock.time < end - 1e-9 * end.abs().max(1e-3) {
            let dt = self.clock.step_towards(end.min(self.forces.next_event(self.clock.time)));
            self.step(dt)?;
            tell(self);
        }
        self.clock.time = end;
        Ok(())
    }

    /// Finds density, pressure and accelerations of the particles as they stand; nothing moves.
    pub fn evaluate(&mut self) {
        self.evaluate_forces(0.0);
    }

    /// Makes the next step sort the particles and find all neighbours anew. A run does so at every frame, so
    /// that a run resumed there continues with the same bits.
    pub fn forget_neighbours(&mut self) {
        self.neighbourhood.slack = -1.0;
        self.neighbourhood.since_reorder = u32::MAX;
        self.structure.contacts.forget();
    }

    pub(crate) fn timed<R>(&mut self, stage: Stage, run: impl FnOnce(&mut World) -> R) -> R {
        let start = Instant::now();
        let result = run(self);
        self.timers.add(stage, start);
        result
    }

    /// Stage 2: sorts and lists, if somebody may have moved through the skin of the old lists.
    pub(crate) fn find_neighbours(&mut self, dt: f32) {
        let count = self.particles.len();
        if self.neighbourhood.slack >= 0.0 && self.neighbourhood.bounds().0 == count {
            return;
        }
        let skin = best_skin(
            self.clock.speed.max(self.fastest_solid()) * dt / self.discretisation.support,
            self.discretisation.dimensions.count(),
        );
        let room = self.periods.length.iter().filter(|&&l| l > 0.0).fold(f32::INFINITY, |a, &b| a.min(b));
        let skin =
            if 3.0 * self.discretisation.longest_support * (1.0 + MAX_SKIN) > room { 0.0 } else { skin };

        let (particles, lists) = (&mut self.particles, &mut self.neighbourhood);
        lists.sort(particles.get(&POSITION), particles.get(&SUPPORT), skin, &self.periods);
        // Particles drift apart slowly in memory: moving them all pays only now and then.
        if lists.since_reorder >= 8 {
            particles.reorder(lists.order());
            lists.particles_were_reordered();
        }
        // Samples that fall off the list must not go on pressing.
        for &sample in lists.near_walls() {
            self.walls.motion[sample as usize].w = 0.0;
        }
        let walls = &self.walls;
        lists.build(particles.get(&POSITION), particles.get(&SUPPORT), walls, &self.periods);
    }

    /// Stage 3: the rows that loops over neighbours read.
    fn pack(&mut self) {
        let (packed, particles) = (&mut self.packed, &self.particles);
        packed.place.resize(particles.len(), Vec4::ZERO);
        packed.motion.resize(particles.len(), Vec4::ZERO);
        let columns = (particles.get(&POSITION), particles.get(&VELOCITY), particles.get(&VOLUME));
        let rows = (&mut packed.place, &mut packed.motion).into_par_iter().zip(columns.into_par_iter());
        rows.with_min_len(8192).for_each(|((place, motion), (position, velocity, &volume))| {
            (*place, *motion) = (position.truncate().extend(volume), *velocity);
        });
        if self.discretisation.has_sizes() {
            let support = self.discretisation.support;
            packed.shrink.clear();
            packed.shrink.extend(particles.get(&SUPPORT).iter().map(|own| support / own));
        }
    }

    /// Stage 3, where pressure follows from density: both, and the pressure terms of pairs.
    fn find_pressure(&mut self) {
        let (d, packed) = (&self.discretisation, &mut self.packed);
        let particles = &mut self.particles;

        // The column of densities holds density over rest density first; then, if asked, that is divided by its own
        // kernel sum [Lenaerts2009, Eq. 3.5].
        let (mut ratio, mut pressure) = (particles.take(&DENSITY), particles.take(&PRESSURE));
        rows(packed, &self.walls, &self.neighbourhood, &self.periods).kernel_sum(&d.density, &mut ratio);
        if d.normalised_density {
            let volume = particles.get(&VOLUME);
            packed.place.par_iter_mut().with_min_len(8192).enumerate().for_each(|(i, row)| {
                row.w = volume[i] / ratio[i];
            });
            let mut unity = std::mem::take(&mut packed.unity);
            unity.resize(particles.len(), 0.0);
            rows(packed, &self.walls, &self.neighbourhood, &self.periods).kernel_sum(&d.density, &mut unity);
            ratio.par_iter_mut().with_min_len(8192).zip(&unity).for_each(|(ratio, unity)| *ratio /= unity);
            packed.unity = unity;
            packed
                .place
                .par_iter_mut()
                .with_min_len(8192)
                .zip(volume)
                .for_each(|(row, &volume)| row.w = volume);
        }

        let laws: Vec<_> = self.behaviours.iter().filter_map(|now| now.behaviour.pressure_law(now)).collect();
        // A particle with solute has a rest density of its own.
        let (mass, volume) = (particles.get(&MASS), particles.get(&VOLUME));
        let rest_density = |i: usize| mass[i] / volume[i];
        let pressure_of =
            |i: usize, ratio: f32| -> f32 { laws.iter().map(|law| law(i, ratio, rest_density(i))).sum() };
        // Wall samples press back with the density that the fluid before them has (see behaviours/pressure.rs).
        let sums = rows(packed, &self.walls, &self.neighbourhood, &self.periods);
        let near_walls = self.neighbourhood.near_walls();
        let mut wall_pressure = std::mem::take(&mut self.wall_pressure);
        wall_pressure.resize(near_walls.len(), 0.0);
        wall_pressure.par_iter_mut().with_min_len(256).enumerate().for_each(|(k, pressure)| {
            let share = self.walls.share[near_walls[k] as usize];
            *pressure = sums.kernel_sum_at_wall(&d.density, k).map_or(0.0, |(sum, nearest)| {
                // SPH walls sum their density like the fluid, over the other samples too.
                let ratio = if d.walls == WallModel::Sph { sum + (1.0 - share) } else { sum / share };
                wall_term(d.pressure_form, pressure_of(nearest, ratio), ratio)
            });
        });
        for (&sample, pressure) in near_walls.iter().zip(&wall_pressure) {
            self.walls.motion[sample as usize].w = *pressure;
        }
        self.wall_pressure = wall_pressure;

        let velocity = particles.get(&VELOCITY);
        let pack = (&mut packed.place, &mut packed.motion, &mut ratio, &mut pressure).into_par_iter();
        pack.with_min_len(4096).enumerate().for_each(|(i, (place, motion, density, pressure))| {
            *pressure = pressure_of(i, *density);
            let (volume, term) = pair_terms(d.pressure_form, volume[i], *pressure, *density);
            place.w = volume;
            *motion = velocity[i].truncate().extend(term);
            *density *= rest_density(i);
        });
        particles.put(&DENSITY, ratio);
        particles.put(&PRESSURE, pressure);
    }

    /// SPH walls: samples move with the velocity of the fluid before them, for free slip, or with its mirror image,
    /// for no slip [Bayraktar2010, 5.1.1; Adami2012]. Samples that no fluid is before have nothing to act on.
    fn continue_flow(&mut self) {
        let sums = rows(&self.packed, &self.walls, &self.neighbourhood, &self.periods);
        let mut flow = std::mem::take(&mut self.wall_flow);
        let near_walls = self.neighbourhood.near_walls();
        let slip = 2.0 * self.discretisation.slip - 1.0;
        flow.resize(near_walls.len(), Vec4::ZERO);
        flow.par_iter_mut().with_min_len(256).enumerate().for_each(|(k, flow)| {
            let own = self.walls.motion[near_walls[k] as usize];
            *flow = sums.velocity_at_wall(&self.discretisation.density, k).map_or(own, |velocity| {
                let wall = own.with_w(0.0);
                (wall + (velocity - wall) * slip).with_w(own.w)
            });
        });
        self.walls.flow.clone_from(&self.walls.motion);
        for (&sample, flow) in near_walls.iter().zip(&flow) {
            self.walls.flow[sample as usize] = *flow;
        }
        self.wall_flow = flow;
    }

    /// Stage 3: columns that behaviours fill themselves.
    fn prepare_behaviours(&mut self, dt: f32) {
        let rest_density: Vec<f32> = self.bodies.iter().map(|body| body.rest_density).collect();
        let around = around!(self, &rest_density, dt);
        for now in &self.behaviours {
            now.behaviour.prepare(now, &around, &mut self.particles);
        }
    }

    /// Stage 3, where friction has a memory: the rows that it reads.
    fn pack_remembered(&mut self) {
        let Some(velocity) = self.particles.try_get(&VISCOUS_VELOCITY) else { return };
        let (packed, motion) = (&mut self.packed.viscous, &self.packed.motion);
        packed.resize(motion.len(), Vec4::ZERO);
        let rows = packed.par_iter_mut().with_min_len(8192).zip(velocity).zip(motion);
        rows.for_each(|((row, velocity), motion)| *row = velocity.with_w(motion.w));
    }

    /// Stage 4: forces along links between nodes.
    fn strain(&mut self, dt: f32, acceleration: &mut [Vec4]) {
        if self.structure.is_empty() {
            return;
        }
        self.press_contacts(dt, acceleration);
        let rest_density: Vec<f32> = self.bodies.iter().map(|body| body.rest_density).collect();
        let around = around!(self, &rest_density, dt);
        for now in &self.behaviours {
            now.behaviour.strain(now, &around, &mut self.structure, &mut self.particles, acceleration);
        }
    }

    /// Stage 8: positions are corrected, and velocities with them.
    fn relax(&mut self, dt: f32) {
        if self.structure.is_empty() {
            return;
        }
        let rest_density: Vec<f32> = self.bodies.iter().map(|body| body.rest_density).collect();
        let mut moved = 0.0f32;
        for now in &self.behaviours {
            let around = around!(self, &rest_density, dt);
            moved += now.behaviour.relax(now, &around, &mut self.structure, &mut self.particles);
        }
        self.neighbourhood.slack -= moved;
    }

    /// Stage 9: the end of the step becomes part of what particles remember.
    fn remember(&mut self, dt: f64) {
        for history in &mut self.histories {
            history.advance(dt, &mut self.particles);
        }
        for history in &mut self.scalar_histories {
            history.advance(dt, &mut self.particles);
        }
    }

    /// Pins take and let go of particles as their time comes.
    fn set_pins(&mut self) {
        if !self.structure.pins.is_empty() {
            let d = self.discretisation.dimensions;
            self.structure.pins.set(self.clock.time, &self.solids, d, &mut self.particles);
        }
    }

    /// Held particles move to where their pins will be at the end of the step.
    fn aim_pins(&mut self, dt: f64) {
        if !self.structure.pins.is_empty() {
            self.structure.pins.aim(self.clock.time, dt, &self.solids, &mut self.particles);
        }
    }

    /// Stage 6: what forces cannot do within one step, before or after the pressure. Returns what it does to solids.
    pub(crate) fn solve_with(&mut self, dt: f32, share: Share) -> Vec<Wrench> {
        let rest_density: Vec<f32> = self.bodies.iter().map(|body| body.rest_density).collect();
        let mut pushes = vec![Wrench::default(); self.solids.len()];
        for now in self.behaviours.iter().filter(|now| now.has_solve()) {
            // Each solve sees what the one before it has made of the velocities.
            let velocity = self.particles.get(&VELOCITY);
            self.packed.motion.par_iter_mut().with_min_len(8192).zip(velocity).for_each(|(row, v)| {
                *row = v.truncate().extend(row.w);
            });
            let around = around!(self, &rest_density, dt);
            let (structure, particles) = (&mut self.structure, &mut self.particles);
            if let Some(solved) = share(now.behaviour, now, &around, structure, particles, &mut pushes) {
                self.solves.add(now.behaviour.schema().name, solved);
            }
        }
        pushes
    }

    pub(crate) fn push_with(&mut self, pushes: Vec<Wrench>) {
        for (solid, push) in self.solids.iter_mut().zip(pushes) {
            solid.wrench += push;
        }
    }

    /// Stage 4: particle laws and pair laws add up to an acceleration.
    fn sum_forces(&mut self, dt: f32) {
        let mut acceleration = self.particles.take(&ACCELERATION);
        acceleration.fill(Vec4::ZERO);
        self.strain(dt, &mut acceleration);
        let hidden = self.is_incompressible() && !self.structure.is_empty();
        if hidden {
            self.hide_nodes();
        }
        let d = &self.discretisation;
        let mass = self.particles.get(&MASS);
        let pressure = self.has_pressure().then(|| Law::Pressure(pressure::Law::new(d)));
        let others = self.behaviours.iter().filter_map(|now| now.behaviour.pair_law(now, d));
        let contact = wall_contact::Law::new(d, mass).map(Law::WallContact);
        let mut laws: Vec<Law> = pressure.into_iter().chain(others).chain(contact).collect();
        let mut rows = rows(&self.packed, &self.walls, &self.neighbourhood, &self.periods);
        if !self.walls.flow.is_empty() {
            rows = rows.with_wall_motion(&self.walls.flow);
        }
        for now in &self.behaviours {
            now.behaviour.accelerate(now, &self.particles, &mut acceleration);
        }
        self.forces.accelerate(self.clock.time, &self.particles, &mut acceleration);
        // Friction with a memory reads other velocities; of the other laws, only contact with walls reads any.
        let mut sweeps = Vec::new();
        if self.particles.try_get(&VISCOUS_VELOCITY).is_some() {
            let contacts: Vec<Law> = laws.extract_if(.., |law| matches!(law, Law::WallContact(_))).collect();
            sweeps.push((rows, contacts));
            rows = rows.with_motion(&self.packed.viscous);
        }
        sweeps.push((rows, laws));
        for (rows, laws) in sweeps.iter().filter(|(_, laws)| !laws.is_empty()) {
            rows.add_forces(laws, mass, &mut acceleration);
            if !self.solids.is_empty() {
                let centres: Vec<DVec3> = self.solids.iter().map(|solid| solid.pose.position).collect();
                let mut wrenches = vec![Wrench::default(); self.solids.len()];
                rows.reactions(laws, &centres, &mut self.reaction_scratch, &mut wrenches);
                for (solid, wrench) in self.solids.iter_mut().zip(wrenches) {
                    solid.wrench += wrench;
                }
            }
        }
        self.particles.put(&ACCELERATION, acceleration);
        if hidden {
            self.hide_nodes();
        }
        if !self.structure.pins.is_empty() {
            self.structure.pins.hold(&mut self.solids, &mut self.particles);
        }
    }

    /// Takes the volumes of nodes out of the rows, and the next time puts them back. Where pressure is solved for, no explicit
    /// force needs them; and friction with a fluid would tear a light cloth about, or ask for very short steps. Fluid glides
    /// along cloth, unless its viscosity is implicit.
    fn hide_nodes(&mut self) {
        let (hidden, rows) = (&mut self.structure.hidden, self.structure.nodes.rows());
        hidden.resize(rows.len(), 0.0);
        for (volume, &row) in hidden.iter_mut().zip(rows) {
            if row != GONE {
                std::mem::swap(volume, &mut self.packed.place[row as usize].w);
            }
        }
    }

    fn check_finite(&self, dt: f64) -> Result<(), StepError> {
        if self.clock.speed.is_finite() && self.clock.acceleration.is_finite() {
            return Ok(());
        }
        let motion = self.particles.get(&VELOCITY).iter().zip(self.particles.get(&ACCELERATION));
        let is_bad = |(v, a): (&Vec4, &Vec4)| !(v.length_squared() + a.length_squared()).is_finite();
        let bad = motion.map(is_bad).position(|bad| bad).unwrap_or(0);
        let density = self.particles.get(&DENSITY)[bad];
        Err(StepError::NotFinite {
            id: self.particles.get(&ID)[bad],
            body: self.bodies[self.particles.get(&BODY)[bad] as usize].name.clone(),
            what: if density.is_finite() { "velocity" } else { "density" },
            step: self.clock.steps,
            time: self.clock.time,
            dt,
            limit: self.clock.binding.name(),
        })
    }

    fn check_step(&self) -> Result<(), StepError> {
        let clock = &self.clock;
        if clock.step >= clock.settings.minimum_step {
            return Ok(());
        }
        Err(StepError::TooSmall {
            step: clock.step,
            time: clock.time,
            minimum: clock.settings.minimum_step,
            limit: clock.binding.name(),
        })
    }
}

pub(crate) fn rows<'a>(
    packed: &'a Packed,
    walls: &'a Walls,
    lists: &'a Neighbourhood,
    periods: &'a Periods,
) -> Rows<'a> {
    Rows::new(&packed.place, &packed.motion, walls, lists, periods).with_sizes(&packed.shrink)
}

/// Skin that makes a step cheapest, when particles move at most `travel` supports in a step.
///
/// Lists with skin s hold (1+s)^d times as many pairs and serve 1 + s/(2 travel) steps. A search costs one
/// to two times the sums of a step; it is counted once, in favour of short lists, which are most of the memory.
fn best_skin(travel: f32, dimensions: usize) -> f32 {
    let cost = |skin: f32| {
        let steps = 1.0 + (0.5 * skin / travel.max(1e-6)).floor();
        (1.0 + skin).powi(dimensions as i32) + 1.0 / steps
    };
    let choices = [0.0, 0.025, 0.05, 0.1, 0.15, MAX_SKIN];
    choices.into_iter().min_by(|&a, &b| cost(a).total_cmp(&cost(b))).expect("there are choices")
}
