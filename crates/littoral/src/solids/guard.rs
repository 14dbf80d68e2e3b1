//! No particle crosses a solid.
//!
//! Boundary samples push fluid away from solids, but a force is no promise. When positions take the velocities, the
//! way of each particle near a solid is followed in the solid's own frame, from where it was to where it would be: in
//! steps as long as the distance to the surface allows, so that nothing is jumped over, however thin
//! (sphere tracing [Hart1996]). Where the way comes closer to the surface than a small gap, it goes on along the
//! surface, and the particle loses its speed into the solid. Only distances are asked for, so that all shapes will do:
//! closed ones, hollows, and sheets, whose distance has no sign and needs none.
//!
//! A particle that is in a solid already (one that a scene put there, or that two solids pinch) is moved out by the
//! shortest way. Kept honest by `nothing_gets_through_a_thin_wall` and `a_cup_one_sample_thick_holds_water`.

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
}

impl<'a> Guard<'a> {
    pub fn new(
        solids: &'a [SolidState],
        walls: &'a Walls,
        lists: Option<&'a Neighbourhood>,
        spacing: f32,
        flat: bool,
    ) -> Guard<'a> {
        Guard { solids, walls, lists, spacing: f64::from(spacing), flat }
    }

    /// Whether there is anything to hold against.
    pub fn is_needed(&self) -> bool {
        !self.solids.is_empty()
    }

    /// Holds particle i, on its way from `from` to `x`. Tells whether it would have got through.
    #[inline]
    pub fn hold(&self, i: usize, from: Vec4, x: &mut Vec4, v: &mut Vec4) -> bool {
        let mut caught = false;
        let Some(lists) = self.lists else {
            for k in 0..self.solids.len() {
                caught |= self.hold_against(k, from, x, v);
            }
            return caught;
        };
        // A solid without samples is on no list.
        for k in (0..self.solids.len()).filter(|&k| self.solids[k].rows.is_empty()) {
            caught |= self.hold_against(k, from, x, v);
        }
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
                caught |= self.hold_against(owner as usize - 1, from, x, v);
            }
        }
        caught
    }

    fn hold_against(&self, k: usize, from: Vec4, x: &mut Vec4, v: &mut Vec4) -> bool {
        let solid = &self.solids[k];
        let gap = GAP * self.spacing;
        let shape = |pose: &Pose, p: Vec4| pose.undo(p.truncate().as_dvec3()) + solid.origin;
        let distance = |p: DVec3| {
            let d = solid.geometry.distance(p);
            if solid.inside { -d } else { d }
        };
        let (start, end) = (shape(&solid.previous, from), shape(&solid.pose, *x));
        let there = distance(end);
        // Everything within `there` of the end is free, and so is the whole way.
        if there >= start.distance(end) + gap {
            return false;
        }
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
            return false;
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
        *x = place.as_vec3().extend(x.w);
        *v = speed.as_vec3().extend(v.w);
        // A single drop lies on the surface itself: that does not count.
        let beyond = f64::from(CAUGHT_BEYOND) * self.spacing;
        at.distance(end) > beyond + gap
    }
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
