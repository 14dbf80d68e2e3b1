//! Everything that lives on the device.

use wgpu::BufferUsages as Use;

use super::GpuError;
use super::clock::ClockRow;
use super::device::Device;
use super::grid::{CELLS_IN_BLOCK, FiledWalls, GridRow, cell_budget};
use super::program::Program;
use crate::columns::*;
use crate::world::World;

/// Columns in the order of ids, and rows in the order of cells.
pub(super) struct Buffers {
    // Columns: what is read back.
    pub position: wgpu::Buffer,
    pub velocity: wgpu::Buffer,
    pub acceleration: wgpu::Buffer,
    /// Density and pressure.
    pub state: wgpu::Buffer,
    /// Volume and body: they never change.
    pub constant: wgpu::Buffer,

    // Rows after particles moved, before they are sorted.
    pub moved_place: wgpu::Buffer,
    pub moved_velocity: wgpu::Buffer,
    pub moved_tags: wgpu::Buffer,
    pub moved_acceleration: wgpu::Buffer,
    /// Cell and rank of each.
    pub filed: wgpu::Buffer,

    // Rows in the order of cells.
    pub place: wgpu::Buffer,
    pub motion: wgpu::Buffer,
    /// Column row and body of each particle.
    pub tags: wgpu::Buffer,
    pub states: wgpu::Buffer,
    pub list_lengths: wgpu::Buffer,
    pub list_entries: wgpu::Buffer,
    /// Rows that carry V over the kernel sum, for normalised density.
    pub thinned: wgpu::Buffer,
    /// Rows that carry the volume as pair laws see it; only if the pressure form changes it.
    pub terms: wgpu::Buffer,

    // The sort.
    pub grid: wgpu::Buffer,
    pub counts: wgpu::Buffer,
    pub sums: wgpu::Buffer,
    pub starts: wgpu::Buffer,
    pub buckets: wgpu::Buffer,

    pub walls: WallBuffers,
    pub tables: wgpu::Buffer,
    pub clock: wgpu::Buffer,
    pub extremes: wgpu::Buffer,
    /// Workgroups of the kernels to come.
    pub groups: wgpu::Buffer,

    /// Where the host reads.
    pub columns_read: wgpu::Buffer,
    pub clock_read: wgpu::Buffer,
}

pub(super) struct WallBuffers {
    pub grid: wgpu::Buffer,
    pub starts: wgpu::Buffer,
    pub place: wgpu::Buffer,
    pub motion: wgpu::Buffer,
    pub face: wgpu::Buffer,
    pub share: wgpu::Buffer,
    /// Pressure terms, found anew in each step.
    pub pressure: wgpu::Buffer,
}

/// Bytes of a particle in the columns that are read back: three rows of four, density and pressure.
pub(super) const COLUMN_BYTES: u64 = 3 * 16 + 8;

impl Buffers {
    pub fn new(device: &Device, world: &World, program: &Program) -> Result<Buffers, GpuError> {
        let count = world.particles.len();
        let n = count as u64;
        let limit = device.largest_binding();
        let cells = (cell_budget(count, limit) + 1).next_multiple_of(u64::from(CELLS_IN_BLOCK));
        if 16 * n > limit {
            return Err(GpuError::TooLarge { adapter: device.adapter(), count, bytes: 16 * n, limit });
        }

        let scope = device.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let rows = |label, bytes: u64| device.buffer(label, bytes * n, Use::empty());
        let column = |label, bytes: u64| device.buffer(label, bytes * n, Use::COPY_SRC | Use::COPY_DST);
        let only_if = |used: bool, label| rows(label, if used { 16 } else { 0 });
        let readable = |label, size: u64| {
            device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: Use::MAP_READ | Use::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let clock_bytes = size_of::<ClockRow>() as u64;
        let buffers = Buffers {
            position: column("position", 16),
            velocity: column("velocity", 16),
            acceleration: column("acceleration", 16),
            state: column("state", 8),
            constant: column("constant", 8),
            moved_place: rows("moved place", 16),
            moved_velocity: rows("moved velocity", 16),
            moved_tags: rows("moved tags", 8),
            moved_acceleration: rows("moved acceleration", 16),
            filed: rows("filed", 8),
            place: rows("place", 16),
            motion: rows("motion", 16),
            tags: rows("tags", 8),
            states: rows("states", 8),
            list_lengths: rows("list lengths", 4),
            list_entries: rows("list entries", 4 * u64::from(program.list_capacity)),
            thinned: only_if(program.normalised, "thinned"),
            terms: only_if(program.by_sum, "terms"),
            grid: device.buffer("grid", size_of::<GridRow>() as u64, Use::UNIFORM | Use::COPY_DST),
            counts: device.buffer("counts", 4 * cells, Use::COPY_DST),
            sums: device.buffer("sums", 4 * cells / u64::from(CELLS_IN_BLOCK), Use::empty()),
            starts: device.buffer("starts", 4 * cells, Use::empty()),
            buckets: rows("buckets", 4),
            walls: WallBuffers::new(device, world, program.walls),
            tables: device.filled("tables", &program.tables, Use::STORAGE),
            clock: device.buffer("clock", clock_bytes, Use::COPY_SRC | Use::COPY_DST),
            extremes: device.buffer("extremes", 16, Use::COPY_DST),
            groups: device.buffer("groups", 48, Use::INDIRECT),
            columns_read: readable("columns, read", (COLUMN_BYTES * n).max(16)),
            clock_read: readable("clock, read", clock_bytes),
        };
        if pollster::block_on(scope.pop()).is_some() {
            let bytes = n * (300 + 4 * u64::from(program.list_capacity)) + 8 * cells;
            return Err(GpuError::OutOfMemory { adapter: device.adapter(), count, bytes });
        }
        Ok(buffers)
    }

    /// Memory on the device, bytes.
    pub fn bytes(&self) -> u64 {
        let columns = [&self.position, &self.velocity, &self.acceleration, &self.state, &self.constant];
        let moved = [
            &self.moved_place,
            &self.moved_velocity,
            &self.moved_tags,
            &self.moved_acceleration,
            &self.filed,
        ];
        let sorted = [&self.place, &self.motion, &self.tags, &self.states, &self.thinned, &self.terms];
        let lists =
            [&self.list_lengths, &self.list_entries, &self.counts, &self.sums, &self.starts, &self.buckets];
        let w = &self.walls;
        let walls = [&w.starts, &w.place, &w.motion, &w.face, &w.share, &w.pressure];
        let all = columns.into_iter().chain(moved).chain(sorted).chain(lists).chain(walls);
        all.map(wgpu::Buffer::size).sum::<u64>() + self.columns_read.size()
    }

    /// Sends the world's columns, which must stand in the order of ids.
    pub fn upload(&self, device: &Device, world: &World) {
        let particles = &world.particles;
        let send = |buffer: &wgpu::Buffer, bytes: &[u8]| device.queue.write_buffer(buffer, 0, bytes);
        send(&self.position, bytemuck::cast_slice(particles.get(&POSITION)));
        send(&self.velocity, bytemuck::cast_slice(particles.get(&VELOCITY)));
        send(&self.acceleration, bytemuck::cast_slice(particles.get(&ACCELERATION)));
        let pairs =
            |a: &[f32], b: &[f32]| -> Vec<[f32; 2]> { a.iter().zip(b).map(|(&a, &b)| [a, b]).collect() };
        let state = pairs(particles.get(&DENSITY), particles.get(&PRESSURE));
        send(&self.state, bytemuck::cast_slice(&state));
        let body: Vec<f32> = particles.get(&BODY).iter().map(|&body| body as f32).collect();
        send(&self.constant, bytemuck::cast_slice(&pairs(particles.get(&VOLUME), &body)));
    }
}

impl WallBuffers {
    fn new(device: &Device, world: &World, walls: bool) -> WallBuffers {
        let storage = |label, content: &[glam::Vec4]| device.filled(label, content, Use::STORAGE);
        if !walls {
            let nothing = |label| storage(label, &[glam::Vec4::ZERO]);
            return WallBuffers {
                grid: device.filled("wall grid", &[0u32; 16], Use::UNIFORM),
                starts: nothing("wall starts"),
                place: nothing("wall place"),
                motion: nothing("wall motion"),
                face: nothing("wall face"),
                share: nothing("wall share"),
                pressure: nothing("wall pressure"),
            };
        }
        let filed =
            FiledWalls::new(&world.walls, world.discretisation.support, &world.domain, &world.periods);
        WallBuffers {
            grid: device.filled("wall grid", &[filed.grid], Use::UNIFORM),
            starts: device.filled("wall starts", &filed.starts, Use::STORAGE),
            place: storage("wall place", &filed.place),
            motion: storage("wall motion", &filed.motion),
            face: storage("wall face", &filed.face),
            share: device.filled("wall share", &filed.share, Use::STORAGE),
            pressure: device.buffer("wall pressure", 4 * world.walls.len() as u64, Use::empty()),
        }
    }
}
