//! Paths of light, from the camera to the lights.
//!
//! Unidirectional path tracing. Sun and lamps are sampled directly at every opaque surface, weighted against
//! the surface's own sampling by the power heuristic (Veach 1997); the sky is met by the surface's samples
//! alone. Departures from the exact solution, all for pictures without noise:
//!
//! - Where the camera's ray meets clear surfaces, the first two split into the reflected and the refracted ray.
//!   Later ones toss a coin.
//! - Rays to the sun and to lamps go straight through clear things, weakened by Fresnel's and Beer–Lambert's
//!   laws but not bent: no caustics, and no noise from them. In turn, paths that meet a clear surface after
//!   an opaque one do not count sun and lamps a second time. Skylight is bent as it should.
//! - Light by more than one scattering event is compressed above the radiance k of `Settings::firefly`:
//!   k (1 + ln(L/k)); the sun or a lamp seen in a clear surface above 4 k, and the sun is seen there
//!   as a wider disc of the same power. After the first scattering event, mirror
//!   lobes are widened (Kaplanyan & Dachsbacher 2013). An infinite k turns all this off.
//! - A path that is caught between clear surfaces for too long takes the sky's radiance in its last direction.
//! - Lamps are opaque from their bright side and invisible from the other.
//!
//! Radiance is scaled by (n₁/n₂)² where it crosses a boundary (Veach 1997, 5.2).
//!
//! Wax is a random walk with isotropic scattering below a coat; its single-scattering albedo α follows from
//! the colour A by Kulla & Conty's fit (2017): α = 1 − s², s = 4.09712 + 4.20863 A − √(9.59217 + 41.6808 A +
//! 17.7126 A²). Light enters and leaves cosine-weighted. A walk that takes too long leaves where it entered.
//!
//! Kept honest by `tests/radiance.rs`.

use super::bvh::{Hit, Ray, Stack};
use super::light::Beam;
use super::looks::{Coated, Opaque, cosine_weighted, fresnel, mirror, visible_facet};
use super::sampler::Sampler;
use super::scene::{Look, Settings};
use super::surface::{Inside, Prepared, Surface};
use glam::{Mat3, Vec2, Vec3, vec2, vec3};
use std::f32::consts::FRAC_1_PI;

/// Clear surfaces a path may meet between two opaque ones.
const MOST_CROSSINGS: u32 = 24;
/// The same after a scattering event, where nobody sees the difference.
const MOST_CROSSINGS_SCATTERED: u32 = 8;
/// Of those that the camera's ray meets, so many split.
const SPLITS: u32 = 2;
/// More vertices than a path ever has.
const BRANCH: u32 = 1 << 20;
/// Scattering events of a walk through wax.
const LONGEST_WALK: usize = 128;
/// The sun and lamps seen in clear surfaces are compressed above this multiple of the limit for scattered
/// light.
const GLINT: f32 = 4.0;
/// Mirror lobes that are seen by scattered light are at least this rough (α).
const SOFTENED: f32 = 0.3;
/// Clear surfaces that a ray to a light can pass.
const MOST_PASSED: usize = 24;

/// What one path through a pixel brings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    pub radiance: Vec3,
    /// The part of the radiance that comes straight from sun and lamps, without any chance involved.
    pub glint: Vec3,
    pub albedo: Vec3,
    pub normal: Vec3,
    pub nearness: f32,
}

/// Which lights a path counts when it meets them.
#[derive(Clone, Copy)]
enum Lights {
    /// All: it comes straight from the camera.
    All,
    /// Weighted against direct sampling; the path was sampled with this density.
    Weighted(f32),
    /// The sky alone: sun and lamps have been counted through clear surfaces.
    SkyOnly,
}

#[derive(Clone, Copy)]
struct Path {
    ray: Ray,
    inside: Inside,
    weight: Vec3,
    lights: Lights,
    scatterings: usize,
    /// Surfaces met, for the numbering of random decisions.
    vertex: u32,
    /// Clear surfaces met since the last opaque one.
    crossings: u32,
    splits: u32,
    /// Whether a coin has chosen between reflection and refraction.
    tossed: bool,
    /// Share in the pixel's normal; 0 after scattering.
    normal_share: f32,
    /// Distance travelled and angle that a pixel spans: the size of texture detail that can be seen.
    travelled: f32,
    spread: f32,
}

pub(crate) struct Tracer<'a> {
    prepared: &'a Prepared<'a>,
    settings: &'a Settings,
    stack: Stack,
    waiting: Vec<Path>,
    pub rays: u64,
}

impl<'a> Tracer<'a> {
    pub fn new(prepared: &'a Prepared<'a>, settings: &'a Settings) -> Self {
        Self { prepared, settings, stack: Stack::new(), waiting: Vec::new(), rays: 0 }
    }

    /// Follows a ray from the camera, which spans the angle `spread` per pixel.
    pub fn sample(&mut self, ray: Ray, inside: Inside, spread: f32, sampler: &Sampler) -> Sample {
        let mut sample = Sample::default();
        self.waiting.clear();
        self.waiting.push(Path {
            ray,
            inside,
            weight: Vec3::ONE,
            lights: Lights::All,
            scatterings: 0,
            vertex: 0,
            crossings: 0,
            splits: 0,
            tossed: false,
            normal_share: 1.0,
            travelled: 0.0,
            spread,
        });
        while let Some(mut path) = self.waiting.pop() {
            while self.advance(&mut path, sampler, &mut sample) {}
        }
        sample
    }

    /// One segment and the surface at its end. `false` when the path has ended.
    fn advance(&mut self, path: &mut Path, sampler: &Sampler, sample: &mut Sample) -> bool {
        let scene = self.prepared.scene;
        path.vertex += 1;
        self.rays += 1;
        let hit = self.prepared.bvh.nearest(&path.ray, None, &mut self.stack);
        let mut reach = hit.map_or(f32::INFINITY, |hit| hit.distance);
        let ground = scene.ground.as_ref().and_then(|ground| {
            let distance = ground.meet(&Ray { reach, ..path.ray })?;
            reach = distance;
            Some(ground)
        });
        if let Some((distance, radiance, density)) = self.lamp_seen(&Ray { reach, ..path.ray }) {
            self.absorb(path, distance);
            self.note_features(path, distance, Vec3::ONE, Vec3::ZERO, sample);
            self.count_light(path, radiance, density, sample);
            return false;
        }

        // Nothing: the sky, and maybe the sun.
        if reach == f32::INFINITY {
            self.absorb(path, reach);
            self.note_features(path, reach, Vec3::ONE, Vec3::ZERO, sample);
            sample.radiance += self.calmed(path, path.weight * scene.sky.radiance(path.ray.direction), false);
            let to = path.ray.direction;
            // A studio's light is out of the picture: it is met by what it lights, and in mirrors.
            if let Some((radiance, density)) = scene.sky.light_seen(to).filter(|_| path.vertex > 1) {
                self.count_light(path, radiance, density, sample);
            }
            if path.mirrors_light() && self.settings.firefly.is_finite() {
                let glint = scene.sun.map_or(Vec3::ZERO, |sun| sun.softly_seen(to));
                self.count_light(path, glint, 0.0, sample);
            } else if let Some((radiance, density)) = scene.sun.and_then(|sun| sun.seen(to)) {
                self.count_light(path, radiance, density, sample);
            }
            return false;
        }

        self.absorb(path, reach);
        path.travelled += reach;
        if let Some(ground) = ground {
            let point = path.ray.origin + path.ray.direction * reach;
            // The far ground gives way to the sky behind it.
            let away = vec2(point.x - scene.camera.look_at.x, point.z - scene.camera.look_at.z);
            let here = (-away.length_squared() / (ground.fade * ground.fade)).exp();
            if here < 1.0 {
                let far = path.weight * (1.0 - here) * scene.sky.at_horizon(path.ray.direction);
                sample.radiance += self.calmed(path, far, false);
                if path.scatterings == 0 {
                    sample.albedo += path.weight * (1.0 - here);
                }
                path.weight *= here;
                if here < 1e-3 {
                    self.note_features(path, reach, Vec3::ZERO, Vec3::Y, sample);
                    return false;
                }
            }
            let width = path.travelled * path.spread;
            let along = path.ray.direction;
            let stretch = (1.0 / along.y.abs().max(1e-3) - 1.0) * width;
            let flat = vec2(along.x, along.z).normalize_or_zero().abs();
            let colour = ground.colour(point, Vec2::splat(width) + stretch * flat);
            let surface = Surface {
                point: vec3(point.x, ground.height, point.z),
                flat_normal: Vec3::Y,
                normal: Vec3::Y,
                tint: Vec3::ONE,
                wetness: 0.0,
                thickness: 0.0,
            };
            return self.scatter(
                path,
                reach,
                &surface,
                None,
                &ground.look.recoloured(colour),
                sampler,
                sample,
            );
        }

        let hit = hit.expect("something was hit, and it is not the ground");
        let thing = self.prepared.bvh.owners[hit.primitive as usize].thing;
        let surface = self.prepared.surface(&hit, &path.ray);
        if self.prepared.media[thing as usize].is_some() {
            self.cross(path, reach, thing, &surface, sampler, sample)
        } else {
            let look = &scene.things[thing as usize].look;
            if let &Look::Glow { radiance } = look {
                // Hot below a cooler skin: darker towards the limb, as the sun is, by Eddington's (2 + 3 cos θ)/4. The light
                // of all directions together is that of an even glow.
                let facing = surface.normal.dot(path.ray.direction).abs();
                let radiance = radiance * (0.5 + 0.75 * facing);
                sample.radiance += self.calmed(path, path.weight * radiance * surface.tint, false);
            }
            self.scatter(path, reach, &surface, Some(thing), look, sampler, sample)
        }
    }

    /// Beer–Lambert's law along a segment.
    fn absorb(&self, path: &mut Path, distance: f32) {
        let absorption = self.prepared.medium(&path.inside).absorption;
        if absorption != Vec3::ZERO {
            // An open mesh can leave a path inside for ever: it sees the sky as if it were outside.
            path.weight *= if distance.is_finite() { (-absorption * distance).exp() } else { Vec3::ONE };
        }
    }

    /// Albedo, normal and nearness of what the camera sees, also through clear surfaces.
    fn note_features(&self, path: &mut Path, distance: f32, albedo: Vec3, normal: Vec3, sample: &mut Sample) {
        if path.scatterings > 0 {
            return;
        }
        sample.albedo += path.weight * albedo;
        sample.normal += normal * path.normal_share;
        if path.vertex == 1 {
            sample.nearness = 1.0 / distance;
        }
    }

    /// Radiance with what would become a firefly compressed.
    fn calmed(&self, path: &Path, radiance: Vec3, small_light: bool) -> Vec3 {
        let mirrored = small_light && path.mirrors_light();
        let most = radiance.max_element();
        let limit = if mirrored { GLINT * self.settings.firefly } else { self.settings.firefly };
        if (path.scatterings < 2 && !mirrored) || most <= limit {
            return radiance;
        }
        radiance * (limit * (1.0 + (most / limit).ln()) / most)
    }

    /// Light that the path has run into.
    fn count_light(&self, path: &Path, radiance: Vec3, density: f32, sample: &mut Sample) {
        let share = match path.lights {
            Lights::All => 1.0,
            Lights::Weighted(own) => power_heuristic(own, density),
            Lights::SkyOnly => return,
        };
        let light = self.calmed(path, path.weight * radiance * share, true);
        sample.radiance += light;
        if path.scatterings == 0 && !path.tossed {
            sample.glint += light;
        }
    }

    /// The nearest lamp on the ray: distance, radiance, and density of its direct sampling.
    fn lamp_seen(&self, ray: &Ray) -> Option<(f32, Vec3, f32)> {
        let lamps = &self.prepared.scene.lamps;
        let seen = lamps.iter().filter_map(|lamp| lamp.seen(ray)).min_by(|a, b| a.0.total_cmp(&b.0));
        seen.map(|(distance, radiance, density)| (distance, radiance, density / lamps.len() as f32))
    }

    /// Light from sun and lamps that a surface with the given function sends along the path.
    fn direct(
        &mut self,
        path: &Path,
        surface: &Surface,
        function: impl Fn(Vec3) -> (Vec3, f32),
        sampler: &Sampler,
        decision: u32,
        sample: &mut Sample,
    ) {
        let scene = self.prepared.scene;
        let sun = scene.sun.map(|sun| sun.sample(sampler.pair(decision).into()));
        let studio = scene.sky.sample(sampler.pair(decision + 2).into());
        let lamp = if scene.lamps.is_empty() {
            None
        } else {
            let count = scene.lamps.len() as f32;
            let (x, y) = sampler.pair(decision + 1);
            // One number chooses the lamp and the place on it.
            let which = ((x * count) as usize).min(scene.lamps.len() - 1);
            let beam = scene.lamps[which].sample(surface.point, vec2(x * count - which as f32, y));
            beam.map(|beam| (Beam { density: beam.density / count, ..beam }, Some(which)))
        };
        let distant = sun.into_iter().chain(studio).map(|beam| (beam, None));
        for (beam, lamp) in distant.chain(lamp) {
            let (value, own) = function(beam.direction);
            let below = surface.thickness == 0.0 && surface.flat_normal.dot(beam.direction) <= 0.0;
            if below || value == Vec3::ZERO {
                continue;
            }
            let Some((passed, crossed)) = self.passage(path, surface, &beam, lamp) else { continue };
            // What came through clear surfaces cannot be met by the surface's own samples.
            let share = if crossed { 1.0 } else { power_heuristic(beam.density, own) };
            let light = path.weight * value * beam.radiance * passed * (share / beam.density);
            sample.radiance +=
                self.calmed(&Path { scatterings: path.scatterings + 1, ..*path }, light, false);
        }
    }

    /// The part of a beam (of that lamp, if it is one's) that arrives at a surface, and whether it crossed clear
    /// surfaces on its way.
    fn passage(
        &mut self,
        path: &Path,
        surface: &Surface,
        beam: &Beam,
        own: Option<usize>,
    ) -> Option<(Vec3, bool)> {
        let prepared = self.prepared;
        let origin = leave(surface, beam.direction);
        let ray = Ray { origin, direction: beam.direction, reach: beam.distance * 0.9999 };
        if prepared.scene.ground.as_ref().is_some_and(|ground| ground.meet(&ray).is_some()) {
            return None;
        }
        let mut lamps = prepared.scene.lamps.iter().enumerate();
        if lamps.any(|(number, lamp)| Some(number) != own && lamp.seen(&ray).is_some()) {
            return None;
        }
        self.rays += 1;
        let nowhere = Hit { distance: 0.0, primitive: 0, u: 0.0, v: 0.0 };
        let mut passed = [nowhere; MOST_PASSED];
        let mut count = 0;
        let free = prepared.bvh.is_free(&ray, &mut self.stack, |hit| {
            let clear = prepared.media[prepared.bvh.owners[hit.primitive as usize].thing as usize].is_some();
            if clear && count < MOST_PASSED {
                passed[count] = hit;
                count += 1;
            }
            clear
        });
        if !free {
            return None;
        }

        // In the order of the way, from medium to medium.
        let passed = &mut passed[..count];
        passed.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.primitive.cmp(&b.primitive)));
        let mut inside = path.inside;
        let mut medium = prepared.medium(&inside);
        let (mut light, mut at, mut crossed) = (Vec3::ONE, 0.0, false);
        for hit in passed {
            light *= (-medium.absorption * (hit.distance - at)).exp();
            at = hit.distance;
            let thing = prepared.bvh.owners[hit.primitive as usize].thing;
            let found = prepared.surface(hit, &ray);
            if found.flat_normal.dot(ray.direction) < 0.0 {
                inside.add(thing)
            } else {
                inside.remove(thing)
            }
            let next = prepared.medium(&inside);
            if next.index != medium.index {
                // Unbent rays would be reflected totally where bent ones are not: the angle counts on the
                // thin side.
                let (low, high) = (next.index.min(medium.index), next.index.max(medium.index));
                light *= 1.0 - fresnel(found.normal.dot(ray.direction).abs().min(1.0), low / high).0;
                crossed = true;
            }
            medium = next;
        }
        if beam.distance.is_finite() {
            light *= (-medium.absorption * (beam.distance - at)).exp();
        }
        Some((light, crossed))
    }

    /// An opaque surface: direct light, and a new direction.
    #[allow(clippy::too_many_arguments)]
    fn scatter(
        &mut self,
        path: &mut Path,
        distance: f32,
        surface: &Surface,
        thing: Option<u32>,
        look: &Look,
        sampler: &Sampler,
        sample: &mut Sample,
    ) -> bool {
        let outside = self.prepared.medium(&path.inside).index;
        let mut opaque =
            Opaque::new(look, surface.tint, surface.wetness, outside).expect("clear looks are crossed");
        if path.scatterings > 0 && self.settings.firefly.is_finite() {
            opaque.soften(SOFTENED);
        }
        let frame = Frame::facing(surface, path.ray.direction);
        let from = frame.to_local(-path.ray.direction);
        self.note_features(path, distance, opaque.albedo(from), frame.normal(), sample);
        path.crossings = 0;
        path.spread = path.spread.max(0.02);
        if path.scatterings >= self.settings.bounces {
            return false;
        }
        let surface = &Surface { flat_normal: frame.flat_normal, ..*surface };

        // Decisions: lobe and survival, direction, three lights; for wax direction, three lights and direction.
        let decision = 2 + path.vertex * 16;
        let (choice, survival) = sampler.pair(decision);
        let place = Vec2::from(sampler.pair(decision + 1));
        if let (&Look::Wax { mean_free_path, .. }, Opaque::Coated(coated), Some(thing)) =
            (look, opaque, thing)
        {
            let coat = Opaque::Coated(Coated { base: Vec3::ZERO, ..coated });
            let stays = coated.mirror_albedo(from.z);
            let function = |to| {
                let (value, density) = coat.evaluate(from, frame.to_local(to));
                (value, density * stays)
            };
            self.direct(path, surface, function, sampler, decision + 2, sample);
            if choice >= stays {
                return self.walk(path, surface, &frame, thing, coated, mean_free_path, sampler, sample);
            }
            let Some(scattered) = coat.sample(from, 0.0, place) else { return false };
            path.weight *= scattered.weight / stays;
            let to = frame.to_world(scattered.direction);
            return self.leave_scattered(path, surface, to, scattered.density * stays, survival);
        }
        self.direct(
            path,
            surface,
            |to| opaque.evaluate(from, frame.to_local(to)),
            sampler,
            decision + 2,
            sample,
        );
        let Some(scattered) = opaque.sample(from, choice, place) else { return false };
        path.weight *= scattered.weight;
        self.leave_scattered(path, surface, frame.to_world(scattered.direction), scattered.density, survival)
    }

    /// Sends the path on after a scattering event, if it survives Russian roulette.
    fn leave_scattered(
        &mut self,
        path: &mut Path,
        surface: &Surface,
        to: Vec3,
        density: f32,
        survival: f32,
    ) -> bool {
        path.scatterings += 1;
        if path.scatterings > 1 {
            let chance = path.weight.max_element().clamp(0.05, 1.0);
            if survival >= chance {
                return false;
            }
            path.weight /= chance;
        }
        path.lights = Lights::Weighted(density);
        path.normal_share = 0.0;
        // Interpolated normals can send light below the flat surface.
        let below = surface.flat_normal.dot(to);
        let to = if below <= 0.0 && surface.thickness == 0.0 {
            (to + (1e-3 - below) * surface.flat_normal).normalize()
        } else {
            to
        };
        path.ray = Ray { origin: leave(surface, to), direction: to, reach: f32::INFINITY };
        true
    }

    /// Through wax: in at `surface`, out elsewhere.
    #[allow(clippy::too_many_arguments)]
    fn walk(
        &mut self,
        path: &mut Path,
        surface: &Surface,
        frame: &Frame,
        thing: u32,
        coated: Coated,
        mean_free_path: f32,
        sampler: &Sampler,
        sample: &mut Sample,
    ) -> bool {
        let decision = 2 + path.vertex * 16;
        let mut random = sampler.stream(decision);
        let colour = coated.base.clamp(Vec3::ZERO, Vec3::ONE);
        let root = Vec3::splat(9.59217) + 41.6808 * colour + 17.7126 * colour * colour;
        let s = 4.09712 + 4.20863 * colour - root.powf(0.5);
        let albedo = (Vec3::ONE - s * s).clamp(Vec3::ZERO, Vec3::ONE);

        let mut direction =
            frame.to_world(cosine_weighted(sampler.pair(decision + 5).into()) * vec3(1.0, 1.0, -1.0));
        let mut origin = leave(surface, direction);
        let mut weight = Vec3::ONE;
        let mut out = *surface;
        for step in 0.. {
            let free = -mean_free_path * (1.0 - random.next()).ln();
            let ray = Ray { origin, direction, reach: free };
            self.rays += 1;
            if let Some(hit) = self.prepared.bvh.nearest(&ray, Some(thing), &mut self.stack) {
                out = self.prepared.surface(&hit, &ray);
                break;
            }
            weight *= albedo;
            let chance = weight.max_element();
            if chance < 0.3 {
                if random.next() * 0.3 >= chance {
                    return false;
                }
                weight *= 0.3 / chance;
            }
            if step == LONGEST_WALK {
                break;
            }
            origin += direction * free;
            let z = 2.0 * random.next() - 1.0;
            let angle = std::f32::consts::TAU * random.next();
            let sine = (1.0 - z * z).max(0.0).sqrt();
            direction = vec3(sine * angle.cos(), sine * angle.sin(), z);
        }

        path.weight *= weight;
        let frame = Frame::facing(&out, -out.flat_normal);
        let scale = 1.0 / (1.0 - coated.mean_mirror_albedo());
        let leaving = |to: Vec3| {
            if to.z <= 0.0 {
                return (Vec3::ZERO, 0.0);
            }
            let density = to.z * FRAC_1_PI;
            (Vec3::splat((1.0 - coated.mirror_albedo(to.z)) * scale * density), density)
        };
        self.direct(path, &out, |to| leaving(frame.to_local(to)), sampler, decision + 6, sample);
        let to = cosine_weighted(sampler.pair(decision + 9).into());
        let (value, density) = leaving(to);
        path.weight *= value / density;
        self.leave_scattered(path, &out, frame.to_world(to), density, random.next())
    }

    /// A clear surface: reflection and refraction.
    fn cross(
        &mut self,
        path: &mut Path,
        distance: f32,
        thing: u32,
        surface: &Surface,
        sampler: &Sampler,
        sample: &mut Sample,
    ) -> bool {
        let prepared = self.prepared;
        let entering = surface.flat_normal.dot(path.ray.direction) < 0.0;
        // Whoever leaves a thing was inside, even if its entrance was missed.
        if !entering {
            path.inside.add(thing);
        }
        let before = prepared.medium(&path.inside);
        let mut beyond = path.inside;
        if entering {
            beyond.add(thing)
        } else {
            beyond.remove(thing)
        }
        let mut after = prepared.medium(&beyond);
        if !entering && after.index == 1.0 && self.settings.gap > 0.0 {
            // A thin gap of air before the next clear thing is an artefact of its mesh.
            let origin = leave(surface, path.ray.direction);
            let ray = Ray { origin, direction: path.ray.direction, reach: self.settings.gap };
            self.rays += 1;
            if let Some(hit) = prepared.bvh.nearest(&ray, None, &mut self.stack) {
                let next = prepared.bvh.owners[hit.primitive as usize].thing;
                if prepared.media[next as usize].is_some() {
                    beyond.add(next);
                    after = prepared.medium(&beyond);
                }
            }
        }
        if before.index == after.index {
            // Nothing changes: hidden inside something denser, or the same medium on both sides.
            path.inside = beyond;
            path.ray.origin = leave(surface, path.ray.direction);
            return path.go_on(&prepared.scene.sky, sample);
        }

        let own = prepared.media[thing as usize].expect("only clear things are crossed");
        let frame = Frame::facing(surface, path.ray.direction);
        let from = frame.to_local(-path.ray.direction);
        let decision = 2 + path.vertex * 16;
        let facet = if own.roughness > 0.0 {
            visible_facet(from, own.roughness * own.roughness, sampler.pair(decision + 1).into())
        } else {
            Vec3::Z
        };
        let ratio = before.index / after.index;
        let cosine = from.dot(facet).clamp(0.0, 1.0);
        let (reflectance, beyond_cosine) = fresnel(cosine, ratio);
        if path.scatterings == 0 && path.vertex == 1 {
            sample.normal += 0.5 * frame.normal();
            path.normal_share = 0.5;
            sample.nearness = 1.0 / distance;
        }
        if !matches!(path.lights, Lights::All) {
            path.lights = Lights::SkyOnly;
        }

        // Directions, kept on their side of the flat surface.
        let mut reflected = frame.to_world(mirror(from, facet));
        let inward = reflected.dot(frame.flat_normal);
        if inward <= 1e-4 {
            reflected = (reflected + (1e-3 - inward) * frame.flat_normal).normalize();
        }
        let refracted = beyond_cosine.map(|beyond_cosine| {
            let to = frame.to_world(facet * (ratio * cosine - beyond_cosine) - from * ratio);
            let outward = to.dot(frame.flat_normal);
            if outward >= -1e-4 {
                (to - (outward + 1e-3) * frame.flat_normal).normalize()
            } else {
                to.normalize()
            }
        });

        let surface = &Surface { flat_normal: frame.flat_normal, ..*surface };
        let mirrored = |path: &mut Path, share: f32| {
            path.weight *= share;
            path.ray = Ray { origin: leave(surface, reflected), direction: reflected, reach: f32::INFINITY };
        };
        let Some(refracted) = refracted else {
            mirrored(path, 1.0);
            return path.go_on(&prepared.scene.sky, sample);
        };
        let passed = |path: &mut Path, share: f32| {
            path.inside = beyond;
            path.weight *= share * ratio * ratio;
            path.ray = Ray { origin: leave(surface, refracted), direction: refracted, reach: f32::INFINITY };
        };
        if path.scatterings == 0 && path.splits < SPLITS {
            path.splits += 1;
            let mut other = *path;
            mirrored(&mut other, reflectance);
            other.normal_share *= reflectance;
            // Decisions are numbered by the vertex, and two paths must not share any: the n-th split adds
            // 2ⁿ⁻¹ branches, so that the sums tell all ways through the splits apart.
            other.vertex += BRANCH << (path.splits - 1);
            if other.go_on(&prepared.scene.sky, sample) {
                self.waiting.push(other);
            }
            passed(path, 1.0 - reflectance);
            path.normal_share *= 1.0 - reflectance;
        } else {
            path.tossed = true;
            if sampler.pair(decision).0 < reflectance {
                mirrored(path, 1.0);
            } else {
                passed(path, 1.0);
            }
        }
        path.go_on(&prepared.scene.sky, sample)
    }
}

impl Path {
    /// Whether the camera sees the path's end in a clear surface.
    fn mirrors_light(&self) -> bool {
        self.scatterings == 0 && self.vertex > 1
    }

    /// Counts a clear surface; a path that is caught ends with the sky's light.
    fn go_on(&mut self, sky: &super::Sky, sample: &mut Sample) -> bool {
        self.crossings += 1;
        let most = if self.scatterings == 0 { MOST_CROSSINGS } else { MOST_CROSSINGS_SCATTERED };
        if self.crossings <= most {
            return true;
        }
        sample.radiance += self.weight * sky.radiance(self.ray.direction);
        if self.scatterings == 0 {
            sample.albedo += self.weight;
        }
        false
    }
}

/// Weight of a sample with density `own` when `other` could have found it too.
fn power_heuristic(own: f32, other: f32) -> f32 {
    // Densities of narrow lobes overflow when squared: divide first.
    if own.is_infinite() {
        return 1.0;
    }
    let ratio = other / own;
    1.0 / (1.0 + ratio * ratio)
}

/// Where a ray in the direction `to` starts on a surface: a little off it, and on the far side of a thread
/// when it goes through.
fn leave(surface: &Surface, to: Vec3) -> Vec3 {
    let away = surface.flat_normal.dot(to);
    let step = 4e-6 * surface.point.abs().max_element().max(0.05);
    if away >= 0.0 {
        surface.point + surface.flat_normal * step
    } else {
        surface.point - surface.flat_normal * (step + surface.thickness)
    }
}

/// The frame of a surface on the side that a ray comes from.
struct Frame {
    axes: Mat3,
    flat_normal: Vec3,
}

impl Frame {
    fn facing(surface: &Surface, direction: Vec3) -> Self {
        let back = surface.flat_normal.dot(direction) > 0.0;
        let (flat_normal, mut normal) = if back {
            (-surface.flat_normal, -surface.normal)
        } else {
            (surface.flat_normal, surface.normal)
        };
        // An interpolated normal that is seen from behind is bent until it is not.
        let seen = -normal.dot(direction);
        if seen < 1e-3 {
            normal = (normal - direction * (1e-3 - seen)).normalize_or(flat_normal);
            if normal.dot(direction) > -5e-4 {
                normal = flat_normal;
            }
        }
        let (x, y) = normal.any_orthonormal_pair();
        Self { axes: Mat3::from_cols(x, y, normal), flat_normal }
    }

    fn normal(&self) -> Vec3 {
        self.axes.z_axis
    }

    fn to_local(&self, direction: Vec3) -> Vec3 {
        self.axes.transpose() * direction
    }

    fn to_world(&self, direction: Vec3) -> Vec3 {
        self.axes * direction
    }
}
