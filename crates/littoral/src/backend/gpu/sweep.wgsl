// The loop over a particle's neighbours. What is summed is for the kernel to say: it defines `Sum`, and
// `visit`, which returns one neighbour's term; `found` hears of every neighbour.

@group(0) @binding(0) var<uniform> grid: Grid;
// First particle of each cell, and the number of particles at the end.
@group(0) @binding(1) var<storage, read> starts: array<u32>;
// x, y, z: position; w: volume, or what stands for it.
@group(0) @binding(2) var<storage, read> rows: array<vec4f>;

// x_i − x_j, to the nearest image where space repeats.
fn separation(from_: vec3f, to_: vec3f) -> vec3f {
    let x = from_ - to_;
    if any(periodic) {
        return x - period * round(x * per_period);
    }
    return x;
}

fn sweep(own: Own) -> Sum {
    var total = Sum();
    let cells = vec3i(grid.cells);
    let centre = vec3i(cell_at(grid, own.position));
    let low = select(max(centre - reach, vec3i(0)), centre - reach, periodic);
    let high = select(min(centre + reach, cells - 1), centre + reach, periodic);
    for (var z = low.z; z <= high.z; z++) {
        let away_z = gap(own.position.z, z - centre.z, grid.low.z + f32(z) * grid.width.z, grid.width.z);
        for (var y = low.y; y <= high.y; y++) {
            let away_y = gap(own.position.y, y - centre.y, grid.low.y + f32(y) * grid.width.y, grid.width.y);
            // Only the part of the row that the sphere of the support cuts out of it matters.
            let chord2 = farthest * farthest - away_y * away_y - away_z * away_z;
            if chord2 <= 0.0 {
                continue;
            }
            let half_chord = sqrt(chord2);
            let first = cell_along_x(own.position.x - half_chord);
            let last = cell_along_x(own.position.x + half_chord);
            let row = (wrapped(z, cells.z) * cells.y + wrapped(y, cells.y)) * cells.x;
            // A row's cells are one range of particles, except across a periodic edge.
            sweep_range(own, row + max(first, 0), row + min(last, cells.x - 1), &total);
            if periodic.x && first < 0 {
                sweep_range(own, row + cells.x + first, row + cells.x - 1, &total);
            }
            if periodic.x && last >= cells.x {
                sweep_range(own, row, row + last - cells.x, &total);
            }
        }
    }
    return total;
}

// How far a row of cells is from a particle, at least. Outliers in the outermost rows are only further away.
fn gap(at: f32, side: i32, low: f32, width: f32) -> f32 {
    return max(select(select(0.0, low - at, side > 0), at - (low + width), side < 0), 0.0);
}

fn cell_along_x(x: f32) -> i32 {
    let cell = i32(floor((x - grid.low.x) * grid.per_cell.x));
    let last = i32(grid.cells.x) - 1;
    return select(clamp(cell, 0, last), clamp(cell, -reach.x, last + reach.x), periodic.x);
}

fn wrapped(cell: i32, cells: i32) -> i32 {
    return select(select(cell, cell + cells, cell < 0), cell - cells, cell >= cells);
}

// Particles of the cells `first` to `last`.
fn sweep_range(own: Own, first: i32, last: i32, total: ptr<function, Sum>) {
    let end = starts[last + 1];
    for (var j = starts[first]; j < end; j++) {
        let row = rows[j];
        let x = separation(own.position, row.xyz);
        let r2 = dot(x, x);
        if r2 < support * support {
            found(own, j);
            *total += visit(own, j, row, x, sqrt(r2));
        }
    }
}
