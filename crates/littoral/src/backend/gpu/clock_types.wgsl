// Simulated time on the device.

struct Clock {
    // Time to the end of the frame, in ticks (low and high word): a whole number, so that frames end exactly.
    left: vec2u,
    // The coming step, in ticks.
    ticks: vec2u,
    // A fixed step, in ticks.
    fixed_ticks: vec2u,
    // Length of a tick, a power of two, s, and its inverse.
    tick: f32,
    per_tick: f32,
    // The coming step, s; and what it was before it was fitted to the end of the frame.
    dt: f32,
    step: f32,
    binding: u32,
    // Fixed step, s; 0 when adaptive.
    fixed_step: f32,
    caution: f32,
    maximum_step: f32,
    minimum_step: f32,
    speed: f32,
    acceleration: f32,
    steps: u32,
    // Steps that may still be taken.
    budget: u32,
    caught: u32,
    // 1: no longer finite; 2: the step is too small.
    trouble: u32,
    // Workgroups of a kernel over particles, over cells, and over wall samples.
    particle_groups: vec2u,
    cell_groups: vec2u,
    wall_groups: vec2u,
    // Steps that each limit bound.
    bound: array<u32, 16>,
}

struct Extremes {
    speed2: atomic<u32>,
    acceleration2: atomic<u32>,
    caught: atomic<u32>,
}
