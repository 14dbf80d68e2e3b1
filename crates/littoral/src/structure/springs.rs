//! Springs between the nodes of a body: which there are, how stiff each is made by its place, and which are cut.
//!
//! A body's springs are made from its shape at rest. Their constants follow from properties of the material that do not
//! depend on how finely it is cut into particles; what a spring adds to that is its `share`, derived below for each kind
//! of net. With a and b the sides of a grid's cell, d its diagonals and A its area:
//!
//! - *stretch*, along rows and columns: a strip of the width w (half of it at a border) under the strain ε carries Y w ε, so
//!   k = Y w/a.
//! - *shear*, along both diagonals: sheared by γ, a diagonal grows by γ A/d; the energy of the cell is S γ² A/2, so
//!   k = S d²/(2 A).
//! - *bend*: the curvature of three nodes in a line, h apart, is |x₋ − 2x + x₊|/h². Its energy, B w h/2 times its square, is
//!   that of three pairs, since |x₋ − 2x + x₊|² = 2|x₋ − x|² + 2|x₊ − x|² − |x₊ − x₋|²: springs without a length at rest, of the
//!   constants 2B w/h³ along the line and −B w/h³ from end to end. A spring of length 2h from end to end, as is customary
//!   [Ozgen2013, 6.3; Bayraktar2010, 4.1.1], cannot have a bending stiffness: it is shortened by the *square* of the
//!   curvature, and gives way freely at first. Along rows, columns and diagonals, with 2/3 of B each, a plate bends alike in
//!   all directions, with Poisson's ratio 1/3.
//! - Triangles of a mesh: edges with k = Y (A₁ + A₂)/L² [VanGelder1998], and the bending of two triangles that share an
//!   edge, flat at rest, by pairs again: B/(A₁ + A₂) |Σ K x|² with K made of cotangents [Bergou2006, where a 3 makes a rolled sheet of equal
//!   triangles three times too stiff: all of its curvature is met by a third of the edges]. Where they are not
//!   flat, a spring between the two corners opposite the edge has the same energy for small changes of the angle.
//! - *inner* springs of a body that fills a volume, to the 18 nodes around on a cubic lattice: k = 0.4 E h makes it
//!   isotropic with Young's modulus E and Poisson's ratio 1/4 (in 2-D, 3E/4 and 3E/8 for 8 nodes). Of a closed mesh:
//!   columns between a corner and the middle, or across the body: k = E A/L.
//!
//! A spring is stored once at each of its ends, so that every node sums over its own. Cutting a stretch spring breaks the faces
//! at it: their triangles go, and with them what crosses them.
//!
//! Kept honest by the tests below and by `littoral validate hanging-cloth`.

use std::collections::HashMap;
use std::ops::Range;

use glam::DVec3;

use super::Sheet;
use crate::behaviours::springs::Scratch;

/// What a spring resists; the place of its property among [`Net::strength`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpringKind {
    Stretch = 0,
    Shear = 1,
    Bend = 2,
    Inner = 3,
}

/// A spring, by its ends, which count from the first node of its body.
#[derive(Clone, Copy, Debug)]
pub struct Spring {
    pub ends: [u32; 2],
    /// Length at rest, m.
    pub rest: f32,
    pub kind: SpringKind,
    /// Its constant over the property of its kind: a number (stretch, shear), 1/m² (bend) or m (inner).
    pub share: f32,
    /// The face it crosses, or [`NONE`].
    face: u32,
}

/// No face.
const NONE: u32 = u32::MAX;

/// What a node sees of a spring.
#[derive(Clone, Copy, Debug)]
pub struct Half {
    pub partner: u32,
    pub spring: u32,
}

/// Bending energy of a few nodes as pairs: ½ Σ weight |x_i − x_j|².
#[derive(Clone, Copy, Debug)]
struct Bend {
    pairs: [u32; 6],
    weights: [f32; 6],
}

/// A cell of a grid, or a triangle: broken once a spring at its rim is cut.
#[derive(Clone, Debug)]
struct Face {
    rim: [u32; 4],
    triangles: Range<usize>,
}

/// The springs of one body.
pub struct Net {
    /// Place of the body in the scene.
    pub body: u32,
    pub nodes: Range<u32>,
    pub springs: Vec<Spring>,
    bends: Vec<Bend>,
    faces: Vec<Face>,
    is_cut: Vec<bool>,
    is_broken: Vec<bool>,
    /// Of each spring, [`Spring::share`], and what bending adds for the pair, without a length at rest, over the bending
    /// stiffness, 1/m²; both 0 once it is cut.
    shares: Vec<f32>,
    bend: Vec<f32>,
    /// Where the springs of each node start in `halves`, and from where on they do nothing but bend.
    starts: Vec<u32>,
    loose: Vec<u32>,
    halves: Vec<Half>,
    /// Triangles of its sheet at first; those that are left are in the sheet.
    triangles: Vec<[u32; 3]>,
    /// Largest Σ share/m of any node for each kind, and of Σ |bend|/m: what bounds the fastest oscillation.
    pub crowd: [f32; 5],
    pub(crate) scratch: Scratch,
}

impl Net {
    /// Springs at a node.
    #[inline(always)]
    pub fn halves(&self, node: usize) -> &[Half] {
        &self.halves[self.range(node)]
    }

    #[inline(always)]
    pub fn range(&self, node: usize) -> Range<usize> {
        self.starts[node] as usize..self.starts[node + 1] as usize
    }

    /// Those that resist stretching, and those that are there for bending only.
    #[inline(always)]
    pub fn firm_and_loose(&self, node: usize) -> (&[Half], &[Half]) {
        let Range { start, end } = self.range(node);
        let loose = self.loose[node] as usize;
        (&self.halves[start..loose], &self.halves[loose..end])
    }

    /// Of a spring: [`Spring::share`], and the same for bending; 0 once it is cut.
    #[inline(always)]
    pub fn shares(&self, spring: usize) -> (f32, f32) {
        (self.shares[spring], self.bend[spring])
    }

    pub fn is_cut(&self, spring: usize) -> bool {
        self.is_cut[spring]
    }

    /// Ends of all springs that are cut, as nodes of the world.
    pub fn cuts(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        let cut = self.springs.iter().zip(&self.is_cut).filter(|(_, is_cut)| **is_cut);
        cut.map(|(spring, _)| spring.ends.map(|end| self.nodes.start + end))
    }

    /// The spring between two nodes of the world.
    pub fn find(&self, [a, b]: [u32; 2]) -> Option<u32> {
        let (a, b) = (a.checked_sub(self.nodes.start)?, b.checked_sub(self.nodes.start)?);
        if a as usize >= self.nodes.len() {
            return None;
        }
        self.halves(a as usize).iter().find(|half| half.partner == b).map(|half| half.spring)
    }

    /// Cuts springs, and what hangs on them: faces at them break, springs across a broken face are cut, springs at a rim
    /// are cut once no face is left there, and what bends over a cut spring bends freely.
    pub fn cut(&mut self, springs: impl IntoIterator<Item = u32>) {
        springs.into_iter().for_each(|spring| self.is_cut[spring as usize] = true);
        let mut whole = vec![0u32; self.springs.len()];
        let mut had = vec![false; self.springs.len()];
        for (face, is_broken) in self.faces.iter().zip(&mut self.is_broken) {
            *is_broken |= face.rim.iter().any(|&edge| self.is_cut[edge as usize]);
            for &edge in &face.rim {
                had[edge as usize] = true;
                whole[edge as usize] += u32::from(!*is_broken);
            }
        }
        for (k, spring) in self.springs.iter().enumerate() {
            let crosses = spring.face != NONE && self.is_broken[spring.face as usize];
            self.is_cut[k] |= crosses || (had[k] && whole[k] == 0);
        }
        self.refresh();
    }

    /// Triangles that are left, in the order of a sheet's.
    pub fn whole_triangles(&self) -> Vec<[u32; 3]> {
        let mut is_gone = vec![false; self.triangles.len()];
        for (face, _) in self.faces.iter().zip(&self.is_broken).filter(|(_, broken)| **broken) {
            is_gone[face.triangles.clone()].fill(true);
        }
        let kept = self.triangles.iter().zip(is_gone).filter(|(_, gone)| !gone);
        kept.map(|(triangle, _)| *triangle).collect()
    }

    /// Triangles that are gone, by their place among those there were at first.
    pub fn gone_triangles(&self) -> impl Iterator<Item = usize> + '_ {
        let broken = self.faces.iter().zip(&self.is_broken).filter(|(_, broken)| **broken);
        broken.flat_map(|(face, _)| face.triangles.clone())
    }

    /// All triangles there were at first.
    pub fn first_triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Finds shares and bending of the springs that are left.
    fn refresh(&mut self) {
        self.bend.fill(0.0);
        for element in &self.bends {
            let pairs = element.pairs.iter().zip(&element.weights);
            let is_used = |(_, weight): &(&u32, &f32)| **weight != 0.0;
            if pairs.clone().filter(is_used).all(|(&pair, _)| !self.is_cut[pair as usize]) {
                pairs.for_each(|(&pair, weight)| self.bend[pair as usize] += weight);
            }
        }
        let all = self.springs.iter().zip(&self.is_cut);
        let shares = all.map(|(spring, is_cut)| if *is_cut { 0.0 } else { spring.share });
        self.shares.clear();
        self.shares.extend(shares);
    }

    /// Finds how crowded with springs the most crowded node is, for these masses, kg.
    pub fn weigh(&mut self, mass: &[f32]) {
        self.crowd = [0.0; 5];
        for (node, mass) in mass.iter().enumerate() {
            let mut sums = [0.0f32; 5];
            for half in self.halves(node) {
                let (share, bend) = self.shares(half.spring as usize);
                sums[self.springs[half.spring as usize].kind as usize] += share / mass;
                sums[4] += bend.abs() / mass;
            }
            self.crowd.iter_mut().zip(sums).for_each(|(most, sum)| *most = most.max(sum));
        }
    }
}

/// Makes a net, spring by spring.
pub struct Builder {
    body: u32,
    nodes: Range<u32>,
    /// Places of the nodes at rest, m.
    places: Vec<DVec3>,
    springs: Vec<Spring>,
    bends: Vec<Bend>,
    faces: Vec<Face>,
    triangles: Vec<[u32; 3]>,
    /// Springs by their ends, the lower one first.
    known: HashMap<[u32; 2], u32>,
}

impl Builder {
    pub fn new(body: u32, nodes: Range<u32>, places: Vec<DVec3>) -> Builder {
        Builder {
            body,
            nodes,
            places,
            springs: Vec::new(),
            bends: Vec::new(),
            faces: Vec::new(),
            triangles: Vec::new(),
            known: HashMap::new(),
        }
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        self.places[a].distance(self.places[b])
    }

    /// The spring between two nodes; what it is made as when it is not there yet.
    fn spring(&mut self, a: usize, b: usize, kind: SpringKind, share: f64, face: u32) -> u32 {
        let ends = [a.min(b) as u32, a.max(b) as u32];
        let next = self.springs.len() as u32;
        let known = *self.known.entry(ends).or_insert(next);
        if known == next {
            let rest = self.distance(a, b) as f32;
            self.springs.push(Spring { ends, rest, kind, share: share as f32, face });
        }
        known
    }

    /// Bending energy weight/2 |Σ K x|² of nodes whose K add up to nothing: −K_i K_j for each pair.
    fn bend(&mut self, nodes: &[usize], k: &[f64], weight: f64) {
        let mut element = Bend { pairs: [0; 6], weights: [0.0; 6] };
        let mut count = 0;
        for i in 0..nodes.len() {
            for j in i + 1..nodes.len() {
                element.pairs[count] = self.spring(nodes[i], nodes[j], SpringKind::Bend, 0.0, NONE);
                element.weights[count] = (-weight * k[i] * k[j]) as f32;
                count += 1;
            }
        }
        self.bends.push(element);
    }

    /// A rope: nodes in a line, one after the other. `width` is what its stiffness is counted for, m.
    pub fn line(mut self, width: f64) -> Net {
        for a in 1..self.places.len() {
            let share = width / self.distance(a - 1, a);
            self.spring(a - 1, a, SpringKind::Stretch, share, NONE);
        }
        for b in 1..self.places.len().saturating_sub(1) {
            let h = 0.5 * (self.distance(b - 1, b) + self.distance(b, b + 1));
            self.bend(&[b - 1, b, b + 1], &[1.0, -2.0, 1.0], width / h.powi(3));
        }
        self.finish()
    }

    /// A cloth of rows and columns; of several layers, as knitwear is, each has its part of the stiffness.
    pub fn grid(mut self, sheet: &Sheet, grid: (usize, usize)) -> Net {
        let in_layer = grid.0 * grid.1;
        for layer in 0..sheet.layers {
            self.layer(grid, layer * in_layer, 1.0 / sheet.layers as f64, layer == sheet.layers / 2);
        }
        for layer in 1..sheet.layers {
            self.join_layers(grid, layer * in_layer);
        }
        self.triangles = sheet.triangles.clone();
        self.finish()
    }

    /// Springs within a grid of nodes from `first` on, with a part of the stiffness. Those whose triangles are the
    /// sheet's can be torn open.
    fn layer(&mut self, (rows, columns): (usize, usize), first: usize, part: f64, has_faces: bool) {
        let node = |row: usize, column: usize| first + row * columns + column;
        let (along, across) = (self.distance(first, first + 1), self.distance(first, first + columns));
        let corner = self.places[first];
        let area = (self.places[first + 1] - corner).cross(self.places[first + columns] - corner).length();
        // A border has half a strip.
        let strip = |k: usize, count: usize, width: f64| {
            part * if k == 0 || k + 1 == count { 0.5 * width } else { width }
        };
        for row in 0..rows {
            for column in 0..columns {
                if column + 1 < columns {
                    let share = strip(row, rows, area / along) / along;
                    self.spring(node(row, column), node(row, column + 1), SpringKind::Stretch, share, NONE);
                }
                if row + 1 < rows {
                    let share = strip(column, columns, area / across) / across;
                    self.spring(node(row, column), node(row + 1, column), SpringKind::Stretch, share, NONE);
                }
            }
        }
        for row in 0..rows - 1 {
            for column in 0..columns - 1 {
                let [a, b] = [node(row, column), node(row, column + 1)];
                let [c, d] = [node(row + 1, column), node(row + 1, column + 1)];
                let mut face = NONE;
                if has_faces {
                    let edge = |one: &mut Builder, a, b| one.spring(a, b, SpringKind::Stretch, 0.0, NONE);
                    let rim = [(a, b), (b, d), (c, d), (a, c)].map(|(a, b)| edge(self, a, b));
                    let triangles = 2 * self.faces.len();
                    face = self.faces.len() as u32;
                    self.faces.push(Face { rim, triangles: triangles..triangles + 2 });
                }
                for (a, b) in [(a, d), (b, c)] {
                    let share = part * self.distance(a, b).powi(2) / (2.0 * area);
                    self.spring(a, b, SpringKind::Shear, share, face);
                }
            }
        }
        const THIRDS: f64 = 2.0 / 3.0;
        let line = [1.0, -2.0, 1.0];
        for row in 0..rows {
            for column in 0..columns {
                let inside = [row > 0 && row + 1 < rows, column > 0 && column + 1 < columns];
                let at = node(row, column);
                if inside[1] {
                    let width = strip(row, rows, area / along);
                    self.bend(&[at - 1, at, at + 1], &line, THIRDS * width / along.powi(3));
                }
                if inside[0] {
                    let width = strip(column, columns, area / across);
                    self.bend(&[at - columns, at, at + columns], &line, THIRDS * width / across.powi(3));
                }
                if inside == [true; 2] {
                    for [a, c] in [[at - columns - 1, at + columns + 1], [at - columns + 1, at + columns - 1]]
                    {
                        let d = 0.5 * self.distance(a, c);
                        self.bend(&[a, at, c], &line, part * THIRDS * area / d.powi(4));
                    }
                }
            }
        }
    }

    /// Volume springs [Bayraktar2010, 4.2] between the layer from `first` on and the one before it: posts, k = E A/h, which
    /// keep the layers apart, and struts to the nodes beside, k = E A/4L, which keep them from sliding.
    fn join_layers(&mut self, (rows, columns): (usize, usize), first: usize) {
        let in_layer = rows * columns;
        let corner = self.places[first];
        let area = (self.places[first + 1] - corner).cross(self.places[first + columns] - corner).length();
        for at in first..first + in_layer {
            let below = at - in_layer;
            let (row, column) = ((at - first) / columns, (at - first) % columns);
            let height = self.distance(at, below);
            self.spring(at, below, SpringKind::Inner, area / height, NONE);
            let beside = [
                (column > 0).then(|| below.wrapping_sub(1)),
                (column + 1 < columns).then_some(below + 1),
                (row > 0).then(|| below.wrapping_sub(columns)),
                (row + 1 < rows).then_some(below + columns),
            ];
            for other in beside.into_iter().flatten() {
                let share = 0.25 * area / self.distance(at, other);
                self.spring(at, other, SpringKind::Inner, share, NONE);
            }
        }
    }

    /// A cloth, or the skin of a soft body: triangles of any shape. `across` says whether corners are held apart through
    /// the body; a node more than the triangles have stands in its middle, and holds all of them.
    pub fn mesh(mut self, sheet: &Sheet, across: bool) -> Net {
        let corners = |triangle: &[u32; 3]| triangle.map(|node| (node - self.nodes.start) as usize);
        let triangles: Vec<[usize; 3]> = sheet.triangles.iter().map(corners).collect();
        let area = |one: &Builder, [a, b, c]: [usize; 3]| {
            0.5 * (one.places[b] - one.places[a]).cross(one.places[c] - one.places[a]).length()
        };
        // Triangles at each edge, in the order of the first triangle that has it.
        let mut edges: Vec<([usize; 2], Vec<usize>)> = Vec::new();
        let mut place: HashMap<[usize; 2], usize> = HashMap::new();
        for (t, corners) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                let edge = [a.min(b), a.max(b)];
                let at = *place.entry(edge).or_insert_with(|| {
                    edges.push((edge, Vec::new()));
                    edges.len() - 1
                });
                edges[at].1.push(t);
            }
        }
        for ([a, b], around) in &edges {
            let areas: f64 = around.iter().map(|&t| area(&self, triangles[t])).sum();
            // An edge much shorter than its triangles are wide would be stiffer than all others together.
            let share = (areas / self.distance(*a, *b).powi(2)).min(MOST_SHARE);
            self.spring(*a, *b, SpringKind::Stretch, share, NONE);
        }
        for (t, corners) in triangles.iter().enumerate() {
            let edge = |k: usize| {
                place[&[corners[k].min(corners[(k + 1) % 3]), corners[k].max(corners[(k + 1) % 3])]]
            };
            let rim = [edge(0) as u32, edge(1) as u32, edge(2) as u32, edge(0) as u32];
            self.faces.push(Face { rim, triangles: t..t + 1 });
        }
        for ([a, b], around) in &edges {
            if let [t, u] = around[..] {
                let opposite = |t: usize| triangles[t].into_iter().find(|k| k != a && k != b).unwrap_or(*a);
                let areas = area(&self, triangles[t]) + area(&self, triangles[u]);
                self.hinge([*a, *b, opposite(t), opposite(u)], areas, t as u32);
            }
        }
        self.triangles = sheet.triangles.clone();
        let skin = self.skin(&triangles);
        let middle = self.places.len() - 1;
        if skin[middle].1 == 0.0 {
            for (k, (_, area)) in skin.iter().enumerate().take(middle) {
                let share = area / self.distance(k, middle);
                self.spring(k, middle, SpringKind::Inner, share, NONE);
            }
        }
        if across {
            self.through(&skin);
        }
        self.finish()
    }

    /// The bending of two triangles with the edge ab and the corners c and d opposite of it.
    fn hinge(&mut self, [a, b, c, d]: [usize; 4], areas: f64, face: u32) {
        let at = |k: usize| self.places[k];
        let edge = (at(b) - at(a)).length();
        let axis = (at(b) - at(a)) / edge;
        let height = |k: usize| (at(k) - at(a)) - axis * (at(k) - at(a)).dot(axis);
        let (up, down) = (height(c), height(d));
        // Over an edge between needles nothing can be said of the angle: what is around them bends.
        let least = NEEDLE * edge.max(self.distance(c, d));
        if up.length() < least || down.length() < least || edge == 0.0 {
            return;
        }
        let sine = up.cross(down).length() / (up.length() * down.length());
        if sine < FLAT {
            let cot = |corner: usize, p: usize, q: usize| {
                let (u, v) = (at(p) - at(corner), at(q) - at(corner));
                u.dot(v) / u.cross(v).length()
            };
            let (at_a, at_b) = ([cot(a, b, c), cot(a, b, d)], [cot(b, a, c), cot(b, a, d)]);
            let k = [at_b[0] + at_b[1], at_a[0] + at_a[1], -at_a[0] - at_b[0], -at_a[1] - at_b[1]];
            self.bend(&[a, b, c, d], &k, 1.0 / areas);
        } else {
            // l changes with the angle φ by h₁h₂ sin φ/l; nearly flat, that says nothing, and we stop at a little.
            let turn = up.length() * down.length() * sine.max(STEEP) / self.distance(c, d);
            let share = edge * edge / areas / (turn * turn);
            self.spring(c, d, SpringKind::Bend, share, face);
        }
    }

    /// Normal, outwards, and area of the surface around each node.
    fn skin(&self, triangles: &[[usize; 3]]) -> Vec<(DVec3, f64)> {
        let mut skin = vec![(DVec3::ZERO, 0.0); self.places.len()];
        for corners in triangles {
            let [a, b, c] = corners.map(|k| self.places[k]);
            let cross = (b - a).cross(c - a);
            for &k in corners {
                skin[k].0 += cross;
                skin[k].1 += cross.length() / 6.0;
            }
        }
        skin.iter_mut().for_each(|one| one.0 = one.0.normalize_or_zero());
        skin
    }

    /// Springs from each corner through the body: to the corner that is nearest to the straight way in.
    fn through(&mut self, skin: &[(DVec3, f64)]) {
        let corners: Vec<usize> = (0..self.places.len()).filter(|&k| skin[k].1 > 0.0).collect();
        let find = |&k: &usize| {
            let (from, inwards) = (self.places[k], -skin[k].0);
            let score = |&other: &usize| {
                let way = self.places[other] - from;
                // Straight ahead, at a face that looks back.
                let ahead = way.normalize_or_zero().dot(inwards);
                if ahead < 0.8 || skin[other].0.dot(inwards) < 0.3 {
                    f64::INFINITY
                } else {
                    way.length() / ahead.powi(8)
                }
            };
            let best = corners.iter().copied().min_by(|a, b| score(a).total_cmp(&score(b)))?;
            score(&best).is_finite().then_some((k, best))
        };
        use rayon::prelude::*;
        let found: Vec<(usize, usize)> = corners.par_iter().filter_map(find).collect();
        for (a, b) in found {
            let share = 0.5 * (skin[a].1 + skin[b].1) / self.distance(a, b);
            self.spring(a, b, SpringKind::Inner, share, NONE);
        }
    }

    /// A body that fills a volume: springs to the nearest nodes of the lattice and to the next nearest.
    pub fn filled(mut self, spacing: f64, is_flat: bool) -> Net {
        let reach = 1.58 * spacing;
        let cell = |p: DVec3| (p / reach).floor().as_i64vec3();
        let mut cells: HashMap<glam::I64Vec3, Vec<usize>> = HashMap::new();
        for (k, &place) in self.places.iter().enumerate() {
            cells.entry(cell(place)).or_default().push(k);
        }
        for a in 0..self.places.len() {
            let at = cell(self.places[a]);
            let mut near = Vec::new();
            for z in -1..=1 {
                for y in -1..=1 {
                    for x in -1..=1 {
                        near.extend(cells.get(&(at + glam::I64Vec3::new(x, y, z))).into_iter().flatten());
                    }
                }
            }
            near.retain(|&b| b > a && self.distance(a, b) < reach);
            near.sort_unstable();
            for b in near {
                let is_near = self.distance(a, b) < 1.2 * spacing;
                let share = if is_flat { if is_near { 0.75 } else { 0.375 } } else { 0.4 * spacing };
                self.spring(a, b, SpringKind::Inner, share, NONE);
            }
        }
        self.finish()
    }

    fn finish(self) -> Net {
        let count = self.nodes.len();
        let mut starts = vec![0u32; count + 1];
        for spring in &self.springs {
            spring.ends.iter().for_each(|&end| starts[end as usize + 1] += 1);
        }
        for k in 0..count {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut loose = Vec::new();
        let mut halves = vec![Half { partner: 0, spring: 0 }; 2 * self.springs.len()];
        // Those that resist stretching first.
        for is_firm in [true, false] {
            for (k, spring) in self.springs.iter().enumerate().filter(|(_, one)| (one.share > 0.0) == is_firm)
            {
                let [a, b] = spring.ends;
                for (own, partner) in [(a, b), (b, a)] {
                    let slot = &mut next[own as usize];
                    halves[*slot as usize] = Half { partner, spring: k as u32 };
                    *slot += 1;
                }
            }
            if is_firm {
                loose = next[..count].to_vec();
            }
        }
        let mut net = Net {
            body: self.body,
            nodes: self.nodes,
            is_cut: vec![false; self.springs.len()],
            is_broken: vec![false; self.faces.len()],
            springs: self.springs,
            bends: self.bends,
            faces: self.faces,
            shares: Vec::new(),
            bend: Vec::new(),
            starts,
            loose,
            halves,
            triangles: self.triangles,
            crowd: [0.0; 5],
            scratch: Scratch::default(),
        };
        net.bend.resize(net.springs.len(), 0.0);
        net.refresh();
        net
    }
}

/// Sine of the angle below which two triangles count as flat.
const FLAT: f64 = 0.02;
/// And the least that one which is not flat counts with.
const STEEP: f64 = 0.2;
/// Largest constant of an edge over the stiffness of cloth: that of equal triangles is 0.87.
const MOST_SHARE: f64 = 5.0;
/// Height of a triangle over its longest side below which it is a needle.
const NEEDLE: f64 = 0.1;

/// Sum of what bending adds, for tests: ½ Σ over pairs.
#[cfg(test)]
fn bending_energy(net: &Net, places: &[glam::Vec4]) -> f64 {
    let pair = |node: usize, half: &Half| {
        let d = (places[node] - places[half.partner as usize]).as_dvec4();
        // Each pair is met twice.
        0.25 * f64::from(net.shares(half.spring as usize).1) * d.length_squared()
    };
    (0..net.nodes.len()).flat_map(|node| net.halves(node).iter().map(move |half| pair(node, half))).sum()
}

#[cfg(test)]
mod tests {
    use glam::Vec4;

    use super::*;

    fn grid(rows: usize, columns: usize, h: f64) -> Net {
        let nodes = 0..(rows * columns) as u32;
        let sheet = Sheet::grid(0, nodes.clone(), (rows, columns), 1, 1e-3);
        let place = |k: usize| DVec3::new((k % columns) as f64 * h, (k / columns) as f64 * h, 0.0);
        let places = (0..rows * columns).map(place).collect();
        Builder::new(0, nodes, places).grid(&sheet, (rows, columns))
    }

    /// Rolled up on a cylinder, a sheet has B κ²/2 for each unit of area, in any direction.
    #[test]
    fn a_rolled_grid_has_the_energy_of_its_curvature() {
        let (count, h, curvature) = (41, 0.01, 0.5);
        let net = grid(count, count, h);
        for angle in [0.0f64, 0.4, std::f64::consts::FRAC_PI_4, 1.2] {
            let (sin, cos) = angle.sin_cos();
            let place = |k: usize| {
                let (x, y) = ((k % count) as f64 * h, (k / count) as f64 * h);
                let (along, across) = (cos * x + sin * y, -sin * x + cos * y);
                let turn = curvature * along;
                DVec3::new(turn.sin() / curvature, across, turn.cos() / curvature).as_vec3().extend(0.0)
            };
            let places: Vec<Vec4> = (0..count * count).map(place).collect();
            let area = ((count - 1) as f64 * h).powi(2);
            let expected = 0.5 * curvature * curvature * area;
            let ratio = bending_energy(&net, &places) / expected;
            // Borders lack a row of bends across them: 1/20 of the area at most. f32 places add noise of some per cent.
            assert!((0.93..1.05).contains(&ratio), "at {angle}: {ratio}");
        }
    }

    #[test]
    fn a_rolled_mesh_of_triangles_bends_as_much() {
        // Equilateral triangles, in rows that are shifted by half a side.
        let (count, h, curvature) = (40usize, 0.01, 0.5);
        let flat = |k: usize| {
            let (row, column) = (k / count, k % count);
            let shift = if row % 2 == 1 { 0.5 } else { 0.0 };
            DVec3::new((column as f64 + shift) * h, row as f64 * h * 0.75f64.sqrt(), 0.0)
        };
        let mut triangles = Vec::new();
        for row in 0..count as u32 - 1 {
            for column in 0..count as u32 - 1 {
                let a = row * count as u32 + column;
                let (b, c, d) = (a + 1, a + count as u32, a + count as u32 + 1);
                triangles.extend(if row % 2 == 0 { [[a, b, c], [b, d, c]] } else { [[a, d, c], [a, b, d]] });
            }
        }
        let nodes = 0..(count * count) as u32;
        let sheet =
            Sheet { body: 0, nodes: nodes.clone(), triangles, grid: None, layers: 1, thickness: 1e-3 };
        let net = Builder::new(0, nodes, (0..count * count).map(flat).collect()).mesh(&sheet, false);
        let rolled = |k: usize| {
            let p = flat(k);
            let turn = curvature * p.x;
            DVec3::new(turn.sin() / curvature, p.y, turn.cos() / curvature).as_vec3().extend(0.0)
        };
        let places: Vec<Vec4> = (0..count * count).map(rolled).collect();
        let area = ((count - 1) as f64 * h).powi(2) * 0.75f64.sqrt();
        let ratio = bending_energy(&net, &places) / (0.5 * curvature * curvature * area);
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }

    /// Cutting one spring in the middle takes two cells, their diagonals, and all that bends over them; nothing else.
    #[test]
    fn a_cut_opens_the_two_cells_beside_it() {
        let mut net = grid(6, 6, 0.1);
        let spring = net.find([14, 15]).unwrap();
        net.cut([spring]);
        assert_eq!(net.whole_triangles().len(), 2 * 25 - 4);
        let cut: Vec<[u32; 2]> = net.cuts().collect();
        let count =
            |kind| net.springs.iter().zip(&net.is_cut).filter(|(s, cut)| **cut && s.kind == kind).count();
        assert_eq!(
            (count(SpringKind::Stretch), count(SpringKind::Shear), count(SpringKind::Bend)),
            (1, 4, 0),
            "{cut:?}"
        );
        // 13–15 and 14–16 no longer bend over it, and 12–14 still does.
        let bend = |a: u32, b: u32| net.shares(net.find([a, b]).unwrap() as usize).1;
        assert_eq!((bend(13, 15), bend(14, 16)), (0.0, 0.0));
        assert!(bend(12, 14) < 0.0);
    }

    #[test]
    fn both_ends_see_the_same_spring() {
        let net = grid(5, 7, 0.1);
        for node in 0..net.nodes.len() {
            for half in net.halves(node) {
                let back =
                    net.halves(half.partner as usize).iter().find(|other| other.partner == node as u32);
                let back = back.expect("stored at both ends");
                assert_eq!(back.spring, half.spring);
            }
        }
    }
}
