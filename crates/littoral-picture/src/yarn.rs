//! Yarns as bundles of fibres, and knitwear as yarns.
//!
//! A yarn follows a Catmull–Rom spline through its control points [BA 4.4]. Its plies wind around it, fibres wind
//! around the middle of their ply and wander in and out of it, and hairs leave it: the fuzzy look that BA draws with
//! slices of a volume is here the fibres themselves, as curves for a ray tracer.
//!
//! [`Spun::new`] takes the yarns at rest and decides all that is random or depends on length: a turn or a hair sits
//! at a place of the material, so that a yarn that moves or stretches takes its fibres along, frame after frame.
//! Frames along the curve do not turn about it (double reflection [Wang et al., ACM TOG 27(1), 2008]).
//!
//! [`Stitches`] lays plain knit over a grid of particles after [BA 4.7]. With x across a stitch and h up (h = 1 the
//! next course), the bonding points of one loop are, front (layer 1) and back (layer 3):
//!
//! back (0, 0), (2/7, 0), front (5/14, 1/4), (1/7, 1), back (3/14, 4/3), and the same mirrored at x = 1/2.
//!
//! Limits: yarns are as thick in a bend as on a straight line; fibres of different yarns know nothing of each other.
//! Kept honest by `frames_do_not_turn`, `fibres_stay_in_the_yarn`, `loops_hold_each_other`.

use std::f32::consts::TAU;

use glam::{Quat, Vec3};
use rayon::prelude::*;

use crate::chance::Chance;
use crate::sheet::{Patches, SheetError};
use crate::spline::catmull_rom;

/// How a yarn is made.
#[derive(Clone, Debug)]
pub struct Yarn {
    /// m.
    pub radius: f32,
    /// 1 or more.
    pub plies: usize,
    /// Turns of the plies about the yarn, per metre; negative turns the other way.
    pub twist: f32,
    /// Turns of the fibres about their ply, per metre; as a rule against the twist of the plies.
    pub ply_twist: f32,
    pub fibres_per_ply: usize,
    /// How far fibres wander from their place in the ply, as a part of its radius.
    pub wander: f32,
    /// Stray hairs per metre.
    pub hairs: f32,
    /// Mean length of a hair outside the yarn, m.
    pub hair_length: f32,
    /// Linear RGB.
    pub colour: Vec3,
    /// Standard deviation of a fibre's brightness, as a part of it.
    pub shade_spread: f32,
    /// 1: all fibres. Less, for yarns far away: that part of them, thicker, so that they cover as much.
    pub detail: f32,
    pub seed: u64,
}

impl Yarn {
    /// Soft wool of three plies.
    pub fn wool(radius: f32) -> Yarn {
        // One turn of the plies in eight radii, as knitting wool has it.
        let twist = 1.0 / (8.0 * radius);
        Yarn {
            radius,
            plies: 3,
            twist,
            ply_twist: -0.6 * twist,
            fibres_per_ply: 24,
            wander: 0.15,
            hairs: 2.0 / radius,
            hair_length: 1.5 * radius,
            colour: Vec3::new(0.55, 0.12, 0.08),
            shade_spread: 0.12,
            detail: 1.0,
            seed: 0,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum YarnError {
    #[error("{name} is {got}; expected {want}")]
    OutOfRange { name: &'static str, got: f32, want: &'static str },
    #[error("yarn {yarn} has {got} control points; a curve needs 2 or more")]
    TooShort { yarn: usize, got: usize },
    #[error("yarn {yarn} is {got} m long at rest; expected a length above 0 and at most 10 km")]
    Length { yarn: usize, got: f32 },
    #[error(
        "the fibres would take {points:.1e} points, and at most {limit:.1e} are drawn; make the yarn thicker, or lower its detail or twist"
    )]
    TooMany { points: f64, limit: f64 },
}

/// Curves to draw, strand after strand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fibres {
    /// Points that the strands pass through, m: strand s has `points[starts[s]..starts[s + 1]]`, four or more, and is
    /// a Catmull–Rom spline through them all, its ends continued straight.
    pub points: Vec<Vec3>,
    /// One for each point, m.
    pub radii: Vec<f32>,
    /// One for each point, 0 (dry) to 1.
    pub wetness: Vec<f32>,
    /// One for each strand, and the number of points.
    pub starts: Vec<u32>,
    /// One for each strand, linear RGB.
    pub colours: Vec<Vec3>,
}

/// Yarns at rest, ready to be drawn wherever they go.
pub struct Spun {
    yarn: Yarn,
    lines: Vec<Line>,
    /// Fibres drawn in each ply.
    drawn: usize,
}

/// One yarn.
struct Line {
    controls: usize,
    samples: Vec<Sample>,
    /// Tangent and normal at the start, at rest.
    first: [Vec3; 2],
    hairs: Vec<Hair>,
}

/// A place on a yarn: t of the way from control point `interval` to the next.
#[derive(Clone, Copy)]
struct Sample {
    interval: u32,
    t: f32,
    /// Length at rest up to here, m.
    length: f32,
}

/// A stray hair, all that is fixed about it.
struct Hair {
    sample: u32,
    azimuth: f32,
    /// Length along the yarn and away from it, m.
    along: f32,
    away: f32,
    /// How far around the yarn it goes, radians.
    curl: f32,
    /// Comes back to the yarn instead of ending in the air.
    loops: bool,
    shade: f32,
}

/// The curve at a sample, now.
#[derive(Clone, Copy)]
struct Frame {
    position: Vec3,
    tangent: Vec3,
    normal: Vec3,
    binormal: Vec3,
    wetness: f32,
}

/// Points along one turn of a ply.
const PER_TURN: f32 = 10.0;
const HAIR_POINTS: usize = 6;
/// Of all fibres and hairs together: 20 bytes each for the points, their radii and wetness.
const MOST_POINTS: f64 = 2e8;
/// Share of a ply's cross-section that is fibre.
const PACKING: f32 = 0.6;

impl Spun {
    /// Spins yarns along `rest`, the control points of each yarn at rest, m.
    pub fn new(rest: &[Vec<Vec3>], yarn: &Yarn) -> Result<Spun, YarnError> {
        yarn.check()?;
        let drawn = ((yarn.fibres_per_ply as f32 * yarn.detail).round() as usize).max(1);
        let strands = (yarn.plies * drawn) as f64;
        let plans = rest.par_iter().enumerate().map(|(number, points)| Plan::new(number, points, yarn));
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let points = plans.iter().map(|plan| plan.most_points(strands, yarn)).sum();
        if points > MOST_POINTS {
            return Err(YarnError::TooMany { points, limit: MOST_POINTS });
        }
        let lines = rest.par_iter().zip(plans).enumerate();
        let lines = lines.map(|(number, (points, plan))| Line::new(number, points, plan, yarn));
        Ok(Spun { yarn: yarn.clone(), lines: lines.collect(), drawn })
    }

    /// The fibres of the yarns whose control points are at `now`. `wetness` of the control points, 0 to 1, darkens
    /// nothing here but lays the hairs flat; empty: all dry.
    pub fn fibres(&self, now: &[Vec<Vec3>], wetness: &[Vec<f32>]) -> Fibres {
        assert_eq!(now.len(), self.lines.len(), "as many yarns as were spun");
        let strands = self.yarn.plies * self.drawn;

        // Where each strand starts.
        let mut starts = vec![0u32];
        let mut end = 0;
        for line in &self.lines {
            let lengths = std::iter::repeat_n(line.samples.len(), strands)
                .chain(std::iter::repeat_n(HAIR_POINTS, line.hairs.len()));
            for length in lengths {
                end += length;
                starts.push(u32::try_from(end).expect("checked when the yarns were spun"));
            }
        }
        let mut points = vec![(Vec3::ZERO, 0.0, 0.0); end];

        // One slice of points for each yarn; inside it, one for each strand.
        let mut rest = points.as_mut_slice();
        let mut slices = Vec::new();
        for line in &self.lines {
            let (slice, more) =
                rest.split_at_mut(strands * line.samples.len() + line.hairs.len() * HAIR_POINTS);
            slices.push(slice);
            rest = more;
        }
        slices.into_par_iter().enumerate().for_each(|(number, slice)| {
            let line = &self.lines[number];
            let frames = line.frames(&now[number], wetness.get(number).map_or(&[], Vec::as_slice));
            let (bundle, hairs) = slice.split_at_mut(strands * line.samples.len());
            bundle.par_chunks_mut(line.samples.len()).enumerate().for_each(|(strand, points)| {
                self.fibre(number, strand, &frames, points);
            });
            hairs.par_chunks_mut(HAIR_POINTS).zip(&line.hairs).for_each(|(points, hair)| {
                self.hair(hair, &frames, points);
            });
        });

        let colour = |shade: f32| (shade * self.yarn.colour).clamp(Vec3::ZERO, Vec3::ONE);
        let colours = self.lines.iter().enumerate().flat_map(|(number, line)| {
            let fibres = (0..strands).map(move |strand| self.character(number, strand).shade);
            fibres.chain(line.hairs.iter().map(|hair| hair.shade)).map(colour)
        });
        Fibres {
            radii: points.par_iter().map(|p| p.1).collect(),
            wetness: points.par_iter().map(|p| p.2).collect(),
            points: points.par_iter().map(|p| p.0).collect(),
            starts,
            colours: colours.collect(),
        }
    }

    /// Distance of a ply's middle from that of the yarn, and the ply's radius: plies touch each other, and the
    /// circle around them is the yarn's.
    fn ply(&self) -> (f32, f32) {
        if self.yarn.plies == 1 {
            return (0.0, self.yarn.radius);
        }
        let sine = (std::f32::consts::PI / self.yarn.plies as f32).sin();
        let from_middle = self.yarn.radius / (1.0 + sine);
        (from_middle, from_middle * sine)
    }

    fn fibre_radius(&self) -> f32 {
        // Cross-sections add up to the same area, however many are drawn.
        self.ply().1 * (PACKING / self.drawn as f32).sqrt()
    }

    fn character(&self, line: usize, strand: usize) -> Character {
        let mut chance = Chance::of([self.yarn.seed, line as u64, strand as u64]);
        let fibre = strand % self.drawn;
        // Evenly over the disc, by the golden angle, and a little off.
        let room = self.ply().1 - self.fibre_radius();
        let golden = 2.399_963;
        Character {
            distance: if self.drawn == 1 {
                0.0
            } else {
                room * ((fibre as f32 + chance.unit()) / self.drawn as f32).sqrt()
            },
            angle: golden * fibre as f32 + 0.5 * chance.signed(),
            phase: TAU * chance.unit(),
            pace: 0.7 + 0.6 * chance.unit(),
            shade: 1.0 + self.yarn.shade_spread * chance.bell(),
        }
    }

    fn fibre(&self, line: usize, strand: usize, frames: &[(Frame, f32)], points: &mut [(Vec3, f32, f32)]) {
        let Yarn { plies, twist, ply_twist, wander, .. } = self.yarn;
        let character = self.character(line, strand);
        let (from_middle, ply_radius) = self.ply();
        let radius = self.fibre_radius();
        let ply_angle = TAU * (strand / self.drawn) as f32 / plies as f32;
        // In and out of the ply about once in two turns, each fibre at its own pace.
        let wave = 0.5 * TAU * character.pace * twist.abs().max(ply_twist.abs());
        let room = wander * ply_radius * if self.drawn == 1 { 0.0 } else { 1.0 };
        for ((frame, length), point) in frames.iter().zip(points) {
            let around_yarn = ply_angle + TAU * twist * length;
            let around_ply = character.angle + TAU * (twist + ply_twist) * length;
            let distance = character.distance + room * (wave * length + character.phase).sin();
            let offset = frame.across(around_yarn) * from_middle + frame.across(around_ply) * distance;
            *point = (frame.position + offset, radius, frame.wetness);
        }
    }

    fn hair(&self, hair: &Hair, frames: &[(Frame, f32)], points: &mut [(Vec3, f32, f32)]) {
        let frame = frames[hair.sample as usize].0;
        // Fewer hairs are drawn thicker: alone, what they cover goes with their width, not its square.
        let radius =
            0.5 * self.ply().1 * (PACKING / self.yarn.fibres_per_ply as f32).sqrt() / self.yarn.detail;
        let dry = 1.0 - 0.9 * frame.wetness.clamp(0.0, 1.0);
        for (k, point) in points.iter_mut().enumerate() {
            let q = k as f32 / (HAIR_POINTS - 1) as f32;
            let height = if hair.loops { (std::f32::consts::PI * q).sin() } else { q * (1.6 - 0.6 * q) };
            let away = 0.7 * self.yarn.radius + dry * hair.away * height;
            let direction = frame.across(hair.azimuth + hair.curl * q * q);
            let place = frame.position + away * direction + hair.along * q * frame.tangent;
            let taper = if hair.loops { 1.0 } else { 1.0 - 0.7 * q };
            *point = (place, radius * taper, frame.wetness);
        }
    }
}

/// What is fixed about a fibre: its place in the ply, its way in and out, its brightness.
struct Character {
    distance: f32,
    angle: f32,
    phase: f32,
    pace: f32,
    shade: f32,
}

impl Yarn {
    fn check(&self) -> Result<(), YarnError> {
        let fail = |name, got, want| Err(YarnError::OutOfRange { name, got, want });
        let length = |x: f32| x > 0.0 && x.is_finite();
        let amount = |x: f32| x >= 0.0 && x.is_finite();
        if !length(self.radius) {
            return fail("radius", self.radius, "a length above 0 m");
        }
        if !(1..=64).contains(&self.plies) {
            return fail("plies", self.plies as f32, "1 to 64");
        }
        if !(1..=4096).contains(&self.fibres_per_ply) {
            return fail("fibres_per_ply", self.fibres_per_ply as f32, "1 to 4096");
        }
        for (name, twist) in [("twist", self.twist), ("ply_twist", self.ply_twist)] {
            // A turn in less than a tenth of the radius is no yarn, and would take any number of points.
            if !(0.0..=10.0).contains(&(twist.abs() * self.radius)) {
                return fail(name, twist, "turns per metre, at most 10 in a length of one radius");
            }
        }
        for (name, value) in
            [("wander", self.wander), ("hairs", self.hairs), ("hair_length", self.hair_length)]
        {
            if !amount(value) {
                return fail(name, value, "0 or more");
            }
        }
        if !(self.detail > 0.0 && self.detail <= 1.0) {
            return fail("detail", self.detail, "above 0, at most 1");
        }
        Ok(())
    }
}

/// How finely a yarn will be sampled.
struct Plan {
    /// Of the intervals between control points at rest, m.
    lengths: Vec<f32>,
    /// Samples in each interval.
    counts: Vec<usize>,
}

impl Plan {
    fn new(number: usize, points: &[Vec3], yarn: &Yarn) -> Result<Plan, YarnError> {
        if points.len() < 2 {
            return Err(YarnError::TooShort { yarn: number, got: points.len() });
        }
        let turns = yarn.twist.abs().max(yarn.ply_twist.abs()).max((yarn.twist + yarn.ply_twist).abs());
        let step = (1.0 / (PER_TURN * turns)).min(2.0 * yarn.radius);
        // From eight chords each.
        let lengths: Vec<f32> = (0..points.len() - 1)
            .map(|interval| {
                let place = |k: u32| catmull_rom(points, interval, k as f32 / 8.0).0;
                (0..8).map(|k| place(k).distance(place(k + 1))).sum()
            })
            .collect();
        let total: f32 = lengths.iter().sum();
        if !(total > 0.0 && total <= 1e4) {
            return Err(YarnError::Length { yarn: number, got: total });
        }

        // At least three on the whole, for a curve.
        let least = if lengths.len() < 3 { 3 } else { 1 };
        let counts = lengths.iter().map(|length| ((length / step).ceil() as usize).max(least)).collect();
        Ok(Plan { lengths, counts })
    }

    /// A bound on the points of a yarn's strands and hairs. In f64: sums cannot overflow.
    fn most_points(&self, strands: f64, yarn: &Yarn) -> f64 {
        let samples: f64 = self.counts.iter().map(|&count| count as f64).sum();
        let hairs: f64 = self.lengths.iter().map(|&length| (yarn.hairs * yarn.detail * length) as f64).sum();
        (samples + 1.0) * strands + (hairs + self.lengths.len() as f64) * HAIR_POINTS as f64
    }
}

impl Line {
    fn new(number: usize, points: &[Vec3], Plan { lengths, counts }: Plan, yarn: &Yarn) -> Line {
        // Samples of even length at rest in each interval.
        let mut samples = Vec::new();
        let mut hairs = Vec::new();
        let mut before = 0.0;
        for (interval, (&length, &count)) in lengths.iter().zip(&counts).enumerate() {
            let first = samples.len();
            for k in 0..count {
                let t = k as f32 / count as f32;
                samples.push(Sample { interval: interval as u32, t, length: before + t * length });
            }
            before += length;

            let mut chance = Chance::of([yarn.seed, number as u64, interval as u64, u64::MAX]);
            for _ in 0..chance.count(yarn.hairs * yarn.detail * length) {
                // Longer and shorter ones, some much longer; most lie along the yarn.
                let long = yarn.hair_length * (0.5 * chance.bell()).exp();
                let elevation = 0.3 + 0.9 * chance.unit();
                let direction = if chance.unit() < 0.5 { -1.0 } else { 1.0 };
                let loops = chance.unit() < 0.3;
                hairs.push(Hair {
                    sample: (first + (chance.unit() * count as f32) as usize) as u32,
                    azimuth: TAU * chance.unit(),
                    along: direction * long * elevation.cos(),
                    away: long * elevation.sin() * if loops { 0.5 } else { 1.0 },
                    curl: 1.2 * chance.bell(),
                    loops,
                    shade: 1.0 + yarn.shade_spread * chance.bell(),
                });
            }
        }
        samples.push(Sample { interval: lengths.len() as u32 - 1, t: 1.0, length: before });

        let tangent = catmull_rom(points, 0, 0.0).1.normalize_or(Vec3::X);
        let first = [tangent, tangent.any_orthonormal_vector()];
        Line { controls: points.len(), samples, first, hairs }
    }

    /// The curve through `points` at the samples, with their lengths at rest.
    fn frames(&self, points: &[Vec3], wetness: &[f32]) -> Vec<(Frame, f32)> {
        assert_eq!(points.len(), self.controls, "as many control points as were spun");
        let wet = |sample: &Sample| {
            let at = |k: usize| wetness.get(k).copied().unwrap_or(0.0);
            let k = sample.interval as usize;
            at(k) + sample.t * (at(k + 1) - at(k))
        };
        let mut frames: Vec<(Frame, f32)> = Vec::with_capacity(self.samples.len());
        for sample in &self.samples {
            let (position, slope) = catmull_rom(points, sample.interval as usize, sample.t);
            let (tangent, normal) = match frames.last() {
                None => {
                    // The frame at rest, by the smallest rotation to where the yarn points now.
                    let tangent = slope.normalize_or(self.first[0]);
                    (tangent, Quat::from_rotation_arc(self.first[0], tangent) * self.first[1])
                }
                Some((last, _)) => {
                    let tangent = slope.normalize_or(last.tangent);
                    (tangent, transport(last, position, tangent))
                }
            };
            let binormal = tangent.cross(normal);
            frames.push((Frame { position, tangent, normal, binormal, wetness: wet(sample) }, sample.length));
        }
        frames
    }
}

impl Frame {
    /// The direction across the yarn at an angle.
    fn across(&self, angle: f32) -> Vec3 {
        let (sin, cos) = angle.sin_cos();
        cos * self.normal + sin * self.binormal
    }
}

/// The normal of the frame that follows `last` without turning about the curve: reflected at the plane between the
/// two places, then at the plane that brings the tangent right [Wang et al. 2008].
fn transport(last: &Frame, position: Vec3, tangent: Vec3) -> Vec3 {
    let reflect = |vector: Vec3, axis: Vec3| {
        let squared = axis.length_squared();
        if squared > 0.0 { vector - 2.0 * axis.dot(vector) / squared * axis } else { vector }
    };
    let chord = position - last.position;
    let (normal, reflected) = (reflect(last.normal, chord), reflect(last.tangent, chord));
    let normal = reflect(normal, tangent - reflected);
    // Against round-off over many steps.
    normal.reject_from_normalized(tangent).normalize_or(tangent.any_orthonormal_vector())
}

/// Where the yarns of a piece of plain knit (stockinette) run on a grid of particles: one yarn for each course.
///
/// With stitches about 0.7 as high as wide and layers 2.2 radii apart, yarns of a radius of 0.1 of a stitch's width
/// just touch where they cross: an open knit. Wool fills a knit at 0.19, and is then squeezed where it crosses.
pub struct Stitches {
    rows: usize,
    columns: usize,
    yarns: Vec<Vec<Bond>>,
}

/// A bonding point: its place on the grid, and its layer, −1 at the back to 1 in front.
struct Bond {
    row: f32,
    column: f32,
    layer: f32,
}

/// x, h and layer of the bonding points of one loop [BA 4.7]: t5, t6, t7, t8, t2, t3, t12, t11, t10 (t1 and t4 are
/// t8 and t12 of the course below).
const LOOP: [[f32; 3]; 9] = [
    [0.0, 0.0, -1.0],
    [2.0 / 7.0, 0.0, -1.0],
    [5.0 / 14.0, 0.25, 1.0],
    [1.0 / 7.0, 1.0, 1.0],
    [3.0 / 14.0, 4.0 / 3.0, -1.0],
    [11.0 / 14.0, 4.0 / 3.0, -1.0],
    [6.0 / 7.0, 1.0, 1.0],
    [9.0 / 14.0, 0.25, 1.0],
    [5.0 / 7.0, 0.0, -1.0],
];

impl Stitches {
    /// `courses` rows of `wales` stitches each, over all of a grid of rows × columns particles; courses go up with
    /// the rows' numbers.
    pub fn stockinette(rows: usize, columns: usize, wales: usize, courses: usize) -> Stitches {
        // The heads of the last course reach a third of a stitch above it.
        let down = rows.saturating_sub(1) as f32 / (courses as f32 + 1.0 / 3.0);
        let across = columns.saturating_sub(1) as f32 / wales.max(1) as f32;
        let course = |course: usize| {
            let bond = |x: f32, h: f32, layer: f32| Bond {
                row: (course as f32 + h) * down,
                column: x * across,
                layer,
            };
            let stitch = |wale: usize| LOOP.map(|[x, h, layer]| bond(wale as f32 + x, h, layer));
            let end = bond(wales as f32, 0.0, -1.0);
            (0..wales).flat_map(stitch).chain([end]).collect()
        };
        Stitches { rows, columns, yarns: (0..courses).map(course).collect() }
    }

    /// Control points of the yarns over a single sheet of particles, row after row; `depth` is the distance between
    /// the front and the back layer, m.
    pub fn lines(&self, points: &[Vec3], depth: f32) -> Result<Vec<Vec<Vec3>>, SheetError> {
        let sheet = Patches::new(points, self.rows, self.columns, None)?;
        Ok(self.place(|bond| {
            let (place, along, down) = sheet.at(bond.row, bond.column);
            place + 0.5 * depth * bond.layer * along.cross(down).normalize_or(Vec3::Y)
        }))
    }

    /// Control points of the yarns between two sheets of particles: layers 1 and 3 of [BA 4.2].
    pub fn lines_between(&self, front: &[Vec3], back: &[Vec3]) -> Result<Vec<Vec<Vec3>>, SheetError> {
        let front = Patches::new(front, self.rows, self.columns, None)?;
        let back = Patches::new(back, self.rows, self.columns, None)?;
        Ok(self.place(|bond| {
            let [front, back] = [&front, &back].map(|sheet| sheet.at(bond.row, bond.column).0);
            back.lerp(front, 0.5 + 0.5 * bond.layer)
        }))
    }

    /// A number known at the particles, such as wetness, at the control points: linear between particles.
    pub fn values(&self, values: &[f32]) -> Result<Vec<Vec<f32>>, SheetError> {
        let want = self.rows * self.columns;
        if values.len() != want {
            return Err(SheetError::Count {
                name: "the values at the particles".into(),
                got: values.len(),
                want,
            });
        }
        Ok(self.place(|bond| {
            let cell = |x: f32, count: usize| {
                let x = x.clamp(0.0, (count - 1) as f32);
                let low = (x as usize).min(count.saturating_sub(2));
                (low, (low + 1).min(count - 1), x - low as f32)
            };
            let (top, bottom, down) = cell(bond.row, self.rows);
            let (left, right, across) = cell(bond.column, self.columns);
            let row = |r: usize| {
                let [a, b] = [left, right].map(|c| values[r * self.columns + c]);
                a + across * (b - a)
            };
            row(top) + down * (row(bottom) - row(top))
        }))
    }

    fn place<T: Send>(&self, place: impl Fn(&Bond) -> T + Sync) -> Vec<Vec<T>> {
        self.yarns.par_iter().map(|yarn| yarn.iter().map(&place).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice::from_ref;

    /// Frames along one yarn through `points`.
    fn frames(points: &[Vec3], yarn: &Yarn) -> Vec<(Frame, f32)> {
        Line::new(0, points, Plan::new(0, points, yarn).unwrap(), yarn).frames(points, &[])
    }

    fn helix(turns: f32, count: usize) -> Vec<Vec3> {
        let at = |k: usize| {
            let angle = TAU * turns * k as f32 / (count - 1) as f32;
            Vec3::new(0.05 * angle.cos(), 0.01 * angle, 0.05 * angle.sin())
        };
        (0..count).map(at).collect()
    }

    #[test]
    fn frames_do_not_turn() {
        // An S in a plane, with an inflection in its middle and a straight piece: the normal of the plane stays.
        let s: Vec<Vec3> =
            (0..41).map(|k| 0.01 * Vec3::new(k as f32, 8.0 * (0.3 * k as f32).sin(), 0.0)).collect();
        let yarn = Yarn::wool(0.002);
        let all = frames(&s, &yarn);
        let angle = |frame: &Frame| frame.normal.dot(Vec3::Z).atan2(frame.binormal.dot(Vec3::Z));
        for (frame, _) in &all {
            assert!(
                (frame.tangent.dot(frame.normal)).abs() < 1e-5 && (frame.normal.length() - 1.0).abs() < 1e-5
            );
            assert!((angle(frame) - angle(&all[0].0)).abs() < 1e-3);
        }
        // A straight yarn, and control points that coincide.
        let straight: Vec<Vec3> = (0..9).map(|k| Vec3::X * (k / 2) as f32).collect();
        assert!(frames(&straight, &yarn).iter().all(|(f, _)| f.normal.is_finite()));
        // On a helix a rotation-minimising frame turns against Frenet's by 2π sin(slope) in each turn.
        let all = frames(&helix(3.0, 400), &yarn);
        let (first, last) = (&all[0].0, &all[all.len() - 1].0);
        // Frenet's normal points to the axis.
        let turn = |frame: &Frame| {
            let inwards = -(frame.position * Vec3::new(1.0, 0.0, 1.0)).normalize();
            frame.binormal.dot(inwards).atan2(frame.normal.dot(inwards))
        };
        let slope = 0.01f32.atan2(0.05);
        let expected = 3.0 * TAU * slope.sin();
        let got = (turn(last) - turn(first)).abs();
        let difference = (got - expected).rem_euclid(TAU).min((-got - expected).rem_euclid(TAU));
        assert!(difference.min(TAU - difference) < 0.02, "{got} {expected}");
    }

    #[test]
    fn fibres_stay_in_the_yarn() {
        let line: Vec<Vec3> = (0..11).map(|k| 0.01 * k as f32 * Vec3::X).collect();
        for plies in [1, 2, 3, 5] {
            let yarn = Yarn { plies, wander: 0.0, hairs: 0.0, ..Yarn::wool(0.002) };
            let fibres = Spun::new(from_ref(&line), &yarn).unwrap().fibres(from_ref(&line), &[]);
            assert_eq!(fibres.starts.len(), plies * 24 + 1);
            assert_eq!(fibres.colours.len(), plies * 24);
            let reach = fibres
                .points
                .iter()
                .zip(&fibres.radii)
                .map(|(p, r)| (p * Vec3::new(0.0, 1.0, 1.0)).length() + r);
            let reach = reach.fold(0.0, f32::max);
            assert!(reach < 0.002 + 1e-7 && reach > 0.0018, "{plies}: {reach}");
            // Cross-sections of fibres fill six tenths of their plies.
            let fill = fibres.radii[0] * fibres.radii[0] * 24.0;
            let sine = if plies == 1 { 1.0 } else { (std::f32::consts::PI / plies as f32).sin() };
            let ply = if plies == 1 { 0.002 } else { 0.002 * sine / (1.0 + sine) };
            assert!((fill / (0.6 * ply * ply) - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn plies_turn_as_often_as_told() {
        // One fibre in each of two plies: a double helix of 40 turns per metre on 0.1 m.
        let line: Vec<Vec3> = (0..11).map(|k| 0.01 * k as f32 * Vec3::X).collect();
        let yarn = Yarn {
            plies: 2,
            fibres_per_ply: 1,
            twist: 40.0,
            ply_twist: 0.0,
            hairs: 0.0,
            ..Yarn::wool(0.002)
        };
        let fibres = Spun::new(from_ref(&line), &yarn).unwrap().fibres(&[line], &[]);
        let strand = &fibres.points[..fibres.starts[1] as usize];
        let angle = |p: &Vec3| p.z.atan2(p.y);
        let turned: f32 = strand
            .windows(2)
            .map(|pair| (angle(&pair[1]) - angle(&pair[0]) + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0)
            .sum();
        assert!((turned.abs() / TAU - 4.0).abs() < 1e-3, "{turned}");
    }

    #[test]
    fn fibres_move_with_the_material() {
        // Stretched by a third: as many points, each where a third more puts it, and no fibre turns by it.
        let line: Vec<Vec3> = (0..11).map(|k| 0.01 * k as f32 * Vec3::X).collect();
        let stretched: Vec<Vec3> = line.iter().map(|p| p * 1.33).collect();
        let spun = Spun::new(from_ref(&line), &Yarn { hairs: 0.0, ..Yarn::wool(0.002) }).unwrap();
        let (rest, now) = (spun.fibres(from_ref(&line), &[]), spun.fibres(&[stretched], &[]));
        for (a, b) in rest.points.iter().zip(&now.points) {
            assert!(b.distance(*a * Vec3::new(1.33, 1.0, 1.0)) < 1e-6);
        }
        // Turned as a whole: everything turns, hairs too.
        let spun = Spun::new(&[helix(1.0, 30)], &Yarn::wool(0.002)).unwrap();
        let turn = Quat::from_rotation_y(0.4);
        let turned: Vec<Vec3> = helix(1.0, 30).iter().map(|p| turn * p).collect();
        let (rest, now) = (spun.fibres(&[helix(1.0, 30)], &[]), spun.fibres(&[turned], &[]));
        // About the yarn it may be turned by another angle, the same all along: distances are kept.
        let far =
            |fibres: &Fibres| fibres.points.windows(40).map(|w| w[0].distance(w[39])).collect::<Vec<_>>();
        for (a, b) in far(&rest).iter().zip(far(&now)) {
            assert!((a - b).abs() < 1e-3 * 0.05 + 0.02 * a, "{a} {b}");
        }
    }

    #[test]
    fn hairs_leave_dry_yarn_and_cling_to_wet() {
        let line: Vec<Vec3> = (0..101).map(|k| 0.01 * k as f32 * Vec3::X).collect();
        let yarn = Yarn { hairs: 500.0, hair_length: 0.01, ..Yarn::wool(0.002) };
        let spun = Spun::new(from_ref(&line), &yarn).unwrap();
        let hairs = spun.lines[0].hairs.len();
        assert!((450..550).contains(&hairs), "{hairs}"); // 500 in 1 m
        let reach = |wetness: f32| {
            let fibres = spun.fibres(from_ref(&line), &[vec![wetness; 101]]);
            let hairs = &fibres.points[fibres.points.len() - hairs * HAIR_POINTS..];
            hairs.iter().map(|p| (p * Vec3::new(0.0, 1.0, 1.0)).length()).fold(0.0, f32::max)
        };
        assert!(reach(0.0) > 0.01 && reach(1.0) < 0.006, "{} {}", reach(0.0), reach(1.0));
    }

    #[test]
    fn less_detail_covers_as_much() {
        let line: Vec<Vec3> = (0..101).map(|k| 0.01 * k as f32 * Vec3::X).collect();
        let cover = |detail: f32| {
            let spun = Spun::new(from_ref(&line), &Yarn { detail, ..Yarn::wool(0.002) }).unwrap();
            let fibres = spun.fibres(from_ref(&line), &[]);
            let fibre_area: f32 =
                (0..3 * spun.drawn).map(|s| fibres.radii[fibres.starts[s] as usize].powi(2)).sum();
            let hair_width: f32 =
                (3 * spun.drawn..fibres.colours.len()).map(|s| fibres.radii[fibres.starts[s] as usize]).sum();
            (fibre_area, hair_width, fibres.points.len())
        };
        let (all, few) = (cover(1.0), cover(0.25));
        assert!((all.0 / few.0 - 1.0).abs() < 1e-3);
        assert!((all.1 / few.1 - 1.0).abs() < 0.1);
        assert!(few.2 * 7 / 2 < all.2);
    }

    /// Places along the splines of the courses of flat knitwear of stitches 1 wide and 0.7 high.
    fn flat_courses(wales: usize, courses: usize, depth: f32) -> Vec<Vec<Vec3>> {
        let (rows, columns) = (4, wales + 1);
        let height = 0.7 * (courses as f32 + 1.0 / 3.0);
        let point = |k: usize| Vec3::new((k % columns) as f32, (k / columns) as f32 * height / 3.0, 0.0);
        let points: Vec<Vec3> = (0..rows * columns).map(point).collect();
        let lines = Stitches::stockinette(rows, columns, wales, courses).lines(&points, depth).unwrap();
        let fine = |line: &Vec<Vec3>| {
            let at = |k: usize| catmull_rom(line, k / 20, (k % 20) as f32 / 20.0).0;
            (0..20 * (line.len() - 1)).map(at).collect()
        };
        lines.iter().map(fine).collect()
    }

    #[test]
    fn loops_hold_each_other() {
        let courses = flat_courses(3, 2, 0.3);
        // Seen from the front, where the two courses cross, and which is in front.
        let mut crossings: Vec<(f32, bool)> = Vec::new();
        for a in courses[0].windows(2) {
            for b in courses[1].windows(2) {
                let side = |p: Vec3, q: Vec3, r: Vec3| (q - p).truncate().perp_dot((r - p).truncate());
                let apart = |p: &[Vec3], q: &[Vec3]| side(p[0], p[1], q[0]) * side(p[0], p[1], q[1]) < 0.0;
                if apart(a, b) && apart(b, a) {
                    crossings.push((a[0].x, a[0].z > b[0].z));
                }
            }
        }
        // Four in each stitch: the lower loop's legs lie over the upper's feet, its head under the upper's legs.
        assert_eq!(crossings.len(), 12, "{crossings:?}");
        for stitch in crossings.chunks(4) {
            let lower_in_front: Vec<bool> = stitch.iter().map(|c| c.1).collect();
            assert_eq!(lower_in_front, [true, false, false, true]);
        }
    }

    #[test]
    fn yarns_of_the_advised_radius_do_not_cross() {
        let radius = 0.1;
        let courses = flat_courses(4, 4, 2.2 * radius);
        let mut least = f32::MAX;
        for (lower, upper) in courses.iter().zip(&courses[1..]) {
            for a in lower {
                least = upper.iter().map(|b| a.distance(*b)).fold(least, f32::min);
            }
        }
        assert!(least > 1.95 * radius, "{least} for a diameter of {}", 2.0 * radius);
    }

    #[test]
    fn knitwear_follows_two_layers_as_it_does_one() {
        let (rows, columns) = (5, 6);
        let point = |k: usize| Vec3::new((k % columns) as f32, 0.0, -((k / columns) as f32));
        let points: Vec<Vec3> = (0..rows * columns).map(point).collect();
        let layer = |y: f32| points.iter().map(|p| p + y * Vec3::Y).collect::<Vec<_>>();
        let stitches = Stitches::stockinette(rows, columns, 7, 6);
        let one = stitches.lines(&points, 0.4).unwrap();
        let two = stitches.lines_between(&layer(0.2), &layer(-0.2)).unwrap();
        assert_eq!((one.len(), one[0].len()), (6, 7 * 9 + 1));
        let columns_at: Vec<f32> = points.iter().map(|p| p.x).collect();
        let values = stitches.values(&columns_at).unwrap();
        for ((a, b), x) in one.iter().flatten().zip(two.iter().flatten()).zip(values.iter().flatten()) {
            assert!(a.distance(*b) < 1e-5 && (a.x - x).abs() < 1e-5, "{a} {b} {x}");
        }
        assert!(stitches.lines(&points[1..], 0.4).is_err() && stitches.values(&[]).is_err());
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let lines = vec![helix(2.0, 60), helix(1.0, 40)];
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Spun::new(&lines, &Yarn::wool(0.002)).unwrap().fibres(&lines, &[]))
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let line = vec![Vec3::ZERO, Vec3::X];
        let fails =
            |lines: &[Vec<Vec3>], yarn: Yarn| Spun::new(lines, &yarn).map(|_| ()).unwrap_err().to_string();
        let wool = || Yarn::wool(0.001);
        assert_eq!(fails(from_ref(&line), Yarn { plies: 0, ..wool() }), "plies is 0; expected 1 to 64");
        assert_eq!(
            fails(&[line.clone(), vec![]], wool()),
            "yarn 1 has 0 control points; a curve needs 2 or more"
        );
        assert!(fails(&[vec![Vec3::X; 4]], wool()).contains("0 m long"));
        assert!(fails(from_ref(&line), Yarn { twist: f32::NAN, ..wool() }).starts_with("twist is NaN"));
        assert!(fails(from_ref(&line), Yarn { radius: 0.0, ..wool() }).starts_with("radius is 0"));
        assert!(fails(from_ref(&line), Yarn { detail: 0.0, ..wool() }).starts_with("detail is 0"));
        // Thinner than any fibre: 1 m of it would take thousands of millions of points. So would so many hairs.
        assert!(fails(from_ref(&line), Yarn::wool(1e-7)).starts_with("the fibres would take"));
        assert!(fails(&[line], Yarn { hairs: 1e12, ..wool() }).contains("at most 2.0e8"));
    }
}
