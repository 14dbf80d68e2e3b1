// Stage 2, second half: a stable sort by cell. Particles were counted into their cells when they moved, and
// `scan` turned the counts into first places.
//
// `bucket` files particles in the order in which they happened to be counted; `arrange` puts each where a stable
// sort would, behind those of its cell that stood before it. That takes one look at every other particle of the
// cell, fewer than the sums over neighbours take, so no cell has a limit. The result is the same bits every time.

@group(0) @binding(0) var<storage, read> starts: array<u32>;
@group(0) @binding(1) var<storage, read> filed: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> buckets: array<u32>;
@group(0) @binding(3) var<storage, read> old_place: array<vec4f>;
@group(0) @binding(4) var<storage, read> old_velocity: array<vec4f>;
@group(0) @binding(5) var<storage, read> old_tags: array<vec2u>;
@group(0) @binding(6) var<storage, read_write> place: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> motion: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> tags: array<vec2u>;

@compute @workgroup_size(group_size)
fn bucket(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let i = item(group, lane);
    if i < count {
        buckets[starts[filed[i].x] + filed[i].y] = i;
    }
}

@compute @workgroup_size(group_size)
fn arrange(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let slot = item(group, lane);
    if slot >= count {
        return;
    }
    let i = buckets[slot];
    let cell = filed[i].x;
    let first = starts[cell];
    let end = starts[cell + 1u];
    var to_ = first;
    for (var k = first; k < end; k++) {
        to_ += u32(buckets[k] < i);
    }
    place[to_] = old_place[i];
    motion[to_] = old_velocity[i];
    tags[to_] = old_tags[i];
}
