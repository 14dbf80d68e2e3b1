// Between the columns, which stand in the order of ids, and the working rows, which stand in that of cells.
//
// Every frame starts from the columns, so that a run resumed at a frame goes on with the same bits.

@group(1) @binding(2) var<storage, read_write> position: array<vec4f>;
@group(1) @binding(3) var<storage, read_write> velocity: array<vec4f>;
@group(1) @binding(4) var<storage, read_write> acceleration: array<vec4f>;
@group(1) @binding(5) var<storage, read_write> state: array<vec2f>;
// Volume, and body as a number.
@group(1) @binding(6) var<storage, read> constant: array<vec2f>;
@group(1) @binding(7) var<storage, read_write> new_place: array<vec4f>;
@group(1) @binding(8) var<storage, read_write> new_velocity: array<vec4f>;
@group(1) @binding(9) var<storage, read_write> new_tags: array<vec2u>;
@group(1) @binding(10) var<storage, read_write> new_acceleration: array<vec4f>;
@group(1) @binding(11) var<storage, read> states: array<vec2f>;
@group(0) @binding(0) var<uniform> grid: Grid;

@compute @workgroup_size(group_size)
fn restore(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let i = item(group, lane);
    if i >= count {
        return;
    }
    let x = position[i].xyz;
    new_place[i] = vec4f(x, constant[i].x);
    new_velocity[i] = velocity[i];
    new_tags[i] = vec2u(i, u32(constant[i].y));
    new_acceleration[i] = acceleration[i];
    if !verlet {
        file(i, x);
    }
}

@compute @workgroup_size(group_size)
fn collect(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let i = item(group, lane);
    if i >= count {
        return;
    }
    let to_ = new_tags[i].x;
    position[to_] = vec4f(new_place[i].xyz, 0.0);
    velocity[to_] = new_velocity[i];
    acceleration[to_] = new_acceleration[i];
    state[to_] = states[i];
}
