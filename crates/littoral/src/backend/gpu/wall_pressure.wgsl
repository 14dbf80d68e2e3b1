// Stage 3 for wall samples: they press back with the density that the fluid before them has; see
// behaviours/pressure.rs.

@group(1) @binding(0) var<storage, read> tags: array<vec2u>;
// Part of a sample's kernel that a fluid at rest fills.
@group(1) @binding(1) var<storage, read> share: array<f32>;
@group(1) @binding(2) var<storage, read_write> pressure: array<f32>;

alias Sum = f32;

// The neighbour nearest to the sample: its fluid is the one that presses.
var<private> nearest: u32;
var<private> nearest_distance: f32;

fn found(own: Own, j: u32) {}

fn visit(own: Own, j: u32, row: vec4f, x: vec3f, r: f32) -> f32 {
    if r < nearest_distance {
        nearest = j;
        nearest_distance = r;
    }
    return row.w * density_w(r);
}

fn visit_wall(own: Own, j: u32, row: vec4f, x: vec3f, r: f32) -> f32 {
    return 0.0;
}

@compute @workgroup_size(group_size)
fn press(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let sample = item(group, lane);
    if sample >= wall_count {
        return;
    }
    nearest_distance = support;
    var term = 0.0;
    if share[sample] > least_share {
        let own = Own(0u, wall_place[sample].xyz, vec3f(0.0), 0.0, 0.0, 0u);
        let ratio = sweep(own) / share[sample];
        if nearest_distance < support {
            term = pressure_wall_term(pressure_of(tags[nearest].y, ratio), ratio);
        }
    }
    pressure[sample] = term;
}
