//! Points evenly spread over a surface: boundary samples, one for each patch of about spacing².
//!
//! The points lie a given depth inside the shape, where the wall's first layer of matter would be. Boxes have a
//! lattice, with points on every edge. Other shapes are covered with many candidates; from them, taken in an order
//! that looks random, come points no closer than 0.76 spacings to one already taken (Poisson discs); then each moves to the
//! middle of the candidates nearest to it a few times (Lloyd); and where a candidate is still left alone, a point is
//! added. Where a wall is thinner than twice the depth, its one layer lies in its middle.
//! The same points for the same shape, always. Kept honest by `samples_leave_no_gaps` in `mod.rs`.

use std::collections::HashMap;

use glam::{DVec3, I64Vec3};
use rayon::prelude::*;

use super::{Geometry, SurfaceSample, TriangleMesh, chance, nets};

/// Candidates for each spacing².
const CANDIDATES: f64 = 24.0;
/// Closest that two points come at first, in spacings.
const APART: f64 = 0.76;
/// No candidate is left farther than this from a point, in spacings: a square lattice has 0.71.
const COVER: f64 = 0.68;
/// Times that points move to the middle of their candidates.
const SWEEPS: usize = 6;

#[derive(Clone, Copy)]
struct Candidate {
    position: DVec3,
    /// Outwards; of a thin sheet, as its triangles turn.
    normal: DVec3,
    area: f64,
}

/// See the module.
pub fn surface_samples(
    geometry: &Geometry,
    spacing: f64,
    depth: f64,
    within: Option<(DVec3, DVec3)>,
) -> Vec<SurfaceSample> {
    let thin = geometry.is_thin();
    let depth = if thin { 0.0 } else { depth };
    let mut candidates = on_level(geometry, spacing, depth, within);
    let on_level = candidates.len();
    if depth > 0.0 {
        let middle = in_thin_walls(geometry, spacing, depth, within, &candidates);
        candidates.extend(middle);
    }
    let refine = |(candidate, area): (usize, f64)| {
        let Candidate { position, normal, .. } = candidates[candidate];
        if thin || candidate >= on_level {
            return SurfaceSample { position, normal, area };
        }
        // Triangles are chords: the last of the way to where the level really is.
        let position =
            geometry.with_level(depth, |level| nets::project(level, position, 0.5 * spacing, false));
        SurfaceSample { position, normal: geometry.normal(position), area }
    };
    // The cells of the last row reach out of the box.
    let kept = |sample: &SurfaceSample| {
        let p = sample.position;
        within.is_none_or(|(min, max)| p.cmpge(min).all() && p.cmple(max).all())
    };
    spread(&candidates, spacing).into_par_iter().map(refine).filter(kept).collect()
}

/// Candidates on the surface itself, or `depth` inside of it.
fn on_level(geometry: &Geometry, spacing: f64, depth: f64, within: Option<(DVec3, DVec3)>) -> Vec<Candidate> {
    scatter(&geometry.level_set(0.5 * spacing, depth, within), spacing)
}

/// Candidates in walls too thin for a level at `depth`: pushed inwards from the surface as far as the middle.
fn in_thin_walls(
    geometry: &Geometry,
    spacing: f64,
    depth: f64,
    within: Option<(DVec3, DVec3)>,
    level: &[Candidate],
) -> Vec<Candidate> {
    let near = 0.2 * spacing;
    let covered = Grid::new(level.iter().map(|candidate| candidate.position), near);
    let surface = geometry.level_set(0.5 * spacing, 0.0, within);
    let pushed = |candidate: Candidate| {
        let at = |t: f64| candidate.position - candidate.normal * t;
        // Where the level passes by, the wall is thick.
        if covered.nearest(at(depth), near).is_some() {
            return None;
        }
        // As long as the distance keeps up with the way, the nearest surface is still the one we came from.
        let steps = 16;
        let way = (1..=steps).map(|k| depth * f64::from(k) / f64::from(steps));
        let t = way.take_while(|&t| geometry.distance(at(t)) <= -0.9 * t).last().unwrap_or(0.0);
        let position = at(t);
        if covered.nearest(position, near).is_some() {
            return None;
        }
        // Stopped by the other side of a thin wall, and not by the side of an edge.
        let stopped = t < 0.99 * depth;
        let opposite = || geometry.normal(at(t + 0.3 * depth)).dot(candidate.normal) < -0.8;
        (!stopped || opposite()).then_some(Candidate { position, ..candidate })
    };
    scatter(&surface, spacing).into_par_iter().filter_map(pushed).collect()
}

/// Points all over triangles, in proportion to their area: an even sequence that carries on from one to the next.
fn scatter(mesh: &TriangleMesh, spacing: f64) -> Vec<Candidate> {
    let share = spacing * spacing / CANDIDATES;
    let mut candidates = Vec::new();
    let mut due = 0.5;
    for [a, b, c] in mesh.corners() {
        let cross = (b - a).cross(c - a);
        let area = 0.5 * cross.length();
        due += area / share;
        while due >= 1.0 {
            due -= 1.0;
            let i = candidates.len() as f64;
            // Multiples of the plastic number's inverse and of its square fill a square most evenly; the half of it
            // that is too much is turned over.
            let (r, s) = ((i * 0.754_877_666_246_692_8).fract(), (i * 0.569_840_290_998_053_2).fract());
            let (r, s) = if r + s > 1.0 { (1.0 - r, 1.0 - s) } else { (r, s) };
            let position = a + (b - a) * r + (c - a) * s;
            candidates.push(Candidate { position, normal: cross.normalize_or_zero(), area: share });
        }
    }
    candidates
}

/// Chooses points among candidates, with the area of each; see the module.
fn spread(candidates: &[Candidate], spacing: f64) -> Vec<(usize, f64)> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|&i| (mix(i as u64), i));
    let mut chosen = take_apart(candidates, &order, APART * spacing, Vec::new());
    for _ in 0..SWEEPS {
        chosen = to_the_middle(candidates, &chosen, spacing);
    }
    chosen = take_apart(candidates, &order, COVER * spacing, chosen);
    let owner = owners(candidates, &chosen, spacing);
    let mut area = vec![0.0; chosen.len()];
    for (candidate, owner) in candidates.iter().zip(owner) {
        area[owner] += candidate.area;
    }
    chosen.into_iter().zip(area).collect()
}

/// An order that has nothing to do with the places.
fn mix(i: u64) -> u64 {
    (chance(i, 3) * 2f64.powi(53)) as u64
}

/// Adds candidates that are at least `apart` from all chosen before them.
fn take_apart(candidates: &[Candidate], order: &[usize], apart: f64, chosen: Vec<usize>) -> Vec<usize> {
    let mut grid = Grid::new(chosen.iter().map(|&i| candidates[i].position), apart);
    let mut chosen = chosen;
    for &i in order {
        if grid.nearest(candidates[i].position, apart).is_none() {
            grid.add(candidates[i].position);
            chosen.push(i);
        }
    }
    chosen
}

/// For each candidate, the chosen point nearest to it.
fn owners(candidates: &[Candidate], chosen: &[usize], spacing: f64) -> Vec<usize> {
    let grid = Grid::new(chosen.iter().map(|&i| candidates[i].position), spacing);
    // All candidates were within 0.76 spacings at first; points have moved a little since.
    let find = |candidate: &Candidate| {
        let near = grid.nearest(candidate.position, spacing);
        near.unwrap_or_else(|| grid.nearest(candidate.position, 4.0 * spacing).unwrap_or(0))
    };
    candidates.iter().map(find).collect()
}

/// Each point moves to the candidate nearest to the middle of those that are its own.
fn to_the_middle(candidates: &[Candidate], chosen: &[usize], spacing: f64) -> Vec<usize> {
    let owner = owners(candidates, chosen, spacing);
    let mut middle = vec![(DVec3::ZERO, 0.0); chosen.len()];
    for (candidate, &owner) in candidates.iter().zip(&owner) {
        middle[owner].0 += candidate.position;
        middle[owner].1 += 1.0;
    }
    let mut best: Vec<(f64, usize)> = chosen.iter().map(|&i| (f64::INFINITY, i)).collect();
    for (i, (candidate, &owner)) in candidates.iter().zip(&owner).enumerate() {
        let (sum, count) = middle[owner];
        let away = candidate.position.distance_squared(sum / count);
        if away < best[owner].0 {
            best[owner] = (away, i);
        }
    }
    best.into_iter().map(|(_, i)| i).collect()
}

/// Points in cells, for the nearest within a cell's width.
pub struct Grid {
    width: f64,
    points: Vec<DVec3>,
    cells: HashMap<I64Vec3, Vec<u32>>,
}

impl Grid {
    pub fn new(points: impl Iterator<Item = DVec3>, width: f64) -> Grid {
        let mut grid = Grid { width, points: Vec::new(), cells: HashMap::new() };
        points.for_each(|p| grid.add(p));
        grid
    }

    pub fn add(&mut self, p: DVec3) {
        self.cells.entry(self.cell(p)).or_default().push(self.points.len() as u32);
        self.points.push(p);
    }

    fn cell(&self, p: DVec3) -> I64Vec3 {
        (p / self.width).floor().as_i64vec3()
    }

    /// Every point closer than `reach`, and some others, in a fixed order.
    pub fn for_each_near(&self, p: DVec3, reach: f64, mut visit: impl FnMut(usize)) {
        let (low, high) = (self.cell(p - reach), self.cell(p + reach));
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                for x in low.x..=high.x {
                    let cell = self.cells.get(&I64Vec3::new(x, y, z));
                    cell.into_iter().flatten().for_each(|&i| visit(i as usize));
                }
            }
        }
    }

    /// The nearest point closer than `reach`; the first of several.
    pub fn nearest(&self, p: DVec3, reach: f64) -> Option<usize> {
        let mut best = (reach * reach, None);
        self.for_each_near(p, reach, |i| {
            let squared = p.distance_squared(self.points[i]);
            if squared < best.0 {
                best = (squared, Some(i));
            }
        });
        best.1
    }
}

/// The lattice on a box whose faces lie `depth` inside: points on all edges and corners.
pub fn on_box(min: DVec3, max: DVec3, spacing: f64, depth: f64, flat: bool) -> Vec<SurfaceSample> {
    let middle = 0.5 * (min + max);
    let (min, max) = ((min + depth).min(middle), (max - depth).max(middle));
    // A tenth more than a spacing is no gap.
    let mut count = ((max - min) / spacing - 0.1).ceil().max(DVec3::ZERO).to_array().map(|n| n as i64);
    if flat {
        count[2] = 0;
    }
    let step = DVec3::from_array(std::array::from_fn(|axis| match count[axis] {
        0 => 0.0,
        n => (max[axis] - min[axis]) / n as f64,
    }));
    let mut samples = Vec::new();
    for k in 0..=count[2] {
        for j in 0..=count[1] {
            for i in 0..=count[0] {
                let at = [i, j, k];
                let mut normal = DVec3::ZERO;
                let mut area = 0.0;
                for axis in 0..if flat { 2 } else { 3 } {
                    let faces = [at[axis] == 0, at[axis] == count[axis]];
                    normal[axis] = f64::from(u8::from(faces[1])) - f64::from(u8::from(faces[0]));
                    let patch = |other: usize| {
                        let rim = at[other] == 0 || at[other] == count[other];
                        if rim { 0.5 * step[other] } else { step[other] }
                    };
                    let others = (0..if flat { 2 } else { 3 }).filter(|&other| other != axis);
                    let share: f64 = others.map(patch).product();
                    area += share * faces.into_iter().filter(|&face| face).count() as f64;
                }
                if area > 0.0 {
                    let low = if flat { min.with_z(0.0) } else { min };
                    let position = low + DVec3::new(i as f64, j as f64, k as f64) * step;
                    let normal = normal.try_normalize().unwrap_or(DVec3::Y);
                    samples.push(SurfaceSample { position, normal, area });
                }
            }
        }
    }
    samples
}

/// Points at even distances along an outline.
pub fn on_outline(segments: &[[DVec3; 2]], spacing: f64) -> Vec<SurfaceSample> {
    let mut samples = Vec::new();
    for line in loops(segments) {
        let length: f64 = line.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
        let count = (length / spacing).round().max(3.0);
        let step = length / count;
        let mut due = 0.0;
        for pair in line.windows(2) {
            let edge = pair[1] - pair[0];
            let run = edge.length();
            while due < run {
                let normal = DVec3::new(edge.y, -edge.x, 0.0).normalize_or_zero();
                samples.push(SurfaceSample { position: pair[0] + edge * (due / run), normal, area: step });
                due += step;
            }
            due -= run;
        }
    }
    samples
}

/// Segments strung together: each loop ends where it starts, each open line runs from end to end.
fn loops(segments: &[[DVec3; 2]]) -> Vec<Vec<DVec3>> {
    let bits = |p: DVec3| p.to_array().map(f64::to_bits);
    let mut next: HashMap<[u64; 3], Vec<usize>> = HashMap::new();
    segments.iter().enumerate().rev().for_each(|(i, [a, _])| next.entry(bits(*a)).or_default().push(i));
    let ends: std::collections::HashSet<[u64; 3]> = segments.iter().map(|[_, b]| bits(*b)).collect();
    let mut used = vec![false; segments.len()];
    let mut lines = Vec::new();
    // Lines with a loose start first, then what is left: loops.
    let loose = (0..segments.len()).filter(|&i| !ends.contains(&bits(segments[i][0])));
    for start in loose.chain(0..segments.len()) {
        if used[start] {
            continue;
        }
        let mut line = vec![segments[start][0]];
        let mut here = Some(start);
        while let Some(i) = here {
            used[i] = true;
            line.push(segments[i][1]);
            here = next.get(&bits(segments[i][1])).and_then(|list| list.iter().copied().find(|&i| !used[i]));
        }
        lines.push(line);
    }
    lines
}
