//! Contact: bodies that hold a shape do not pass through themselves, each other, walls or solids.
//!
//! What it does is in `structure/contact.rs`. Every body that holds a shape has it, unless the scene gives it no weight.

use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit, Value};
use crate::behaviours::{Behaviour, LimitState};
use crate::resolve::Resolved;
use crate::solids::Wrench;
use crate::structure::barrier;
use crate::structure::contact::{self, Surroundings};
use crate::timestep::{Limit, Limits};
use crate::world::World;
use glam::Vec4;

pub static SCHEMA: Schema = Schema {
    name: "contact",
    summary: "bodies that hold a shape collide: with themselves, each other, walls and solids",
    law: "impulses along n such that (v_i − v_j)·n Δt ≥ d − r for balls that touch at r = d; sideways at most μ as much",
    half_weight: "touches at half the distance",
    reference: "Bayraktar2010, 4.3; Tonge2012",
    properties: &[
        Property {
            name: "friction",
            meaning: "Coulomb's μ; between two bodies, the mean of both",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.3), min: 0.0, max: 10.0 },
        },
        Property {
            name: "distance",
            meaning: "at which the middles of two particles touch; they touch walls and solids at half of it",
            kind: Kind::Number {
                unit: Unit::Metre,
                default: Default::Automatic("the body's spacing"),
                min: 1e-9,
                max: 1e3,
            },
        },
        Property {
            name: "method",
            meaning: "impulses that let nothing through, or the springs and dampers of discrete elements",
            kind: Kind::Choice { options: &["impulses", "discrete-elements"], default: 0 },
        },
        Property {
            name: "stiffness",
            meaning: "of discrete elements; the largest of any body counts",
            kind: Kind::Number {
                unit: Unit::NewtonPerMetre,
                default: Default::Value(100.0),
                min: 0.0,
                max: 1e12,
            },
        },
        Property {
            name: "restitution",
            meaning: "of discrete elements: part of the speed that they give back; the largest of any body counts",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.1), min: 0.0, max: 1.0 },
        },
        Property {
            name: "pores",
            meaning: "of a sheet: part of the fluid that its weave lets through, 0 for none and 1 for all",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.0), min: 0.0, max: 1.0 },
        },
    ],
};

/// Place of the default among the methods.
const IMPULSES: usize = 0;
/// That of the other one.
pub const DISCRETE_ELEMENTS: usize = 1;

pub struct Contact;

impl Behaviour for Contact {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn is_local(&self) -> bool {
        true
    }

    fn has_solve(&self, used: &BehaviourUse) -> bool {
        *used.value("method") == Value::Choice(IMPULSES)
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        let distance = now.weighted("distance").max();
        let structure = state.structure;
        // Contacts are found among neighbours, and resolved bit by bit: nodes near each other come closer by half a ball
        // at most. Before the first look at them, nothing is known but the speed.
        let (closing, fastest) = structure.contacts.speeds().unwrap_or((2.0 * state.speed, state.speed));
        let mut offer = |way: f32, speed: f32| {
            if distance > 0.0 && speed > 0.0 {
                limits.offer(Limit::Velocity, way / speed);
            }
        };
        offer(0.5 * distance, closing);
        // Others must not come near and meet within one step.
        offer(0.5 * (contact::NEAR - 1.0) * distance, fastest);
        // Fluid must not get past a sheet between two looks either.
        if state.has_fluid && !structure.sheets.is_empty() {
            offer(0.25 * distance, state.speed);
        }
        // A pile carries its weight from step to step: it must not sink much in one.
        limits.offer_acceleration(0.1, distance, state.acceleration);
    }
}

impl World {
    /// How bodies touch, if there are sheets and fluids that could pass them.
    fn barrier(&self) -> Option<usize> {
        let is_needed = self.has_fluid() && !self.structure.sheets.is_empty() && self.has_solve();
        let is_contact = |now: &Resolved| std::ptr::eq(now.behaviour.schema(), &SCHEMA);
        is_needed.then(|| self.behaviours.iter().position(is_contact)).flatten()
    }

    /// Before positions take the velocities: sheets note where fluid is.
    pub(crate) fn raise_barrier(&mut self) {
        if self.barrier().is_some() {
            self.structure.barrier.remember(&self.particles);
        }
    }

    /// Stage 8: fluid that got through a sheet is put back.
    pub(crate) fn hold_fluid(&mut self) {
        let Some(contact) = self.barrier() else { return };
        let mut barrier = std::mem::take(&mut self.structure.barrier);
        let at = barrier::Setting {
            lists: &self.neighbourhood,
            spacing: self.discretisation.spacing,
            seed: self.seed,
            period: 0.5
                * self.periods.length.iter().filter(|&&l| l > 0.0).fold(f32::INFINITY, |a, &b| a.min(b)),
        };
        let now = &self.behaviours[contact];
        self.neighbourhood.slack -= barrier.hold(now, &at, &self.structure, &mut self.particles);
        self.caught += std::mem::take(&mut barrier.caught);
        self.structure.barrier = barrier;
    }

    /// How bodies touch, and whether by impulses.
    fn contact(&self) -> Option<(&Resolved, bool)> {
        let now = self.behaviours.iter().find(|now| std::ptr::eq(now.behaviour.schema(), &SCHEMA));
        now.filter(|_| !self.structure.is_empty()).map(|now| (now, now.has_solve()))
    }

    /// Stage 4: springs and dampers between bodies, where the scene asks for discrete elements.
    pub(crate) fn press_contacts(&mut self, dt: f32, acceleration: &mut [Vec4]) {
        let mut contacts = std::mem::take(&mut self.structure.contacts);
        let mut pushes = vec![Wrench::default(); self.solids.len()];
        if let Some((now, false)) = self.contact() {
            let at = self.surroundings(dt);
            contacts.press(now, &at, &self.structure, &self.particles, (acceleration, &mut pushes));
        }
        self.structure.contacts = contacts;
        for (solid, push) in self.solids.iter_mut().zip(pushes) {
            solid.wrench += push;
        }
    }

    /// The longest step that discrete elements can bear.
    pub(crate) fn offer_contact_limit(&self, limits: &mut Limits) {
        if let Some((now, false)) = self.contact() {
            let (mass, stiffness) = (self.structure.contacts.lightest(), now.field("stiffness").max());
            if mass > 0.0 && stiffness > 0.0 {
                // Several at once make it stiffer.
                limits.offer(Limit::Stiffness, 0.2 * (mass / stiffness).sqrt());
            }
        }
    }

    fn surroundings(&self, dt: f32) -> Surroundings<'_> {
        Surroundings {
            lists: &self.neighbourhood,
            periods: &self.periods,
            domain: &self.domain,
            solids: &self.solids,
            dt,
        }
    }

    /// Stage 6, last: what touches does not pass.
    pub(crate) fn resolve_contacts(&mut self, dt: f32) {
        let Some(now) = self.behaviours.iter().position(|now| std::ptr::eq(now.behaviour.schema(), &SCHEMA))
        else {
            return;
        };
        if !matches!(self.contact(), Some((_, true))) {
            return;
        }
        let now = &self.behaviours[now];
        let mut contacts = std::mem::take(&mut self.structure.contacts);
        let at = Surroundings {
            lists: &self.neighbourhood,
            periods: &self.periods,
            domain: &self.domain,
            solids: &self.solids,
            dt,
        };
        let mut pushes = vec![Wrench::default(); self.solids.len()];
        contacts.resolve(now, &at, &self.structure, &mut self.particles, &mut pushes);
        self.structure.contacts = contacts;
        for (solid, push) in self.solids.iter_mut().zip(pushes) {
            solid.wrench += push;
        }
    }
}
