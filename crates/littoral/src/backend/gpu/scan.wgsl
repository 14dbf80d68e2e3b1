// Stage 2, first half: counts of cells become first places, by a running sum over blocks of cells.
// Tables end in a whole block; cells past the last one count as empty.

@group(0) @binding(0) var<storage, read_write> counts: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> starts: array<vec4u>;

var<workgroup> partial: array<u32, scan_group_size>;

// Running sum over the lanes, each including its own.
fn scan_lanes(lane: u32, value: u32) -> u32 {
    var sum = value;
    partial[lane] = sum;
    workgroupBarrier();
    for (var step = 1u; step < scan_group_size; step *= 2u) {
        if lane >= step {
            sum += partial[lane - step];
        }
        workgroupBarrier();
        partial[lane] = sum;
        workgroupBarrier();
    }
    return sum;
}

// First row of four cells of a lane.
fn first_row(block: u32, lane: u32) -> u32 {
    return (block * scan_group_size + lane) * scan_rows;
}

@compute @workgroup_size(scan_group_size)
fn sum_blocks(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let block = group_index(group);
    // Any order will do for a sum: lanes read side by side.
    let start = block * scan_group_size * scan_rows + lane;
    var total = vec4u(0u);
    for (var k = 0u; k < scan_rows; k++) {
        total += counts[start + k * scan_group_size];
    }
    let sum = scan_lanes(lane, total.x + total.y + total.z + total.w);
    if lane == scan_group_size - 1u {
        sums[block] = sum;
    }
}

@compute @workgroup_size(scan_group_size)
fn scan(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let block = group_index(group);
    // Particles in all blocks before this one.
    var share = 0u;
    for (var k = lane; k < block; k += scan_group_size) {
        share += sums[k];
    }
    scan_lanes(lane, share);
    let before_block = partial[scan_group_size - 1u];
    workgroupBarrier();

    let first = first_row(block, lane);
    var rows: array<vec4u, scan_rows>;
    var total = 0u;
    for (var k = 0u; k < scan_rows; k++) {
        let n = counts[first + k];
        // Ready to be counted into again.
        counts[first + k] = vec4u(0u);
        rows[k] = total + vec4u(0u, n.x, n.x + n.y, n.x + n.y + n.z);
        total += n.x + n.y + n.z + n.w;
    }
    let before = before_block + scan_lanes(lane, total) - total;
    for (var k = 0u; k < scan_rows; k++) {
        starts[first + k] = before + rows[k];
    }
}
