//! How surfaces answer light: reflectance functions, their sampling and their probabilities.
//!
//! Directions are in the frame of the surface, z along its normal, and point away from it. What is opaque is a
//! [`Coated`] diffuse base or a [`Metal`]:
//!
//! - the mirror lobe has GGX facets with height-correlated Smith shadowing (Walter et al. 2007; Heitz 2014),
//!   sampled by visible facets as spherical caps (Dupuy & Benyoub 2023), with Schlick's Fresnel term;
//! - the base gets what the coat lets through, (1 − E(i)) (1 − E(o)) / (1 − Ē), where E is the albedo of the
//!   mirror lobe and Ē its mean (Kelemen & Szirmay-Kalos 2001): energy is neither lost nor made, and the
//!   function is reciprocal;
//! - metals are scaled by 1 + F₀ (1/E₁ − 1), where E₁ is the albedo of white facets, for light that bounces
//!   between facets (Turquin 2019). The scale depends on the direction of view alone, so metals are not quite
//!   reciprocal.
//!
//! Wet surfaces [LE 6.7]: f_wet = S (δ f_dry) + (1 − S) f_dry. Lenaerts weights by S φ, with which a
//! saturated material (S = 1) would never become "the completely wet material" he calls δ f_dry, since φ < 1;
//! and his Eq. 6.14 sums f over particles without dividing by Σ V W. We weight by the saturation S,
//! interpolated by whoever makes the mesh, and let the porosity φ set δ. δ is not one number but the albedo
//! of a diffuse base under water, where a part p of the light is thrown back at the water's surface and meets
//! the base again (Ångström 1925; Lekner & Dorf 1988): δ(a) = (1 − p) / (1 − p a) for albedo a; dark channels
//! darken more, so colours become richer. p falls to 0 without pores. In addition a coat of water shines, the
//! smoother the wetter.
//!
//! Kept honest by `no_look_gains_energy`, `looks_are_reciprocal`, `sampling_follows_probability` and the
//! furnace in `tests/radiance.rs`.

use super::scene::Look;
use glam::{Vec2, Vec3, vec2, vec3};
use std::f32::consts::{FRAC_1_PI, PI, TAU};
use std::sync::LazyLock;

/// Refractive index of glazes, plastics and wax.
const COAT_INDEX: f32 = 1.5;
const WATER_INDEX: f32 = 1.333;
/// The part of diffuse light under water that its surface throws back: 1 − (1 − R̄)/n² with R̄ = 0.066, the
/// mean reflectance from outside (Lekner & Dorf 1988).
const THROWN_BACK: f32 = 0.474;
/// Facets smoother than this cannot be told from a mirror, and f32 cannot hold their density.
const LEAST_ALPHA: f32 = 1e-3;

/// A diffuse base, seen through a coat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coated {
    pub base: Vec3,
    /// How much of the surface has the coat, 0 to 1.
    pub coat: f32,
    /// Reflectance of the coat at normal incidence.
    pub f0: f32,
    pub alpha: f32,
    /// The part of the base's light that leaves on the far side.
    pub through: f32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Metal {
    pub colour: Vec3,
    pub alpha: f32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Opaque {
    Coated(Coated),
    Metal(Metal),
}

/// Reflectance of what glows.
const ASH: f32 = 0.04;

/// A sampled direction: its `weight` is the function times the cosine over the density.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scattered {
    pub direction: Vec3,
    pub weight: Vec3,
    pub density: f32,
}

impl Opaque {
    /// `None` for what is clear. `tint` multiplies the look's colour; `outside` is the refractive index of the
    /// medium around.
    pub fn new(look: &Look, tint: Vec3, wetness: f32, outside: f32) -> Option<Opaque> {
        let alpha = |roughness: f32| (roughness * roughness).max(LEAST_ALPHA);
        let (glaze, f0) = Opaque::coat(COAT_INDEX, outside);
        Some(match *look {
            Look::Diffuse { colour, porosity } => Opaque::wet(colour * tint, porosity, wetness, outside, 0.0),
            Look::Fibre { colour, translucency, porosity } => {
                Opaque::wet(colour * tint, porosity, wetness, outside, translucency)
            }
            Look::Glossy { colour, roughness } | Look::Wax { colour, roughness, .. } => {
                Opaque::Coated(Coated {
                    base: colour * tint,
                    coat: glaze,
                    f0,
                    alpha: alpha(roughness),
                    through: 0.0,
                })
            }
            Look::Metal { colour, roughness } => {
                Opaque::Metal(Metal { colour: colour * tint, alpha: alpha(roughness) })
            }
            Look::Glow { .. } => Opaque::wet(Vec3::splat(ASH), 0.0, 0.0, outside, 0.0),
            Look::Clear { .. } => return None,
        })
    }

    /// Strength of a coat, and its reflectance at normal incidence. Schlick's term reaches 1 at grazing
    /// angles for any index: where the medium around is nearly the coat's, the coat must vanish instead.
    fn coat(index: f32, outside: f32) -> (f32, f32) {
        let f0 = ((index - outside) / (index + outside)).powi(2);
        ((f0 / 0.02).min(1.0), f0)
    }

    fn wet(dry: Vec3, porosity: f32, saturation: f32, outside: f32, through: f32) -> Opaque {
        // Under water there is no film: what its surface throws back is traced.
        let (film, f0) = Opaque::coat(WATER_INDEX, outside);
        let saturation = film * saturation.clamp(0.0, 1.0);
        // Half the volume in pores is enough for a surface that is all pores.
        let thrown_back = THROWN_BACK * (2.0 * porosity).clamp(0.0, 1.0);
        let darkening = (1.0 - thrown_back) / (Vec3::ONE - thrown_back * dry);
        let base = dry * Vec3::ONE.lerp(darkening, saturation);
        let roughness = 0.5 - 0.3 * saturation;
        Opaque::Coated(Coated { base, coat: saturation, f0, alpha: roughness * roughness, through })
    }

    pub fn soften(&mut self, least_alpha: f32) {
        match self {
            Opaque::Coated(Coated { alpha, .. }) | Opaque::Metal(Metal { alpha, .. }) => {
                *alpha = alpha.max(least_alpha);
            }
        }
    }

    /// Function times cosine, and density of sampling `to`.
    pub fn evaluate(&self, from: Vec3, to: Vec3) -> (Vec3, f32) {
        match self {
            Opaque::Coated(coated) => coated.evaluate(from, to),
            Opaque::Metal(metal) => metal.evaluate(from, to),
        }
    }

    /// A direction for the light that leaves to `from`; `choice` and `place` are random in [0, 1).
    pub fn sample(&self, from: Vec3, choice: f32, place: Vec2) -> Option<Scattered> {
        match self {
            Opaque::Coated(coated) => coated.sample(from, choice, place),
            Opaque::Metal(metal) => metal.sample(from, place),
        }
    }

    /// Part of the light that is given back to a white surround, for the direction of view.
    pub fn albedo(&self, from: Vec3) -> Vec3 {
        match self {
            Opaque::Coated(coated) => {
                let mirror = coated.mirror_albedo(from.z);
                coated.base * (1.0 - mirror) + mirror
            }
            Opaque::Metal(metal) => {
                let [white, grazing] = ALBEDO.at(from.z, metal.alpha);
                metal.scale(from.z) * (metal.colour * white + grazing)
            }
        }
    }
}

impl Coated {
    pub fn mirror_albedo(&self, cosine: f32) -> f32 {
        if self.coat == 0.0 {
            return 0.0;
        }
        let [white, grazing] = ALBEDO.at(cosine, self.alpha);
        self.coat * (self.f0 * white + grazing)
    }

    pub fn mean_mirror_albedo(&self) -> f32 {
        if self.coat == 0.0 {
            return 0.0;
        }
        let [white, grazing] = ALBEDO.mean(self.alpha);
        self.coat * (self.f0 * white + grazing)
    }

    /// The base's part of the function: the light passes the coat on its way in and on its way out.
    fn base_function(&self, from: Vec3, to: Vec3) -> Vec3 {
        let passed = (1.0 - self.mirror_albedo(from.z)) * (1.0 - self.mirror_albedo(to.z.abs()));
        self.base * (FRAC_1_PI * passed / (1.0 - self.mean_mirror_albedo()))
    }

    /// How often the mirror lobe is sampled.
    fn mirror_share(&self, from: Vec3) -> f32 {
        if self.coat == 0.0 {
            return 0.0;
        }
        let mirror = self.mirror_albedo(from.z);
        let base = (1.0 - mirror) * self.base.max_element();
        if base == 0.0 { 1.0 } else { (mirror / (mirror + base)).clamp(0.1, 0.9) }
    }

    /// The share of a direction's side in the base's light.
    fn side(&self, to: Vec3) -> f32 {
        if to.z > 0.0 { 1.0 - self.through } else { self.through }
    }

    fn evaluate(&self, from: Vec3, to: Vec3) -> (Vec3, f32) {
        let side = self.side(to);
        if from.z <= 0.0 || side == 0.0 {
            return (Vec3::ZERO, 0.0);
        }
        let cosine = to.z.abs();
        let share = self.mirror_share(from);
        let mut value = self.base_function(from, to) * (cosine * side);
        let mut density = (1.0 - share) * side * cosine * FRAC_1_PI;
        if share > 0.0 && to.z > 0.0 {
            let (facets, facet_density, half_cosine) = facets(from, to, self.alpha);
            value += self.coat * facets * schlick(self.f0, half_cosine);
            density += share * facet_density;
        }
        (value, density)
    }

    fn sample(&self, from: Vec3, choice: f32, place: Vec2) -> Option<Scattered> {
        let share = self.mirror_share(from);
        let direction = if choice < share {
            mirror(from, visible_facet(from, self.alpha, place))
        } else {
            let far = (choice - share) / (1.0 - share) < self.through;
            let direction = cosine_weighted(place);
            if far { direction * vec3(1.0, 1.0, -1.0) } else { direction }
        };
        if direction.z <= 0.0 && self.through == 0.0 {
            return None;
        }
        let (value, density) = self.evaluate(from, direction);
        (density > 0.0).then(|| Scattered { direction, weight: value / density, density })
    }
}

impl Metal {
    fn scale(&self, cosine: f32) -> Vec3 {
        let [white, grazing] = ALBEDO.at(cosine, self.alpha);
        Vec3::ONE + self.colour * (1.0 / (white + grazing) - 1.0)
    }

    fn evaluate(&self, from: Vec3, to: Vec3) -> (Vec3, f32) {
        if from.z <= 0.0 || to.z <= 0.0 {
            return (Vec3::ZERO, 0.0);
        }
        let (facets, density, half_cosine) = facets(from, to, self.alpha);
        let fresnel = self.colour + (Vec3::ONE - self.colour) * fifth_power(1.0 - half_cosine);
        (facets * fresnel * self.scale(from.z), density)
    }

    fn sample(&self, from: Vec3, place: Vec2) -> Option<Scattered> {
        let direction = mirror(from, visible_facet(from, self.alpha, place));
        let (value, density) = self.evaluate(from, direction);
        (density > 0.0).then(|| Scattered { direction, weight: value / density, density })
    }
}

/// For white facets: function times cosine, density of `visible_facet` mirrored, and cosine to the half vector.
fn facets(from: Vec3, to: Vec3, alpha: f32) -> (f32, f32, f32) {
    let half = (from + to).normalize_or_zero();
    let a2 = alpha * alpha;
    // 1 − z² as x² + y², so that narrow lobes survive f32: D = α² / (π (z² α² + 1 − z²)²).
    let width = half.z * half.z * a2 + half.x * half.x + half.y * half.y;
    let distribution = a2 / (PI * width * width);
    let root = |cosine: f32| (a2 + (1.0 - a2) * cosine * cosine).sqrt();
    let (root_from, root_to) = (root(from.z), root(to.z));
    // G₂ / (4 z z') for correlated heights, and G₁ / (4 z).
    let visible = 0.5 / (to.z * root_from + from.z * root_to);
    let density = distribution * 0.5 / (from.z + root_from);
    (distribution * visible * to.z, density, half.dot(to).clamp(0.0, 1.0))
}

/// A GGX facet as often as it is seen from `from`: a uniform point of a spherical cap in the frame where the
/// facets' ellipsoid is a sphere.
pub(crate) fn visible_facet(from: Vec3, alpha: f32, place: Vec2) -> Vec3 {
    let stretched = vec3(alpha * from.x, alpha * from.y, from.z).normalize();
    let angle = TAU * place.x;
    let z = (1.0 - place.y) * (1.0 + stretched.z) - stretched.z;
    let sine = (1.0 - z * z).max(0.0).sqrt();
    let half = vec3(sine * angle.cos(), sine * angle.sin(), z) + stretched;
    vec3(alpha * half.x, alpha * half.y, half.z.max(0.0)).normalize_or(Vec3::Z)
}

pub(crate) fn mirror(from: Vec3, normal: Vec3) -> Vec3 {
    2.0 * from.dot(normal) * normal - from
}

fn fifth_power(x: f32) -> f32 {
    let square = x * x;
    square * square * x
}

fn schlick(f0: f32, cosine: f32) -> f32 {
    f0 + (1.0 - f0) * fifth_power(1.0 - cosine)
}

pub(crate) fn cosine_weighted(place: Vec2) -> Vec3 {
    let disc = disc(place);
    vec3(disc.x, disc.y, (1.0 - disc.length_squared()).max(1e-8).sqrt())
}

/// The unit square onto the unit disc, areas kept and neighbours together (Shirley & Chiu 1997).
pub(crate) fn disc(place: Vec2) -> Vec2 {
    let p = 2.0 * place - 1.0;
    if p == Vec2::ZERO {
        return Vec2::ZERO;
    }
    let (radius, angle) = if p.x.abs() > p.y.abs() {
        (p.x, PI / 4.0 * p.y / p.x)
    } else {
        (p.y, PI / 2.0 - PI / 4.0 * p.x / p.y)
    };
    radius * vec2(angle.cos(), angle.sin())
}

/// Reflectance of a smooth boundary for light at this cosine on a side with index n₁, for n = n₁/n₂; and the
/// cosine on the other side. Total reflection has none.
pub(crate) fn fresnel(cosine: f32, n: f32) -> (f32, Option<f32>) {
    let sine2 = n * n * (1.0 - cosine * cosine);
    if sine2 >= 1.0 {
        return (1.0, None);
    }
    let beyond = (1.0 - sine2).sqrt();
    let parallel = (cosine - n * beyond) / (cosine + n * beyond);
    let perpendicular = (n * cosine - beyond) / (n * cosine + beyond);
    (0.5 * (parallel * parallel + perpendicular * perpendicular), Some(beyond))
}

/// Albedo of GGX facets with Schlick's Fresnel term: F₀ · [0] + [1], by cosine and roughness.
struct AlbedoTable {
    directional: Vec<[f32; 2]>,
    mean: Vec<[f32; 2]>,
}

const TABLE: usize = 32;
const TABLE_SAMPLES: u32 = 256;
static ALBEDO: LazyLock<AlbedoTable> = LazyLock::new(AlbedoTable::new);

impl AlbedoTable {
    fn new() -> Self {
        let last = (TABLE - 1) as f32;
        let mut table = Self { directional: Vec::new(), mean: Vec::new() };
        for row in 0..TABLE {
            let alpha = (row as f32 / last).powi(2).max(LEAST_ALPHA);
            for column in 0..TABLE {
                // The spacing is finest at grazing angles, where the albedo changes fastest.
                let cosine = (column as f32 / last).powi(2).max(1e-4);
                table.directional.push(albedo_by_sampling(cosine, alpha));
            }
            // Ē = 2 ∫ E z dz.
            let start = table.directional.len() - TABLE;
            let mut mean = [0.0; 2];
            const STEPS: usize = 256;
            for step in 0..STEPS {
                let cosine = (step as f32 + 0.5) / STEPS as f32;
                let albedo = between(&table.directional[start..], cosine.sqrt() * last);
                mean = [0, 1].map(|i| mean[i] + 2.0 * albedo[i] * cosine / STEPS as f32);
            }
            table.mean.push(mean);
        }
        table
    }

    fn at(&self, cosine: f32, alpha: f32) -> [f32; 2] {
        let last = (TABLE - 1) as f32;
        let column = cosine.clamp(0.0, 1.0).sqrt() * last;
        let row = alpha.sqrt() * last;
        let low = (row as usize).min(TABLE - 2);
        let part = row - low as f32;
        let a = between(&self.directional[low * TABLE..][..TABLE], column);
        let b = between(&self.directional[(low + 1) * TABLE..][..TABLE], column);
        [0, 1].map(|i| a[i] + (b[i] - a[i]) * part)
    }

    fn mean(&self, alpha: f32) -> [f32; 2] {
        between(&self.mean, alpha.sqrt() * (TABLE - 1) as f32)
    }
}

fn between(values: &[[f32; 2]], place: f32) -> [f32; 2] {
    let low = (place as usize).min(values.len() - 2);
    let part = place - low as f32;
    [0, 1].map(|i| values[low][i] + (values[low + 1][i] - values[low][i]) * part)
}

fn albedo_by_sampling(cosine: f32, alpha: f32) -> [f32; 2] {
    let from = vec3((1.0 - cosine * cosine).max(0.0).sqrt(), 0.0, cosine);
    let mut sum = [0.0; 2];
    for i in 0..TABLE_SAMPLES {
        let place = vec2(
            (i as f32 + 0.5) / TABLE_SAMPLES as f32,
            i.reverse_bits() as f32 / 4_294_967_296.0 + 0.5 / TABLE_SAMPLES as f32,
        );
        let to = mirror(from, visible_facet(from, alpha, place));
        if to.z > 0.0 {
            let (value, density, half_cosine) = facets(from, to, alpha);
            let grazing = fifth_power(1.0 - half_cosine);
            sum[0] += value / density * (1.0 - grazing);
            sum[1] += value / density * grazing;
        }
    }
    sum.map(|sum| sum / TABLE_SAMPLES as f32)
}

#[cfg(test)]
mod tests {
    use super::super::sampler::{Sampler, Stream};
    use super::*;

    fn looks() -> Vec<(&'static str, Opaque)> {
        let white = Vec3::ONE;
        let porous = Look::Diffuse { colour: vec3(0.9, 0.5, 0.2), porosity: 0.4 };
        let make = |look: Look, wetness| Opaque::new(&look, Vec3::ONE, wetness, 1.0).unwrap();
        vec![
            ("diffuse", make(Look::Diffuse { colour: white, porosity: 0.0 }, 0.0)),
            ("glossy", make(Look::Glossy { colour: white, roughness: 0.3 }, 0.0)),
            ("rough glossy", make(Look::Glossy { colour: vec3(0.8, 0.4, 0.1), roughness: 0.8 }, 0.0)),
            ("metal", make(Look::Metal { colour: white, roughness: 0.4 }, 0.0)),
            ("rough metal", make(Look::Metal { colour: white, roughness: 0.9 }, 0.0)),
            ("gold", make(Look::GOLD, 0.0)),
            ("half wet", make(porous, 0.5)),
            ("wet", make(porous, 1.0)),
            ("fibre", make(Look::Fibre { colour: white, translucency: 0.4, porosity: 0.5 }, 0.0)),
            ("wet fibre", make(Look::Fibre { colour: white, translucency: 0.4, porosity: 0.5 }, 0.7)),
        ]
    }

    fn on_sphere(stream: &mut Stream) -> Vec3 {
        let z = 2.0 * stream.next() - 1.0;
        let angle = TAU * stream.next();
        let sine = (1.0 - z * z).sqrt();
        vec3(sine * angle.cos(), sine * angle.sin(), z)
    }

    fn view(cosine: f32) -> Vec3 {
        vec3((1.0 - cosine * cosine).sqrt(), 0.0, cosine)
    }

    #[test]
    fn no_look_gains_energy() {
        for (name, look) in looks() {
            for cosine in [0.1, 0.5, 0.9, 1.0] {
                // Evenly over the sphere (a Fibonacci spiral), so that the sampling under test plays no part.
                let n = 300_000;
                let mut sum = Vec3::ZERO;
                for i in 0..n {
                    let z = (2.0 * i as f64 + 1.0) / n as f64 - 1.0;
                    let angle = i as f64 * std::f64::consts::PI * (3.0 - 5f64.sqrt());
                    let sine = (1.0 - z * z).sqrt();
                    let to = glam::dvec3(sine * angle.cos(), sine * angle.sin(), z).as_vec3();
                    sum += look.evaluate(view(cosine), to).0;
                }
                let albedo = sum * (4.0 * PI / n as f32);
                // Coarse for the narrowest lobe; linear interpolation in the table of albedos.
                assert!(albedo.max_element() < 1.03, "{name} at {cosine}: {albedo}");
                let said = look.albedo(view(cosine));
                assert!(
                    (albedo - said).abs().max_element() < 0.03,
                    "{name} at {cosine}: {albedo}, said {said}"
                );
            }
        }
    }

    #[test]
    fn looks_are_reciprocal() {
        let mut stream = Stream::seeded(9);
        for (name, look) in looks().into_iter().filter(|(_, look)| matches!(look, Opaque::Coated(_))) {
            for _ in 0..1000 {
                let (a, b) = (on_sphere(&mut stream).abs(), on_sphere(&mut stream).abs());
                let there = look.evaluate(a, b).0 / b.z;
                let back = look.evaluate(b, a).0 / a.z;
                assert!((there - back).length() <= 2e-4 * there.length(), "{name}: {there} {back}");
            }
        }
    }

    /// Averages over sampled directions equal integrals over the density: of 1 in each of many cells (a χ²
    /// test), and of the function.
    #[test]
    fn sampling_follows_probability() {
        for (name, look) in looks() {
            let from = view(0.6);
            let cell = |to: Vec3| {
                let ring = ((to.z * 0.499_99 + 0.5) * 8.0) as usize;
                let sector = ((to.y.atan2(to.x) / TAU + 0.5) * 7.999) as usize;
                ring * 8 + sector
            };
            let n = 60_000;
            let mut counted = [0.0f64; 64];
            let mut weights = Vec3::ZERO;
            for sample in 0..n {
                let sampler = Sampler::new(3, sample, 0);
                let (x, y) = sampler.pair(0);
                if let Some(scattered) = look.sample(from, sampler.pair(1).0, vec2(x, y)) {
                    counted[cell(scattered.direction)] += 1.0;
                    weights += scattered.weight;
                    let (_, density) = look.evaluate(from, scattered.direction);
                    assert!((density - scattered.density).abs() <= 1e-3 * density, "{name}");
                }
            }
            let mut expected = [0.0f64; 64];
            let mut stream = Stream::seeded(5);
            let m = 500_000;
            for _ in 0..m {
                let to = on_sphere(&mut stream);
                expected[cell(to)] +=
                    look.evaluate(from, to).1 as f64 * 4.0 * PI as f64 * n as f64 / m as f64;
            }
            let mut chi = 0.0;
            let mut cells = 0.0;
            for (counted, expected) in counted.into_iter().zip(expected) {
                if expected > 20.0 {
                    // The expectation is itself an estimate with noise of one or two per cent.
                    chi += (counted - expected).powi(2) / (expected + (0.02 * expected).powi(2));
                    cells += 1.0;
                }
            }
            // χ² has mean `cells` and standard deviation √(2 cells): five of them.
            assert!(chi < cells + 5.0 * f64::sqrt(2.0 * cells), "{name}: χ² = {chi} in {cells} cells");
            let mean = weights / n as f32;
            assert!((mean - look.albedo(from)).abs().max_element() < 0.02, "{name}: {mean}");
        }
    }

    #[test]
    fn wet_is_darker_and_richer() {
        let dry = vec3(0.62, 0.50, 0.34);
        let base = |porosity, wetness| match Opaque::new(
            &Look::Diffuse { colour: dry, porosity },
            Vec3::ONE,
            wetness,
            1.0,
        ) {
            Some(Opaque::Coated(coated)) => coated.base,
            _ => panic!(),
        };
        assert_eq!(base(0.4, 0.0), dry);
        assert_eq!(base(0.0, 1.0), dry);
        let (half, wet) = (base(0.4, 0.5), base(0.4, 1.0));
        assert!(wet.cmplt(half).all() && half.cmplt(dry).all());
        assert!(wet.x / wet.z > 1.1 * dry.x / dry.z, "{wet}");
    }

    #[test]
    fn fresnel_at_normal_incidence_and_total_reflection() {
        let (reflectance, beyond) = fresnel(1.0, 1.0 / 1.5);
        assert!((reflectance - 0.04).abs() < 1e-6 && beyond == Some(1.0));
        // Brewster: parallel light passes, so half of the perpendicular reflectance remains.
        let brewster = 1.5f32.atan().cos();
        let (reflectance, _) = fresnel(brewster, 1.0 / 1.5);
        let perpendicular = ((1.0 - 1.5f32 * 1.5) / (1.0 + 1.5 * 1.5)).powi(2);
        assert!((reflectance - 0.5 * perpendicular).abs() < 1e-5);
        assert_eq!(fresnel(0.1, 1.5), (1.0, None));
    }
}
