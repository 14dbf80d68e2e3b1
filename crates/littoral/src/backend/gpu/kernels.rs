//! The kernels of a step, compiled.

use super::buffers::Buffers;
use super::device::{Device, Kernel, read, uniform, write};
use super::program::Program;

/// What a kernel runs over.
#[derive(Clone, Copy)]
pub(super) enum Over {
    Particles,
    Cells,
    Walls,
    /// One thread, always.
    Once,
}

pub(super) struct Kernels {
    /// Columns to rows, at the start of a frame.
    pub restore: Kernel,
    /// Decides whether there is a first step.
    pub begin: Kernel,
    /// A step, in order.
    pub step: Vec<(Kernel, Over)>,
    /// Rows to columns, at the end of a frame.
    pub collect: Kernel,
}

impl Kernels {
    /// Sends a kernel of the step. Its number of workgroups stands in [`Buffers::groups`], and is zero when there is
    /// no step to take.
    pub fn run(pass: &mut wgpu::ComputePass, (kernel, over): &(Kernel, Over), groups: &wgpu::Buffer) {
        match over {
            Over::Particles => kernel.run_indirect(pass, groups, 0),
            Over::Cells => kernel.run_indirect(pass, groups, 16),
            Over::Walls => kernel.run_indirect(pass, groups, 32),
            Over::Once => kernel.run(pass, [1, 1]),
        }
    }

    pub fn new(device: &Device, program: &Program, b: &Buffers) -> Kernels {
        let grid = include_str!("grid.wgsl");
        let clock_types = include_str!("clock_types.wgsl");
        let (file, motion) = (include_str!("file.wgsl"), include_str!("motion.wgsl"));
        let tables = [read(&b.tables)];
        let walls = [
            uniform(&b.walls.grid),
            read(&b.walls.starts),
            read(&b.walls.place),
            read(&b.walls.motion),
            read(&b.walls.face),
            read(&b.walls.pressure),
        ];
        let mut step: Vec<(Kernel, Over)> = Vec::new();

        // Stages 5 and 7 of velocity Verlet, which come before the forces.
        if program.verlet {
            let text = program.text(&[grid, clock_types, motion, file, include_str!("drift.wgsl")]);
            let own = [
                write(&b.filed),
                write(&b.counts),
                read(&b.clock),
                write(&b.moved_place),
                write(&b.moved_velocity),
                read(&b.moved_acceleration),
                write(&b.extremes),
            ];
            let module = device.module("drift", &text);
            step.push((Kernel::new(device, "drift", &module, &[&[uniform(&b.grid)], &own]), Over::Particles));
        }

        // Stage 2.
        let module = device.module("scan", &program.text(&[grid, include_str!("scan.wgsl")]));
        let groups: [&[_]; 1] = [&[write(&b.counts), write(&b.sums), write(&b.starts)]];
        step.push((Kernel::new(device, "sum_blocks", &module, &groups), Over::Cells));
        step.push((Kernel::new(device, "scan", &module, &groups), Over::Cells));

        let module = device.module("sort", &program.text(&[grid, include_str!("sort.wgsl")]));
        let own = [
            read(&b.starts),
            read(&b.filed),
            write(&b.buckets),
            read(&b.moved_place),
            read(&b.moved_velocity),
            read(&b.moved_tags),
            write(&b.place),
            write(&b.motion),
            write(&b.tags),
        ];
        let groups: [&[_]; 1] = [&own];
        step.push((Kernel::new(device, "bucket", &module, &groups), Over::Particles));
        step.push((Kernel::new(device, "arrange", &module, &groups), Over::Particles));

        // Stage 3.
        if program.has_pressure {
            let module = device.module("density", &program.sweeping(&[include_str!("density.wgsl")]));
            let own =
                |out, place| [read(&b.tags), write(&b.motion), write(&b.states), write(out), read(place)];
            let swept = |rows| {
                [
                    uniform(&b.grid),
                    read(&b.starts),
                    read(rows),
                    write(&b.list_lengths),
                    write(&b.list_entries),
                ]
            };
            // Bindings that a kernel does not use must still not be both read and written: any spare buffer will do.
            let spare = &b.moved_place;
            let out = if program.normalised { &b.thinned } else { &b.terms };
            let groups: [&[_]; 4] = [&swept(&b.place), &own(out, spare), &walls, &tables];
            step.push((Kernel::new(device, "density", &module, &groups), Over::Particles));
            if program.normalised {
                let groups: [&[_]; 4] = [&swept(&b.thinned), &own(&b.terms, &b.place), &walls, &tables];
                step.push((Kernel::new(device, "normalise", &module, &groups), Over::Particles));
            }
        }

        if program.has_pressure && program.walls {
            let module =
                device.module("wall pressure", &program.sweeping(&[include_str!("wall_pressure.wgsl")]));
            let swept = [
                uniform(&b.grid),
                read(&b.starts),
                read(&b.place),
                write(&b.list_lengths),
                write(&b.list_entries),
            ];
            let own = [read(&b.tags), read(&b.walls.share), write(&b.walls.pressure)];
            // Without the last one, which is written here.
            let groups: [&[_]; 4] = [&swept, &own, &walls[..5], &tables];
            step.push((Kernel::new(device, "press", &module, &groups), Over::Walls));
        }

        // Stages 4 to 7.
        let text = program.sweeping(&[clock_types, motion, file, include_str!("force.wgsl")]);
        let module = device.module("force", &text);
        let rows = if program.by_sum && program.has_pressure { &b.terms } else { &b.place };
        let swept =
            [uniform(&b.grid), read(&b.starts), read(rows), write(&b.list_lengths), write(&b.list_entries)];
        let own = [
            write(&b.filed),
            write(&b.counts),
            read(&b.motion),
            read(&b.tags),
            read(&b.place),
            read(&b.clock),
            write(&b.moved_place),
            write(&b.moved_velocity),
            write(&b.moved_tags),
            write(&b.moved_acceleration),
            write(&b.extremes),
        ];
        let groups: [&[_]; 4] = [&swept, &own, &walls, &tables];
        step.push((Kernel::new(device, "force", &module, &groups), Over::Particles));

        // Stage 11.
        let module = device.module("clock", &program.clock());
        let own = [write(&b.clock), write(&b.extremes), write(&b.groups)];
        let nothing = [];
        let groups: [&[_]; 4] = [&own, &nothing, &nothing, &tables];
        let begin = Kernel::new(device, "begin", &module, &groups);
        step.push((Kernel::new(device, "end_step", &module, &groups), Over::Once));

        let text = program.text(&[grid, file, include_str!("columns.wgsl")]);
        let module = device.module("columns", &text);
        let own = [
            write(&b.filed),
            write(&b.counts),
            write(&b.position),
            write(&b.velocity),
            write(&b.acceleration),
            write(&b.state),
            read(&b.constant),
            write(&b.moved_place),
            write(&b.moved_velocity),
            write(&b.moved_tags),
            write(&b.moved_acceleration),
            read(&b.states),
        ];
        let groups: [&[_]; 2] = [&[uniform(&b.grid)], &own];
        let restore = Kernel::new(device, "restore", &module, &groups);
        let collect = Kernel::new(device, "collect", &module, &groups);
        Kernels { restore, begin, step, collect }
    }
}
