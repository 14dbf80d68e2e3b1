//! What the models of surface tension share: whose tension acts where, normals, and flat surfaces to calibrate on.
//!
//! A particle knows two normals. Both are gradients of a colour field, so that their length is a smeared delta
//! function:
//!
//!   n_i = Σ_j V_j ∇W over all neighbours: zero in the bulk, and where fluids touch; at a free surface it points
//!         into the fluid, and the tension against air, σ_i, goes with it.
//!   b_i = −Σ_j σ_ij V_j ∇W over neighbours of other bodies: points away from them, and carries the tension σ_ij
//!         of each interface with it.
//!
//! Particles stand on one side of a free surface only and see half of the delta function; [`FlatSurface`] finds by
//! how much the sum over the layers of a lattice falls short of one. The tension between two bodies is what the
//! scene's `[[interface]]` says, else |σ_i − σ_j| (Antonow's rule): two fluids of the same tension do not feel
//! where they meet, and a body without tension is like air.
//!
//! Wall samples count as neighbours: a wall is no free surface, and the fluid meets it at a right angle.

pub mod centroid;
pub mod curvature;
pub mod pairwise;

use glam::Vec4;

use crate::behaviours::{Around, LimitState};
use crate::columns::{BODY, CURVATURE, INTERFACE_NORMAL, SURFACE_DIRECTION, SURFACE_NORMAL};
use crate::discretisation::Discretisation;
use crate::interfaces::Interfaces;
use crate::kernels::Kernel;
use crate::pair::{Own, Pair, Sum, WallPair};
use crate::particles::Particles;
use crate::resolve::{Coefficient, Resolved};
use crate::scene::Dimensions;
use crate::simd::*;
use crate::timestep::{Limit, Limits};

/// Whose tension acts where.
#[derive(Clone, Copy)]
pub struct Phases<'a> {
    /// Against air, N/m.
    pub surface: Coefficient<'a>,
    interfaces: &'a Interfaces,
    body: &'a [u32],
}

impl<'a> Phases<'a> {
    pub fn new(now: &'a Resolved, interfaces: &'a Interfaces, body: &'a [u32]) -> Phases<'a> {
        Phases { surface: now.weighted("surface_tension").coefficient(), interfaces, body }
    }

    /// Whether there is more than one body, and so an interface.
    pub fn several(&self) -> bool {
        self.interfaces.bodies() > 1
    }

    /// Tension against air of each neighbour.
    #[inline(always)]
    pub fn surface_of<S: Simd>(&self, pair: &Pair<S>) -> Lanes<S> {
        match self.surface {
            Coefficient::Uniform(tension) => splat(pair.simd, tension),
            // SAFETY: the loop only offers valid rows.
            Coefficient::Column(column) => unsafe { gather_scalar(pair.simd, column, pair.others) },
        }
    }

    /// Tension of the interface with each neighbour; 0 within a body.
    #[inline(always)]
    pub fn interface<S: Simd>(&self, own: &Own, pair: &Pair<S>) -> Lanes<S> {
        let row = self.interfaces.of(self.body[own.index]);
        let named: [f32; LANES] = std::array::from_fn(|k| row[self.body[pair.others[k] as usize] as usize]);
        let named = Lanes::load_array(pair.simd, named);
        let difference = self.surface_of(pair) - self.surface.at(own.index);
        let zero = splat(pair.simd, 0.0);
        named.simd_ge(zero).select(named, difference.max(zero - difference))
    }

    /// 1 for neighbours of the same body, −1 for others.
    #[inline(always)]
    fn side<S: Simd>(&self, own: &Own, pair: &Pair<S>) -> Lanes<S> {
        let body = self.body[own.index];
        let side = |k: usize| if self.body[pair.others[k] as usize] == body { 1.0 } else { -1.0 };
        Lanes::load_array(pair.simd, std::array::from_fn(side))
    }
}

/// Fills the columns of normals; that of interfaces only where there are several bodies.
pub fn find_normals(now: &Resolved, around: &Around, kernel: &Kernel, particles: &mut Particles) {
    let mut normal = particles.take(&SURFACE_NORMAL);
    around.rows.sum(&SurfaceNormal { kernel }, &mut normal);
    particles.put(&SURFACE_NORMAL, normal);
    find_interface_normals(now, around, kernel, particles);
}

/// Fills the column of interface normals, where there are several bodies.
pub fn find_interface_normals(now: &Resolved, around: &Around, kernel: &Kernel, particles: &mut Particles) {
    let mut normal = particles.take(&INTERFACE_NORMAL);
    let phases = Phases::new(now, around.interfaces, particles.get(&BODY));
    if phases.several() {
        around.rows.sum(&InterfaceNormal { kernel, phases }, &mut normal);
    }
    particles.put(&INTERFACE_NORMAL, normal);
}

/// Σ V ∇W.
struct SurfaceNormal<'a> {
    kernel: &'a Kernel,
}

impl Sum for SurfaceNormal<'_> {
    type Partial<S: Simd> = Lanes3<S>;
    type Total = Vec4;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes3<S> {
        Lanes3::zero(simd)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, pair: &Pair<S>, partial: &mut Lanes3<S>) {
        *partial = *partial + pair.x * (pair.volume * pair.gradient_over_r(self.kernel));
    }

    #[inline(always)]
    fn add_walls<S: Simd>(&self, _own: &Own, wall: &WallPair<S>, partial: &mut Lanes3<S>) {
        *partial = *partial + wall.x * (wall.volume * wall.gradient_over_r(self.kernel));
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _own: &Own, partial: Lanes3<S>) -> Vec4 {
        vector(partial)
    }
}

/// −Σ σ_ij V ∇W over other bodies.
struct InterfaceNormal<'a> {
    kernel: &'a Kernel,
    phases: Phases<'a>,
}

impl Sum for InterfaceNormal<'_> {
    type Partial<S: Simd> = Lanes3<S>;
    type Total = Vec4;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes3<S> {
        Lanes3::zero(simd)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, partial: &mut Lanes3<S>) {
        let tension = self.phases.interface(own, pair);
        *partial = *partial - pair.x * (tension * pair.volume * pair.gradient_over_r(self.kernel));
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _own: &Own, partial: Lanes3<S>) -> Vec4 {
        vector(partial)
    }
}

#[inline(always)]
fn vector<S: Simd>(lanes: Lanes3<S>) -> Vec4 {
    let [x, y, z] = lanes.sum();
    Vec4::new(x, y, z, 0.0)
}

/// The layers of a lattice that ends in a plane, half a spacing beyond its outermost layer.
pub struct FlatSurface {
    /// Distance of layers, m.
    pub spacing: f64,
    /// Length of the normal in each layer, from the surface inwards, 1/m.
    pub normals: Vec<f64>,
}

impl FlatSurface {
    /// Normals as [`find_normals`] has them.
    pub fn of_colour(kernel: &Kernel, d: &Discretisation) -> FlatSurface {
        let slope = |x: [f64; 3], r: f64| -x[0] / r * f64::from(kernel.slope_at(r as f32));
        FlatSurface::new(kernel, d, |above| layer_sum(kernel, d, above, slope))
    }

    /// Normals as a function of the number of layers above the particle.
    pub fn new(kernel: &Kernel, d: &Discretisation, normal: impl Fn(i32) -> f64) -> FlatSurface {
        let spacing = f64::from(d.spacing);
        let layers = (f64::from(kernel.support) / spacing).ceil() as i32;
        FlatSurface { spacing, normals: (0..layers).map(|above| normal(above).abs()).collect() }
    }

    /// Σ f(n) over all layers, times their distance.
    pub fn integral(&self, f: impl Fn(f64) -> f64) -> f64 {
        self.normals.iter().map(|&normal| f(normal) * self.spacing).sum()
    }

    /// Where, on average, the surface acts: depth below the true one, weighed with f(n), m.
    pub fn mean_depth(&self, f: impl Fn(f64) -> f64) -> f64 {
        let depth = |layer: usize| (layer as f64 + 0.5) * self.spacing;
        let weighed = self.normals.iter().enumerate().map(|(k, &normal)| f(normal) * depth(k));
        weighed.sum::<f64>() * self.spacing / self.integral(f)
    }
}

/// Σ V f(x, r) over the lattice below a plane: what a particle with so many layers above it sees.
fn layer_sum(kernel: &Kernel, d: &Discretisation, above: i32, f: impl Fn([f64; 3], f64) -> f64) -> f64 {
    let top = (f64::from(above) + 0.5) * f64::from(d.spacing);
    crate::kernels::lattice_sum(kernel, f64::from(d.spacing), |x, r| if x[0] < top { f(x, r) } else { 0.0 })
}

/// Waves as short as a kernel are resolved: they travel ℓ in √(ρℓ³/(2πσ)) [Brackbill1992].
fn offer_capillary_limit(now: &Resolved, state: &LimitState, limits: &mut Limits) {
    let tension = now.weighted("surface_tension").max();
    if tension > 0.0 {
        let length = state.discretisation.smoothing_length();
        let time = (state.lightest * length.powi(3) / (std::f32::consts::TAU * tension)).sqrt();
        limits.offer(Limit::Capillary, 0.4 * time);
    }
}

/// Principal curvatures of a sphere: 2, or 1 of a circle.
fn curvatures(d: &Discretisation) -> f32 {
    match d.dimensions {
        Dimensions::Two => 1.0,
        Dimensions::Three => 2.0,
    }
}

fn require_columns(particles: &mut Particles) {
    particles.require(&SURFACE_NORMAL);
    particles.require(&INTERFACE_NORMAL);
    particles.require(&SURFACE_DIRECTION);
    particles.require(&CURVATURE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{MASS, POSITION};
    use crate::particles::Vectors;
    use crate::scene;
    use crate::world::World;

    /// A drop of σ = 1 N/m and radius 1 m, on a lattice, evaluated once.
    fn drop(dimensions: usize, behaviour: &str, across: f64) -> World {
        let zero = if dimensions == 2 { "[0, 0]" } else { "[0, 0, 0]" };
        let text = format!(
            r#"
            dimensions = {dimensions}
            [world]
            gravity = {zero}
            [sph]
            spacing = {}
            support = 3
            [[body]]
            name = "drop"
            shape.sphere = {{ centre = {zero}, radius = 1 }}
            behaviours.{behaviour}
            "#,
            1.0 / across
        );
        let mut world = World::new(&scene::load("test", &text, &[]).unwrap_or_else(|p| panic!("{p}")).0);
        world.evaluate();
        world
    }

    /// −Σ F·x over what a pressure of (d − 1)σ/R makes of it: 1 for a drop in balance.
    fn virial(world: &World, column: &'static Vectors) -> f64 {
        let p = &world.particles;
        let rows = p.get(column).iter().zip(p.get(&POSITION)).zip(p.get(&MASS));
        let virial: f64 = rows.map(|((a, x), &m)| -f64::from(m * a.truncate().dot(x.truncate()))).sum();
        let d = world.discretisation.dimensions.count() as f64;
        let volume = p.len() as f64 * f64::from(world.discretisation.cell_volume());
        virial / (d * (d - 1.0) * volume)
    }

    #[test]
    fn a_drop_on_a_lattice_presses_inwards_by_about_the_tension() {
        use crate::columns::{CENTROID_TENSION, CURVATURE_TENSION, PAIRWISE_TENSION};
        let models: [(&str, &'static Vectors); 3] = [
            ("curvature-tension = { surface_tension = 1 }", &CURVATURE_TENSION),
            ("centroid-tension = { surface_tension = 1 }", &CENTROID_TENSION),
            ("pairwise-tension = { surface_tension = 1, cohesion = 0 }", &PAIRWISE_TENSION),
        ];
        for (model, column) in models {
            for (dimensions, across) in [(2, 16.0), (3, 8.0)] {
                let measured = virial(&drop(dimensions, model, across), column);
                // The lattice makes steps of the surface, and surfaces act a little below it.
                assert!((measured - 1.0).abs() < 0.25, "{model} in {dimensions}-D: {measured}");
            }
        }
    }

    #[test]
    fn pairs_keep_momentum() {
        let world = drop(3, "pairwise-tension = { surface_tension = 1, cohesion = 0.5 }", 6.0);
        let p = &world.particles;
        let rows = p.get(&crate::columns::PAIRWISE_TENSION).iter().zip(p.get(&MASS));
        let (total, sizes) =
            rows.fold((Vec4::ZERO, 0.0), |(sum, size), (a, &m)| (sum + *a * m, size + (*a * m).length()));
        assert!(total.length() < 1e-5 * sizes, "{total} of {sizes}"); // f32 round-off over 900 particles
    }
}
