//! The clock's side of a frame: what the host tells the device, and what comes back.
//!
//! Time on the device is what is left of the frame, in ticks. A tick is a power of two so short that the frame's
//! length is a whole number of them, exactly, and so is every time step: f32 steps add up without rounding, and
//! the last one ends the frame to the bit.

use bytemuck::{Pod, Zeroable};

use crate::scene::Time;
use crate::timestep::Limit;

/// As `Clock` in `clock_types.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ClockRow {
    pub left: [u32; 2],
    pub ticks: [u32; 2],
    pub fixed_ticks: [u32; 2],
    pub tick: f32,
    pub per_tick: f32,
    pub dt: f32,
    pub step: f32,
    pub binding: u32,
    pub fixed_step: f32,
    pub caution: f32,
    pub maximum_step: f32,
    pub minimum_step: f32,
    pub speed: f32,
    pub acceleration: f32,
    pub steps: u32,
    pub budget: u32,
    pub caught: u32,
    pub trouble: u32,
    pub unused: u32,
    pub particle_groups: [u32; 2],
    pub cell_groups: [u32; 2],
    pub wall_groups: [u32; 2],
    pub bound: [u32; 16],
}

const _: () = assert!(Limit::ALL.len() <= 16, "every limit needs a counter");

/// What may stop a run on the device.
pub(super) const NOT_FINITE: u32 = 1;
pub(super) const TOO_SMALL: u32 = 2;

impl ClockRow {
    /// A frame of `span` seconds; at most `budget` steps.
    pub fn new(settings: &Time, span: f64, budget: u32) -> ClockRow {
        // The last digit of an f64 of this size; clamped so that its inverse is a normal f32 too.
        let exponent = (span.log2().floor() as i32 - 52).clamp(-120, 120);
        let tick = 2f64.powi(exponent);
        let fixed = settings.fixed_step.unwrap_or(0.0);
        ClockRow {
            left: words((span / tick) as u64),
            fixed_ticks: words((fixed / tick).round() as u64),
            tick: tick as f32,
            per_tick: (1.0 / tick) as f32,
            fixed_step: fixed as f32,
            caution: settings.caution as f32,
            maximum_step: settings.maximum_step as f32,
            minimum_step: settings.minimum_step as f32,
            budget,
            ..ClockRow::default()
        }
    }

    /// Time still to go, s.
    pub fn seconds_left(&self) -> f64 {
        (f64::from(self.left[1]) * 2f64.powi(32) + f64::from(self.left[0])) * f64::from(self.tick)
    }

    /// Whether there is nothing more to do.
    pub fn stopped(&self) -> bool {
        self.trouble != 0 || self.budget == 0 || self.left == [0, 0]
    }
}

fn words(ticks: u64) -> [u32; 2] {
    [ticks as u32, (ticks >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::IntegratorName;

    fn settings(fixed_step: Option<f64>) -> Time {
        Time {
            until: 1.0,
            frames_per_second: 30.0,
            integrator: IntegratorName::SymplecticEuler,
            tolerance: None,
            fixed_step,
            maximum_step: 1.0,
            minimum_step: 1e-9,
            caution: 1.0,
        }
    }

    #[test]
    fn a_frame_is_a_whole_number_of_ticks() {
        for span in [1.0 / 30.0, 1e-7, 0.3, 1.0, 12345.678] {
            let row = ClockRow::new(&settings(None), span, 1);
            assert_eq!(row.seconds_left(), span);
            assert_eq!(row.tick * row.per_tick, 1.0);
        }
    }

    #[test]
    fn a_fixed_step_is_not_rounded_to_f32() {
        // A hundred steps of a frame must end it: rounding to f32 would leave a sliver.
        let row = ClockRow::new(&settings(Some(1.0 / 3000.0)), 1.0 / 30.0, 1);
        let ticks = |w: [u32; 2]| u64::from(w[1]) << 32 | u64::from(w[0]);
        let sliver = ticks(row.left).abs_diff(100 * ticks(row.fixed_ticks));
        assert!(sliver <= 100, "{sliver} ticks"); // half a tick of rounding in each step
    }
}
