//! A detailed mesh carried by the particles of a body.
//!
//! Each vertex is bound, in a reference frame, to the particles around it, and follows their displacement to first
//! order [LE 2.9–2.11, after Müller et al. 2004]. With x the places at rest and y the places now,
//!
//! v(x) = Σⱼ W̄ⱼ (yⱼ + Fⱼ (x − xⱼ)),  W̄ⱼ = W(x − xⱼ) / Σₖ W(x − xₖ),  W(r) = (1 − r²/h²)³.
//!
//! Two departures. [LE 2.9] adds up displacements and transposes ∇u where we write F = 1 + ∇u for the gradient of
//! y; its left side is the displacement of the vertex, not its place. And the plain SPH gradient is wrong where
//! neighbours lie on one side only, which is where the vertices of a surface are; ours is the moving-least-squares
//! one, F = (Σₖ w (yₖ − yⱼ) dᵀ) A⁺ with d = xₖ − xⱼ and A = Σₖ w d dᵀ, exact for every affine motion.
//!
//! Where the neighbours at rest do not spread in all directions, A⁺ leaves out those in which they do not, and F is
//! completed: a layer of particles keeps its thickness and turns with its own plane; a row turns by the smallest
//! rotation; a lonely particle turns with the whole body. Rigid motions are then still exact; a stretch across a
//! single layer cannot be seen from its particles.
//!
//! Normals turn with the cofactor of Σⱼ W̄ⱼ Fⱼ.
//!
//! Limits: the mesh does not tear. Parts closer than the support (two fingers) pull at each other. When particles are
//! removed, bind again with the rest places of those that are left.
//! Kept honest by `affine_motions_are_exact` and `error_falls_with_the_square_of_the_spacing`.

use glam::{DMat3, DVec3, Mat3, Quat, Vec3};
use rayon::prelude::*;

use crate::figures::vertex_normals;
use crate::mesh::Mesh;
use crate::nearby::Nearby;

/// Neighbours spread in a direction when their weighted mean square there is more than this part of the largest:
/// on a lattice two layers of particles have 0.6, one flat layer 0, one bent to a radius of four spacings 0.016.
const SPREAD: f64 = 0.03;

/// A vertex follows particles up to this many supports away.
const FARTHEST: u32 = 2;

#[derive(Debug, thiserror::Error)]
pub enum CarryError {
    #[error("a mesh can only be carried by particles: the body has none in the reference frame")]
    NoParticles,
    #[error("the support is {0} m; give a length above 0, about twice the spacing of the particles")]
    Support(f32),
    #[error("{count} vertices of the mesh are not finite numbers; repair the mesh")]
    NotFinite { count: usize },
    #[error(
        "{count} of {of} vertices are more than {limit} m from every particle at rest, the farthest near {worst}: \
         move or scale the mesh to where the body's particles are in the reference frame, or give a larger support"
    )]
    TooFar { count: usize, of: usize, limit: f32, worst: Vec3 },
}

/// A mesh bound to particles.
pub struct Carried {
    /// The mesh at rest.
    mesh: Mesh,
    /// Places of the particles at rest.
    rest: Vec<Vec3>,
    /// The particles that carry some vertex, and how each finds its gradient.
    carriers: Vec<Carrier>,
    /// Carrier c hears `neighbours[carriers[c].first..carriers[c + 1].first]`; a last, empty carrier ends the list.
    neighbours: Vec<Neighbour>,
    /// Vertex i hears `links[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    links: Vec<Link>,
    /// The whole body, for particles without neighbours to turn with.
    middle: DVec3,
    whole: Spread,
}

struct Carrier {
    particle: u32,
    first: u32,
    spread: Spread,
}

/// A neighbour k of particle j with g = w A⁺ (xₖ − xⱼ), so that F = Σₖ (yₖ − yⱼ) gᵀ.
struct Neighbour {
    particle: u32,
    weight: Vec3,
}

/// What vertex i hears of a carrier: W̄.
struct Link {
    carrier: u32,
    weight: f32,
}

/// Principal directions of a neighbourhood at rest, right-handed, the widest first, and A⁺.
struct Spread {
    axes: Mat3,
    /// In how many directions the neighbours spread: 3, 2 (a layer), 1 (a row) or 0 (alone).
    dimensions: usize,
    inverse: DMat3,
}

impl Carried {
    /// Binds `mesh` to particles at rest. `support`: how far a particle is heard, m; about twice the spacing.
    pub fn bind(mesh: &Mesh, rest: &[Vec3], support: f32) -> Result<Carried, CarryError> {
        if rest.is_empty() {
            return Err(CarryError::NoParticles);
        }
        if !(support > 0.0 && support.is_finite()) {
            return Err(CarryError::Support(support));
        }
        let broken = mesh.positions.iter().filter(|p| !p.is_finite()).count();
        if broken > 0 {
            return Err(CarryError::NotFinite { count: broken });
        }

        // What each vertex hears. Between particles the support is fixed; a vertex that sticks out hears as far as
        // it must, and since that radius grows with the distance to the nearest, it is continuous along the mesh.
        let reach = FARTHEST as f32 * 1.5 * support;
        let (near, far) = (Nearby::new(rest, support), Nearby::new(rest, reach));
        let heard: Vec<Option<Vec<(u32, f32)>>> = mesh
            .positions
            .par_iter()
            .map(|&vertex| {
                let nearest = near.nearest(vertex, FARTHEST)?;
                let radius = (1.5 * nearest.squared_distance.sqrt()).max(support);
                let mut links = Vec::new();
                let mut sum = 0.0;
                let grid = if radius > support { &far } else { &near };
                grid.within(vertex, radius, |found| {
                    let weight = weight(found.squared_distance, radius);
                    links.push((found.index as u32, weight));
                    sum += weight;
                });
                links.retain(|link| link.1 > 0.0);
                links.iter_mut().for_each(|link| link.1 /= sum);
                Some(links)
            })
            .collect();
        let lost: Vec<usize> = (0..heard.len()).filter(|&i| heard[i].is_none()).collect();
        if !lost.is_empty() {
            let middle = rest.iter().sum::<Vec3>() / rest.len() as f32;
            let distance = |i: &usize| mesh.positions[*i].distance_squared(middle);
            let worst = lost.iter().copied().max_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0);
            return Err(CarryError::TooFar {
                count: lost.len(),
                of: heard.len(),
                limit: FARTHEST as f32 * support,
                worst: mesh.positions[worst],
            });
        }

        // Particles that some vertex hears carry it, and need a gradient.
        const NONE: u32 = u32::MAX;
        let mut carrier_of = vec![NONE; rest.len()];
        heard.iter().flatten().flatten().for_each(|link| carrier_of[link.0 as usize] = 0);
        let particles: Vec<u32> =
            (0..rest.len() as u32).filter(|&j| carrier_of[j as usize] != NONE).collect();
        for (carrier, &particle) in particles.iter().enumerate() {
            carrier_of[particle as usize] = carrier as u32;
        }
        let gradients: Vec<(Spread, Vec<Neighbour>)> =
            particles.par_iter().map(|&j| gradient_weights(rest, &near, j as usize, support)).collect();

        // Everything in flat lists.
        let (mut carriers, mut neighbours) = (Vec::new(), Vec::new());
        for (&particle, (spread, list)) in particles.iter().zip(gradients) {
            carriers.push(Carrier { particle, first: neighbours.len() as u32, spread });
            neighbours.extend(list);
        }
        let end = Carrier { particle: 0, first: neighbours.len() as u32, spread: Spread::of(DMat3::ZERO) };
        carriers.push(end);
        let (mut starts, mut links) = (vec![0], Vec::new());
        for list in heard.iter().flatten() {
            let link = |&(particle, weight): &_| Link { carrier: carrier_of[particle as usize], weight };
            links.extend(list.iter().map(link));
            starts.push(links.len() as u32);
        }

        let middle = mean(rest);
        let moment = |sum: DMat3, x: &Vec3| {
            let d = x.as_dvec3() - middle;
            sum + outer(d, d)
        };
        let whole = Spread::of(rest.iter().fold(DMat3::ZERO, moment));

        let mut mesh = mesh.clone();
        if mesh.normals.len() != mesh.positions.len() {
            mesh.normals = vertex_normals(&mesh.positions, &mesh.triangles);
        }
        Ok(Carried { mesh, rest: rest.to_vec(), carriers, neighbours, starts, links, middle, whole })
    }

    /// The mesh where the particles are now; `current` in the order of the particles at rest.
    pub fn follow(&self, current: &[Vec3]) -> Mesh {
        assert_eq!(current.len(), self.rest.len(), "a mesh follows the particles it was bound to");
        let turn = self.whole_turn(current);
        let gradients: Vec<Mat3> = self
            .carriers
            .par_windows(2)
            .map(|pair| {
                let origin = current[pair[0].particle as usize];
                let neighbours = &self.neighbours[pair[0].first as usize..pair[1].first as usize];
                let known = neighbours.iter().fold(Mat3::ZERO, |sum, k| {
                    let difference = current[k.particle as usize] - origin;
                    sum + Mat3::from_cols(
                        difference * k.weight.x,
                        difference * k.weight.y,
                        difference * k.weight.z,
                    )
                });
                pair[0].spread.complete(known, turn)
            })
            .collect();

        let (positions, normals) = self
            .mesh
            .positions
            .par_iter()
            .zip(&self.mesh.normals)
            .zip(self.starts.par_windows(2))
            .map(|((&vertex, &normal), range)| {
                let (mut place, mut mean_gradient) = (Vec3::ZERO, Mat3::ZERO);
                for link in &self.links[range[0] as usize..range[1] as usize] {
                    let particle = self.carriers[link.carrier as usize].particle as usize;
                    let gradient = gradients[link.carrier as usize];
                    // [LE 2.9]
                    place += link.weight * (current[particle] + gradient * (vertex - self.rest[particle]));
                    mean_gradient += link.weight * gradient;
                }
                (place, (cofactor(mean_gradient) * normal).normalize_or(normal))
            })
            .unzip();
        let Mesh { triangles, attributes, .. } = &self.mesh;
        Mesh { positions, normals, triangles: triangles.clone(), attributes: attributes.clone() }
    }

    /// How the body as a whole has turned: its two widest directions and where they point now.
    fn whole_turn(&self, current: &[Vec3]) -> Mat3 {
        let middle = mean(current);
        let moment =
            self.rest.iter().zip(current).fold(DMat3::ZERO, |sum, (x, y)| {
                sum + outer(y.as_dvec3() - middle, x.as_dvec3() - self.middle)
            });
        let known = (moment * self.whole.inverse).as_mat3();
        let stretched = self.whole.complete(known, Mat3::IDENTITY) * self.whole.axes;
        let first = stretched.x_axis.normalize_or(self.whole.axes.x_axis);
        let second =
            stretched.y_axis.reject_from_normalized(first).normalize_or(first.any_orthonormal_vector());
        Mat3::from_cols(first, second, first.cross(second)) * self.whole.axes.transpose()
    }
}

impl Spread {
    fn of(moment: DMat3) -> Spread {
        let (values, axes) = eigen(moment);
        let dimensions = (0..3).filter(|&k| values[k] > SPREAD * values[0] && values[k] > 0.0).count();
        let inverse = (0..dimensions).fold(DMat3::ZERO, |sum, k| {
            let axis = axes.col(k);
            sum + outer(axis, axis) * (1.0 / values[k])
        });
        Spread { axes: axes.as_mat3(), dimensions, inverse }
    }

    /// Adds to a gradient, known in the directions of spread only, what it does to the others.
    fn complete(&self, known: Mat3, turn: Mat3) -> Mat3 {
        let [first, second, third] = [self.axes.x_axis, self.axes.y_axis, self.axes.z_axis];
        match self.dimensions {
            3 => known,
            2 => {
                let normal = (known * first).cross(known * second).normalize_or(turn * third);
                known + Mat3::from_cols(normal * third.x, normal * third.y, normal * third.z)
            }
            1 => {
                let turned = turn * first;
                let along = (known * first).normalize_or(turned);
                let rotation = Mat3::from_quat(Quat::from_rotation_arc(turned.normalize(), along)) * turn;
                let across = |axis: Vec3| axis - first * first.dot(axis);
                known + rotation * Mat3::from_cols(across(Vec3::X), across(Vec3::Y), across(Vec3::Z))
            }
            _ => turn,
        }
    }
}

/// [LE 2.11]
fn weight(squared_distance: f32, support: f32) -> f32 {
    (1.0 - squared_distance / (support * support)).max(0.0).powi(3)
}

fn gradient_weights(rest: &[Vec3], near: &Nearby, particle: usize, support: f32) -> (Spread, Vec<Neighbour>) {
    let origin = rest[particle];
    let mut moment = DMat3::ZERO;
    let mut around: Vec<(u32, DVec3)> = Vec::new();
    near.within(origin, support, |found| {
        let difference = (rest[found.index] - origin).as_dvec3();
        let weighted = weight(found.squared_distance, support) as f64 * difference;
        if weighted != DVec3::ZERO {
            moment += outer(weighted, difference);
            around.push((found.index as u32, weighted));
        }
    });
    let spread = Spread::of(moment);
    let neighbour = |&(particle, weighted): &(u32, DVec3)| Neighbour {
        particle,
        weight: (spread.inverse * weighted).as_vec3(),
    };
    let neighbours = around.iter().map(neighbour).collect();
    (spread, neighbours)
}

fn mean(points: &[Vec3]) -> DVec3 {
    points.iter().fold(DVec3::ZERO, |sum, p| sum + p.as_dvec3()) / points.len() as f64
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// det(F) F⁻ᵀ, which turns normals, also where F is singular.
fn cofactor(f: Mat3) -> Mat3 {
    let [a, b, c] = [f.x_axis, f.y_axis, f.z_axis];
    Mat3::from_cols(b.cross(c), c.cross(a), a.cross(b))
}

/// Eigenvalues, largest first, and right-handed eigenvectors of a symmetric matrix, by Jacobi's rotations.
fn eigen(mut m: DMat3) -> (DVec3, DMat3) {
    let mut axes = DMat3::IDENTITY;
    for _ in 0..12 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = m.col(q)[p];
            if off == 0.0 {
                continue;
            }
            // The rotation that makes the element at (p, q) zero, by the smaller angle.
            let ratio = (m.col(q)[q] - m.col(p)[p]) / (2.0 * off);
            let tangent = ratio.signum() / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
            let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
            let sine = tangent * cosine;
            let mut rotation = DMat3::IDENTITY;
            rotation.col_mut(p)[p] = cosine;
            rotation.col_mut(q)[q] = cosine;
            rotation.col_mut(q)[p] = sine;
            rotation.col_mut(p)[q] = -sine;
            m = rotation.transpose() * m * rotation;
            axes *= rotation;
        }
    }
    let mut order = [0, 1, 2];
    let value = |k: usize| m.col(k)[k];
    order.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
    let [first, second] = [axes.col(order[0]), axes.col(order[1])];
    (DVec3::from_array(order.map(value)), DMat3::from_cols(first, second, first.cross(second)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::figures::{sphere, torus};

    /// Particles of a lattice inside a ball of radius 1, shaken a little.
    fn ball(spacing: f32) -> Vec<Vec3> {
        let n = (1.0 / spacing).ceil() as i32;
        let mut chance = Chance::of([5]);
        let mut points = Vec::new();
        for x in -n..=n {
            for y in -n..=n {
                for z in -n..=n {
                    let point = (Vec3::new(x as f32, y as f32, z as f32) + 0.1 * chance.in_ball()) * spacing;
                    if point.length() <= 1.0 - 0.5 * spacing {
                        points.push(point);
                    }
                }
            }
        }
        points
    }

    /// A flat layer in the x-z plane, shaken out of it by `rough` spacings of 0.1 m.
    fn layer(rough: f32) -> Vec<Vec3> {
        let mut chance = Chance::of([6]);
        let place =
            |k: i32| Vec3::new((k % 21 - 10) as f32, rough * chance.signed(), (k / 21 - 10) as f32) * 0.1;
        (0..441).map(place).collect()
    }

    fn shear() -> (Mat3, Vec3) {
        let stretch = Mat3::from_cols_array(&[1.3, 0.1, 0.0, 0.4, 0.8, -0.2, 0.1, 0.3, 1.1]);
        (
            Mat3::from_quat(Quat::from_euler(glam::EulerRot::XYZ, 1.0, 2.0, 3.0)) * stretch,
            Vec3::new(0.3, -2.0, 1.0),
        )
    }

    fn rotation() -> (Mat3, Vec3) {
        (Mat3::from_quat(Quat::from_euler(glam::EulerRot::XYZ, 2.5, -0.7, 0.4)), Vec3::new(1.0, 0.5, -3.0))
    }

    /// Largest errors of places and normals after an affine motion of the particles.
    fn affine_errors(mesh: &Mesh, rest: &[Vec3], support: f32, (matrix, shift): (Mat3, Vec3)) -> (f32, f32) {
        let motion = |x: &Vec3| matrix * *x + shift;
        let moved =
            Carried::bind(mesh, rest, support).unwrap().follow(&rest.iter().map(motion).collect::<Vec<_>>());
        let turn = matrix.inverse().transpose();
        let place = moved.positions.iter().zip(&mesh.positions).map(|(v, x)| v.distance(motion(x)));
        let normal =
            moved.normals.iter().zip(&mesh.normals).map(|(n, m)| n.distance((turn * *m).normalize()));
        (place.fold(0.0, f32::max), normal.fold(0.0, f32::max))
    }

    /// A few units in the last place of coordinates up to 4 m.
    const ROUND_OFF: f32 = 5e-6;

    #[test]
    fn affine_motions_are_exact() {
        // The vertices of the ball's surface have particles on one side only.
        let mesh = sphere(1.0, 3);
        for motion in [shear(), rotation(), (Mat3::IDENTITY, Vec3::X)] {
            let (place, normal) = affine_errors(&mesh, &ball(0.2), 0.4, motion);
            assert!(place < ROUND_OFF && normal < ROUND_OFF, "{place} {normal}");
        }
    }

    #[test]
    fn vertices_that_stick_out_follow_too() {
        // 0.3 m above the particles, where the support is 0.24 m.
        let (place, _) = affine_errors(&sphere(1.2, 2), &ball(0.12), 0.24, shear());
        assert!(place < 2.0 * ROUND_OFF, "{place}");
    }

    #[test]
    fn layers_rows_and_lonely_particles_turn_with_the_body() {
        // A ring of mesh around a single layer, flat or nearly so.
        let mesh = torus(0.7, 0.1, 24, 12);
        for rough in [0.0, 1e-4, 0.05] {
            let (place, normal) = affine_errors(&mesh, &layer(rough), 0.2, rotation());
            assert!(place < ROUND_OFF && normal < ROUND_OFF, "{rough}: {place} {normal}");
        }
        // Three particles too far apart to hear each other, and a row beside a fourth: the whole body turns them.
        let lonely = [Vec3::ZERO, Vec3::X, Vec3::Z];
        let row = [Vec3::ZERO, 0.1 * Vec3::X, 0.2 * Vec3::X, 0.3 * Vec3::X, Vec3::new(0.0, 0.3, 0.3)];
        for particles in [&lonely[..], &row[..]] {
            let (place, normal) = affine_errors(&sphere(0.15, 1), particles, 0.2, rotation());
            assert!(place < ROUND_OFF && normal < ROUND_OFF, "{place} {normal}");
        }
        // A single particle can only be moved.
        let (place, _) = affine_errors(&sphere(0.1, 1), &lonely[..1], 0.2, (Mat3::IDENTITY, Vec3::ONE));
        assert!(place < ROUND_OFF);
    }

    #[test]
    fn a_stretched_layer_keeps_its_thickness() {
        let mesh = torus(0.7, 0.05, 24, 12);
        let stretched: Vec<Vec3> = layer(0.0).iter().map(|x| *x * Vec3::new(2.0, 1.0, 1.0)).collect();
        let moved = Carried::bind(&mesh, &layer(0.0), 0.2).unwrap().follow(&stretched);
        for (v, x) in moved.positions.iter().zip(&mesh.positions) {
            assert!(v.distance(*x * Vec3::new(2.0, 1.0, 1.0)) < ROUND_OFF);
        }
    }

    #[test]
    fn particles_in_one_heap_give_numbers() {
        let mesh = sphere(1.0, 2);
        let carried = Carried::bind(&mesh, &ball(0.25), 0.5).unwrap();
        let heap = carried.follow(&vec![Vec3::ONE; carried.rest.len()]);
        assert!(heap.positions.iter().chain(&heap.normals).all(|v| v.is_finite()));
        assert!(heap.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-5));
        // Particles at rest in one heap, too.
        let carried = Carried::bind(&sphere(0.1, 1), &[Vec3::ZERO; 20], 0.2).unwrap();
        assert!(carried.follow(&[Vec3::ONE; 20]).positions.iter().all(|v| v.distance(Vec3::ONE) < 0.11));
    }

    fn bend(x: Vec3) -> Vec3 {
        Vec3::new(x.x + 0.2 * (1.5 * x.y).sin(), x.y + 0.15 * x.x * x.x, x.z + 0.1 * (x.x + 2.0 * x.z).cos())
    }

    #[test]
    fn error_falls_with_the_square_of_the_spacing() {
        // The surface itself, half a spacing above the outermost particles, whatever the spacing.
        let mesh = sphere(1.0, 3);
        let errors = [0.2, 0.1, 0.05].map(|spacing| {
            let rest = ball(spacing);
            let now: Vec<Vec3> = rest.iter().map(|&x| bend(x)).collect();
            let moved = Carried::bind(&mesh, &rest, 2.0 * spacing).unwrap().follow(&now);
            let square = |(v, x): (&Vec3, &Vec3)| v.distance_squared(bend(*x)) as f64;
            let sum: f64 = moved.positions.iter().zip(&mesh.positions).map(square).sum();
            (sum / mesh.positions.len() as f64).sqrt()
        });
        let orders = [(errors[0] / errors[1]).log2(), (errors[1] / errors[2]).log2()];
        assert!(
            orders.iter().all(|order| (1.7..2.3).contains(order)),
            "orders {orders:?}, errors {errors:?}"
        );
    }

    #[test]
    fn normals_are_those_of_the_moved_surface() {
        let rest = ball(0.1);
        let now: Vec<Vec3> = rest.iter().map(|&x| bend(x)).collect();
        let moved = Carried::bind(&sphere(0.95, 4), &rest, 0.2).unwrap().follow(&now);
        for (a, b) in moved.normals.iter().zip(vertex_normals(&moved.positions, &moved.triangles)) {
            assert!(a.dot(b) > 0.997, "{}", a.dot(b)); // 4.4 degrees, at a spacing of a tenth of the radius
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let rest = ball(0.15);
        let now: Vec<Vec3> = rest.iter().map(|&x| bend(x)).collect();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mesh = pool.install(|| Carried::bind(&sphere(1.0, 3), &rest, 0.3).unwrap().follow(&now));
            (mesh.positions, mesh.normals)
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn errors_say_what_to_do() {
        let bind =
            |mesh: &Mesh, rest: &[Vec3], support| Carried::bind(mesh, rest, support).map(|_| ()).unwrap_err();
        let mesh = sphere(1.0, 1);
        assert!(matches!(bind(&mesh, &[], 0.1), CarryError::NoParticles));
        assert!(matches!(bind(&mesh, &ball(0.2), 0.0), CarryError::Support(_)));
        let mut far = sphere(100.0, 1);
        far.positions[3] = Vec3::ZERO;
        let count = far.positions.len();
        let error = bind(&far, &ball(0.2), 0.4);
        assert!(
            matches!(error, CarryError::TooFar { count: c, of, .. } if c == count - 1 && of == count),
            "{error}"
        );
        far.positions[0] = Vec3::NAN;
        assert!(matches!(bind(&far, &ball(0.2), 0.4), CarryError::NotFinite { count: 1 }));
    }
}
