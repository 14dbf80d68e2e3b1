// Stage 3: density, pressure, and the terms that pair laws read.
//
// `density` sums V W over neighbours. With normalised density, `density` only writes rows whose w is
// V over that sum, and `normalise` divides by the kernel sum over those [Lenaerts2009, Eq. 3.5].

@group(1) @binding(0) var<storage, read> tags: array<vec2u>;
// x, y, z: velocity; w: pressure term, written here.
@group(1) @binding(1) var<storage, read_write> motion: array<vec4f>;
// Density, kg/m³, and pressure, Pa.
@group(1) @binding(2) var<storage, read_write> states: array<vec2f>;
// Rows with another w: for `normalise`, or for a pressure form that changes the volume.
@group(1) @binding(3) var<storage, read_write> rows_out: array<vec4f>;
// `normalise` only: rows with the volume itself.
@group(1) @binding(4) var<storage, read> place: array<vec4f>;

alias Sum = f32;

fn visit(own: Own, j: u32, row: vec4f, x: vec3f, r: f32) -> f32 {
    return row.w * density_w(r);
}

fn visit_wall(own: Own, j: u32, row: vec4f, x: vec3f, r: f32) -> f32 {
    return row.w * density_w(r);
}

// Neighbours listed so far.
var<private> listed: u32;

fn found(own: Own, j: u32) {
    if listed < list_capacity {
        list_entries[listed * count + own.index] = j;
    }
    listed++;
}

fn point(i: u32, at: vec3f) -> Own {
    return Own(i, at, vec3f(0.0), 0.0, 0.0, 0u);
}

fn write_state(i: u32, row: vec4f, ratio: f32) {
    let body = tags[i].y;
    let pressure = pressure_of(body, ratio);
    let terms = pressure_terms(row.w, pressure, ratio);
    motion[i].w = terms.y;
    states[i] = vec2f(ratio * rest_density(body), pressure);
    if pressure_by_sum {
        rows_out[i] = vec4f(row.xyz, terms.x);
    }
}

@compute @workgroup_size(group_size)
fn density(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let i = item(group, lane);
    if i >= count {
        return;
    }
    let row = rows[i];
    let own = point(i, row.xyz);
    let ratio = sweep(own) + sweep_walls(own);
    list_lengths[i] = listed;
    if normalised {
        states[i] = vec2f(ratio, 0.0);
        rows_out[i] = vec4f(row.xyz, row.w / ratio);
    } else {
        write_state(i, row, ratio);
    }
}

@compute @workgroup_size(group_size)
fn normalise(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let i = item(group, lane);
    if i >= count {
        return;
    }
    let row = place[i];
    let own = point(i, row.xyz);
    write_state(i, row, states[i].x / (gather(own) + sweep_walls(own)));
}
