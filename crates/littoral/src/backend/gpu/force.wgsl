// Stages 4 to 7: all forces in one sweep over the neighbours, then the particle moves.
// Symplectic Euler kicks and drifts; velocity Verlet takes its second half kick here and drifts in `drift`.

@group(1) @binding(2) var<storage, read> motion: array<vec4f>;
@group(1) @binding(3) var<storage, read> tags: array<vec2u>;
// Rows with the volume itself.
@group(1) @binding(4) var<storage, read> place: array<vec4f>;
@group(1) @binding(5) var<storage, read> clock: Clock;
@group(1) @binding(6) var<storage, read_write> new_place: array<vec4f>;
@group(1) @binding(7) var<storage, read_write> new_velocity: array<vec4f>;
@group(1) @binding(8) var<storage, read_write> new_tags: array<vec2u>;
@group(1) @binding(9) var<storage, read_write> acceleration: array<vec4f>;
@group(1) @binding(10) var<storage, read_write> extremes: Extremes;

alias Sum = vec3f;

fn found(own: Own, j: u32) {}

fn visit(own: Own, j: u32, row: vec4f, x: vec3f, r: f32) -> vec3f {
    let other_motion = motion[j];
    let other = Other(other_motion.xyz, other_motion.w, row.w, body_of(j));
    return pair_force(own, other, x, r);
}

fn visit_wall(own: Own, j: u32, row: vec4f, x: vec3f, r: f32) -> vec3f {
    let face = wall_face[j];
    let wall = Wall(wall_motion[j].xyz, face.xyz, face.w, row.w, wall_pressure[j]);
    return wall_force(own, wall, x, r);
}

fn neighbours_of(own: Own) -> vec3f {
    if list_capacity > 0u {
        return gather(own);
    }
    return sweep(own);
}

fn body_of(j: u32) -> u32 {
    if bodies == 1u {
        return 0u;
    }
    return tags[j].y;
}

var<workgroup> fastest: atomic<u32>;
var<workgroup> hardest: atomic<u32>;
var<workgroup> caught: atomic<u32>;

@compute @workgroup_size(group_size)
fn force(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let i = item(group, lane);
    if i < count {
        let row = rows[i];
        let body = body_of(i);
        let mass = rest_density(body) * place[i].w;
        var a = acceleration_of(body, motion[i].xyz);
        let own = Own(i, row.xyz, motion[i].xyz, motion[i].w, row.w, body);
        if pair_laws {
            a += (neighbours_of(own) + sweep_walls(own)) / mass;
        }
        var v = own.velocity;
        var x = own.position;
        if verlet {
            v += a * (0.5 * clock.dt);
        } else {
            v += a * clock.dt;
            let moved = hold(x + v * clock.dt, v);
            x = moved.x;
            v = moved.v;
            file(i, x);
            if moved.caught {
                atomicAdd(&caught, 1u);
            }
        }
        new_place[i] = vec4f(x, place[i].w);
        new_velocity[i] = vec4f(v, 0.0);
        new_tags[i] = tags[i];
        acceleration[i] = vec4f(a, 0.0);
        // Squares are not negative, so their bits are ordered like the numbers; infinities and what is not a
        // number come out on top. A maximum does not depend on the order it is taken in.
        atomicMax(&fastest, bitcast<u32>(dot(v, v)));
        atomicMax(&hardest, bitcast<u32>(dot(a, a)));
    }
    workgroupBarrier();
    if lane == 0u {
        atomicMax(&extremes.speed2, atomicLoad(&fastest));
        atomicMax(&extremes.acceleration2, atomicLoad(&hardest));
        let times = atomicLoad(&caught);
        if times > 0u {
            atomicAdd(&extremes.caught, times);
        }
    }
}
