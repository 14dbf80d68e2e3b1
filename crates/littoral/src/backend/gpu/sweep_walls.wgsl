// The same loop over wall samples, which are sorted once. The kernel defines `visit_wall`.

@group(2) @binding(0) var<uniform> wall_grid: Grid;
// First sample of each cell; the top bit tells that there are samples in this cell or beside it.
@group(2) @binding(1) var<storage, read> wall_starts: array<u32>;
@group(2) @binding(2) var<storage, read> wall_place: array<vec4f>;
@group(2) @binding(3) var<storage, read> wall_motion: array<vec4f>;
@group(2) @binding(4) var<storage, read> wall_face: array<vec4f>;
@group(2) @binding(5) var<storage, read> wall_pressure: array<f32>;

const near_wall = 0x80000000u;

fn sweep_walls(own: Own) -> Sum {
    var total = Sum();
    let cells = vec3i(wall_grid.cells);
    let centre = vec3i(cell_at(wall_grid, own.position));
    // Most particles are nowhere near a wall.
    let here = (centre.z * cells.y + centre.y) * cells.x + centre.x;
    if (wall_starts[here] & near_wall) == 0u {
        return total;
    }
    let low = select(max(centre - 1, vec3i(0)), centre - 1, periodic);
    let high = select(min(centre + 1, cells - 1), centre + 1, periodic);
    for (var z = low.z; z <= high.z; z++) {
        for (var y = low.y; y <= high.y; y++) {
            let row = (wrapped(z, cells.z) * cells.y + wrapped(y, cells.y)) * cells.x;
            sweep_wall_range(own, row + max(low.x, 0), row + min(high.x, cells.x - 1), &total);
            if periodic.x && low.x < 0 {
                sweep_wall_range(own, row + cells.x + low.x, row + cells.x - 1, &total);
            }
            if periodic.x && high.x >= cells.x {
                sweep_wall_range(own, row, row + high.x - cells.x, &total);
            }
        }
    }
    return total;
}

fn sweep_wall_range(own: Own, first: i32, last: i32, total: ptr<function, Sum>) {
    let end = wall_starts[last + 1] & ~near_wall;
    for (var j = wall_starts[first] & ~near_wall; j < end; j++) {
        let row = wall_place[j];
        let x = separation(own.position, row.xyz);
        let r2 = dot(x, x);
        if r2 < support * support {
            *total += visit_wall(own, j, row, x, sqrt(r2));
        }
    }
}
