//! Triangle meshes with numbers at their vertices.

use glam::Vec3;

/// Triangles, counter-clockwise when seen from outside.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// m.
    pub positions: Vec<Vec3>,
    /// Unit vectors, one for each vertex, pointing outwards.
    pub normals: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    /// What else is known at the vertices: colour, velocity, wetness, temperature.
    pub attributes: Vec<Attribute>,
}

/// One number (`width` 1) or one vector (`width` 3) for each vertex.
#[derive(Clone, Debug)]
pub struct Attribute {
    pub name: String,
    pub width: usize,
    pub values: Vec<f32>,
}

impl Mesh {
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

impl Mesh {
    /// Without the vertices that no triangle uses; the others keep their order.
    pub fn without_lone_vertices(mut self) -> Self {
        let mut used = vec![false; self.positions.len()];
        self.triangles.iter().flatten().for_each(|&vertex| used[vertex as usize] = true);
        let mut count = 0;
        let numbers: Vec<u32> = used.iter().map(|&used| (count, count += used as u32).0).collect();
        self.triangles.iter_mut().flatten().for_each(|vertex| *vertex = numbers[*vertex as usize]);
        let mut keep = used.iter();
        self.positions.retain(|_| *keep.next().expect("one for each"));
        let mut keep = used.iter();
        self.normals.retain(|_| *keep.next().expect("one for each"));
        for attribute in &mut self.attributes {
            let rows = attribute.values.chunks(attribute.width).zip(&used).filter(|(_, used)| **used);
            attribute.values = rows.flat_map(|(row, _)| row.iter().copied()).collect();
        }
        self
    }
}

/// Measures and checks of meshes that should be closed.
impl Mesh {
    fn corners(&self, triangle: [u32; 3]) -> [Vec3; 3] {
        triangle.map(|vertex| self.positions[vertex as usize])
    }

    /// Enclosed volume, m³: a sixth of Σ a · (b × c), by the divergence theorem.
    pub fn volume(&self) -> f64 {
        let sixfold = |&triangle: &[u32; 3]| {
            let [a, b, c] = self.corners(triangle).map(|corner| corner.as_dvec3());
            a.dot(b.cross(c))
        };
        self.triangles.iter().map(sixfold).sum::<f64>() / 6.0
    }

    /// m².
    pub fn area(&self) -> f64 {
        let double = |&triangle: &[u32; 3]| {
            let [a, b, c] = self.corners(triangle).map(|corner| corner.as_dvec3());
            (b - a).cross(c - a).length()
        };
        self.triangles.iter().map(double).sum::<f64>() / 2.0
    }

    /// Directed edges, sorted.
    fn directed_edges(&self) -> Vec<(u32, u32)> {
        let mut edges: Vec<_> =
            self.triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
        edges.sort_unstable();
        edges
    }

    /// Every edge is walked once in each direction: no border, no edge with three triangles, all faces turned out.
    pub fn is_closed(&self) -> bool {
        let edges = self.directed_edges();
        edges.windows(2).all(|pair| pair[0] != pair[1])
            && edges.iter().all(|&(a, b)| a != b && edges.binary_search(&(b, a)).is_ok())
    }

    /// Closed, and the triangles around each vertex make one fan; every vertex has some.
    pub fn is_manifold(&self) -> bool {
        if !self.is_closed() {
            return false;
        }
        // Around a vertex, the triangle (v, a, b) leads from a to b.
        let mut fans = vec![vec![]; self.positions.len()];
        for &[a, b, c] in &self.triangles {
            fans[a as usize].push((b, c));
            fans[b as usize].push((c, a));
            fans[c as usize].push((a, b));
        }
        fans.iter().all(|fan| {
            let Some(&(first, mut at)) = fan.first() else { return false };
            let mut steps = 1;
            while at != first {
                match fan.iter().find(|(from, _)| *from == at) {
                    Some(&(_, to)) => at = to,
                    None => return false,
                }
                steps += 1;
            }
            steps == fan.len()
        })
    }

    /// Vertices − edges + triangles of a closed mesh: 2 for each ball, 0 for each ring.
    pub fn euler_characteristic(&self) -> i64 {
        self.positions.len() as i64 - self.triangles.len() as i64 / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron() -> Mesh {
        Mesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
            ..Mesh::default()
        }
    }

    #[test]
    fn a_tetrahedron_has_its_volume_and_area() {
        let mesh = tetrahedron();
        assert!(mesh.is_manifold());
        assert_eq!(mesh.euler_characteristic(), 2);
        assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-7);
        assert!((mesh.area() - (1.5 + 0.75f64.sqrt())).abs() < 1e-7);
    }

    #[test]
    fn holes_and_pinched_vertices_are_found() {
        let mut open = tetrahedron();
        open.triangles.pop();
        assert!(!open.is_closed());
        let mut turned = tetrahedron();
        turned.triangles[0].swap(0, 1);
        assert!(!turned.is_closed());
        // Two tetrahedra that share one vertex: closed, but not manifold there.
        let mut pinched = tetrahedron();
        pinched.positions.extend([-Vec3::X, -Vec3::Y, -Vec3::Z]);
        pinched.triangles.extend([[0, 4, 5], [0, 6, 4], [0, 5, 6], [4, 6, 5]]);
        assert!(pinched.is_closed());
        assert!(!pinched.is_manifold());
    }
}
