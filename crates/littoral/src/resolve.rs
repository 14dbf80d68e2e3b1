//! Stage 1 of a step: curves become numbers.
//!
//! For every behaviour in use, each property is resolved to a [`Field`]: one number where all particles agree
//! (nearly always), a column where bodies differ or where a curve runs over the particle's own state. Bodies
//! without the behaviour have weight 0. Laws take what they need as a [`Coefficient`], which costs nothing
//! when it is one number.

use rayon::prelude::*;

use crate::behaviour::{BehaviourUse, Kind, Schema, Value};
use crate::behaviours::{self, Behaviour};
use crate::columns::{BODY, CONCENTRATION, DENSITY, POSITION, PRESSURE, SATURATION, VELOCITY};
use crate::particles::Particles;
use crate::simd::*;
use crate::timeline::{Curve, Driver};

/// A quantity of every particle.
#[derive(Clone, Debug)]
pub struct Field {
    uniform: f32,
    /// Empty when uniform.
    values: Vec<f32>,
    /// Smallest and largest value of any body that uses the behaviour, whether or not it has particles yet.
    range: [f32; 2],
}

impl Field {
    pub fn uniform(value: f32) -> Field {
        Field { uniform: value, values: Vec::new(), range: [value; 2] }
    }

    pub fn at(&self, i: usize) -> f32 {
        self.values.get(i).copied().unwrap_or(self.uniform)
    }

    /// The one value of all particles, if they agree.
    pub fn as_uniform(&self) -> Option<f32> {
        self.values.is_empty().then_some(self.uniform)
    }

    /// Largest value of any body that uses the behaviour.
    pub fn max(&self) -> f32 {
        self.range[1]
    }

    pub fn min(&self) -> f32 {
        self.range[0]
    }

    pub fn coefficient(&self) -> Coefficient<'_> {
        if self.values.is_empty() {
            Coefficient::Uniform(self.uniform)
        } else {
            Coefficient::Column(&self.values)
        }
    }
}

/// A field as a pair law reads it.
#[derive(Clone, Copy, Debug)]
pub enum Coefficient<'a> {
    Uniform(f32),
    Column(&'a [f32]),
}

impl Coefficient<'_> {
    #[inline(always)]
    pub fn at(self, i: usize) -> f32 {
        match self {
            Coefficient::Uniform(v) => v,
            Coefficient::Column(values) => values[i],
        }
    }

    /// Mean of particle i's value and each neighbour's.
    ///
    /// # Safety
    /// Every index is less than the number of particles.
    #[inline(always)]
    pub unsafe fn mean<S: Simd>(self, simd: S, i: usize, others: &[u32; LANES]) -> Lanes<S> {
        match self {
            Coefficient::Uniform(v) => splat(simd, v),
            Coefficient::Column(values) => {
                // SAFETY: the caller's promise; columns have one value for each particle.
                (unsafe { gather_scalar(simd, values, others) } + values[i]) * 0.5
            }
        }
    }

    /// Harmonic mean of particle i's value and each neighbour's; 0 if either is.
    ///
    /// # Safety
    /// Every index is less than the number of particles.
    #[inline(always)]
    pub unsafe fn harmonic_mean<S: Simd>(self, simd: S, i: usize, others: &[u32; LANES]) -> Lanes<S> {
        match self {
            Coefficient::Uniform(v) => splat(simd, v),
            Coefficient::Column(values) => {
                // SAFETY: the caller's promise; columns have one value for each particle.
                let other = unsafe { gather_scalar(simd, values, others) };
                other * (2.0 * values[i]) / (other + values[i]).max(splat(simd, f32::MIN_POSITIVE))
            }
        }
    }

    /// Whether the law has any effect at all.
    pub fn is_zero(self) -> bool {
        matches!(self, Coefficient::Uniform(0.0))
    }
}

/// A behaviour with its properties at this instant.
pub struct Resolved {
    pub behaviour: &'static dyn Behaviour,
    /// How each body uses it; `None` for bodies that do not.
    uses: Vec<Option<BehaviourUse>>,
    weight: Field,
    /// As in the schema; a vector takes three places.
    fields: Vec<Field>,
    /// Each number times the weight.
    weighted: Vec<Field>,
}

impl Resolved {
    /// Every behaviour that some body uses, in the registry's order.
    pub fn all(bodies: &[Vec<BehaviourUse>]) -> Vec<Resolved> {
        let used = |schema: &'static Schema| -> Vec<Option<BehaviourUse>> {
            let find =
                |uses: &Vec<BehaviourUse>| uses.iter().find(|u| std::ptr::eq(u.schema, schema)).cloned();
            bodies.iter().map(find).collect()
        };
        behaviours::REGISTRY
            .iter()
            .map(|&behaviour| (behaviour, used(behaviour.schema())))
            .filter(|(_, uses)| uses.iter().any(Option::is_some))
            .map(|(behaviour, uses)| {
                let places: usize = behaviour.schema().properties.iter().map(|p| places(&p.kind)).sum();
                let blank = vec![Field::uniform(0.0); places];
                Resolved {
                    behaviour,
                    uses,
                    weight: Field::uniform(0.0),
                    fields: blank.clone(),
                    weighted: blank,
                }
            })
            .collect()
    }

    /// Whether it works between kick and drift, as some body uses it.
    pub fn has_solve(&self) -> bool {
        self.uses.iter().flatten().any(|used| self.behaviour.has_solve(used))
    }

    /// Whether a body uses it.
    pub fn is_used_by(&self, body: u32) -> bool {
        self.uses[body as usize].is_some()
    }

    /// How a body uses it.
    pub fn used_by(&self, body: u32) -> Option<&BehaviourUse> {
        self.uses[body as usize].as_ref()
    }

    /// The bodies that use it, ascending.
    pub fn bodies(&self) -> impl Iterator<Item = u32> {
        (0..self.uses.len() as u32).filter(|&body| self.is_used_by(body))
    }

    /// How bodies use it.
    pub fn uses(&self) -> impl Iterator<Item = &BehaviourUse> {
        self.uses.iter().flatten()
    }

    pub fn weight(&self) -> &Field {
        &self.weight
    }

    /// A property, by name.
    pub fn field(&self, property: &str) -> &Field {
        &self.fields[self.place(property)]
    }

    /// A numeric property times the weight.
    pub fn weighted(&self, property: &str) -> &Field {
        &self.weighted[self.place(property)]
    }

    /// Components of a vector property.
    pub fn vector(&self, property: &str) -> [&Field; 3] {
        let place = self.place(property);
        [&self.fields[place], &self.fields[place + 1], &self.fields[place + 2]]
    }

    /// A property that is not the same number at all times and for all particles of a body, by name.
    pub fn changes(&self) -> Option<&'static str> {
        let changes = |curve: &Curve| curve.as_constant().is_none();
        for used in self.uses.iter().flatten() {
            if changes(&used.weight) {
                return Some("weight");
            }
            let changing =
                used.values.iter().position(|value| matches!(value, Value::Number(curve) if changes(curve)));
            if let Some(k) = changing {
                return Some(self.behaviour.schema().properties[k].name);
            }
        }
        None
    }

    /// A number of one body at a time, s; `None` if the body does not use the behaviour. Over a column it is that of
    /// a particle with zeros in all of them.
    pub fn of_body(&self, body: u32, property: &str, time: f64) -> Option<f32> {
        let k = self.behaviour.schema().index_of(property).expect("a property of this behaviour");
        let used = self.uses[body as usize].as_ref()?;
        let curve = number(&used.values[k], 0);
        let place = if curve.driver == Driver::Time { time } else { 0.0 };
        Some(curve.at(place) as f32)
    }

    /// The curve of a body's number; `None` if the body does not use the behaviour.
    pub fn curve_of(&self, body: u32, property: &str) -> Option<Curve> {
        let k = self.behaviour.schema().index_of(property).expect("a property of this behaviour");
        self.uses[body as usize].as_ref().map(|used| number(&used.values[k], 0))
    }

    /// The weight for each body; 0 for bodies without the behaviour. Only where nothing [`Resolved::changes`].
    pub fn weight_by_body(&self) -> Vec<f32> {
        let weight = |used: &Option<BehaviourUse>| used.as_ref().map_or(0.0, |u| u.weight.at(0.0) as f32);
        self.uses.iter().map(weight).collect()
    }

    /// A property for each body. Only where nothing [`Resolved::changes`].
    pub fn by_body(&self, property: &str) -> Vec<f32> {
        self.components_by_body(property, 0)
    }

    /// The same for one component of a vector.
    pub fn components_by_body(&self, property: &str, component: usize) -> Vec<f32> {
        let k = self.behaviour.schema().index_of(property).expect("a property of this behaviour");
        let value = |used: &BehaviourUse| number(&used.values[k], component).at(0.0) as f32;
        // Bodies without the behaviour have weight 0: any value will do, so take one that keeps it uniform.
        let other = self.uses.iter().flatten().map(value).next().unwrap_or(0.0);
        self.uses.iter().map(|used| used.as_ref().map_or(other, value)).collect()
    }

    /// A numeric property times the weight, for each body. Only where nothing [`Resolved::changes`].
    pub fn weighted_by_body(&self, property: &str) -> Vec<f32> {
        self.weight_by_body().iter().zip(self.by_body(property)).map(|(w, v)| w * v).collect()
    }

    /// A vector property times the weight, for one body at time `t`; of a weight that depends on the particle, the
    /// largest. Zero for bodies without the behaviour.
    pub fn weighted_vector_of(&self, property: &str, body: usize, t: f64) -> [f64; 3] {
        let Some(used) = &self.uses[body] else { return [0.0; 3] };
        let k = self.behaviour.schema().index_of(property).expect("a property of this behaviour");
        let weight = range_now(&used.weight, t)[1];
        [0, 1, 2].map(|component| weight * number(&used.values[k], component).at(t))
    }

    fn place(&self, property: &str) -> usize {
        let properties = self.behaviour.schema().properties;
        let index = properties.iter().position(|p| p.name == property);
        let index = index.unwrap_or_else(|| panic!("{} has no `{property}`", self.behaviour.schema().name));
        properties[..index].iter().map(|p| places(&p.kind)).sum()
    }

    /// Evaluates all curves at time `t`, s. A schema's `Automatic` values must have been filled in before.
    pub fn evaluate(&mut self, t: f64, particles: &Particles) {
        let curves: Vec<Option<&Curve>> = self.uses.iter().map(|u| u.as_ref().map(|u| &u.weight)).collect();
        evaluate(&curves, 0.0, t, particles, &mut self.weight);
        let mut place = 0;
        for (k, property) in self.behaviour.schema().properties.iter().enumerate() {
            for component in 0..places(&property.kind) {
                let curves = self.uses.iter().map(|u| u.as_ref().map(|u| number(&u.values[k], component)));
                let curves: Vec<Option<Curve>> = curves.collect();
                let curves: Vec<Option<&Curve>> = curves.iter().map(Option::as_ref).collect();
                // Bodies without the behaviour have weight 0; any valid value will do, so take one that keeps it uniform.
                let other = curves.iter().flatten().next().map_or(0.0, |c| range_now(c, t)[0]);
                evaluate(&curves, other, t, particles, &mut self.fields[place]);
                product(&self.weight, &self.fields[place], particles.len(), &mut self.weighted[place]);
                place += 1;
            }
        }
    }
}

fn places(kind: &Kind) -> usize {
    if matches!(kind, Kind::Vector { .. }) { 3 } else { 1 }
}

fn number(value: &Value, component: usize) -> Curve {
    match value {
        Value::Number(curve) => curve.clone(),
        Value::Vector(v) => Curve::constant(v[component]),
        Value::Choice(k) => Curve::constant(*k as f64),
        Value::Switch(on) => Curve::constant(f64::from(u8::from(*on))),
        Value::Automatic => panic!("automatic values are filled in when the world is built"),
    }
}

/// What a curve has for one particle, at a time, s.
pub fn value_at(curve: &Curve, time: f64, particles: &Particles, i: usize) -> f32 {
    match &curve.driver {
        Driver::Time => curve.at(time) as f32,
        other => curve.at(driver(other, time, particles, i)) as f32,
    }
}

fn evaluate(curves: &[Option<&Curve>], other: f64, t: f64, particles: &Particles, field: &mut Field) {
    // The value of each body now, or `None` where it depends on the particle.
    let now = |curve: &Option<&Curve>| match curve {
        None => Some(other),
        Some(c) if c.driver == Driver::Time => Some(c.at(t)),
        Some(c) => c.as_constant(),
    };
    let per_body: Vec<Option<f64>> = curves.iter().map(now).collect();
    field.values.clear();
    let ranges = curves.iter().flatten().map(|curve| range_now(curve, t));
    let [least, most] = ranges
        .reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
        .expect("a behaviour in use is used by some body");
    field.range = [least as f32, most as f32];
    if let Some(Some(first)) = per_body.first()
        && per_body.iter().all(|v| *v == Some(*first))
    {
        field.uniform = *first as f32;
        return;
    }
    let bodies = particles.get(&BODY);
    field.values.par_extend(bodies.par_iter().enumerate().map(|(i, &body)| {
        match (per_body[body as usize], curves[body as usize]) {
            (Some(v), _) => v as f32,
            (None, Some(curve)) => curve.at(driver(&curve.driver, t, particles, i)) as f32,
            (None, None) => unreachable!("a body without a curve has a value"),
        }
    }));
}

/// Smallest and largest value that a curve has now: over a column, its keys bound it.
fn range_now(curve: &Curve, t: f64) -> [f64; 2] {
    match &curve.driver {
        Driver::Time => [curve.at(t); 2],
        Driver::Column(_) | Driver::Formula(_) => [curve.min(), curve.max()],
    }
}

fn product(weight: &Field, value: &Field, len: usize, out: &mut Field) {
    out.values.clear();
    out.uniform = weight.uniform * value.uniform;
    // Weights and properties are not negative, except where a test turns a law around.
    let corners = [0, 1].map(|i| [0, 1].map(|j| weight.range[i] * value.range[j])).concat();
    out.range = [
        corners.iter().copied().fold(f32::INFINITY, f32::min),
        corners.iter().copied().fold(f32::NEG_INFINITY, f32::max),
    ];
    if weight.as_uniform().is_none() || value.as_uniform().is_none() {
        out.values.extend((0..len).map(|i| weight.at(i) * value.at(i)));
    }
}

/// Where a particle stands on the axis of a curve that does not run over time alone; `t` is the time, s.
fn driver(driver: &Driver, t: f64, particles: &Particles, i: usize) -> f64 {
    let column = match driver {
        Driver::Time => unreachable!("time is the same for all particles"),
        Driver::Formula(formula) => {
            let (x, v) = (particles.get(&POSITION)[i], particles.get(&VELOCITY)[i]);
            let [x, y, z, vx, vy, vz] = [x.x, x.y, x.z, v.x, v.y, v.z].map(f64::from);
            return formula.program.eval(&[x, y, z, vx, vy, vz, t]);
        }
        Driver::Column(column) => *column,
    };
    f64::from(match column {
        "density" => particles.get(&DENSITY)[i],
        "pressure" => particles.get(&PRESSURE)[i],
        "speed" => particles.get(&VELOCITY)[i].length(),
        // Nothing is dissolved where nothing disperses, and nothing is wet where nothing is porous.
        "concentration" => particles.try_get(&CONCENTRATION).map_or(0.0, |c| c[i]),
        "saturation" => particles.try_get(&SATURATION).map_or(0.0, |s| s[i]),
        "x" => particles.get(&POSITION)[i].x,
        "y" => particles.get(&POSITION)[i].y,
        "z" => particles.get(&POSITION)[i].z,
        other => unreachable!("the scene's check admits no `{other}`"),
    })
}
