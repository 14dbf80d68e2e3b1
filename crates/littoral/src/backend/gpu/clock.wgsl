// Stage 11: the next time step, and whether there is one. The twin of World::choose_step and
// Clock::step_towards. When the frame's end is reached, or something is wrong, the workgroups of all further
// kernels are set to zero: steps that were sent ahead then cost next to nothing.

@group(0) @binding(0) var<storage, read_write> clock: Clock;
@group(0) @binding(1) var<storage, read_write> extremes: Extremes;
// Workgroups of kernels over particles, over cells, and over wall samples.
@group(0) @binding(2) var<storage, read_write> groups: array<u32, 12>;

// The numbers of timestep.rs.
const limit_fixed = 0u;
const limit_maximum = 1u;
const limit_velocity = 2u;
const limit_acceleration = 3u;

const not_finite = 0x7f800000u;

struct Limits {
    step: f32,
    binding: u32,
}

fn offer(limits: ptr<function, Limits>, binding: u32, step: f32) {
    if step < (*limits).step {
        *limits = Limits(step, binding);
    }
}

fn choose_step() {
    if clock.fixed_step > 0.0 {
        clock.step = clock.fixed_step;
        clock.binding = limit_fixed;
        return;
    }
    var limits = Limits(largest, limit_maximum);
    offer(&limits, limit_velocity, 0.4 * smoothing_length / max(clock.speed, smallest));
    let bend = sqrt(smoothing_length / max(clock.acceleration, smallest));
    offer(&limits, limit_acceleration, 0.25 * bend);
    offer_limits(&limits, clock.speed);
    clock.step = limits.step * clock.caution;
    clock.binding = limits.binding;
    if clock.step > clock.maximum_step {
        clock.step = clock.maximum_step;
        clock.binding = limit_maximum;
    }
}

// The step to take so that the frame's end is met exactly, and not by a tiny last step.
fn step_towards_end() {
    let left = seconds(clock.left);
    let whole = max(ceil(left / clock.step - 1e-6), 1.0);
    if whole <= 1.0 {
        clock.dt = left;
        clock.ticks = clock.left;
        return;
    }
    if clock.fixed_step > 0.0 {
        clock.dt = clock.fixed_step;
        clock.ticks = clock.fixed_ticks;
    } else {
        clock.dt = select(clock.step, left / whole, whole <= 3.0);
        clock.ticks = ticks_of(clock.dt);
    }
    if !less(clock.ticks, clock.left) {
        clock.ticks = clock.left;
    }
}

fn seconds(ticks: vec2u) -> f32 {
    return (f32(ticks.y) * 4294967296.0 + f32(ticks.x)) * clock.tick;
}

// Exact: ticks are powers of two, and far shorter than the last digit of a step.
fn ticks_of(time: f32) -> vec2u {
    let ticks = time * clock.per_tick;
    let high = floor(ticks / 4294967296.0);
    return vec2u(u32(ticks - high * 4294967296.0), u32(high));
}

fn less(a: vec2u, b: vec2u) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn minus(a: vec2u, b: vec2u) -> vec2u {
    return vec2u(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

// Sends the next step on its way, or stops.
fn proceed() {
    let go = clock.trouble == 0u && clock.budget > 0u && any(clock.left != vec2u(0u));
    if go {
        step_towards_end();
    } else {
        clock.dt = 0.0;
        clock.ticks = vec2u(0u);
    }
    let on = u32(go);
    groups[0] = clock.particle_groups.x * on;
    groups[1] = clock.particle_groups.y * on;
    groups[2] = on;
    groups[4] = clock.cell_groups.x * on;
    groups[5] = clock.cell_groups.y * on;
    groups[6] = on;
    groups[8] = clock.wall_groups.x * on;
    groups[9] = clock.wall_groups.y * on;
    groups[10] = on;
}

@compute @workgroup_size(1)
fn begin() {
    proceed();
}

@compute @workgroup_size(1)
fn end_step() {
    // A step that did not take place.
    if all(clock.ticks == vec2u(0u)) {
        return;
    }
    clock.left = minus(clock.left, clock.ticks);
    clock.steps += 1u;
    clock.budget -= 1u;
    clock.bound[clock.binding] += 1u;
    clock.caught += atomicExchange(&extremes.caught, 0u);
    let speed2 = atomicExchange(&extremes.speed2, 0u);
    let acceleration2 = atomicExchange(&extremes.acceleration2, 0u);
    clock.speed = sqrt(bitcast<f32>(speed2));
    clock.acceleration = sqrt(bitcast<f32>(acceleration2));
    if max(speed2, acceleration2) >= not_finite {
        clock.trouble = 1u;
    } else {
        choose_step();
        if clock.step < clock.minimum_step {
            clock.trouble = 2u;
        }
    }
    proceed();
}
