//! Scripted motion: where a solid is at a time, from its keys.
//!
//! The pivot stands at `position`(t) + shake direction × amplitude × sin(2πft); the solid is turned about it by
//! 2π × turning × t + angle(t). Velocities are differences of poses over a step, so that the solid arrives exactly
//! where its keys say, and the fluid sees what it does on the way. Kept honest by
//! `a_script_is_followed_to_the_letter`.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};

use super::Pose;
use crate::scene::Script;

/// `origin` is the point of the shape that the pose places.
pub fn pose(script: &Script, origin: DVec3, time: f64) -> Pose {
    let pivot = script.pivot.map_or(origin, DVec3::from);
    let mut at = script.position.as_ref().map_or(pivot, |motion| motion.at(time).into());
    if let Some(shake) = &script.shake {
        let swing = shake.amplitude * libm::sin(TAU * shake.frequency * time);
        at += DVec3::from(shake.direction) * swing;
    }
    // Whole turns are dropped while they are whole: a mixer's angle stays exact however long it runs.
    let turns = script.turning * time + script.angle.at(time) / 360.0;
    let half = 0.5 * TAU * (turns - turns.floor());
    let axis = DVec3::from(script.axis) * libm::sin(half);
    let rotation = DQuat::from_xyzw(axis.x, axis.y, axis.z, libm::cos(half)).normalize();
    Pose { position: at + rotation * (origin - pivot), rotation }
}

/// The turn that leads from one rotation to another, as axis × angle, the short way round.
pub fn turn(from: DQuat, to: DQuat) -> DVec3 {
    let between = to * from.inverse();
    let between = if between.w < 0.0 { -between } else { between };
    let axis = DVec3::new(between.x, between.y, between.z);
    let sine = axis.length();
    if sine == 0.0 { DVec3::ZERO } else { axis * (2.0 * libm::atan2(sine, between.w) / sine) }
}

/// Fastest that any point within `reach` of the origin moves from `time` on for `ahead` seconds, m/s.
pub fn fastest(script: &Script, origin: DVec3, reach: f64, time: f64, ahead: f64) -> f64 {
    const PARTS: usize = 8;
    let part = ahead / PARTS as f64;
    let mean = |k: usize| {
        let steady = TAU * script.turning.abs();
        let angle = script.angle.at(time + part * (k + 1) as f64) - script.angle.at(time + part * k as f64);
        let swing = script.shake.map_or(0.0, |shake| TAU * shake.frequency * shake.amplitude);
        let place = match &script.position {
            Some(motion) => {
                let p = |k: usize| DVec3::from(motion.at(time + part * k as f64));
                p(k).distance(p(k + 1)) / part
            }
            None => 0.0,
        };
        let arm = script.pivot.map_or(0.0, |pivot| origin.distance(pivot.into()));
        place + swing + (steady + angle.to_radians().abs() / part) * (reach + arm)
    };
    (0..PARTS).map(mean).fold(0.0, f64::max)
}
