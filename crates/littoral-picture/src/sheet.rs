//! Cloth and shells as closed meshes: a smooth surface through the particles, given a thickness.
//!
//! A grid of particles is interpolated by bicubic Hermite patches whose slopes are central differences: Catmull–Rom's
//! surface, which passes through its particles, with one-sided differences of second order at the rim and beside
//! missing cells. A triangle mesh of particles is interpolated by curved point-normal triangles [Vlachos et al.,
//! I3D 2001]. Either surface is the middle of the sheet: its two faces lie half a thickness to each side, joined by
//! a round rim around every border, so that the sheet ends half a thickness beyond its outermost particles.
//!
//! Attributes are interpolated linearly, so that they stay in their range.
//! Every mesh also gets `side`: 1 on the front, 0 on the back; seen from the front, columns are counted to the
//! right where rows are counted upwards, and triangles wind counter-clockwise. A grid also gets `u` (across the columns)
//! and `v` (across the rows), 0 to 1.
//!
//! Limits: faces cross where the sheet bends more sharply than half its thickness.
//! Kept honest by `a_flat_sheet_is_exact`, `a_bent_sheet_has_the_normals_of_its_sphere` and `torn_sheets_are_closed`.

use std::f32::consts::PI;

use glam::Vec3;
use rayon::prelude::*;

use crate::figures::{sorted_edges, vertex_normals};
use crate::mesh::{Attribute, Mesh};

/// How a sheet is drawn.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// m, above 0.
    pub thickness: f32,
    /// Steps between two particles, 1 or more.
    pub subdivisions: usize,
    /// Steps around half the rim, from the front to the back, 2 or more.
    pub rim: usize,
}

impl Default for Sheet {
    fn default() -> Sheet {
        Sheet { thickness: 1e-3, subdivisions: 4, rim: 4 }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SheetError {
    #[error("{name} is {got}; expected {want}")]
    OutOfRange { name: &'static str, got: f64, want: &'static str },
    #[error("{name} has {got} entries; expected {want}")]
    Count { name: String, got: usize, want: usize },
    #[error("triangle {triangle} names particle {particle}, but there are {count}")]
    NoParticle { triangle: usize, particle: u32, count: usize },
    #[error(
        "the triangles at the edge between particles {a} and {b} do not make one surface: \
         each edge must join two triangles that wind the same way, or border one"
    )]
    Edge { a: u32, b: u32 },
}

/// The sheet through a grid of particles, row after row. `cells` says which of the (rows − 1) × (columns − 1) cells
/// between the particles are there (none given: all), `attributes` what else is known at the particles.
pub fn sheet(
    points: &[Vec3],
    rows: usize,
    columns: usize,
    cells: Option<&[bool]>,
    attributes: &[Attribute],
    options: &Sheet,
) -> Result<Mesh, SheetError> {
    options.check()?;
    check_attributes(attributes, points.len())?;
    let patches = Patches::new(points, rows, columns, cells)?;
    let steps = options.subdivisions;

    // The fine vertices that some cell needs, and where each lies on the grid.
    let [fine_rows, fine_columns] = [(rows - 1) * steps + 1, (columns - 1) * steps + 1];
    const NONE: u32 = u32::MAX;
    let mut index = vec![NONE; fine_rows * fine_columns];
    let mut places: Vec<[usize; 2]> = Vec::new();
    let mut triangles = Vec::new();
    for r in 0..fine_rows - 1 {
        for c in 0..fine_columns - 1 {
            if patches.has_cell(r / steps, c / steps) {
                let [a, b, d, e] = [[r, c], [r, c + 1], [r + 1, c], [r + 1, c + 1]].map(|[r, c]| {
                    let slot = &mut index[r * fine_columns + c];
                    if *slot == NONE {
                        *slot = places.len() as u32;
                        places.push([r, c]);
                    }
                    *slot
                });
                triangles.extend([[a, b, e], [a, e, d]]);
            }
        }
    }
    let place = |[r, c]: [usize; 2]| [r as f32 / steps as f32, c as f32 / steps as f32];
    let (positions, slopes): (Vec<Vec3>, Vec<Vec3>) = places
        .par_iter()
        .map(|&at| {
            let [row, column] = place(at);
            let (position, along, down) = patches.at(row, column);
            (position, along.cross(down))
        })
        .unzip();
    // Where the slopes are parallel (a crumpled spot) the triangles around decide.
    let around = vertex_normals(&positions, &triangles);
    let normals = slopes.iter().zip(around).map(|(slope, around)| slope.normalize_or(around)).collect();

    let corners = |&at: &[usize; 2]| {
        let [row, column] = place(at);
        let [r, c] = [(row as usize).min(rows - 2), (column as usize).min(columns - 2)];
        let [down, along] = [row - r as f32, column - c as f32];
        let corner = r * columns + c;
        [
            (corner, (1.0 - down) * (1.0 - along)),
            (corner + 1, (1.0 - down) * along),
            (corner + columns, down * (1.0 - along)),
            (corner + columns + 1, down * along),
        ]
    };
    let mut fine: Vec<Attribute> =
        attributes.iter().map(|attribute| interpolate(attribute, places.iter().map(corners))).collect();
    let number = |name: &str, value: &dyn Fn(&[usize; 2]) -> f32| Attribute {
        name: name.into(),
        width: 1,
        values: places.iter().map(value).collect(),
    };
    fine.push(number("u", &|at| at[1] as f32 / (fine_columns - 1) as f32));
    fine.push(number("v", &|at| at[0] as f32 / (fine_rows - 1) as f32));
    thicken(Mesh { positions, normals, triangles, attributes: fine }, options)
}

/// The sheet through the particles of a triangle mesh.
pub fn sheet_of_triangles(
    points: &[Vec3],
    triangles: &[[u32; 3]],
    attributes: &[Attribute],
    options: &Sheet,
) -> Result<Mesh, SheetError> {
    options.check()?;
    check_attributes(attributes, points.len())?;
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(&particle) = corners.iter().find(|&&k| k as usize >= points.len()) {
            return Err(SheetError::NoParticle { triangle, particle, count: points.len() });
        }
    }
    if triangles.is_empty() {
        return Ok(Mesh::default());
    }
    let normals = vertex_normals(points, triangles);
    let coarse = Mesh {
        positions: points.to_vec(),
        normals: normals.clone(),
        triangles: triangles.to_vec(),
        ..Mesh::default()
    };
    split_fans(coarse)?;
    let steps = options.subdivisions as u32;

    // Fine vertices: those of the particles, then steps − 1 on each edge, then those inside each triangle. A vertex
    // knows one triangle and its place there: weights of the corners in units of 1/steps.
    let edges = sorted_edges(triangles);
    let on_edges = points.len() as u32;
    let inside = on_edges + edges.len() as u32 * (steps - 1);
    let per_triangle = (steps - 1) * steps.saturating_sub(2) / 2;
    let mut places = vec![None; inside as usize + triangles.len() * per_triangle as usize];
    let mut fine = Vec::new();
    for (t, corners) in triangles.iter().enumerate() {
        let vertex = |[i, j, k]: [u32; 3]| {
            // `step` steps from corner a towards corner b.
            let edge = |a: u32, b: u32, step: u32| {
                let number = edges.binary_search(&[a.min(b), a.max(b)]).expect("every edge is listed") as u32;
                on_edges + number * (steps - 1) + if a < b { step } else { steps - step } - 1
            };
            match [i, j, k] {
                [_, 0, 0] => corners[0],
                [0, _, 0] => corners[1],
                [0, 0, _] => corners[2],
                [_, j, 0] => edge(corners[0], corners[1], j),
                [0, _, k] => edge(corners[1], corners[2], k),
                [i, 0, _] => edge(corners[2], corners[0], i),
                [_, j, k] => inside + t as u32 * per_triangle + (j + k - 2) * (j + k - 1) / 2 + k - 1,
            }
        };
        for level in 0..steps {
            for k in 0..=level {
                // Level by level away from corner 0.
                let place = |down: u32, k: u32| [steps - level - down, level + down - k, k];
                let [top, left, right] = [place(0, k), place(1, k), place(1, k + 1)];
                fine.push([top, left, right].map(vertex));
                for place in [top, left, right] {
                    places[vertex(place) as usize].get_or_insert((t as u32, place));
                }
                if k < level {
                    fine.push([top, right, place(0, k + 1)].map(vertex));
                }
            }
        }
    }
    // Particles of no triangle are dropped later with their vertices.
    let places: Vec<(u32, [u32; 3])> = places.into_iter().map(|place| place.unwrap_or((0, [0; 3]))).collect();
    let weights = |place: [u32; 3]| place.map(|k| k as f32 / steps as f32);
    let (positions, smooth) = places
        .par_iter()
        .map(|&(t, place)| {
            let corners = triangles[t as usize].map(|k| k as usize);
            point_normal(corners.map(|k| points[k]), corners.map(|k| normals[k]), weights(place))
        })
        .unzip();
    let corners = |&(t, place): &(u32, [u32; 3])| {
        let (corners, weights) = (triangles[t as usize], weights(place));
        [0, 1, 2].map(|k| (corners[k] as usize, weights[k]))
    };
    let attributes =
        attributes.iter().map(|attribute| interpolate(attribute, places.iter().map(corners))).collect();
    thicken(Mesh { positions, normals: smooth, triangles: fine, attributes }, options)
}

impl Sheet {
    fn check(&self) -> Result<(), SheetError> {
        let fail = |name, got, want| Err(SheetError::OutOfRange { name, got, want });
        if !(self.thickness > 0.0 && self.thickness.is_finite()) {
            return fail("thickness", self.thickness as f64, "a length above 0 m");
        }
        if !(1..=64).contains(&self.subdivisions) {
            return fail("subdivisions", self.subdivisions as f64, "1 to 64");
        }
        if !(2..=64).contains(&self.rim) {
            return fail("rim", self.rim as f64, "2 to 64");
        }
        Ok(())
    }
}

fn check_attributes(attributes: &[Attribute], particles: usize) -> Result<(), SheetError> {
    match attributes.iter().find(|attribute| attribute.values.len() != attribute.width * particles) {
        None => Ok(()),
        Some(Attribute { name, width, values }) => {
            Err(SheetError::Count { name: name.clone(), got: values.len(), want: width * particles })
        }
    }
}

/// An attribute at places that are weighted sums of particles.
fn interpolate<const N: usize>(
    attribute: &Attribute,
    places: impl Iterator<Item = [(usize, f32); N]>,
) -> Attribute {
    let width = attribute.width;
    let at = |corners: [(usize, f32); N]| {
        (0..width)
            .map(move |k| corners.iter().map(|&(i, weight)| weight * attribute.values[i * width + k]).sum())
    };
    Attribute { name: attribute.name.clone(), width, values: places.flat_map(at).collect() }
}

/// A smooth surface through a grid of points, addressed by row and column.
pub(crate) struct Patches<'a> {
    points: &'a [Vec3],
    rows: usize,
    columns: usize,
    cells: Option<&'a [bool]>,
    /// ∂/∂column, ∂/∂row and ∂²/∂row∂column at the points.
    along: Vec<Vec3>,
    down: Vec<Vec3>,
    twist: Vec<Vec3>,
}

impl<'a> Patches<'a> {
    pub fn new(
        points: &'a [Vec3],
        rows: usize,
        columns: usize,
        cells: Option<&'a [bool]>,
    ) -> Result<Patches<'a>, SheetError> {
        for (name, got) in [("rows", rows), ("columns", columns)] {
            if got < 2 {
                return Err(SheetError::OutOfRange { name, got: got as f64, want: "2 or more" });
            }
        }
        let count = |name: &str, got, want| match got == want {
            true => Ok(()),
            false => Err(SheetError::Count { name: name.into(), got, want }),
        };
        count("the grid of particles", points.len(), rows * columns)?;
        count(
            "the list of cells",
            cells.map_or((rows - 1) * (columns - 1), <[bool]>::len),
            (rows - 1) * (columns - 1),
        )?;

        let mut patches =
            Patches { points, rows, columns, cells, along: vec![], down: vec![], twist: vec![] };
        patches.along = patches.slopes(points, [0, 1]);
        patches.down = patches.slopes(points, [1, 0]);
        patches.twist = patches.slopes(&patches.along, [1, 0]);
        Ok(patches)
    }

    pub fn has_cell(&self, row: usize, column: usize) -> bool {
        let on_grid = row < self.rows - 1 && column < self.columns - 1;
        on_grid && self.cells.is_none_or(|cells| cells[row * (self.columns - 1) + column])
    }

    /// The neighbour of a point one step away, if a cell holds the two together.
    fn neighbour(&self, [row, column]: [usize; 2], step: [isize; 2]) -> Option<[usize; 2]> {
        let to = [row.checked_add_signed(step[0])?, column.checked_add_signed(step[1])?];
        let [low_row, low_column] = [row.min(to[0]), column.min(to[1])];
        let beside = match step[0] {
            0 => [low_row.checked_sub(1), Some(low_column)],
            _ => [Some(low_row), low_column.checked_sub(1)],
        };
        let held = self.has_cell(low_row, low_column)
            || matches!(beside, [Some(row), Some(column)] if self.has_cell(row, column));
        held.then_some(to)
    }

    /// Slopes of values at the points, in the direction of `step`.
    fn slopes(&self, values: &[Vec3], step: [isize; 2]) -> Vec<Vec3> {
        let back = step.map(|s| -s);
        let value = |[row, column]: [usize; 2]| values[row * self.columns + column];
        // Of second order from one side, where a second point is held on that side.
        let one_sided = |at: [usize; 2], next: [usize; 2], step| match self.neighbour(next, step) {
            Some(second) => 2.0 * value(next) - 1.5 * value(at) - 0.5 * value(second),
            None => value(next) - value(at),
        };
        let slope = |k: usize| {
            let at = [k / self.columns, k % self.columns];
            match (self.neighbour(at, back), self.neighbour(at, step)) {
                (Some(before), Some(after)) => (value(after) - value(before)) / 2.0,
                (None, Some(after)) => one_sided(at, after, step),
                (Some(before), None) => -one_sided(at, before, back),
                (None, None) => Vec3::ZERO,
            }
        };
        (0..values.len()).into_par_iter().map(slope).collect()
    }

    /// Position, ∂/∂column and ∂/∂row at a place; beyond the grid, the surface goes on straight.
    pub fn at(&self, row: f32, column: f32) -> (Vec3, Vec3, Vec3) {
        let inside = |x: f32, count: usize| x.clamp(0.0, (count - 1) as f32);
        let [r, c] = [inside(row, self.rows), inside(column, self.columns)];
        let cell = [(r as usize).min(self.rows - 2), (c as usize).min(self.columns - 2)];
        let (down, down_slope) = hermite(r - cell[0] as f32);
        let (across, across_slope) = hermite(c - cell[1] as f32);
        let sum = |down: [f32; 4], across: [f32; 4]| {
            let mut sum = Vec3::ZERO;
            for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let k = (cell[0] + i) * self.columns + cell[1] + j;
                sum += down[i] * (across[j] * self.points[k] + across[2 + j] * self.along[k])
                    + down[2 + i] * (across[j] * self.down[k] + across[2 + j] * self.twist[k]);
            }
            sum
        };
        let (position, along, below) = (sum(down, across), sum(down, across_slope), sum(down_slope, across));
        (position + (column - c) * along + (row - r) * below, along, below)
    }
}

/// Hermite's cubic weights at t, and their slopes: of the values at 0 and 1, then of the slopes at 0 and 1.
fn hermite(t: f32) -> ([f32; 4], [f32; 4]) {
    let (t2, t3) = (t * t, t * t * t);
    let rise = 3.0 * t2 - 2.0 * t3;
    (
        [1.0 - rise, rise, t3 - 2.0 * t2 + t, t3 - t2],
        [6.0 * (t2 - t), 6.0 * (t - t2), 3.0 * t2 - 4.0 * t + 1.0, 3.0 * t2 - 2.0 * t],
    )
}

/// A curved point-normal triangle [Vlachos et al. 2001, 3]: cubic in place, quadratic in its normal.
fn point_normal(p: [Vec3; 3], n: [Vec3; 3], w: [f32; 3]) -> (Vec3, Vec3) {
    let (mut place, mut normal, mut controls) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
    for i in 0..3 {
        place += w[i].powi(3) * p[i];
        normal += w[i] * w[i] * n[i];
        for j in [(i + 1) % 3, (i + 2) % 3] {
            // A third of the way from i to j, on the tangent plane of i.
            let edge = p[j] - p[i];
            let control = (2.0 * p[i] + p[j] - edge.dot(n[i]) * n[i]) / 3.0;
            place += 3.0 * w[i] * w[i] * w[j] * control;
            controls += control;
        }
        // The sum of both normals, mirrored at the plane across the middle of the edge.
        let j = (i + 1) % 3;
        let edge = p[j] - p[i];
        let sum = n[i] + n[j];
        let tilt = 2.0 * edge.dot(sum) / edge.length_squared().max(f32::MIN_POSITIVE);
        normal += w[i] * w[j] * (sum - tilt * edge).normalize_or(n[i]);
    }
    let middle = controls / 4.0 - (p[0] + p[1] + p[2]) / 6.0;
    (place + 6.0 * w[0] * w[1] * w[2] * middle, normal.normalize_or(n[0]))
}

/// Gives a surface a thickness: two faces and a round rim around its borders.
fn thicken(surface: Mesh, options: &Sheet) -> Result<Mesh, SheetError> {
    let (surface, borders) = split_fans(surface)?;
    let half = options.thickness / 2.0;
    let count = surface.positions.len();
    let mut mesh = Mesh::default();

    // Two faces; the back's triangles wind the other way.
    for sign in [1.0, -1.0] {
        mesh.positions
            .extend(surface.positions.iter().zip(&surface.normals).map(|(p, n)| p + sign * half * n));
        mesh.normals.extend(surface.normals.iter().map(|n| sign * n));
    }
    mesh.triangles.extend(&surface.triangles);
    let back = |k: u32| k + count as u32;
    mesh.triangles.extend(surface.triangles.iter().map(|&[a, b, c]| [back(a), back(c), back(b)]));
    let mut source: Vec<u32> = (0..2).flat_map(|_| 0..count as u32).collect();
    let mut side = vec![1.0; count];
    side.extend(vec![0.0; count]);

    // The way out of the sheet at each border vertex: the mean over its two border edges.
    let mut outwards = vec![Vec3::ZERO; count];
    for &[a, b] in &borders {
        for k in [a, b] {
            let [from, to] = [a, b].map(|k| surface.positions[k as usize]);
            outwards[k as usize] += (to - from).cross(surface.normals[k as usize]).normalize_or_zero();
        }
    }
    // Half a circle of vertices around each, front and back themselves included.
    const NONE: u32 = u32::MAX;
    let mut arcs = vec![NONE; count];
    for &[a, _] in &borders {
        arcs[a as usize] = mesh.positions.len() as u32;
        let (point, normal) = (surface.positions[a as usize], surface.normals[a as usize]);
        let out =
            outwards[a as usize].reject_from_normalized(normal).normalize_or(normal.any_orthonormal_vector());
        for step in 1..options.rim {
            let (sin, cos) = (PI * step as f32 / options.rim as f32).sin_cos();
            let direction = cos * normal + sin * out;
            mesh.positions.push(point + half * direction);
            mesh.normals.push(direction);
            source.push(a);
            side.push((1.0 + cos) / 2.0);
        }
    }
    for &[a, b] in &borders {
        let on_arc = |k: u32, step: usize| match step {
            0 => k,
            step if step == options.rim => back(k),
            step => arcs[k as usize] + step as u32 - 1,
        };
        for step in 0..options.rim {
            let [a0, a1, b0, b1] =
                [on_arc(a, step), on_arc(a, step + 1), on_arc(b, step), on_arc(b, step + 1)];
            mesh.triangles.extend([[b0, a0, a1], [b0, a1, b1]]);
        }
    }

    mesh.attributes = surface.attributes.iter().map(|attribute| gather(attribute, &source)).collect();
    mesh.attributes.push(Attribute { name: "side".into(), width: 1, values: side });
    Ok(mesh)
}

fn gather(attribute: &Attribute, source: &[u32]) -> Attribute {
    let Attribute { name, width, values } = attribute;
    let row = |&k: &u32| &values[k as usize * width..][..*width];
    Attribute { name: name.clone(), width: *width, values: source.iter().flat_map(row).copied().collect() }
}

/// Gives triangles that meet in a point only (at the corner of a tear) a vertex each, drops vertices of no triangle,
/// and lists border edges in the direction of their triangle.
fn split_fans(surface: Mesh) -> Result<(Mesh, Vec<[u32; 2]>), SheetError> {
    // Every edge of every triangle: its ends in order, the triangle's corner it starts at, and whether it runs up.
    let mut edges: Vec<(u32, u32, u32, bool)> = Vec::with_capacity(3 * surface.triangles.len());
    for (t, triangle) in surface.triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            edges.push((a.min(b), a.max(b), (3 * t + k) as u32, a < b));
        }
    }
    edges.par_sort_unstable();

    // Corners joined by edges they share are one vertex.
    let mut parent: Vec<u32> = (0..edges.len() as u32).collect();
    fn root(parent: &mut [u32], mut k: u32) -> u32 {
        while parent[k as usize] != k {
            parent[k as usize] = parent[parent[k as usize] as usize];
            k = parent[k as usize];
        }
        k
    }
    let end_of = |corner: u32| if corner % 3 == 2 { corner - 2 } else { corner + 1 };
    let mut borders = Vec::new();
    for shared in edges.chunk_by(|e, f| (e.0, e.1) == (f.0, f.1)) {
        match *shared {
            [(_, _, corner, _)] => borders.push([corner, end_of(corner)]),
            [(.., first, up), (.., second, other_up)] if up != other_up => {
                for (a, b) in [(first, end_of(second)), (end_of(first), second)] {
                    let (a, b) = (root(&mut parent, a), root(&mut parent, b));
                    parent[a.max(b) as usize] = a.min(b);
                }
            }
            _ => return Err(SheetError::Edge { a: shared[0].0, b: shared[0].1 }),
        }
    }

    // Number the vertices in the order of the corners.
    let mut vertex = vec![0; parent.len()];
    let mut source = Vec::new();
    for corner in 0..parent.len() as u32 {
        let first = root(&mut parent, corner);
        if first == corner {
            vertex[corner as usize] = source.len() as u32;
            source.push(surface.triangles[corner as usize / 3][corner as usize % 3]);
        } else {
            vertex[corner as usize] = vertex[first as usize];
        }
    }
    let take = |values: &[Vec3]| source.iter().map(|&k| values[k as usize]).collect();
    let mesh = Mesh {
        positions: take(&surface.positions),
        normals: take(&surface.normals),
        triangles: vertex.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(),
        attributes: surface.attributes.iter().map(|attribute| gather(attribute, &source)).collect(),
    };
    let borders = borders.iter().map(|edge| edge.map(|corner| vertex[corner as usize])).collect();
    Ok((mesh, borders))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::figures::sphere;

    fn grid(rows: usize, columns: usize, place: impl Fn(f32, f32) -> Vec3) -> Vec<Vec3> {
        let at = |k: usize| {
            place((k % columns) as f32 / (columns - 1) as f32, (k / columns) as f32 / (rows - 1) as f32)
        };
        (0..rows * columns).map(at).collect()
    }

    fn on_sphere(u: f32, v: f32) -> Vec3 {
        let (longitude, latitude) = (1.2 * (u - 0.5), 1.2 * (0.5 - v));
        Vec3::new(longitude.sin() * latitude.cos(), latitude.sin(), longitude.cos() * latitude.cos())
    }

    /// Middles between each front vertex and its back vertex.
    fn middles(mesh: &Mesh) -> Vec<Vec3> {
        let side = &mesh.attribute("side").unwrap().values;
        let count = side.iter().take_while(|&&s| s == 1.0).count();
        (0..count).map(|k| (mesh.positions[k] + mesh.positions[count + k]) / 2.0).collect()
    }

    #[test]
    fn a_flat_sheet_is_exact() {
        // Uneven spacing, which must not leave the plane.
        let points = grid(6, 8, |u, v| Vec3::new(0.7 * u * u, 0.0, 0.5 * v));
        let options = Sheet { thickness: 0.02, subdivisions: 3, rim: 12 };
        let mesh = sheet(&points, 6, 8, None, &[], &options).unwrap();
        assert!(mesh.is_closed());
        let side = &mesh.attribute("side").unwrap().values;
        for (p, s) in mesh.positions.iter().zip(side) {
            assert!(p.y.abs() <= 0.01 + 1e-8 && (*s != 1.0 && *s != 0.0 || (p.y.abs() - 0.01).abs() < 1e-8));
        }
        // Area times thickness, and half a disc along the rim; the corners are cut a little.
        let expected = 0.35 * 0.02 + 2.4 * PI as f64 / 8.0 * 0.02 * 0.02;
        assert!((mesh.volume() / expected - 1.0).abs() < 2e-3, "{} {expected}", mesh.volume());
    }

    #[test]
    fn the_middle_passes_through_the_particles() {
        let mut chance = Chance::of([3]);
        let points: Vec<Vec3> = grid(7, 9, |u, v| Vec3::new(u, 0.1 * (5.0 * u).sin(), v))
            .iter()
            .map(|p| p + 0.01 * chance.in_ball())
            .collect();
        let check = |mesh: &Mesh| {
            assert!(mesh.is_closed());
            let middles = middles(mesh);
            for p in &points {
                assert!(middles.iter().any(|m| m.distance(*p) < 1e-6));
            }
        };
        check(&sheet(&points, 7, 9, None, &[], &Sheet::default()).unwrap());
        let at = |r: usize, c: usize| (r * 9 + c) as u32;
        let cell = |k: usize| {
            let (r, c) = (k / 8, k % 8);
            [[at(r, c), at(r, c + 1), at(r + 1, c + 1)], [at(r, c), at(r + 1, c + 1), at(r + 1, c)]]
        };
        let triangles: Vec<[u32; 3]> = (0..48).flat_map(cell).collect();
        for subdivisions in 1..=4 {
            check(
                &sheet_of_triangles(&points, &triangles, &[], &Sheet { subdivisions, ..Sheet::default() })
                    .unwrap(),
            );
        }
    }

    #[test]
    fn a_bent_sheet_has_the_normals_of_its_sphere() {
        // Errors of the middle's radius and of the normals, for a grid and for one twice as fine.
        let errors = [13, 25].map(|n| {
            let mesh = sheet(&grid(n, n, on_sphere), n, n, None, &[], &Sheet::default()).unwrap();
            let middles = middles(&mesh);
            let radius = middles.iter().map(|m| (m.length() - 1.0).abs()).fold(0.0, f32::max);
            let angle = |(m, n): (&Vec3, &Vec3)| n.cross(m.normalize()).length();
            (radius, middles.iter().zip(&mesh.normals).map(angle).fold(0.0, f32::max))
        });
        // Particles 0.1 apart on a ball of radius 1: a chord is off by 1.2e-3, this by less than a tenth of that.
        assert!(errors[0].0 < 1.2e-4 && errors[0].1 < 5e-3, "{errors:?}");
        // At least third order.
        assert!(errors[1].0 < errors[0].0 / 7.0, "{errors:?}");
    }

    #[test]
    fn a_ball_of_triangles_becomes_a_round_shell() {
        let ball = sphere(1.0, 2);
        let options = Sheet { thickness: 0.02, subdivisions: 4, rim: 2 };
        let shell = sheet_of_triangles(&ball.positions, &ball.triangles, &[], &options).unwrap();
        assert!(shell.is_closed());
        let off = shell.positions.iter().map(|p| ((p.length() - 1.0).abs() - 0.01).abs()).fold(0.0, f32::max);
        assert!(off < 3e-3, "{off}"); // flat triangles of this size are off by 2e-2
        let expected = 4.0 / 3.0 * std::f64::consts::PI * (1.01f64.powi(3) - 0.99f64.powi(3));
        assert!((shell.volume() / expected - 1.0).abs() < 0.01);
        for (p, n) in shell.positions.iter().zip(&shell.normals) {
            assert!(p.normalize().dot(*n).abs() > 0.999);
        }
    }

    #[test]
    fn torn_sheets_are_closed() {
        // Every pattern of holes in 3 × 3 cells, cells that touch in one corner included.
        let points = grid(4, 4, |u, v| Vec3::new(u, 0.1 * u * v, v));
        for pattern in 1..512u32 {
            let cells: Vec<bool> = (0..9).map(|k| pattern >> k & 1 == 1).collect();
            let options = Sheet { thickness: 0.01, subdivisions: 2, rim: 3 };
            let mesh = sheet(&points, 4, 4, Some(&cells), &[], &options).unwrap();
            assert!(mesh.is_closed(), "{cells:?}");
            let expected = 0.01 * pattern.count_ones() as f64 / 9.0;
            assert!(mesh.volume() > 0.98 * expected && mesh.volume() < 1.3 * expected, "{cells:?}");
        }
    }

    #[test]
    fn a_tear_does_not_pull_at_the_cells_beside_it() {
        // The right half is far above the left, and the cells between are gone: both halves stay flat.
        let points = grid(3, 6, |u, v| Vec3::new(u, if u < 0.5 { 0.0 } else { 9.0 }, v));
        let cells: Vec<bool> = (0..10).map(|k| k % 5 != 2).collect();
        let mesh = sheet(&points, 3, 6, Some(&cells), &[], &Sheet::default()).unwrap();
        assert!(middles(&mesh).iter().all(|m| m.y == 0.0 || m.y == 9.0));
    }

    #[test]
    fn attributes_stay_in_range_and_meet_their_particles() {
        let points = grid(4, 5, |u, v| Vec3::new(u, 0.0, v));
        let wetness =
            Attribute { name: "wetness".into(), width: 1, values: (0..20).map(|k| (k % 2) as f32).collect() };
        let place = points.iter().flat_map(|p| p.to_array()).collect();
        let place = Attribute { name: "place".into(), width: 3, values: place };
        let mesh = sheet(&points, 4, 5, None, &[wetness, place], &Sheet::default()).unwrap();
        assert!(mesh.attribute("wetness").unwrap().values.iter().all(|w| (0.0..=1.0).contains(w)));
        // What is linear on the sheet is reproduced; u and v are the place on this one.
        let [u, v, place] = ["u", "v", "place"].map(|name| &mesh.attribute(name).unwrap().values);
        for k in 0..mesh.positions.len() {
            assert!((place[3 * k] - u[k]).abs() < 1e-6 && (place[3 * k + 2] - v[k]).abs() < 1e-6);
        }
    }

    #[test]
    fn crumpled_sheets_are_made_of_numbers() {
        let mesh = sheet(&[Vec3::ONE; 12], 3, 4, None, &[], &Sheet::default()).unwrap();
        assert!(mesh.positions.iter().chain(&mesh.normals).all(|v| v.is_finite()));
        assert!(
            sheet_of_triangles(&[Vec3::ONE; 3], &[], &[], &Sheet::default()).unwrap().positions.is_empty()
        );
        let mesh = sheet_of_triangles(&[Vec3::ONE; 3], &[[0, 1, 2]], &[], &Sheet::default()).unwrap();
        assert!(mesh.positions.iter().chain(&mesh.normals).all(|v| v.is_finite()));
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let points = [Vec3::ZERO; 6];
        let fails = |rows, columns, cells: Option<&[bool]>, options: &Sheet| {
            sheet(&points, rows, columns, cells, &[], options).unwrap_err().to_string()
        };
        let good = Sheet::default();
        assert_eq!(fails(2, 4, None, &good), "the grid of particles has 6 entries; expected 8");
        assert_eq!(fails(1, 6, None, &good), "rows is 1; expected 2 or more");
        assert_eq!(fails(2, 3, Some(&[true]), &good), "the list of cells has 1 entries; expected 2");
        let thin = Sheet { thickness: 0.0, ..good.clone() };
        assert_eq!(fails(2, 3, None, &thin), "thickness is 0; expected a length above 0 m");
        let triangles =
            |list: &[[u32; 3]]| sheet_of_triangles(&points, list, &[], &good).unwrap_err().to_string();
        assert_eq!(triangles(&[[0, 1, 7]]), "triangle 0 names particle 7, but there are 6");
        assert!(triangles(&[[0, 4, 2], [0, 4, 3]]).contains("between particles 0 and 4"));
    }
}
