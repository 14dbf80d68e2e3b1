//! Frames on the device: sending steps ahead, and reading the columns back.

use std::time::{Duration, Instant};

use glam::Vec4;

use super::GpuError;
use super::buffers::{Buffers, COLUMN_BYTES};
use super::clock::{ClockRow, NOT_FINITE, TOO_SMALL};
use super::device::{Device, folded};
use super::grid::{GridRow, cell_budget};
use super::kernels::{Kernels, Over};
use super::program::{CELLS_IN_REACH, GROUP_SIZE, Program};
use crate::columns::*;
use crate::scene::{IntegratorName, Time, WallModel};
use crate::step::StepError;
use crate::timestep::Limit;
use crate::world::World;

/// A world on a device.
pub struct GpuWorld {
    device: Device,
    buffers: Buffers,
    kernels: Kernels,
    count: usize,
    /// The clock as last read.
    clock: ClockRow,
    /// Steps that go into one submission: the host encodes the next while the device works on it.
    steps_ahead: u32,
    settings: Time,
    verlet: bool,
    uploaded: bool,
}

/// A submission should keep the device busy for about this long: long enough to hide the sending, short enough
/// for watchdogs and for a user who wants to stop.
const SUBMISSION: Duration = Duration::from_millis(100);
const MOST_STEPS_AHEAD: u32 = 64;

impl GpuWorld {
    /// Sends a world to the device and compiles its step. Refuses what cannot run there yet.
    pub fn new(device: Device, world: &World) -> Result<GpuWorld, GpuError> {
        check(world)?;
        let program = Program::new(world, device.largest_binding())?;
        let buffers = Buffers::new(&device, world, &program)?;
        let kernels = Kernels::new(&device, &program, &buffers);
        let settings = world.clock.settings;
        Ok(GpuWorld {
            device,
            buffers,
            kernels,
            count: world.particles.len(),
            clock: ClockRow::default(),
            steps_ahead: 4,
            settings,
            verlet: program.verlet,
            uploaded: false,
        })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Memory on the device, bytes.
    pub fn bytes(&self) -> u64 {
        self.buffers.bytes()
    }

    /// Steps until `end`, s, which is met exactly, and brings the columns and the clock of `world` up to date.
    pub fn advance_to(&mut self, world: &mut World, end: f64) -> Result<(), GpuError> {
        let span = end - world.clock.time;
        if span <= 1e-9 * end.abs().max(1e-3) {
            return Ok(());
        }
        self.start(world, ClockRow::new(&self.settings, span, u32::MAX))?;
        while !self.clock.stopped() {
            let expected = (self.clock.seconds_left() / f64::from(self.clock.step)).ceil();
            // Steps tend to shorten as a flow picks up speed: send some more, which cost little if not needed.
            self.send_steps((1.1 * expected).min(1e6) as u32 + 2)?;
            self.read_clock()?;
        }
        self.fetch(world)?;
        self.settle_clock(world, end, span)
    }

    /// Runs `n` steps without reading anything back, for benchmarks; `dt` fixes their length, s.
    ///
    /// The world must have been sent before, by [`GpuWorld::upload`].
    pub fn run_steps(&mut self, n: u32, dt: Option<f32>) -> Result<(), GpuError> {
        let step = dt.map_or(f64::from(self.clock.step), f64::from);
        let mut settings = self.settings;
        settings.fixed_step = dt.map(f64::from).or(settings.fixed_step);
        // An end too far away to be met.
        let mut clock = ClockRow::new(&settings, 1e6 * step * f64::from(n.max(1)), n);
        (clock.step, clock.binding) = (step as f32, self.clock.binding);
        self.begin(clock);
        self.send_steps(n)?;
        self.read_clock()
    }

    /// Sends the world as it is now, and makes it ready for [`GpuWorld::run_steps`].
    pub fn upload(&mut self, world: &mut World) -> Result<(), GpuError> {
        self.uploaded = false;
        self.start(world, ClockRow::new(&self.settings, 1.0, 0))
    }

    /// Mean time of each kernel over `n` steps, where the adapter can tell.
    pub fn profile(&mut self, n: u32, dt: Option<f32>) -> Result<Vec<(&'static str, Duration)>, GpuError> {
        if !self.device.timestamps {
            return Ok(Vec::new());
        }
        let kernels = self.kernels.step.len() as u32;
        let set = self.device.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("profile"),
            ty: wgpu::QueryType::Timestamp,
            count: kernels + 1,
        });
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let bytes = 8 * u64::from(kernels + 1);
        let resolved = self.device.buffer("profile", bytes, usage);
        let readable = self.device.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("profile, read"),
            size: bytes,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut ticks = vec![0u64; kernels as usize];
        for _ in 0..n {
            self.run_steps(0, dt)?;
            let mut clock = self.clock;
            clock.budget = 1;
            self.begin(clock);
            let mut encoder = self.encoder();
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.write_timestamp(&set, 0);
            for (k, kernel) in (1..).zip(&self.kernels.step) {
                Kernels::run(&mut pass, kernel, &self.buffers.groups);
                pass.write_timestamp(&set, k);
            }
            drop(pass);
            encoder.resolve_query_set(&set, 0..kernels + 1, &resolved, 0);
            encoder.copy_buffer_to_buffer(&resolved, 0, &readable, 0, bytes);
            self.device.queue.submit([encoder.finish()]);
            self.read_clock()?;
            self.device.read(&readable, |bytes| {
                let at: Vec<u64> = bytemuck::pod_collect_to_vec(bytes);
                ticks.iter_mut().zip(at.windows(2)).for_each(|(t, w)| *t += w[1].saturating_sub(w[0]));
            })?;
        }
        let period = f64::from(self.device.queue.get_timestamp_period()) * 1e-9;
        let mean = |ticks: u64| Duration::from_secs_f64(ticks as f64 * period / f64::from(n.max(1)));
        Ok(self.kernels.step.iter().zip(ticks).map(|((kernel, _), t)| (kernel.name, mean(t))).collect())
    }

    /// Columns to rows, cells laid out, clock set: ready for steps.
    fn start(&mut self, world: &mut World, mut clock: ClockRow) -> Result<(), GpuError> {
        if world.particles.len() != self.count {
            return Err(GpuError::Changed { then: self.count, now: world.particles.len() });
        }
        if !self.uploaded {
            // The device keeps columns in the order of ids; so does the world from now on.
            let ids = world.particles.get(&ID);
            if !ids.is_sorted() {
                let mut order: Vec<u32> = (0..ids.len() as u32).collect();
                order.sort_unstable_by_key(|&i| ids[i as usize]);
                world.particles.reorder(&order);
            }
            self.buffers.upload(&self.device, world);
            self.uploaded = true;
        }
        clock.step = world.clock.step as f32;
        clock.binding = world.clock.binding as u32;
        let d = &world.discretisation;
        let margin = (world.clock.speed * clock.seconds_left() as f32).min(20.0 * d.support) + d.support;
        let grid = GridRow::lay_out(
            world.particles.get(&POSITION),
            d.support,
            CELLS_IN_REACH,
            cell_budget(self.count, self.device.largest_binding()),
            margin,
            &world.domain,
            &world.periods,
        );
        self.device.queue.write_buffer(&self.buffers.grid, 0, bytemuck::bytes_of(&grid));
        self.clock.cell_groups = folded(grid.blocks);
        self.clock.particle_groups = folded((self.count as u32).div_ceil(GROUP_SIZE));
        self.clock.wall_groups = folded((world.walls.len() as u32).div_ceil(GROUP_SIZE));

        let mut encoder = self.encoder();
        encoder.clear_buffer(&self.buffers.counts, 0, None);
        encoder.clear_buffer(&self.buffers.extremes, 0, None);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        self.kernels.restore.run(&mut pass, self.clock.particle_groups);
        drop(pass);
        if self.verlet && world.clock.steps == 0 {
            self.evaluate_forces(&mut encoder);
        }
        self.device.queue.submit([encoder.finish()]);
        self.begin(clock);
        Ok(())
    }

    /// The first step of velocity Verlet needs an acceleration: a step of no length finds it.
    fn evaluate_forces(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.buffers.clock, 0, None);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for (kernel, over) in &self.kernels.step {
            match over {
                Over::Particles => kernel.run(&mut pass, self.clock.particle_groups),
                Over::Cells => kernel.run(&mut pass, self.clock.cell_groups),
                Over::Walls => kernel.run(&mut pass, self.clock.wall_groups),
                Over::Once => {}
            }
        }
        drop(pass);
        encoder.clear_buffer(&self.buffers.extremes, 0, None);
    }

    /// Sets the clock, and lets the device decide on the first step.
    fn begin(&mut self, clock: ClockRow) {
        self.clock = ClockRow {
            particle_groups: self.clock.particle_groups,
            cell_groups: self.clock.cell_groups,
            wall_groups: self.clock.wall_groups,
            ..clock
        };
        self.device.queue.write_buffer(&self.buffers.clock, 0, bytemuck::bytes_of(&self.clock));
        let mut encoder = self.encoder();
        let mut pass = encoder.begin_compute_pass(&Default::default());
        self.kernels.begin.run(&mut pass, [1, 1]);
        drop(pass);
        self.device.queue.submit([encoder.finish()]);
    }

    /// Sends `n` steps, a few in each submission.
    fn send_steps(&mut self, n: u32) -> Result<(), GpuError> {
        let mut sent = 0;
        while sent < n {
            let now = self.steps_ahead.min(n - sent);
            let start = Instant::now();
            let mut encoder = self.encoder();
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for _ in 0..now {
                for kernel in &self.kernels.step {
                    Kernels::run(&mut pass, kernel, &self.buffers.groups);
                }
            }
            drop(pass);
            self.device.queue.submit([encoder.finish()]);
            sent += now;
            // While the size of a submission is being found, wait for each, and then double it.
            if self.steps_ahead < MOST_STEPS_AHEAD && now == self.steps_ahead {
                self.device.wait()?;
                if start.elapsed() < SUBMISSION / 2 {
                    self.steps_ahead *= 2;
                }
            }
        }
        Ok(())
    }

    /// The clock comes back: a few bytes, once for a stream of steps.
    fn read_clock(&mut self) -> Result<(), GpuError> {
        let bytes = size_of::<ClockRow>() as u64;
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(&self.buffers.clock, 0, &self.buffers.clock_read, 0, bytes);
        self.device.queue.submit([encoder.finish()]);
        self.clock = self.device.read(&self.buffers.clock_read, bytemuck::pod_read_unaligned)?;
        Ok(())
    }

    /// The columns come back: once a frame.
    fn fetch(&mut self, world: &mut World) -> Result<(), GpuError> {
        let b = &self.buffers;
        let n = self.count as u64;
        let mut encoder = self.encoder();
        let mut pass = encoder.begin_compute_pass(&Default::default());
        self.kernels.collect.run(&mut pass, self.clock.particle_groups);
        drop(pass);
        let mut at = 0;
        for (column, bytes) in [(&b.position, 16), (&b.velocity, 16), (&b.acceleration, 16), (&b.state, 8)] {
            encoder.copy_buffer_to_buffer(column, 0, &b.columns_read, at, bytes * n);
            at += bytes * n;
        }
        debug_assert_eq!(at, COLUMN_BYTES * n);
        self.device.queue.submit([encoder.finish()]);
        let particles = &mut world.particles;
        let count = self.count;
        self.device.read(&b.columns_read, |bytes| {
            let (rows, state) = bytes.split_at(48 * count);
            for (key, rows) in [&POSITION, &VELOCITY, &ACCELERATION].into_iter().zip(rows.chunks(16 * count))
            {
                let column: &mut [Vec4] = particles.get_mut(key);
                bytemuck::cast_slice_mut::<Vec4, u8>(column).copy_from_slice(rows);
            }
            let value =
                |k: usize| f32::from_le_bytes(state[4 * k..4 * k + 4].try_into().expect("four bytes"));
            let density = particles.get_mut(&DENSITY);
            density.iter_mut().enumerate().for_each(|(i, v)| *v = value(2 * i));
            let pressure = particles.get_mut(&PRESSURE);
            pressure.iter_mut().enumerate().for_each(|(i, v)| *v = value(2 * i + 1));
        })
    }

    /// The world's clock takes over what the device's says, and its errors.
    fn settle_clock(&self, world: &mut World, end: f64, span: f64) -> Result<(), GpuError> {
        let now = &self.clock;
        let clock = &mut world.clock;
        let limit = Limit::ALL[now.binding as usize];
        clock.time = if now.left == [0, 0] { end } else { end - now.seconds_left() };
        clock.steps += u64::from(now.steps);
        clock.step = f64::from(now.step);
        clock.binding = limit;
        (clock.speed, clock.acceleration) = (now.speed, now.acceleration);
        clock.bound.iter_mut().zip(now.bound).for_each(|(sum, more)| *sum += u64::from(more));
        world.caught += u64::from(now.caught);
        world.forget_neighbours();
        debug_assert!(span > 0.0);
        let clock = &world.clock;
        match now.trouble {
            NOT_FINITE => {
                let velocity = world.particles.get(&VELOCITY);
                let bad = velocity.iter().position(|v| !v.is_finite()).unwrap_or(0);
                let finite = world.particles.get(&DENSITY)[bad].is_finite();
                Err(StepError::NotFinite {
                    id: world.particles.get(&ID)[bad],
                    body: world.bodies[world.particles.get(&BODY)[bad] as usize].name.clone(),
                    what: if finite { "velocity" } else { "density" },
                    step: clock.steps,
                    time: clock.time,
                    dt: f64::from(now.step),
                    limit: limit.name(),
                }
                .into())
            }
            TOO_SMALL => {
                let minimum = clock.settings.minimum_step;
                let (step, time) = (clock.step, clock.time);
                Err(StepError::TooSmall { step, time, minimum, limit: limit.name() }.into())
            }
            _ => Ok(()),
        }
    }

    fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.device.create_command_encoder(&Default::default())
    }
}

/// Refuses what the device cannot do yet.
fn check(world: &World) -> Result<(), GpuError> {
    let refuse = |what: String, remedy| Err(GpuError::Unsupported { what, remedy });
    let integrator = world.clock.settings.integrator;
    if !matches!(integrator, IntegratorName::SymplecticEuler | IntegratorName::VelocityVerlet) {
        let what = format!("the integrator `{}` is", integrator.name());
        return refuse(what, "use `symplectic-euler` or `velocity-verlet`");
    }
    if !world.emitters.is_empty() {
        return refuse("bodies that flow in through an emitter are".to_owned(), "give them a shape");
    }
    if !world.forces.is_empty() {
        return refuse("force fields are".to_owned(), "leave them out");
    }
    if !world.sinks.is_empty() {
        return refuse("sinks are".to_owned(), "leave them out");
    }
    if !world.solids.is_empty() {
        return refuse("solids are".to_owned(), "leave them out");
    }
    if world.discretisation.walls != WallModel::Samples {
        return refuse("walls other than boundary samples are".to_owned(), "use `walls = \"samples\"`");
    }
    if world.particles.is_empty() {
        return refuse("a world without particles is".to_owned(), "add a body");
    }
    for body in &world.bodies {
        if body.rest_density_curve.as_constant().is_none() {
            let what = format!("the density of body `{}` changes during the run, which is", body.name);
            return refuse(what, "give it one number");
        }
    }
    let particles = &world.particles;
    if world.discretisation.has_sizes() {
        return refuse("particles of several sizes are".to_owned(), "use one spacing for all bodies");
    }
    // The device makes mass from volume and rest density.
    let rows = particles.get(&MASS).iter().zip(particles.get(&VOLUME)).zip(particles.get(&BODY));
    for ((&mass, &volume), &body) in rows {
        let expected = volume * world.bodies[body as usize].rest_density;
        if (mass - expected).abs() > 1e-5 * expected {
            return refuse("masses unlike volume times rest density are".to_owned(), "use the scene's own");
        }
    }
    Ok(())
}
