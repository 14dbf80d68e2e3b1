//! Everything that a step reads and writes.

use glam::{DVec3, Vec4};
use rayon::ThreadPool;

use crate::behaviour::{BehaviourUse, Value};
use crate::behaviours::{self, LimitState, viscous_memory, wall_contact};
use crate::columns::*;
use crate::discretisation::Discretisation;
use crate::forces::Forces;
use crate::integrate;
use crate::interfaces::Interfaces;
use crate::memory::History;
use crate::neighbourhood::{Neighbourhood, Periods};
use crate::particles::{Particles, Scalars, Vectors};
use crate::refine::{self, Refinement};
use crate::resolve::Resolved;
use crate::scene::{Body, Domain, Scene, Shape, Side, Solver, Source, Time, automatic_sound_speed};
use crate::solids::{self, Calibration, Rigid, SolidState, Wrench};
use crate::solve::pressure::{PressureSolve, Region};
use crate::solves::Solves;
use crate::sources::{self, Drain, Emitter};
use crate::structure::{Line, Pins, Sheet, Structure};
use crate::timeline::Curve;
use crate::timers::Timers;
use crate::timestep::{Limit, Limits};
use crate::walls::{self, Walls};

/// Error that a step of `rk45` may make where the scene says nothing, in spacings.
const DEFAULT_TOLERANCE: f64 = 1e-4;

/// The particle world.
pub struct World {
    pub discretisation: Discretisation,
    pub domain: Domain,
    pub periods: Periods,
    pub clock: Clock,
    /// Matter that laws move.
    pub particles: Particles,
    /// Boundary samples, which they do not.
    pub walls: Walls,
    pub neighbourhood: Neighbourhood,
    pub bodies: Vec<BodyState>,
    /// Tensions between bodies that the scene names.
    pub interfaces: Interfaces,
    /// Behaviours in use, with their properties now.
    pub behaviours: Vec<Resolved>,
    /// What behaviours remember.
    pub histories: Vec<History<Vectors>>,
    pub scalar_histories: Vec<History<Scalars>>,
    /// Fields that push matter.
    pub forces: Forces,
    /// Halves and unites particles; `None` where all keep their sizes.
    pub refinement: Option<Refinement>,
    pub emitters: Vec<Emitter>,
    pub sinks: Vec<Drain>,
    /// What is not made of particles, in the scene's order.
    pub solids: Vec<SolidState>,
    /// Moves the free ones; `None` where none is.
    pub(crate) rigid: Option<Rigid>,
    /// What particles of bodies that hold a shape know of each other.
    pub structure: Structure,
    pub(crate) reaction_scratch: Vec<Wrench>,
    pub next_id: u32,
    /// Particles removed by sinks so far.
    pub drained: u64,
    /// Times a particle had got past a wall and was put back.
    pub caught: u64,
    pub timers: Timers,
    /// How the solves of stage 6 went since the last frame.
    pub solves: Solves,
    pub(crate) packed: Packed,
    pub(crate) wall_pressure: Vec<f32>,
    pub(crate) wall_flow: Vec<Vec4>,
    pub(crate) pressure_solve: PressureSolve,
    pub(crate) near_grains: Region,
    pub(crate) solver: Solver,
    pub(crate) seed: u64,
    /// Whether any law sums over neighbours or walls; contact alone does not.
    has_sums: bool,
    /// Part of its step that explicit friction may take where it has a memory.
    pub(crate) memory_ease: f32,
    /// The thread that moves it while it has few particles; made when first needed.
    pub(crate) alone: Option<ThreadPool>,
}

/// What the engine keeps of a body.
pub struct BodyState {
    pub name: String,
    pub rest_density_curve: Curve,
    /// ρ₀ now, kg/m³.
    pub rest_density: f32,
    /// Its emitter pauses while there are so many.
    pub maximum: Option<usize>,
    /// Distance of its particles at rest when they are born, m.
    pub spacing: f64,
    /// Whether it holds a shape: fluids press on it, and it has no pressure of its own.
    pub holds_shape: bool,
    /// Whether it is neither that nor sand.
    pub is_fluid: bool,
    /// Of a sheet: least mass over the volume that fluids see, kg/m³.
    pub thinnest: f32,
}

/// Simulated time.
pub struct Clock {
    /// s.
    pub time: f64,
    pub steps: u64,
    /// The next step, before it is fitted to the end of a frame, s.
    pub step: f64,
    pub binding: Limit,
    pub settings: Time,
    /// The step that the error of the last one asks for, s, where errors are looked at.
    pub proposed: Option<f64>,
    /// Fastest particle after the last step, m/s.
    pub speed: f32,
    pub acceleration: f32,
    /// Steps that each limit bound.
    pub bound: [u64; Limit::ALL.len()],
}

/// Rows of four that the loops over neighbours load; see `backend/cpu.rs`.
#[derive(Default)]
pub(crate) struct Packed {
    pub place: Vec<Vec4>,
    pub motion: Vec<Vec4>,
    /// h over each particle's support, where there are several sizes.
    pub shrink: Vec<f32>,
    /// Kernel sum that normalises the density, where that is asked for.
    pub unity: Vec<f32>,
    /// As `motion`, with the velocities that friction acts on, where those are others.
    pub viscous: Vec<Vec4>,
    /// Positions with V p, where pressures push solids.
    pub pushing: Vec<Vec4>,
}

impl World {
    /// Puts a checked scene into place. Cannot fail: the check saw to that.
    pub fn new(scene: &Scene) -> World {
        let d = Discretisation::new(scene);
        let mut particles = Particles::default();
        particles.require(&ID);
        particles.require(&BODY);
        particles.require(&POSITION);
        particles.require(&VELOCITY);
        particles.require(&ACCELERATION);
        particles.require(&MASS);
        particles.require(&VOLUME);
        particles.require(&SUPPORT);
        particles.require(&DENSITY);
        particles.require(&PRESSURE);

        let sums = |body: &Body| {
            let all = || body.behaviours.iter();
            !body.holds_shape() || all().any(|used| behaviours::sums_over_neighbours(used.schema))
        };
        let has_sums = scene.bodies.iter().any(sums);
        let mut walls = if has_sums { walls::sample(&scene.domain, &d) } else { Walls::default() };
        let solids = solids::place(scene, &d, has_sums, &mut walls);
        if !solids.is_empty() {
            particles.require(&CLEARANCE);
        }
        let mut world = World {
            discretisation: d,
            domain: scene.domain,
            periods: periods(&scene.domain),
            clock: Clock::new(&scene.time),
            particles,
            walls,
            neighbourhood: Neighbourhood::default(),
            bodies: scene.bodies.iter().map(BodyState::new).collect(),
            interfaces: Interfaces::new(
                scene.bodies.len(),
                scene.interfaces.iter().map(|i| (i.between, i.tension)),
            ),
            behaviours: Resolved::all(&behaviours_with_numbers(scene)),
            histories: Vec::new(),
            scalar_histories: Vec::new(),
            forces: Forces::new(&scene.forces, periods(&scene.domain), scene.dimensions),
            refinement: Refinement::new(scene),
            emitters: Vec::new(),
            sinks: scene.sinks.iter().map(Drain::new).collect(),
            rigid: Rigid::new(scene, &solids, &d),
            solids,
            structure: Structure { pins: Pins::new(&scene.pins), ..Structure::default() },
            reaction_scratch: Vec::new(),
            next_id: 0,
            drained: 0,
            caught: 0,
            timers: Timers::default(),
            solves: Solves::default(),
            packed: Packed::default(),
            wall_pressure: Vec::new(),
            wall_flow: Vec::new(),
            pressure_solve: PressureSolve::default(),
            near_grains: Region::default(),
            solver: scene.solver,
            seed: scene.seed,
            has_sums,
            memory_ease: scene.bodies.iter().map(viscous_memory::ease_of).fold(f64::INFINITY, f64::min)
                as f32,
            alone: None,
        };
        world.walls.apply(d.walls);
        for now in &world.behaviours {
            now.behaviour.require_columns(&mut world.particles);
            world.histories.extend(now.behaviour.remembers(now).map(History::new));
            world.scalar_histories.extend(now.behaviour.remembers_scalar(now).map(History::new));
        }
        world.histories.iter().for_each(|history| history.require_columns(&mut world.particles));
        world.scalar_histories.iter().for_each(|history| history.require_columns(&mut world.particles));
        if scene.bodies.iter().any(Body::holds_shape) {
            world.particles.require(&NODE);
            world.particles.require(&REFERENCE);
        }
        if !scene.pins.is_empty() {
            world.particles.require(&PIN);
            world.particles.require(&PIN_PLACE);
        }
        integrate::require_columns(scene.time.integrator, &mut world.particles);
        if world.refinement.is_some() {
            world.particles.require(&LEVEL);
            world.particles.require(&SURFACE_DISTANCE);
        }
        for (index, body) in scene.bodies.iter().enumerate() {
            let d = d.of_body(body.spacing);
            match &body.source {
                Source::Shape(shape) => {
                    let mut born = sources::fill(shape, &d);
                    if body.layers > 1 {
                        born = sources::layered(&born, shape, body.layers, body.thickness);
                    }
                    // Where there is a solid, there is no fluid.
                    let clear = 0.45 * body.spacing;
                    // A layer that holds its shape stays whole: its particles are the corners of triangles.
                    if !(body.holds_shape() && shape.is_thin()) {
                        let is_clear = |one: &sources::Newborn| {
                            world.solids.iter().all(|solid| solid.distance(one.position) >= clear)
                        };
                        born.retain(is_clear);
                    }
                    let jitter = body.jitter * body.spacing;
                    let start = world.particles.len();
                    world.add(index as u32, &born, body.velocity.map(|v| v as f32).into(), jitter);
                    if body.holds_shape() {
                        world.give_shape(index as u32, body, shape, start);
                    }
                }
                source => {
                    let up = -DVec3::from(scene.gravity).normalize_or(DVec3::NEG_Y);
                    world.emitters.extend(Emitter::new(index as u32, source, up, scene.seed, &d));
                }
            }
        }
        world.link();
        world.first_step();
        world
    }

    /// Makes nodes of a body's particles, which stand at `start` and after.
    fn give_shape(&mut self, index: u32, body: &Body, shape: &Shape, start: usize) {
        let born = start..self.particles.len();
        self.structure.nodes.add(index, born.clone(), &mut self.particles);
        self.particles.update(&REFERENCE, |reference, particles| {
            reference[born.clone()].copy_from_slice(&particles.get(&POSITION)[born]);
        });
        let nodes = self.structure.nodes.of_body(index);
        let sheet = match shape {
            Shape::Turned { curve, .. } => {
                let triangles = curve.layer(body.spacing).triangles;
                Some(Sheet::of_triangles(index, nodes, &triangles, body.thickness))
            }
            _ => {
                let grid = shape.rows_and_columns(body.spacing);
                grid.map(|grid| Sheet::grid(index, nodes, grid, body.layers, body.thickness))
            }
        };
        if let Some(sheet) = sheet {
            let d = self.discretisation.of_body(body.spacing);
            let density = body.rest_density.at(0.0);
            sheet.weigh(start, density, &d, &Calibration::new(&d), &mut self.particles);
            self.structure.sheets.push(sheet);
        }
        self.give_line_or_net(index, body, shape, start);
        let (mass, volume) = (self.particles.get(&MASS), self.particles.get(&VOLUME));
        let lightest = mass[start..].iter().zip(&volume[start..]).map(|(mass, volume)| mass / volume);
        self.bodies[index as usize].thinnest = lightest.fold(f32::INFINITY, f32::min);
    }

    /// The same for ropes and nets.
    fn give_line_or_net(&mut self, index: u32, body: &Body, shape: &Shape, start: usize) {
        let d = self.discretisation.of_body(body.spacing);
        let nodes = self.structure.nodes.of_body(index);
        let (thickness, density) = (body.thickness, body.rest_density.at(0.0));
        match shape {
            Shape::Line { .. } => {
                let line = Line { body: index, nodes, thickness };
                line.weigh(start, density, &d, &Calibration::new(&d), &mut self.particles);
                self.structure.lines.push(line);
            }
            Shape::Net { centre, .. } => {
                let corner = |triangle: [u32; 3]| triangle.map(|corner| nodes.start + corner);
                let triangles = shape.net(body.spacing).triangles.into_iter().map(corner).collect();
                let sheet = Sheet { body: index, nodes, triangles, grid: None, layers: 1, thickness };
                sheet.weigh(start, density, &d, &Calibration::new(&d), &mut self.particles);
                if *centre {
                    sheet.weigh_inside(start, density, &mut self.particles);
                }
                self.structure.sheets.push(sheet);
            }
            _ => {}
        }
    }

    /// Lets behaviours make what they keep between particles.
    pub(crate) fn link(&mut self) {
        for now in &self.behaviours {
            now.behaviour.link(now, &self.discretisation, &mut self.structure, &mut self.particles);
        }
    }

    /// Adds particles to a body.
    pub(crate) fn add(&mut self, body: u32, born: &[sources::Newborn], velocity: glam::Vec3, jitter: f64) {
        let rest_density = self.bodies[body as usize].rest_density_curve.at(self.clock.time);
        let d = &self.discretisation.of_body(self.bodies[body as usize].spacing);
        let jitter = (jitter, self.seed);
        let next_id = &mut self.next_id;
        let start = self.particles.len();
        sources::add(&mut self.particles, born, body, velocity, rest_density, next_id, jitter, d);
        if self.refinement.is_some() {
            // Until the first look finds it.
            self.particles.get_mut(&SURFACE_DISTANCE)[start..].fill(refine::FAR);
        }
        for now in &self.behaviours {
            let born = start..self.particles.len();
            now.behaviour.born(now, body, self.clock.time, born, &mut self.particles);
        }
        for history in &self.histories {
            history.born(start..self.particles.len(), &mut self.particles);
        }
        for history in &self.scalar_histories {
            history.born(start..self.particles.len(), &mut self.particles);
        }
    }

    /// Acceleration of a body by gravity alone, m/s².
    pub(crate) fn weight_of(&self, body: u32, t: f64) -> Vec4 {
        let gravity = self.behaviours.iter().find(|now| now.behaviour.schema().name == "gravity");
        let weight = gravity.map_or([0.0; 3], |now| now.weighted_vector_of("acceleration", body as usize, t));
        DVec3::from(weight).as_vec3().extend(0.0)
    }

    /// Chooses the time step from the state as it is: limits of motion, of every behaviour, of the scene.
    pub(crate) fn choose_step(&mut self) {
        let settings = self.clock.settings;
        if let Some(step) = settings.fixed_step {
            (self.clock.step, self.clock.binding) = (step, Limit::Fixed);
            return;
        }
        let length = self.discretisation.smoothing_length();
        let mut limits = Limits::new(f32::INFINITY);
        // Where nobody sums over neighbours, contact knows how fast particles may be; but not what solids will run into.
        let (speed, acceleration) =
            if self.has_sums { (self.clock.speed, self.clock.acceleration) } else { (0.0, 0.0) };
        limits.offer_motion(length, speed.max(self.fastest_solid()), acceleration);
        if self.is_incompressible() {
            // The pressure answers an acceleration a step late: above 0.2 a column of water caves in.
            limits.offer_acceleration(0.1, length, self.clock.acceleration);
        }
        let is_incompressible = self.is_incompressible();
        let lightest = |body: &BodyState| match is_incompressible {
            // Explicit friction passes nodes by: see `hide_nodes`.
            true if body.holds_shape => f32::INFINITY,
            true => body.rest_density,
            false => body.rest_density.min(body.thinnest),
        };
        let lightest = self.bodies.iter().map(lightest).fold(f32::INFINITY, f32::min);
        let state = LimitState {
            discretisation: &self.discretisation,
            lightest,
            speed: self.clock.speed,
            acceleration: self.clock.acceleration,
            has_fluid: self.has_fluid(),
            structure: &self.structure,
            memory_ease: self.memory_ease,
        };
        wall_contact::offer_limit(&self.discretisation, &mut limits);
        self.offer_contact_limit(&mut limits);
        for resolved in &self.behaviours {
            resolved.behaviour.limit(resolved, &state, &mut limits);
        }
        if let Some(step) = self.clock.proposed {
            // The error of a step knows what is too stiff for it; but not whom it would pass unseen.
            limits = Limits { step: step as f32, binding: Limit::Tolerance };
            if self.has_pair_laws() || !self.walls.is_empty() {
                limits.offer_motion(length, self.clock.speed, 0.0);
            }
        }
        self.forces.limit(self.clock.time, &self.particles, length, &mut limits);
        let step = f64::from(limits.step) * settings.caution;
        (self.clock.step, self.clock.binding) = if step > settings.maximum_step {
            (settings.maximum_step, Limit::Maximum)
        } else {
            (step, limits.binding)
        };
    }

    /// Evaluates all curves at the clock's time.
    pub(crate) fn evaluate_timeline(&mut self) {
        let t = self.clock.time;
        let mut changed = false;
        for body in &mut self.bodies {
            let now = body.rest_density_curve.at(t) as f32;
            changed |= now != body.rest_density;
            body.rest_density = now;
        }
        if changed {
            // A fluid that gets denser keeps its volume, and gains mass.
            self.particles.update(&MASS, |mass, particles| {
                let rows = particles.get(&VOLUME).iter().zip(particles.get(&BODY));
                for (mass, (volume, &body)) in mass.iter_mut().zip(rows) {
                    *mass = volume * self.bodies[body as usize].rest_density;
                }
            });
        }
        for resolved in &mut self.behaviours {
            resolved.evaluate(t, &self.particles);
            if changed {
                resolved.behaviour.weigh(resolved, &mut self.particles);
            }
        }
    }

    /// Makes the first time step known before anything has moved.
    fn first_step(&mut self) {
        self.evaluate_timeline();
        let velocities = self.particles.get(&VELOCITY).iter();
        let jets = self.emitters.iter().map(|emitter| emitter.top_speed() as f32);
        self.clock.speed = velocities.map(|v| v.length()).chain(jets).fold(0.0, f32::max);
        // Nothing has moved yet, but all of it weighs: without that, the first step would be as long as a frame.
        let weights =
            (0..self.bodies.len() as u32).map(|body| self.weight_of(body, self.clock.time).length());
        self.clock.acceleration = weights.fold(0.0, f32::max);
        self.choose_step();
    }

    /// Behaviours that make pressure; without any, density is not needed.
    pub fn has_pressure(&self) -> bool {
        self.behaviours.iter().any(|resolved| resolved.behaviour.has_pressure())
    }

    /// Whether there are bodies that hold no shape.
    pub(crate) fn has_fluid(&self) -> bool {
        self.bodies.iter().any(|body| !body.holds_shape)
    }

    /// Whether particles feel each other.
    fn has_pair_laws(&self) -> bool {
        let d = &self.discretisation;
        self.has_pressure() || self.behaviours.iter().any(|now| now.behaviour.pair_law(now, d).is_some())
    }

    /// Largest error of a step that chooses its length by it, m.
    pub(crate) fn tolerance(&self) -> f64 {
        let spacing = f64::from(self.discretisation.spacing);
        self.clock.settings.tolerance.unwrap_or(DEFAULT_TOLERANCE * spacing)
    }

    /// Behaviours that work between kick and drift.
    pub fn has_solve(&self) -> bool {
        self.behaviours.iter().any(Resolved::has_solve)
    }

    /// Memory of the particles with their lists and rows, bytes.
    pub fn particle_bytes(&self) -> usize {
        // Sorting swaps columns with one spare of each width.
        let columns = self.particles.len() * (self.particles.bytes_per_particle() + 16 + 4);
        let rows = 16
            * (self.packed.place.capacity() + self.packed.motion.capacity() + self.packed.viscous.capacity())
            + 4 * self.packed.shrink.capacity();
        let solves = self.particles.workspace.bytes() + self.pressure_solve.bytes();
        columns + rows + solves + 4 * self.packed.unity.capacity() + self.neighbourhood.particle_bytes()
    }

    /// Memory of the wall samples with their lists, bytes.
    pub fn wall_bytes(&self) -> usize {
        self.walls.bytes() + 4 * self.wall_pressure.capacity() + self.neighbourhood.wall_bytes()
    }
}

impl BodyState {
    fn new(body: &Body) -> BodyState {
        BodyState {
            name: body.name.clone(),
            rest_density_curve: body.rest_density.clone(),
            rest_density: body.rest_density.at(0.0) as f32,
            maximum: body.maximum,
            spacing: body.spacing,
            holds_shape: body.holds_shape(),
            is_fluid: body.is_fluid(),
            thinnest: f32::INFINITY,
        }
    }
}

impl Clock {
    fn new(settings: &Time) -> Clock {
        Clock {
            time: 0.0,
            steps: 0,
            step: 0.0,
            binding: Limit::Maximum,
            settings: *settings,
            proposed: None,
            speed: 0.0,
            acceleration: 0.0,
            bound: [0; Limit::ALL.len()],
        }
    }

    /// The step to take so that a frame's end is met exactly, and not by a tiny last step.
    pub fn step_towards(&self, end: f64) -> f64 {
        let left = end - self.time;
        let whole = (left / self.step - 1e-6).ceil().max(1.0);
        // A fixed step is kept as it is until the last one of the frame; an adaptive one is evened out.
        if self.settings.fixed_step.is_some() {
            if whole <= 1.0 { left } else { self.step }
        } else if whole <= 3.0 {
            left / whole
        } else {
            self.step
        }
    }
}

fn periods(domain: &Domain) -> Periods {
    let mut periods = Periods::default();
    for axis in 0..3 {
        if domain.sides[axis][0] == Side::Periodic {
            periods.min[axis] = domain.min[axis] as f32;
            periods.length[axis] = (domain.max[axis] - domain.min[axis]) as f32;
        }
    }
    periods
}

/// The bodies' behaviours, with numbers in place of `Automatic`.
fn behaviours_with_numbers(scene: &Scene) -> Vec<Vec<BehaviourUse>> {
    let sound_speed = automatic_sound_speed(scene);
    let fluid = scene.bodies.iter().find(|body| body.is_fluid());
    let liquid_density = fluid.map_or(1000.0, |body| body.rest_density.at(0.0));
    let fill = |mut used: BehaviourUse, body: &Body| {
        for (value, property) in used.values.iter_mut().zip(used.schema.properties) {
            if *value == Value::Automatic {
                *value = match (used.schema.name, property.name) {
                    ("gravity", "acceleration") | ("underwater", "gravity") => Value::Vector(scene.gravity),
                    ("stretch-limit", "down") => Value::Vector(scene.gravity),
                    ("tait" | "double-density", "sound_speed") => Value::Number(Curve::constant(sound_speed)),
                    ("porous", "liquid_density") => Value::Number(Curve::constant(liquid_density)),
                    ("contact", "distance") => Value::Number(Curve::constant(body.spacing)),
                    ("gas", "stiffness") => Value::Number(Curve::constant(sound_speed * sound_speed)),
                    (schema, name) => unreachable!("`{schema}.{name}` has no automatic value"),
                };
            }
        }
        used
    };
    let filled = |body: &Body| body.behaviours.iter().cloned().map(|used| fill(used, body)).collect();
    scene.bodies.iter().map(filled).collect()
}
