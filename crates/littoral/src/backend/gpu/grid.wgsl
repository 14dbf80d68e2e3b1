// Cells: x runs fastest, so that the cells of a row, and the particles in them, stand side by side.

struct Grid {
    low: vec3f,
    // Number of blocks that the scan works on.
    blocks: u32,
    per_cell: vec3f,
    cells: vec3u,
    // Of a cell, m.
    width: vec3f,
}

// Outliers land in the outermost cells: neighbours stay within `reach` cells of each other, so the search stays
// exact. The last line keeps even a particle that is not a number inside the table.
fn cell_at(grid: Grid, x: vec3f) -> vec3u {
    let last = grid.cells - 1u;
    let place = clamp((x - grid.low) * grid.per_cell, vec3f(0.0), vec3f(last));
    return min(vec3u(place), last);
}

fn cell_index(grid: Grid, x: vec3f) -> u32 {
    let cell = cell_at(grid, x);
    return (cell.z * grid.cells.y + cell.y) * grid.cells.x + cell.x;
}

// Dispatches of more groups than one dimension may have are folded into rows.
fn group_index(group: vec3u) -> u32 {
    return group.y * groups_in_row + group.x;
}

fn item(group: vec3u, lane: u32) -> u32 {
    return group_index(group) * group_size + lane;
}
