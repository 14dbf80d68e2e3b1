// Velocity Verlet before the forces: half a kick with the last acceleration, then the drift.

@group(1) @binding(2) var<storage, read> clock: Clock;
@group(1) @binding(3) var<storage, read_write> place: array<vec4f>;
@group(1) @binding(4) var<storage, read_write> velocity: array<vec4f>;
@group(1) @binding(5) var<storage, read> acceleration: array<vec4f>;
@group(1) @binding(6) var<storage, read_write> extremes: Extremes;
@group(0) @binding(0) var<uniform> grid: Grid;

@compute @workgroup_size(group_size)
fn drift(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let i = item(group, lane);
    if i >= count {
        return;
    }
    let v = velocity[i].xyz + acceleration[i].xyz * (0.5 * clock.dt);
    let moved = hold(place[i].xyz + v * clock.dt, v);
    place[i] = vec4f(moved.x, place[i].w);
    velocity[i] = vec4f(moved.v, 0.0);
    file(i, moved.x);
    if moved.caught {
        atomicAdd(&extremes.caught, 1u);
    }
}
