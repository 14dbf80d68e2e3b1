//! What particles remember: columns of a path's past, and its derivative of order q at the end of each step.
//!
//! A behaviour says once what it remembers ([`Remembers`], by `Behaviour::remembers`); the world keeps a [`History`] for it. From then
//! on the derivative stands in a column of its own, up to date whenever forces are summed: stage 9 of a step takes the new
//! rates in. The past is columns, so that sorting, sources, halving and checkpoints need no code here; and as it is linear, two
//! particles that unite have the mean of their pasts. Steps are the same for all particles, and so are the weights.
//!
//! A particle that is born during a run has a past as if it had always had its rate (or value). At the start of a run
//! nobody has a past.

use std::ops::{Add, Mul, Range, Sub};

use glam::Vec4;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::particles::{Key, Particles};
use crate::solve::fractional::{Exponentials, Of, Rule, interval, response, window};

/// Most columns that a past may have: steps of a window, or exponentials and the last rate.
pub const MOST_COLUMNS: usize = 32;

/// Particles that one task works on: 21 columns of vectors fit into a core's nearest cache.
const PIECE: usize = 64;

/// Columns of one quantity's past.
pub struct PastColumns<K: 'static> {
    /// What is remembered: a rate, or a value.
    pub source: &'static K,
    pub past: &'static [K; MOST_COLUMNS],
    /// What comes of it: see [`Measure`].
    pub result: &'static K,
}

/// Keys of the columns of a past: `past_columns!(Vectors, "swirl", "1/s")`. Of two particles that unite, the mean is kept, as the
/// operator is linear.
#[macro_export]
macro_rules! past_columns {
    ($key:ident, $name:literal, $unit:literal) => {
        $crate::past_columns!($key, $name, $unit,
            "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11" "12" "13" "14" "15" "16"
            "17" "18" "19" "20" "21" "22" "23" "24" "25" "26" "27" "28" "29" "30" "31" "32")
    };
    ($key:ident, $name:literal, $unit:literal, $($number:literal)*) => {
        [$($crate::particles::$key($crate::particles::ColumnSpec {
            name: concat!($name, "_past_", $number),
            unit: $unit,
            in_frames: false,
            part: $crate::particles::Part::Intensive,
        })),*]
    };
}

/// How far back, and how exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    /// The last steps, at most [`MOST_COLUMNS`]: all that is older is forgotten.
    Window { steps: usize, rule: Rule },
    /// Everything, faded beyond `horizon`, s, with a relative error of the kernel of at most `tolerance` up to there.
    Whole { tolerance: f64, horizon: f64 },
    /// Everything, faded by e^{−τ/time}: τ is how long ago it was, and `time` in s.
    Fading { tolerance: f64, time: f64 },
}

/// What is made of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// D^q: the source's unit times s^{1−q} for rates, over s^q for values.
    Derivative,
    /// D^q over that of a path of rate 1: a mean of the rates, the recent ones weighing most. Only of rates. The whole past
    /// fades as e^{−τ/horizon} in it: without that, a mean over τ^−q is one over all of the past.
    Mean,
}

/// What a behaviour remembers.
pub struct Remembers<K: 'static> {
    /// q.
    pub order: f64,
    pub of: Of,
    pub reach: Reach,
    pub measure: Measure,
    pub columns: &'static PastColumns<K>,
}

/// A row that can be weighted and added.
pub trait Linear:
    Copy + Send + Sync + Default + Add<Output = Self> + Sub<Output = Self> + Mul<f32, Output = Self>
{
    /// Itself and a change, rounded up or down by chance: `dither` is from −½ to ½. A sum of a million small changes, each
    /// below half of the last digit, would else stay where it is.
    fn changed(self, change: Self, dither: f32) -> Self;
}

impl Linear for f32 {
    #[inline(always)]
    fn changed(self, change: f32, dither: f32) -> f32 {
        // The power of two in a float is its exponent alone; 2⁻²³ of that is the value of its last digit.
        let last_digit = f32::from_bits(self.to_bits() & 0x7f80_0000) * f32::EPSILON;
        self + (change + dither * last_digit)
    }
}

impl Linear for Vec4 {
    #[inline(always)]
    fn changed(self, change: Vec4, dither: f32) -> Vec4 {
        let (row, change) = (self.to_array(), change.to_array());
        Vec4::from_array(std::array::from_fn(|k| row[k].changed(change[k], dither)))
    }
}

/// The past of one quantity of all particles.
pub struct History<K: 'static> {
    what: Remembers<K>,
    /// For [`Reach::Whole`] and [`Reach::Fading`].
    kernel: Option<Exponentials>,
    state: HistoryState,
}

/// What a history knows of time.
#[derive(Clone, Debug, PartialEq)]
struct HistoryState {
    /// Steps taken.
    taken: u64,
    /// Time since the start, s.
    elapsed: f64,
    /// Lengths of the last steps that matter, newest first, s; zero before the start.
    steps: Vec<f64>,
}

/// The same as kept in a checkpoint: numbers as their bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryBits {
    taken: u64,
    elapsed: u64,
    steps: Vec<u64>,
}

/// Weights of one step: result = known + new × f_new, with known from the columns and the last rate or value.
struct Weights {
    /// Of the columns: slots of a window newest first, or exponentials.
    past: Vec<f32>,
    /// Of the newest rate, or of the newest difference.
    new: f32,
    /// What exponentials become: fade, share of the old rate, of the new one (of their difference for values).
    updates: Vec<[f32; 3]>,
}

impl<K> History<K>
where
    K: Key + Sync + 'static,
    K::Item: Linear,
{
    /// # Panics
    /// If there are more steps than columns, or a mean of values is asked for: the scene's check sees to both.
    pub fn new(what: Remembers<K>) -> History<K> {
        assert!(what.measure == Measure::Derivative || what.of == Of::Rates, "means are of rates");
        let (kernel, steps) = match what.reach {
            Reach::Window { steps, .. } => (None, steps),
            Reach::Whole { tolerance, horizon } => {
                let fit = Exponentials::fit(what.order, tolerance, horizon);
                let fades = what.measure == Measure::Mean;
                (Some(if fades { fit.tempered(1.0 / horizon) } else { fit }), 1)
            }
            Reach::Fading { tolerance, time } => {
                (Some(Exponentials::fit(what.order, tolerance, 10.0 * time).tempered(1.0 / time)), 1)
            }
        };
        let history =
            History { what, kernel, state: HistoryState { taken: 0, elapsed: 0.0, steps: vec![0.0; steps] } };
        assert!((1..=MOST_COLUMNS).contains(&history.width()), "a past of {} columns", history.width());
        history
    }

    /// Columns that the past takes.
    pub fn width(&self) -> usize {
        // Exponentials need the last rate too.
        self.kernel.as_ref().map_or(self.state.steps.len(), |kernel| kernel.terms.len() + 1)
    }

    /// Memory of a particle's past with its result, bytes.
    pub fn bytes_per_particle(&self) -> usize {
        (self.width() + 1) * size_of::<K::Item>()
    }

    /// Whether it keeps these columns.
    pub fn keeps(&self, columns: &'static PastColumns<K>) -> bool {
        std::ptr::eq(self.what.columns, columns)
    }

    pub fn kernel(&self) -> Option<&Exponentials> {
        self.kernel.as_ref()
    }

    pub fn require_columns(&self, particles: &mut Particles) {
        particles.require(self.what.columns.source);
        particles.require(self.what.columns.result);
        self.what.columns.past[..self.width()].iter().for_each(|column| particles.require(column));
    }

    /// Gives a past to particles that have just been added.
    pub fn born(&self, born: Range<usize>, particles: &mut Particles) {
        let columns = self.what.columns;
        let rates = self.what.of == Of::Rates;
        for (k, column) in columns.past[..self.width()].iter().enumerate() {
            let share = match &self.kernel {
                Some(kernel) if k < kernel.terms.len() => {
                    if rates {
                        kernel.state_of_unit_rate(k, self.state.elapsed) as f32
                    } else {
                        0.0
                    }
                }
                // Slots of a window, and the last rate.
                _ => 1.0,
            };
            self.fill(column, born.clone(), share, particles);
        }
        let share = match self.what.measure {
            Measure::Mean => 1.0,
            Measure::Derivative if rates => self.response() as f32,
            Measure::Derivative => 0.0,
        };
        self.fill(columns.result, born, share, particles);
    }

    fn fill(&self, column: &'static K, rows: Range<usize>, share: f32, particles: &mut Particles) {
        particles.update(column, |values, particles| {
            let source = &particles.get(self.what.columns.source)[rows.clone()];
            values[rows].iter_mut().zip(source).for_each(|(value, &source)| *value = source * share);
        });
    }

    /// D^q now of a path of rate 1 since the start, or since the window begins.
    fn response(&self) -> f64 {
        match &self.kernel {
            None => response(self.what.order, self.state.steps.iter().sum()),
            Some(kernel) => {
                // As in a step: the newest one exactly, and what was before it has faded since.
                let newest = self.state.steps[0];
                let before = self.state.elapsed - newest;
                let older = kernel.terms.iter().enumerate().map(|(k, &(s, weight))| {
                    weight * libm::exp(-s * newest) * kernel.state_of_unit_rate(k, before)
                });
                response(self.what.order, newest) + older.sum::<f64>()
            }
        }
    }

    /// Stage 9: takes the source's values at the end of a step of `dt` seconds in, and finds the result there.
    pub fn advance(&mut self, dt: f64, particles: &mut Particles) {
        let weights = self.weights(dt);
        let width = self.width();
        let columns = self.what.columns;
        let slots = self.slots();
        let mut past: Vec<Vec<K::Item>> =
            columns.past[..width].iter().map(|key| particles.take(key)).collect();
        particles.update(columns.result, |result, particles| {
            let source = particles.get(columns.source);
            let mut pieces: Vec<Vec<&mut [K::Item]>> = Vec::new();
            pieces.resize_with(source.len().div_ceil(PIECE), || Vec::with_capacity(width));
            for column in &mut past {
                for (piece, part) in pieces.iter_mut().zip(column.chunks_mut(PIECE)) {
                    piece.push(part);
                }
            }
            let dither = self.dither();
            let of = self.what.of;
            let work = pieces.into_par_iter().zip(result.par_chunks_mut(PIECE)).zip(source.par_chunks(PIECE));
            work.for_each(|((mut past, result), source)| match self.kernel {
                None => {
                    recall_window(of, &weights, &slots, &past, source, result);
                    past[slots[width - 1]].copy_from_slice(source);
                }
                Some(_) => take_in(of, &weights, &dither, &mut past, source, result),
            });
        });
        columns.past[..width].iter().zip(past).for_each(|(key, values)| particles.put(key, values));

        self.state.taken += 1;
        self.state.elapsed += dt;
        self.state.steps.pop();
        self.state.steps.insert(0, dt);
    }

    /// For implicit solves: the result at the end of a step of `dt` seconds that is still to be taken will be `known` + the number that
    /// is returned × what the source will be then.
    pub fn foresee(&self, dt: f64, particles: &Particles, known: &mut [K::Item]) -> f32 {
        let weights = self.weights(dt);
        let (width, slots) = (self.width(), self.slots());
        let past: Vec<&[K::Item]> =
            self.what.columns.past[..width].iter().map(|key| particles.get(key)).collect();
        known.par_chunks_mut(PIECE).enumerate().for_each(|(piece, known)| {
            let rows = piece * PIECE..piece * PIECE + known.len();
            let past: Vec<&[K::Item]> = past.iter().map(|column| &column[rows.clone()]).collect();
            // With a new rate, or value, of zero.
            let zero = vec![K::Item::default(); known.len()];
            match self.kernel {
                None => recall_window(self.what.of, &weights, &slots, &past, &zero, known),
                Some(_) => recall_whole(self.what.of, &weights, &past, &zero, known),
            }
        });
        weights.new
    }

    /// The result at the end of a step of `dt` seconds that is still to be taken, of a path of rate 1 since the start.
    pub fn foresee_unit_rate(&self, dt: f64) -> f32 {
        let weights = self.weights(dt);
        let past: Vec<f64> = weights.past.iter().map(|&weight| f64::from(weight)).collect();
        self.sum_of(&past, f64::from(weights.new)) as f32
    }

    /// Columns of a window, newest first. One is written in each step, in turn.
    fn slots(&self) -> Vec<usize> {
        let width = self.width();
        let newest = (self.state.taken as usize + width - 1) % width;
        (0..width).map(|k| (newest + width - k) % width).collect()
    }

    /// From −½ to ½ for each exponential, the same for all particles, another in each step.
    fn dither(&self) -> Vec<f32> {
        let hash = |k: usize| {
            let mut x =
                (self.state.taken * MOST_COLUMNS as u64 + k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        };
        (0..self.width()).map(|k| (hash(k) >> 40) as f32 / (1u32 << 24) as f32 - 0.5).collect()
    }

    /// Weights at the end of a step of `dt` seconds from now.
    fn weights(&self, dt: f64) -> Weights {
        let (q, of) = (self.what.order, self.what.of);
        let (past, new, updates) = match (&self.kernel, self.what.reach) {
            (Some(kernel), _) => {
                // The newest step is integrated exactly (where the past fades, with the fading of its middle); what is older
                // has decayed by then.
                let newest = interval(q, Rule::Trapezoid, of, 0.0, dt);
                let fading = match (self.what.measure, self.what.reach) {
                    (Measure::Mean, Reach::Whole { horizon, .. }) => libm::exp(-0.5 * dt / horizon),
                    _ => 1.0,
                };
                let updates: Vec<_> = (0..kernel.terms.len()).map(|k| kernel.update(k, of, dt)).collect();
                let older = kernel.terms.iter().zip(&updates);
                let mut past: Vec<f64> = older.map(|(&(_, w), update)| w * (1.0 + update.fade)).collect();
                past.push(fading * newest.old);
                (past, fading * newest.new, updates)
            }
            (None, Reach::Window { rule, steps }) => {
                let mut all = vec![dt];
                all.extend(&self.state.steps[..steps - 1]);
                let weights = match of {
                    Of::Rates => window(q, rule, of, &all),
                    // Of differences, which keep their digits where the values are large.
                    Of::Values => {
                        let mut age = 0.0;
                        let mut weight = |&step: &f64| {
                            let term = interval(q, rule, of, age, step);
                            age += step;
                            term.new
                        };
                        all.iter().map(&mut weight).chain([0.0]).collect()
                    }
                };
                (weights[1..].to_vec(), weights[0], Vec::new())
            }
            (None, Reach::Whole { .. } | Reach::Fading { .. }) => unreachable!("it has a kernel"),
        };
        let scale = match self.what.measure {
            Measure::Derivative => 1.0,
            Measure::Mean => 1.0 / self.sum_of(&past, new),
        };
        Weights {
            past: past.iter().map(|w| (w * scale) as f32).collect(),
            new: (new * scale) as f32,
            updates: updates.iter().map(|u| [u.fade, u.old, u.new].map(|x| x as f32)).collect(),
        }
    }

    /// Result of a path of rate 1.
    fn sum_of(&self, past: &[f64], new: f64) -> f64 {
        let state = |k: usize| match &self.kernel {
            Some(kernel) if k < kernel.terms.len() => kernel.state_of_unit_rate(k, self.state.elapsed),
            _ => 1.0,
        };
        new + past.iter().enumerate().map(|(k, weight)| weight * state(k)).sum::<f64>()
    }

    pub fn bits(&self) -> HistoryBits {
        let HistoryState { taken, elapsed, steps } = &self.state;
        let steps = steps.iter().map(|step| step.to_bits()).collect();
        HistoryBits { taken: *taken, elapsed: elapsed.to_bits(), steps }
    }

    /// `false` if they are of another history.
    pub fn restore(&mut self, bits: &HistoryBits) -> bool {
        if bits.steps.len() != self.state.steps.len() {
            return false;
        }
        let steps = bits.steps.iter().map(|&step| f64::from_bits(step)).collect();
        self.state = HistoryState { taken: bits.taken, elapsed: f64::from_bits(bits.elapsed), steps };
        true
    }
}

/// Σ over a window. `slots` are its columns, newest first.
fn recall_window<T: Linear, P: AsRef<[T]>>(
    of: Of,
    weights: &Weights,
    slots: &[usize],
    past: &[P],
    source: &[T],
    result: &mut [T],
) {
    match of {
        Of::Rates => {
            result.iter_mut().zip(source).for_each(|(sum, &new)| *sum = new * weights.new);
            for (&slot, &weight) in slots.iter().zip(&weights.past) {
                let old = past[slot].as_ref();
                result.iter_mut().zip(old).for_each(|(sum, &old)| *sum = *sum + old * weight);
            }
        }
        Of::Values => {
            result.fill(T::default());
            let mut newer = source;
            for (&slot, weight) in slots.iter().zip([weights.new].iter().chain(&weights.past)) {
                let older = past[slot].as_ref();
                for ((sum, &new), &old) in result.iter_mut().zip(newer).zip(older) {
                    *sum = *sum + (new - old) * *weight;
                }
                newer = older;
            }
        }
    }
}

/// Σ over exponentials; the last column is the last rate, or value.
fn recall_whole<T: Linear, P: AsRef<[T]>>(
    of: Of,
    weights: &Weights,
    past: &[P],
    source: &[T],
    result: &mut [T],
) {
    let (last, states) = past.split_last().expect("the last rate is there");
    let last_weight = *weights.past.last().expect("the last rate is there");
    for ((sum, &new), &old) in result.iter_mut().zip(source).zip(last.as_ref()) {
        *sum = match of {
            Of::Rates => new * weights.new + old * last_weight,
            Of::Values => (new - old) * weights.new,
        };
    }
    for (state, &weight) in states.iter().zip(&weights.past) {
        result.iter_mut().zip(state.as_ref()).for_each(|(sum, &state)| *sum = *sum + state * weight);
    }
}

/// The same, and takes the step into the exponentials.
fn take_in<T: Linear>(
    of: Of,
    weights: &Weights,
    dither: &[f32],
    past: &mut [&mut [T]],
    source: &[T],
    result: &mut [T],
) {
    recall_whole(of, weights, past, source, result);
    let (last, states) = past.split_last_mut().expect("the last rate is there");
    for ((state, &[fade, old_share, new_share]), &dither) in
        states.iter_mut().zip(&weights.updates).zip(dither)
    {
        for ((state, &new), &old) in state.iter_mut().zip(source).zip(last.iter()) {
            let part = match of {
                Of::Rates => old * old_share + new * new_share,
                Of::Values => (new - old) * new_share,
            };
            *state = state.changed(*state * fade + part, dither);
        }
    }
    last.copy_from_slice(source);
}

#[cfg(test)]
mod tests;
