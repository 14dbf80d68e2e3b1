//! No particle crosses a solid.
//!
//! Boundary samples push fluid away from solids, but a force is no promise. When positions take the velocities, the
//! way of each particle near a solid is followed in the solid's own frame, from where it was to where it would be: in
//! steps as long as the distance to the surface allows, so that nothing is jumped over, however thin
//! (sphere tracing [Hart1996]). Where the way comes closer to the surface than a small gap, it goes on along the
//! surface, and the particle loses its speed into the solid. Only distances are asked for, so that all shapes will do:
//! closed ones, hollows, and sheets, whose distance has no sign and needs none.
//!
//! A distance d at one place is at least d − s a way s from there: a particle that was found clear of all solids that
//! stay is not looked at again before it has gone as far as that. The answer is the same, and a particle that creeps
//! along a mountain of triangles asks for its distance once in a while, not in every step.
//!
//! A particle that is in a solid already (one that a scene put there, or that two solids pinch) is moved out by the
//! shortest way. Kept honest by `nothing_gets_through_a_thin_wall`, `a_cup_one_sample_thick_holds_water` and
//! `what_was_clear_is_not_asked_again`.

use glam::{DVec3, Vec4};

use super::{Pose, SolidState};
use crate::integrate::CAUGHT_BEYOND;
use crate::neighbourhood::Neighbourhood;
use crate::walls::Walls;

/// Particles stay so far from a surface, in spacings. They rest half a spacing away.
const GAP: f64 = 0.05;

/// Steps along a way. One that needs more grazes the surface, and ends where it has got to.
const STEPS: usize = 48;

/// Times that a way is bent along a surface.
const BENDS: usize = 3;

/// All solids of a world, while particles move.
pub(crate) struct Guard<'a> {
    solids: &'a [SolidState],
    walls: &'a Walls,
    /// Lists that tell which particles are near solids, where they are up to date.
    lists: Option<&'a Neighbourhood>,
    spacing: f64,
    flat: bool,
    /// Solids that are on no list, because they have no samples.
    unlisted: Vec<usize>,
    /// Whether some solid moves: those are asked in every step.
    moving: bool,
    /// How far away a solid is at least that is not on a particle's list, m.
    beyond: f64,
}

impl<'a> Guard<'a> {
    pub fn new(
        solids: &'a [SolidState],
        walls: &'a Walls,
        lists: Option<&'a Neighbourhood>,
        spacing: f32,
        flat: bool,
    ) -> Guard<'a> {
        let unlisted = (0..solids.len()).filter(|&k| solids[k].rows.is_empty()).collect();
        let moving = solids.iter().any(|solid| !solid.is_fixed());
        // No part of a surface is farther than a spacing from a sample, and all samples within the support are listed.
        let support = walls.support.first().map_or(0.0, |support| f64::from(*support));
        let beyond = if solids.len() > 1 { support - f64::from(spacing) } else { f64::INFINITY };
        Guard { solids, walls, lists, spacing: f64::from(spacing), flat, unlisted, moving, beyond }
    }

    /// Whether there is anything to hold against.
    pub fn is_needed(&self) -> bool {
        !self.solids.is_empty()
    }

    /// Holds particle i, on its way from `from` to `x`. Tells whether it would have got through.
    #[inline]
    pub fn hold(&self, i: usize, from: Vec4, x: &mut Vec4, v: &mut Vec4, clearance: &mut Vec4) -> bool {
        let is_clear = self.is_clear(from, *x, *clearance);
        if is_clear && !self.moving {
            return false;
        }
        let mut state = Way { from, caught: false, is_clear, clear: self.beyond };
        self.hold_against_all(i, &mut state, x, v);
        if !is_clear {
            *clearance = x.truncate().extend(state.clear.clamp(0.0, f64::from(f32::MAX)) as f32);
        }
        state.caught
    }

    /// Whether an earlier distance tells that no solid that stays is near the way.
    #[inline]
    fn is_clear(&self, from: Vec4, x: Vec4, clearance: Vec4) -> bool {
        let gone = (x - clearance).truncate().length() + (x - from).truncate().length();
        // A little more than a distance of this size is rounded by.
        f64::from(clearance.w) * (1.0 - 1e-5) > f64::from(gone) + (GAP + 1e-3) * self.spacing
    }

    fn hold_against_all(&self, i: usize, way: &mut Way, x: &mut Vec4, v: &mut Vec4) {
        let Some(lists) = self.lists else {
            (0..self.solids.len()).for_each(|k| self.hold_against(k, way, x, v));
            return;
        };
        self.unlisted.iter().for_each(|&k| self.hold_against(k, way, x, v));
        let near = lists.walls(i);
        // Samples of a solid stand together: most repetitions are seen at once.
        let mut last = 0;
        let mut done = 0u64;
        for &sample in near.as_slice() {
            let owner = self.walls.owner[sample as usize];
            if owner == last || owner == 0 {
                continue;
            }
            last = owner;
            let bit = 1u64.checked_shl(owner - 1).unwrap_or(0);
            if done & bit == 0 {
                done |= bit;
                self.hold_against(owner as usize - 1, way, x, v);
            }
        }
        // On no list, it may be near a solid by the time that lists are made anew.
        if done == 0 {
            way.clear = 0.0;
        }
    }

    fn hold_against(&self, k: usize, way: &mut Way, x: &mut Vec4, v: &mut Vec4) {
        let solid = &self.solids[k];
        if way.is_clear && solid.is_fixed() {
            return;
        }
        let gap = GAP * self.spacing;
        let shape = |pose: &Pose, p: Vec4| pose.undo(p.truncate().as_dvec3()) + solid.origin;
        let distance = |p: DVec3| {
            let d = solid.geometry.distance(p);
            if solid.inside { -d } else { d }
        };
        let (start, end) = (shape(&solid.previous, way.from), shape(&solid.pose, *x));
        let there = distance(end);
        // Everything within `there` of the end is free, and so is the whole way.
        if there >= start.distance(end) + gap {
            if solid.is_fixed() {
                way.clear = way.clear.min(there);
            }
            return;
        }
        way.clear = 0.0;
        let normal_at = |p: DVec3| {
            let n = solid.geometry.normal(p);
            let n = if solid.inside { -n } else { n };
            if self.flat { n.with_z(0.0).normalize_or(DVec3::Y) } else { n }
        };

        let (mut at, mut goal) = (start, end);
        let mut normals = [DVec3::ZERO; BENDS + 1];
        let mut bends = 0;
        // A particle within the gap starts from its edge; one within a closed solid, from its surface.
        for _ in 0..2 {
            let here = distance(at);
            if here >= gap * 0.999 {
                break;
            }
            let n = normal_at(at);
            let out = n * (gap - here);
            (at, goal) = (at + out, goal + out);
            normals[bends] = n;
            bends = 1;
        }
        loop {
            match follow(at, goal, 0.5 * gap, &distance) {
                None => {
                    at = goal;
                    break;
                }
                Some(reached) => {
                    at = reached;
                    if bends > BENDS {
                        break;
                    }
                    // What is left of the way, along the surface.
                    let n = normal_at(at);
                    let left = goal - at;
                    let mut left = left - n * left.dot(n).min(0.0);
                    // Into a corner, along its edge: not back into the first surface.
                    for earlier in &normals[..bends] {
                        left -= *earlier * left.dot(*earlier).min(0.0);
                    }
                    normals[bends] = n;
                    bends += 1;
                    let lift = n * (gap - distance(at)).max(0.0);
                    // Lifted only where that is free.
                    if follow(at, at + lift, 0.25 * gap, &distance).is_none() {
                        at += lift;
                    }
                    goal = at + left;
                }
            }
        }
        if bends == 0 {
            return;
        }

        let world = solid.pose.apply(at - solid.origin);
        let motion = solid.velocity_at(world);
        let mut relative = v.truncate().as_dvec3() - motion;
        for n in &normals[..bends] {
            let n = solid.pose.rotation * *n;
            relative -= n * relative.dot(n).min(0.0);
        }
        let mut speed = relative + motion;
        let mut place = world;
        if self.flat {
            (speed.z, place.z) = (0.0, 0.0);
        }
        // What was found out for the place it was going to does not hold here.
        way.is_clear = false;
        *x = place.as_vec3().extend(x.w);
        *v = speed.as_vec3().extend(v.w);
        // A single drop lies on the surface itself: that does not count.
        let beyond = f64::from(CAUGHT_BEYOND) * self.spacing;
        way.caught |= at.distance(end) > beyond + gap;
    }
}

/// A particle's way through a step, as it is followed past one solid after another.
struct Way {
    from: Vec4,
    /// Whether it would have got through one.
    caught: bool,
    /// Whether solids that stay are known to be farther away than it goes.
    is_clear: bool,
    /// Distance to the solids that stay, at least, m.
    clear: f64,
}

/// Goes from `a` towards `b`; `None` where it gets there, else the last place that is farther than `gap` from the
/// surface.
fn follow(a: DVec3, b: DVec3, gap: f64, distance: &impl Fn(DVec3) -> f64) -> Option<DVec3> {
    let way = b - a;
    let length = way.length();
    if length == 0.0 {
        return None;
    }
    let mut gone = 0.0;
    for _ in 0..STEPS {
        let here = distance(a + way * (gone / length));
        let free = here - gap;
        if free <= 0.02 * gap {
            return Some(a + way * (gone / length));
        }
        gone += free;
        if gone >= length {
            return None;
        }
    }
    Some(a + way * (gone / length))
}
