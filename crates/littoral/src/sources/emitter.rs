//! Sources that work while the run goes on: streams (jets and surfaces), rain, and shapes that are filled.
//!
//! Each keeps count of what it owes: the length that each of its columns has advanced, ∫u dt, or the volume,
//! ∫Q dt, whatever the time steps are. A particle is born once a whole one is due, as far out as its column has
//! come since, so that particles are evenly spaced. Counting starts at one half: after a long time, what has
//! been emitted is the exact volume to half a particle for each place.
//!
//! Nobody is born closer than [`CLEARANCE`] to anybody else: a place that is taken waits, and tries again at
//! the next step. What a blocked place owes does not grow beyond one more particle: an obstacle that goes away
//! sets free no burst.
//!
//! Kept honest by the volumes of `tests/sources.rs`.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::crowd::Crowd;
use super::nozzle::{self, Place};
use super::{Newborn, surface, uniform};
use crate::discretisation::Discretisation;
use crate::scene::{Dimensions, Fill, Jet, Rain, Shape, Source, SurfaceSource};
use crate::timeline::{Curve, Motion};

/// Distance that newborns keep, in spacings. Not 1: in a fluid that flows, neighbours come closer than that. Not less
/// than 0.87 either: a place in the middle of eight others is so far from all of them.
pub const CLEARANCE: f64 = 0.9;

/// Places that a raindrop tries before it waits for the next step.
const TRIES: u32 = 8;

/// What a source has done, and owes. All of it is in a checkpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Time up to which it is counted, s.
    pub time: f64,
    /// Length of each column that has not become a particle yet, m; or one volume, m³ (m² in 2-D).
    pub owed: Vec<f64>,
    /// Random choices made so far (rain), or the place to fill next.
    pub counter: u64,
    /// Particles emitted.
    pub count: u64,
    /// Their volume, m³ (m² in 2-D).
    pub volume: f64,
}

/// A [`Ledger`] whose numbers come back exactly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerBits {
    time: u64,
    owed: Vec<u64>,
    counter: u64,
    count: u64,
    volume: u64,
}

impl From<&Ledger> for LedgerBits {
    fn from(ledger: &Ledger) -> LedgerBits {
        LedgerBits {
            time: ledger.time.to_bits(),
            owed: ledger.owed.iter().map(|owed| owed.to_bits()).collect(),
            counter: ledger.counter,
            count: ledger.count,
            volume: ledger.volume.to_bits(),
        }
    }
}

impl From<LedgerBits> for Ledger {
    fn from(bits: LedgerBits) -> Ledger {
        Ledger {
            time: f64::from_bits(bits.time),
            owed: bits.owed.into_iter().map(f64::from_bits).collect(),
            counter: bits.counter,
            count: bits.count,
            volume: f64::from_bits(bits.volume),
        }
    }
}

/// A body's source, at work.
#[derive(Clone, Debug)]
pub struct Emitter {
    pub body: u32,
    from: f64,
    until: f64,
    /// Distance that newborns keep, m.
    pub clearance: f64,
    kind: Kind,
    pub ledger: Ledger,
}

#[derive(Clone, Debug)]
enum Kind {
    Stream(Stream),
    Rain(RainState),
    Fill(FillState),
}

impl Kind {
    /// How close places are to each other, at most a spacing: lattices may be squeezed to fit what they fill.
    fn nearest_places(&self, spacing: f64) -> f64 {
        let offsets: Vec<DVec3> = match self {
            Kind::Stream(stream) => stream.places.iter().map(|place| place.offset).collect(),
            Kind::Fill(fill) => fill.places.iter().map(|place| place.0).collect(),
            Kind::Rain(_) => Vec::new(),
        };
        let Some((first, others)) = offsets.split_first() else { return spacing };
        others.iter().map(|other| other.distance(*first)).fold(spacing, f64::min)
    }
}

/// Columns that flow out of places.
#[derive(Clone, Debug)]
struct Stream {
    at: Motion,
    /// How fast columns advance: volume for each area and time, m/s.
    rate: Curve,
    /// Speed of what leaves, m/s.
    speed: Curve,
    places: Vec<Place>,
}

#[derive(Clone, Debug)]
struct RainState {
    at: Motion,
    direction: DVec3,
    /// Half-axes of the region; a disc fills the ellipse in them.
    axes: [DVec3; 2],
    round: bool,
    /// Volume for each time, m³/s.
    flow: Curve,
    speed: f64,
    /// Particles of a drop, from its middle.
    drop: Vec<DVec3>,
    volume: f64,
    seed: u64,
}

#[derive(Clone, Debug)]
struct FillState {
    rate: Curve,
    /// From the bottom up.
    places: Vec<(DVec3, f64)>,
    capacity: f64,
}

/// Particles to be born, with their velocities.
#[derive(Default)]
pub struct Born {
    pub newborns: Vec<Newborn>,
    /// m/s.
    pub velocities: Vec<DVec3>,
}

/// What surrounds an emitter at birth.
pub struct Room<'a> {
    pub crowd: Crowd,
    /// Newborns that the body still has room for.
    pub left: usize,
    /// Whether a point is inside the walls.
    pub inside: &'a dyn Fn(DVec3) -> bool,
}

impl Room<'_> {
    /// Takes the place, if it is free.
    fn take(&mut self, place: DVec3) -> bool {
        let free = self.left > 0 && (self.inside)(place) && self.crowd.has_room_at(place);
        if free {
            self.left -= 1;
            self.crowd.join(place);
        }
        free
    }
}

impl Emitter {
    /// `None` for bodies that are there from the start. `up` points against gravity.
    pub fn new(body: u32, source: &Source, up: DVec3, seed: u64, d: &Discretisation) -> Option<Emitter> {
        let seed = seed ^ (u64::from(body) + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
        let (from, until, kind) = match source {
            Source::Shape(_) => return None,
            Source::Jet(jet) => (jet.from, jet.until, Kind::Stream(Stream::jet(jet, d))),
            Source::Surface(one) => (one.from, one.until, Kind::Stream(Stream::surface(one, d))),
            Source::Rain(rain) => (rain.from, rain.until, Kind::Rain(RainState::new(rain, seed, d))),
            Source::Fill(fill) => (fill.from, fill.until, Kind::Fill(FillState::new(fill, up, d))),
        };
        let owed = match &kind {
            Kind::Stream(stream) if stream.rate == stream.speed => {
                stream.places.iter().map(|place| 0.5 * place.interval).collect()
            }
            // What seeps does not come in layers.
            Kind::Stream(stream) => {
                let phase = |(k, place): (usize, &Place)| place.interval * uniform(seed, k as u32, 3);
                stream.places.iter().enumerate().map(phase).collect()
            }
            Kind::Rain(rain) => vec![0.5 * rain.drop.len() as f64 * rain.volume],
            Kind::Fill(fill) => vec![0.5 * fill.places.first().map_or(0.0, |place| place.1)],
        };
        let clearance = CLEARANCE * kind.nearest_places(f64::from(d.spacing));
        Some(Emitter { body, from, until, clearance, kind, ledger: Ledger { owed, ..Ledger::default() } })
    }

    /// Fastest that anything leaves, m/s, at any time.
    pub fn top_speed(&self) -> f64 {
        match &self.kind {
            Kind::Stream(stream) => {
                let pace = stream.places.iter().map(|place| place.pace).fold(0.0, f64::max);
                stream.speed.max() * pace
            }
            Kind::Rain(rain) => rain.speed,
            Kind::Fill(_) => 0.0,
        }
    }

    /// Adds to what is owed for the time since the last call. Tells whether somebody may be due.
    pub fn advance(&mut self, t: f64) -> bool {
        let Ledger { time, owed, counter, .. } = &mut self.ledger;
        let (start, end) = (time.max(self.from), t.min(self.until));
        if *time >= self.until {
            return false;
        }
        if end > start {
            match &self.kind {
                Kind::Stream(stream) => {
                    let way = stream.rate.integral(start, end);
                    for (owed, place) in owed.iter_mut().zip(&stream.places) {
                        *owed += way * place.pace;
                    }
                }
                Kind::Rain(rain) => owed[0] += rain.flow.integral(start, end),
                Kind::Fill(fill) => owed[0] += fill.rate.integral(start, end),
            }
        }
        let due = match &self.kind {
            Kind::Stream(stream) => owed.iter().zip(&stream.places).any(|(owed, p)| *owed >= p.interval),
            Kind::Rain(rain) => owed[0] >= rain.drop.len() as f64 * rain.volume,
            Kind::Fill(fill) => owed[0] >= fill.volume_at(*counter),
        };
        if !due {
            *time = t;
        }
        due
    }

    /// Box around all places where somebody may be born now.
    pub fn bounds(&self, t: f64) -> (DVec3, DVec3) {
        let around = |points: &mut dyn Iterator<Item = DVec3>| {
            let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
            points.fold(none, |(min, max), p| (min.min(p), max.max(p)))
        };
        match &self.kind {
            Kind::Stream(stream) => {
                let at = DVec3::from(stream.at.at(t));
                let ends = |p: &Place| [at + p.offset, at + p.offset + p.direction * 2.0 * p.interval];
                around(&mut stream.places.iter().flat_map(ends))
            }
            Kind::Rain(rain) => {
                let at = DVec3::from(rain.at.at(t));
                let reach = rain.axes[0].abs() + rain.axes[1].abs();
                let drop = rain.drop.iter().map(|p| p.length()).fold(0.0, f64::max);
                (at - reach - drop, at + reach + drop)
            }
            Kind::Fill(fill) => around(&mut fill.places.iter().map(|place| place.0)),
        }
    }

    /// Those who are due and find room, after [`Emitter::advance`].
    pub fn emit(&mut self, t: f64, room: &mut Room) -> Born {
        let mut born = Born::default();
        let ledger = &mut self.ledger;
        match &self.kind {
            Kind::Stream(stream) => stream.emit(t, self.until, ledger, room, &mut born),
            Kind::Rain(rain) => rain.emit(t, ledger, room, &mut born),
            Kind::Fill(fill) => fill.emit(ledger, room, &mut born),
        }
        ledger.time = t;
        ledger.count += born.newborns.len() as u64;
        ledger.volume += born.newborns.iter().map(|one| one.volume).sum::<f64>();
        born
    }
}

impl Stream {
    fn jet(jet: &Jet, d: &Discretisation) -> Stream {
        let spacing = f64::from(d.spacing);
        let direction = DVec3::from(jet.direction);
        let places = nozzle::places(&jet.opening, jet.profile, direction, spacing, d.dimensions);
        Stream { at: jet.at.clone(), rate: jet.speed.clone(), speed: jet.speed.clone(), places }
    }

    fn surface(one: &SurfaceSource, d: &Discretisation) -> Stream {
        let places = surface::places(&one.shape, one.facing.map(DVec3::from), d);
        let rate = one.rate.clone().unwrap_or_else(|| one.speed.clone());
        Stream { at: one.motion.clone(), rate, speed: one.speed.clone(), places }
    }

    fn emit(&self, t: f64, until: f64, ledger: &mut Ledger, room: &mut Room, born: &mut Born) {
        let at = DVec3::from(self.at.at(t));
        let carried = velocity_of(&self.at, ledger.time, t);
        let (rate, speed) = (self.rate.at(t), self.speed.at(t));
        for (place, owed) in self.places.iter().zip(&mut ledger.owed) {
            // Who left some time ago has come further at the speed of the flow, also after the source has stopped.
            let since = if rate > 0.0 { speed / rate } else { 0.0 };
            let after = (t - until).max(0.0) * speed * place.pace;
            while *owed >= place.interval {
                let along = (*owed - place.interval) * since + after;
                // What seeps slowly and leaves fast would be born far away: one interval is far enough.
                let position = at + place.offset + place.direction * along.min(place.interval);
                if !room.take(position) {
                    break;
                }
                *owed -= place.interval;
                born.newborns.push(Newborn { position, volume: place.volume });
                born.velocities.push(place.direction * (speed * place.pace) + carried);
            }
            *owed = owed.min(2.0 * place.interval);
        }
    }
}

impl RainState {
    fn new(rain: &Rain, seed: u64, d: &Discretisation) -> RainState {
        let spacing = f64::from(d.spacing);
        let (u, v) = nozzle::across(DVec3::from(rain.direction), d.dimensions);
        let half = rain.opening.half_size();
        let axes = match d.dimensions {
            Dimensions::Two => [u * half[0], DVec3::ZERO],
            Dimensions::Three => [u * half[0], v * half[1]],
        };
        let volume = spacing.powi(d.dimensions.count() as i32);
        RainState {
            at: rain.at.clone(),
            direction: rain.direction.into(),
            axes,
            round: rain.opening.is_round() && d.dimensions == Dimensions::Three,
            flow: rain.rate.times(rain.opening.area(d.dimensions)),
            speed: rain.speed,
            drop: drop_particles(rain.diameter, spacing, d),
            volume,
            seed,
        }
    }

    fn emit(&self, t: f64, ledger: &mut Ledger, room: &mut Room, born: &mut Born) {
        let at = DVec3::from(self.at.at(t));
        let velocity = self.direction * self.speed + velocity_of(&self.at, ledger.time, t);
        let whole = self.drop.len() as f64 * self.volume;
        while ledger.owed[0] >= whole {
            let mut tries = (0..TRIES).map(|_| {
                let centre = at + self.random_place(ledger.counter);
                ledger.counter += 1;
                centre
            });
            let free = |centre: &DVec3| {
                let fits = |p: &DVec3| (room.inside)(*centre + p) && room.crowd.has_room_at(*centre + p);
                room.left >= self.drop.len() && self.drop.iter().all(fits)
            };
            let Some(centre) = tries.find(free) else {
                ledger.owed[0] = ledger.owed[0].min(2.0 * whole);
                return;
            };
            ledger.owed[0] -= whole;
            for p in &self.drop {
                room.crowd.join(centre + p);
                born.newborns.push(Newborn { position: centre + p, volume: self.volume });
                born.velocities.push(velocity);
            }
            room.left -= self.drop.len();
        }
    }

    /// A place in the region, all equally likely; it depends on the seed and on how many were chosen before.
    fn random_place(&self, counter: u64) -> DVec3 {
        let random = |axis| uniform(self.seed ^ (counter >> 32), counter as u32, axis);
        let (a, b) = (random(0), random(1));
        let [x, y] = if self.round {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * b);
            [a.sqrt() * cos, a.sqrt() * sin]
        } else {
            [2.0 * a - 1.0, 2.0 * b - 1.0]
        };
        self.axes[0] * x + self.axes[1] * y
    }
}

/// Particles of a ball of this diameter around its middle: one, if it is no larger than a particle.
fn drop_particles(diameter: Option<f64>, spacing: f64, d: &Discretisation) -> Vec<DVec3> {
    let radius = 0.5 * diameter.unwrap_or(spacing);
    let ball = Shape::Sphere { centre: [0.0; 3], radius };
    if ball.is_empty(d.dimensions, spacing) {
        return vec![DVec3::ZERO];
    }
    super::fill(&ball, d).into_iter().map(|one| one.position).collect()
}

impl FillState {
    fn new(fill: &Fill, up: DVec3, d: &Discretisation) -> FillState {
        let mut places: Vec<(DVec3, f64)> =
            super::fill(&fill.shape, d).into_iter().map(|one| (one.position, one.volume)).collect();
        places.retain(|(position, _)| fill.level.is_none_or(|level| position.dot(up) < level));
        places.sort_by(|a, b| a.0.dot(up).total_cmp(&b.0.dot(up)));
        let capacity = places.iter().map(|place| place.1).sum();
        FillState { rate: fill.rate.clone(), places, capacity }
    }

    fn volume_at(&self, counter: u64) -> f64 {
        if self.places.is_empty() {
            return f64::INFINITY;
        }
        self.places[counter as usize % self.places.len()].1
    }

    /// Goes through the places from the bottom up, again and again, until the shape has had what it holds.
    fn emit(&self, ledger: &mut Ledger, room: &mut Room, born: &mut Born) {
        let mut emitted = ledger.volume;
        for _ in 0..self.places.len() {
            let (position, volume) = self.places[ledger.counter as usize % self.places.len()];
            if ledger.owed[0] < volume || emitted + 0.5 * volume > self.capacity || room.left == 0 {
                break;
            }
            if room.take(position) {
                ledger.owed[0] -= volume;
                emitted += volume;
                born.newborns.push(Newborn { position, volume });
                born.velocities.push(DVec3::ZERO);
            }
            ledger.counter += 1;
        }
        // What found no room is not saved up.
        ledger.owed[0] = ledger.owed[0].min(2.0 * self.volume_at(ledger.counter));
    }
}

/// Mean velocity of something that moves, over a step.
fn velocity_of(motion: &Motion, start: f64, end: f64) -> DVec3 {
    if end <= start {
        return DVec3::ZERO;
    }
    (DVec3::from(motion.at(end)) - DVec3::from(motion.at(start))) / (end - start)
}
