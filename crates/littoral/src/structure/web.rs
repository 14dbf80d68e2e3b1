//! Edges of a cloth, and the orders in which they are put right.
//!
//! *Directional* enforcement [Ozgen2013, ch. 6] makes a list of corrections once for each set of fixed nodes. Fronts run out
//! from all of them in step, along horizontal edges, then along vertical ones, then along diagonals, never upwards. A node
//! that is reached joins the next front, and the edge to it joins the list, unless the node has been reached so often
//! already as the limit of visits allows. A pass along the list moves the second node of each edge.
//!
//! Where we differ. In print [Alg. 3], a node takes all its edges before the next one of its front takes any, and goes back
//! along the edge that it was reached by: diagonals use up the visits of the next node's vertical edge, and half of all
//! visits correct what is right already. Here a whole front takes its horizontal edges before any of its vertical ones, and an
//! edge is taken once; [`Expansion::Nodes`] is the printed order. What lies above all fixed nodes is never reached in
//! print: here fronts go on upwards into what nothing has reached. A cloth that lies level at rest has no up.
//!
//! *Iterative* enforcement [Provot1995] goes through all edges in the order they are stored in, again and again, and moves both
//! nodes of each.
//!
//! A correction moves places, and it is a push: it takes momentum from one node and gives it to the other. In print, the
//! first node feels nothing. Then nothing tells a node how much cloth hangs from it, each swings as a pendulum of one
//! edge's length and pulls along all that follow, and the energy of a cloth grows without bound (measured in
//! `experiments/directional-enforcement`). Here places are moved one-sidedly and momentum is exchanged both ways, by J = μ d/Δt
//! with the reduced mass μ, as for chains in [Mueller2012].
//!
//! A cloth that hangs from one place can be put right edge by edge. One that is held from several cannot: where fronts
//! meet, someone must give way. There the first node takes its share of each correction (`recoil`).
//!
//! Passes are sequential: each correction starts from where the one before it has left its first node. Only the edges of
//! one front are independent, some tens of them; to hand so few to several threads costs more than to correct them.

use glam::Vec3;

/// How an edge lies in a cloth that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Horizontal,
    Vertical,
    Shear,
}

/// An edge that must not be stretched. Nodes are numbered from the first of the cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    pub ends: [u32; 2],
    /// m.
    pub rest: f32,
    pub kind: Kind,
}

/// One entry of a list: the second node is put right, as seen from the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    pub from: u32,
    pub to: u32,
    /// m.
    pub rest: f32,
}

/// How a list grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// All nodes of a front along edges of the first kind, then all along the second, then the third; an edge is taken once.
    Fronts,
    /// Node after node, each along all its edges, as printed.
    Nodes,
}

/// What a correction may do with a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Free,
    /// It stays where it is: fronts start here.
    Fixed,
    /// A sink has taken it.
    Gone,
}

/// Which corrections are made, and in which order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    pub order: [Kind; 3],
    pub visits: u32,
    pub expansion: Expansion,
}

/// The list for one set of fixed nodes: a correction map.
#[derive(Clone, Debug, Default)]
pub struct Map {
    pub list: Vec<Correction>,
    /// How many fixed places there are, of nodes that hang together.
    pub holds: usize,
}

/// All edges of a cloth.
#[derive(Clone, Debug, Default)]
pub struct Web {
    pub edges: Vec<Edge>,
    /// Height of each node at rest, against gravity, m.
    height: Vec<f32>,
    /// Edges of node n: `around[starts[n]..starts[n + 1]]`, in the order of `edges`.
    starts: Vec<u32>,
    around: Vec<u32>,
}

/// An edge leads upwards if it rises by more than this part of its length.
const RISE: f32 = 0.1;

/// Edges of meshes, which have no rows, are horizontal below 30° and vertical above 60°: the sines.
const STEEP: [f32; 2] = [0.5, 0.866];

impl Web {
    /// Of rows and columns: their edges and the diagonals of their cells. Which of them are vertical shows in how they
    /// lie at rest.
    pub fn of_grid((rows, columns): (usize, usize), rest: &[Vec3], down: Vec3) -> Web {
        let node = |row: usize, column: usize| (row * columns + column) as u32;
        // Each node with the next in its row, the next in its column, and both diagonals of the cell below.
        let mut pairs = Vec::new();
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let here = node(row, column);
            let (has_right, has_below) = (column + 1 < columns, row + 1 < rows);
            if has_right {
                pairs.push(([here, node(row, column + 1)], Some(Line::Row)));
            }
            if has_below {
                pairs.push(([here, node(row + 1, column)], Some(Line::Column)));
            }
            if has_right && has_below {
                pairs.push(([here, node(row + 1, column + 1)], None));
                pairs.push(([node(row, column + 1), node(row + 1, column)], None));
            }
        }
        let slope = |of: Line| -> f32 {
            let lines = pairs.iter().filter(|(_, line)| *line == Some(of));
            let slopes: Vec<f32> = lines.map(|(ends, _)| steepness(*ends, rest, down)).collect();
            slopes.iter().sum::<f32>() / slopes.len().max(1) as f32
        };
        // Within rounding, a cloth that lies level has its columns for verticals.
        let vertical = if slope(Line::Row) > slope(Line::Column) + 1e-3 { Line::Row } else { Line::Column };
        let kind = |line: Option<Line>| match line {
            None => Kind::Shear,
            Some(line) if line == vertical => Kind::Vertical,
            Some(_) => Kind::Horizontal,
        };
        Web::new(pairs.iter().map(|&(ends, line)| (ends, kind(line))).collect(), rest, down)
    }

    /// Of triangles: their edges, by how steep they are at rest.
    pub fn of_triangles(triangles: &[[u32; 3]], rest: &[Vec3], down: Vec3) -> Web {
        let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let mut pairs: Vec<[u32; 2]> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let kind = |ends: [u32; 2]| match steepness(ends, rest, down) {
            slope if slope < STEEP[0] => Kind::Horizontal,
            slope if slope < STEEP[1] => Kind::Shear,
            _ => Kind::Vertical,
        };
        Web::new(pairs.into_iter().map(|pair| (pair, kind(pair))).collect(), rest, down)
    }

    fn new(pairs: Vec<([u32; 2], Kind)>, rest: &[Vec3], down: Vec3) -> Web {
        let length = |[a, b]: [u32; 2]| rest[a as usize].distance(rest[b as usize]);
        let edges = pairs.into_iter().map(|(ends, kind)| Edge { ends, rest: length(ends), kind }).collect();
        let height = rest.iter().map(|place| -place.dot(down)).collect();
        let mut web = Web { edges, height, starts: Vec::new(), around: Vec::new() };
        web.list_edges();
        web
    }

    /// Finds the edges of each node.
    fn list_edges(&mut self) {
        let mut starts = vec![0u32; self.len() + 1];
        self.edges.iter().flat_map(|edge| edge.ends).for_each(|node| starts[node as usize + 1] += 1);
        for node in 0..self.len() {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut around = vec![0; 2 * self.edges.len()];
        for (k, edge) in self.edges.iter().enumerate() {
            for node in edge.ends {
                around[next[node as usize] as usize] = k as u32;
                next[node as usize] += 1;
            }
        }
        (self.starts, self.around) = (starts, around);
    }

    /// Takes out the edges that are torn; tells whether there were any. Lists made before are of no use then.
    pub fn cut(&mut self, is_torn: impl Fn([u32; 2]) -> bool) -> bool {
        let before = self.edges.len();
        self.edges.retain(|edge| !is_torn(edge.ends));
        let is_less = self.edges.len() < before;
        if is_less {
            self.list_edges();
        }
        is_less
    }

    /// How many nodes the cloth has.
    pub fn len(&self) -> usize {
        self.height.len()
    }

    pub fn is_empty(&self) -> bool {
        self.height.is_empty()
    }

    /// The list of corrections for a set of fixed nodes [Ozgen2013, Alg. 3].
    pub fn map(&self, states: &[State], plan: &Plan) -> Map {
        let Plan { order, visits, expansion } = *plan;
        let mut list = Vec::new();
        // Nodes that are not free are never visited.
        let mut visited: Vec<u32> =
            states.iter().map(|state| if *state == State::Free { 0 } else { visits }).collect();
        let is_fixed = |&node: &u32| states[node as usize] == State::Fixed;
        let mut front: Vec<u32> = (0..self.len() as u32).filter(is_fixed).collect();
        let mut reached = front.clone();
        let mut used = vec![false; self.edges.len()];
        let mut next = Vec::new();
        while !front.is_empty() {
            let mut expand = |from: u32, kind: Kind| {
                for (k, to) in self.reach(from, kind) {
                    let rest = self.edges[k].rest;
                    let is_up = self.height[to as usize] - self.height[from as usize] > RISE * rest;
                    let is_used = expansion == Expansion::Fronts && used[k];
                    if is_up || is_used || visited[to as usize] >= visits {
                        continue;
                    }
                    if visited[to as usize] == 0 {
                        reached.push(to);
                    }
                    visited[to as usize] += 1;
                    used[k] = true;
                    list.push(Correction { from, to, rest });
                    next.push(to);
                }
            };
            match expansion {
                Expansion::Fronts => {
                    order.iter().for_each(|kind| front.iter().for_each(|from| expand(*from, *kind)));
                }
                // The queue of the text, a front of it at a time.
                Expansion::Nodes => {
                    front.iter().for_each(|from| order.iter().for_each(|kind| expand(*from, *kind)));
                }
            }
            front.clear();
            std::mem::swap(&mut front, &mut next);
            if front.is_empty() {
                self.climb(order, &mut visited, &mut reached, &mut list, &mut front);
            }
        }
        Map { list, holds: self.holds(states) }
    }

    /// One step upwards, into nodes that nothing has reached.
    fn climb(
        &self,
        order: [Kind; 3],
        visited: &mut [u32],
        reached: &mut Vec<u32>,
        list: &mut Vec<Correction>,
        front: &mut Vec<u32>,
    ) {
        for &from in reached.iter() {
            for (edge, to) in order.into_iter().flat_map(|kind| self.reach(from, kind)) {
                if visited[to as usize] == 0 {
                    visited[to as usize] = 1;
                    list.push(Correction { from, to, rest: self.edges[edge].rest });
                    front.push(to);
                }
            }
        }
        reached.extend_from_slice(front);
    }

    /// Fixed nodes that edges join count as one place.
    fn holds(&self, states: &[State]) -> usize {
        let mut seen: Vec<bool> = states.iter().map(|state| *state != State::Fixed).collect();
        let mut count = 0;
        let mut open = Vec::new();
        for node in 0..self.len() as u32 {
            if seen[node as usize] {
                continue;
            }
            count += 1;
            seen[node as usize] = true;
            open.push(node);
            while let Some(from) = open.pop() {
                for kind in [Kind::Horizontal, Kind::Vertical, Kind::Shear] {
                    for (_, to) in self.reach(from, kind) {
                        if !std::mem::replace(&mut seen[to as usize], true) {
                            open.push(to);
                        }
                    }
                }
            }
        }
        count
    }

    /// Edges of one kind that a node has, each with the node at its other end.
    fn reach(&self, from: u32, kind: Kind) -> impl Iterator<Item = (usize, u32)> + '_ {
        let range = self.starts[from as usize] as usize..self.starts[from as usize + 1] as usize;
        let edges = self.around[range].iter().map(|&k| (k as usize, &self.edges[k as usize]));
        let other = move |[a, b]: [u32; 2]| if a == from { b } else { a };
        edges.filter(move |(_, edge)| edge.kind == kind).map(move |(k, edge)| (k, other(edge.ends)))
    }

    /// Largest and mean stretch over all edges, as parts of their lengths at rest; an edge that is too short counts as 0.
    pub fn stretch(&self, places: &[Vec3]) -> (f32, f32) {
        let stretch = |edge: &Edge| {
            let [a, b] = edge.ends.map(|node| places[node as usize]);
            (a.distance(b) / edge.rest - 1.0).max(0.0)
        };
        let (mut most, mut sum) = (0.0f32, 0.0);
        for stretch in self.edges.iter().map(stretch).filter(|stretch| stretch.is_finite()) {
            most = most.max(stretch);
            sum += f64::from(stretch);
        }
        (most, (sum / self.edges.len().max(1) as f64) as f32)
    }
}

/// A line of a grid.
#[derive(Clone, Copy, PartialEq)]
enum Line {
    Row,
    Column,
}

/// Sine of the angle between an edge and the level.
fn steepness([a, b]: [u32; 2], rest: &[Vec3], down: Vec3) -> f32 {
    (rest[b as usize] - rest[a as usize]).normalize_or_zero().dot(down).abs()
}

/// What lengths are admitted: between `shortest` and `longest` times the length at rest.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub shortest: f32,
    pub longest: f32,
}

impl Bounds {
    /// What must be added to the way from one node to another, m; none where its length is admitted, or no number.
    #[inline]
    fn correction(self, way: Vec3, rest: f32) -> Option<Vec3> {
        let length2 = way.length_squared();
        let (longest, shortest) = (self.longest * rest, self.shortest * rest);
        let goal = if length2 > longest * longest {
            longest
        } else if length2 < shortest * shortest && length2 > 0.0 {
            shortest
        } else {
            return None;
        };
        Some(way * (goal / length2.sqrt() - 1.0))
    }
}

/// The nodes of a cloth while they are corrected.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// m; not a number where a node is gone.
    pub places: Vec<Vec3>,
    /// What momentum asks to be added to the velocity, times Δt, m.
    pub pushes: Vec<Vec3>,
    /// 1/kg; 0 for what is fixed.
    pub lightness: Vec<f32>,
    /// How much of each correction a node takes, 0 to 1.
    pub weight: Vec<f32>,
}

/// How a pass along a list treats first nodes.
#[derive(Clone, Copy, Debug)]
pub struct Firsts {
    /// Share of a correction that they take, unless they are fixed.
    pub recoil: f32,
    /// Whether they feel the push.
    pub momentum: bool,
}

/// One pass along a list.
pub fn direct(list: &[Correction], bounds: Bounds, firsts: Firsts, motion: &mut Motion) {
    for &Correction { from, to, rest } in list {
        let (from, to) = (from as usize, to as usize);
        let Some(correction) = bounds.correction(motion.places[to] - motion.places[from], rest) else {
            continue;
        };
        let correction = correction * motion.weight[to];
        let (mine, other) = (motion.lightness[to], motion.lightness[from]);
        let recoil = if other > 0.0 { firsts.recoil } else { 0.0 };
        motion.places[to] += correction * (1.0 - recoil);
        motion.places[from] -= correction * recoil;
        if firsts.momentum {
            let push = correction / (mine + other);
            motion.pushes[to] += push * mine;
            motion.pushes[from] -= push * other;
        } else {
            motion.pushes[to] += correction * (1.0 - recoil);
            motion.pushes[from] -= correction * recoil;
        }
    }
}

/// Up to so many passes over all edges: both nodes move, by their masses. Ends early once nothing is left to correct.
/// Tells how many passes there were.
pub fn iterate(edges: &[Edge], passes: u32, bounds: Bounds, motion: &mut Motion) -> u32 {
    for pass in 1..=passes {
        let mut is_done = true;
        for &Edge { ends, rest, .. } in edges {
            let [a, b] = ends.map(|node| node as usize);
            let Some(correction) = bounds.correction(motion.places[b] - motion.places[a], rest) else {
                continue;
            };
            let [light_a, light_b] = [a, b].map(|node| motion.lightness[node]);
            if light_a + light_b == 0.0 {
                continue;
            }
            let share = correction * (motion.weight[a].max(motion.weight[b]) / (light_a + light_b));
            motion.places[a] -= share * light_a;
            motion.places[b] += share * light_b;
            motion.pushes[a] -= share * light_a;
            motion.pushes[b] += share * light_b;
            is_done = false;
        }
        if is_done {
            return pass;
        }
    }
    passes
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan = Plan {
        order: [Kind::Horizontal, Kind::Vertical, Kind::Shear],
        visits: 4,
        expansion: Expansion::Fronts,
    };

    /// Rows of a cloth that hangs, 1 m from node to node.
    fn hanging(rows: usize, columns: usize) -> (Web, Vec<Vec3>) {
        let place = |k: usize| Vec3::new((k % columns) as f32, -((k / columns) as f32), 0.0);
        let rest: Vec<Vec3> = (0..rows * columns).map(place).collect();
        (Web::of_grid((rows, columns), &rest, Vec3::NEG_Y), rest)
    }

    fn fixed(web: &Web, nodes: &[usize]) -> Vec<State> {
        (0..web.len()).map(|k| if nodes.contains(&k) { State::Fixed } else { State::Free }).collect()
    }

    #[test]
    fn edges_are_horizontal_or_vertical_by_how_they_hang() {
        let (web, rest) = hanging(4, 5);
        let count = |web: &Web, kind| web.edges.iter().filter(|edge| edge.kind == kind).count();
        assert_eq!(count(&web, Kind::Horizontal), 4 * 4);
        assert_eq!(count(&web, Kind::Vertical), 3 * 5);
        assert_eq!(count(&web, Kind::Shear), 2 * 3 * 4);
        // The same cloth with gravity along its rows.
        let web = Web::of_grid((4, 5), &rest, Vec3::X);
        assert_eq!(count(&web, Kind::Vertical), 4 * 4);
        let web = Web::of_triangles(&[[0, 1, 5], [1, 6, 5]], &rest, Vec3::NEG_Y);
        assert_eq!([Kind::Horizontal, Kind::Vertical, Kind::Shear].map(|kind| count(&web, kind)), [2, 2, 1]);
    }

    #[test]
    fn every_free_node_is_reached_within_the_limit_of_visits() {
        let (web, _) = hanging(9, 7);
        // By a corner, by two, by a side, by the middle, with cloth above it.
        for held in [vec![6], vec![0, 6], (0..9).map(|row| 7 * row).collect(), vec![4 * 7 + 3]] {
            for visits in 1..5 {
                for expansion in [Expansion::Fronts, Expansion::Nodes] {
                    let states = fixed(&web, &held);
                    let map = web.map(&states, &Plan { visits, expansion, ..PLAN });
                    let mut visited = vec![0; web.len()];
                    let mut known: Vec<bool> = states.iter().map(|state| *state == State::Fixed).collect();
                    for one in &map.list {
                        // Fronts start from what is right already.
                        assert!(known[one.from as usize]);
                        known[one.to as usize] = true;
                        visited[one.to as usize] += 1;
                    }
                    for (node, state) in states.iter().enumerate() {
                        let count: u32 = visited[node];
                        if *state == State::Fixed {
                            assert_eq!(count, 0);
                        } else {
                            assert!((1..=visits).contains(&count), "node {node}: {count} of {visits}");
                        }
                    }
                }
            }
        }
    }

    /// [Ozgen2013, fig. 6.3, left]: from the upper right corner to the left and down.
    #[test]
    fn fronts_run_from_the_corner() {
        let (web, _) = hanging(3, 3);
        let list = web.map(&fixed(&web, &[2]), &Plan { visits: 1, ..PLAN }).list;
        let ways: Vec<(u32, u32)> = list.iter().map(|one| (one.from, one.to)).collect();
        assert_eq!(ways, [(2, 1), (2, 5), (2, 4), (1, 0), (4, 3), (5, 8), (4, 7), (4, 6)]);
    }

    #[test]
    fn one_pass_straightens_what_hangs_from_one_place() {
        let (web, rest) = hanging(12, 1);
        let map = web.map(&fixed(&web, &[0]), &PLAN);
        let mut motion = Motion {
            places: rest.iter().map(|place| *place * 1.3).collect(),
            pushes: vec![Vec3::ZERO; 12],
            lightness: (0..12).map(|k| if k == 0 { 0.0 } else { 1.0 + k as f32 }).collect(),
            weight: vec![1.0; 12],
        };
        let bounds = Bounds { shortest: 0.0, longest: 1.0 };
        direct(&map.list, bounds, Firsts { recoil: 0.0, momentum: true }, &mut motion);
        assert!(web.stretch(&motion.places).0 < 1e-5);
        // What pushes take from one node they give to another; only the one beside the fixed one has a third party.
        let momentum = |k: usize| motion.pushes[k].y / motion.lightness[k];
        let total: f32 = (1..12).map(momentum).sum();
        let first = 0.3 / motion.lightness[1];
        assert!((total - first).abs() < 1e-4 * first, "{total}, {first}");
    }

    #[test]
    fn what_is_gone_is_left_alone() {
        let (web, mut rest) = hanging(4, 4);
        let mut states = fixed(&web, &[0]);
        states[5] = State::Gone;
        let map = web.map(&states, &PLAN);
        assert!(map.list.iter().all(|one| one.from != 5 && one.to != 5));
        rest[5] = Vec3::NAN;
        let mut motion = Motion {
            places: rest.iter().map(|place| *place * 1.2).collect(),
            pushes: vec![Vec3::ZERO; 16],
            lightness: vec![1.0; 16],
            weight: vec![1.0; 16],
        };
        let bounds = Bounds { shortest: 0.0, longest: 1.01 };
        iterate(&web.edges, 50, bounds, &mut motion);
        assert!(motion.places.iter().enumerate().all(|(k, place)| place.is_finite() != (k == 5)));
    }
}
