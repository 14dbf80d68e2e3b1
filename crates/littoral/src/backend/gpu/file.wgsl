// Counts a particle into its cell. Its rank there depends on which thread came first; `arrange` mends that.

// Cell of each particle, and its rank among those counted into it.
@group(1) @binding(0) var<storage, read_write> filed: array<vec2u>;
@group(1) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;

fn file(i: u32, x: vec3f) {
    let cell = cell_index(grid, x);
    filed[i] = vec2u(cell, atomicAdd(&counts[cell], 1u));
}
