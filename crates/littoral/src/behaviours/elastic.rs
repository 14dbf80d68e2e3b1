//! Elastic bodies: they come back to their shape, or yield, or break.
//!
//! Hooke's law with Young's modulus E and Poisson's ratio ν, on the neighbourhoods that particles had at rest (total
//! Lagrangian SPH): `structure/bonds.rs` has the strains, `solve/elastic.rs` the energy, the forces and the implicit step.
//! In 2-D a body is infinitely long in depth (plane strain), and masses are per metre of it.
//!
//! Inner friction is Kelvin's and Voigt's: a bar that is stretched at the rate ε̇ resists with E ε + η ε̇.
//!
//! **Yielding.** Strain is what is elastic and what the material has got used to. Where √(3/2) |dev σ| would be more than the yield
//! stress (von Mises), the rest becomes plastic strain [OBrien2002]; its volume does not change.
//!
//! **Breaking.** A bond is cut once it is longer than at rest by more than `break_strain` (brittle [Silling2005]), or once its ends have flowed by more than
//! `ductility` (ductile). Of the bonds of a particle only the worst one is cut in a step: its neighbours may be relieved by that. Cuts
//! need no repair: fits are made anew from the bonds that are left, and what hangs by none is dust.
//!
//! Nodes are boundary samples to fluids, and touch others as `contact` says. Reads `POSITION`, `REFERENCE`, `MASS`, `VOLUME`; keeps `ROTATION`, `ELASTIC_CHANGE`,
//! `PLASTIC_STRAIN`, `PLASTIC_SHEAR`. Kept honest by `littoral validate cantilever`, `uniaxial`, `free-rotation` and
//! `fracture`, and by the tests below.

use glam::{DVec3, Mat3, Vec3, Vec4};
use rayon::prelude::*;

use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit, Value};
use crate::behaviours::{Around, Behaviour, LimitState, Solved};
use crate::columns::{
    ELASTIC_CHANGE, PLASTIC_SHEAR, PLASTIC_STRAIN, PORE_STIFFNESS, PORE_STRESS, REFERENCE, ROTATION, SUPPORT,
    SWELLING, VOLUME,
};
use crate::discretisation::Discretisation;
use crate::neighbourhood::Periods;
use crate::particles::Particles;
use crate::resolve::{Field, Resolved};
use crate::scene::Dimensions;
use crate::solids::Wrench;
use crate::solve::elastic::{Elastic as Body, Flow, Form, Matter};
use crate::structure::Structure;
use crate::structure::bonds::Bonds;
use crate::structure::nodes::GONE;
use crate::timestep::{Limit, Limits};

pub static SCHEMA: Schema = Schema {
    name: "elastic",
    summary: "comes back to its shape; may yield and break",
    law: "f = −∂U/∂x, U = Σ V (μ ε:ε + ½λ (tr ε)²), ε = sym(RᵀF) − 1 of the places at rest",
    half_weight: "half the stiffness, and half the inner friction",
    reference: "Mueller2004; Solenthaler2007; Lenaerts2009, 4.2; Kugelstadt2021",
    properties: &[
        Property {
            name: "young_modulus",
            meaning: "Young's modulus E",
            kind: Kind::Number { unit: Unit::Pascal, default: Default::Required, min: 1e-3, max: 1e13 },
        },
        Property {
            name: "poisson_ratio",
            meaning: "Poisson's ratio ν: how much it gets thinner when it is stretched",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.3), min: 0.0, max: 0.49 },
        },
        VISCOSITY,
        Property {
            name: "strain",
            meaning: "seen from the nearest rotation, or Green's, which is stiffer when stretched and softer when compressed",
            kind: Kind::Choice { options: &["corotated", "green"], default: 0 },
        },
        METHOD,
        Property {
            name: "yield_stress",
            meaning: "stress at which it flows (von Mises); 0: never",
            kind: Kind::Number { unit: Unit::Pascal, default: Default::Value(0.0), min: 0.0, max: 1e13 },
        },
        Property {
            name: "ductility",
            meaning: "plastic strain at which bonds are cut; 0: never",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.0), min: 0.0, max: 1e3 },
        },
        Property {
            name: "break_strain",
            meaning: "strain at which a bond is cut, flow or not; 0: never",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.0), min: 0.0, max: 1e3 },
        },
    ],
};

/// Of everything elastic.
pub(super) const VISCOSITY: Property = Property {
    name: "viscosity",
    meaning: "inner friction η of Kelvin and Voigt: what is stretched at the rate ε̇ resists with E ε + η ε̇",
    kind: Kind::Number { unit: Unit::PascalSecond, default: Default::Value(0.0), min: 0.0, max: 1e9 },
};

const METHOD: Property = Property {
    name: "method",
    meaning: "a solve at any time step, which damps what is faster than that, or forces at steps as short as sound asks for",
    kind: Kind::Choice { options: &["implicit", "explicit"], default: 0 },
};

pub struct Elastic;

impl Behaviour for Elastic {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn holds_shape(&self) -> bool {
        true
    }

    fn require_columns(&self, particles: &mut Particles) {
        particles.require(&ROTATION);
        particles.require(&ELASTIC_CHANGE);
        particles.require(&PLASTIC_STRAIN);
        particles.require(&PLASTIC_SHEAR);
    }

    fn link(&self, now: &Resolved, d: &Discretisation, structure: &mut Structure, particles: &mut Particles) {
        link(Form::Solid, now, d, structure, particles);
        for body in structure.elastic.iter_mut().filter(|body| body.form == Form::Solid) {
            let used = now.used_by(body.body).expect("a body with bonds uses what made them");
            if !is_zero(used, "yield_stress") {
                body.flow = load_flow(body, structure.nodes.rows(), particles);
            }
        }
    }

    fn strain(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
        acceleration: &mut [Vec4],
    ) {
        for_each(Form::Solid, true, now, structure, |body, structure| {
            follow(body, now, around, structure, particles);
            body.accelerate(around.rows.periods(), particles, acceleration);
        });
    }

    fn has_solve(&self, used: &BehaviourUse) -> bool {
        !is_explicit(used)
    }

    fn solve(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
        pushes: &mut [Wrench],
    ) -> Option<Solved> {
        let mut solved = None;
        for_each(Form::Solid, false, now, structure, |body, structure| {
            follow(body, now, around, structure, particles);
            let one = body.solve(around, around.rows.periods(), &structure.pins, particles, pushes);
            solved = worse(solved, one);
        });
        solved
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        limit(now, state, limits);
    }
}

/// The body's bonds, broken as they now are, and the state of its material.
fn follow(
    body: &mut Body,
    now: &Resolved,
    around: &Around,
    structure: &Structure,
    particles: &mut Particles,
) {
    let (periods, dt) = (around.rows.periods(), around.dt);
    body.find(&structure.nodes, particles);
    let [modulus, ratio, viscosity] =
        [now.weighted("young_modulus"), now.field("poisson_ratio"), now.weighted("viscosity")];
    let [green, yield_stress] = [now.field("strain"), now.weighted("yield_stress")];
    let pores = particles.try_get(&PORE_STRESS).zip(particles.try_get(&SWELLING));
    let stiffness = particles.try_get(&PORE_STIFFNESS);
    body.describe(|row| {
        let (e, nu) = (modulus.at(row), ratio.at(row));
        let retardation = viscosity.at(row) / e.max(f32::MIN_POSITIVE);
        let (pore_stress, swelling) =
            pores.map_or((0.0, 0.0), |(stress, swelling)| (stress[row], swelling[row]));
        Matter {
            modulus: e,
            lame: e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
            shear: e / (2.0 * (1.0 + nu)),
            rigidity: 0.0,
            retardation,
            is_green: green.at(row) > 0.5,
            yield_stress: match yield_stress.at(row) {
                0.0 => f32::INFINITY,
                stress => stress,
            },
            swelling,
            pore_stress,
            pore_stiffness: stiffness.map_or(0.0, |stiffness| stiffness[row] * dt / (dt + retardation)),
        }
    });
    follow_breaks(body, now.field("break_strain"), Some(now.field("ductility")), periods, particles);
    body.strain(periods, particles);
    save_flow(body, particles);
}

/// Cuts what is strained too much, or has flowed too far.
pub(super) fn follow_breaks(
    body: &mut Body,
    break_strain: &Field,
    ductility: Option<&Field>,
    periods: &Periods,
    particles: &mut Particles,
) {
    if break_strain.max().max(ductility.map_or(0.0, Field::max)) == 0.0 {
        return;
    }
    let limit = |value: f32| if value > 0.0 { value } else { f32::INFINITY };
    let broken = body.overstrained(periods, particles, |row| {
        [limit(break_strain.at(row)), limit(ductility.map_or(0.0, |ductility| ductility.at(row)))]
    });
    body.cut(&broken, particles);
}

/// Makes the bonds of all bodies of one form that use a behaviour.
pub(super) fn link(
    form: Form,
    now: &Resolved,
    d: &Discretisation,
    structure: &mut Structure,
    particles: &Particles,
) {
    structure.elastic.retain(|body| body.form != form);
    let bodies: Vec<_> = structure.nodes.bodies().filter(|(body, _)| now.is_used_by(*body)).collect();
    for (body, nodes) in bodies {
        let rows = &structure.nodes.rows()[nodes.start as usize..nodes.end as usize];
        let of_row = |row: u32| (row != GONE).then_some(row as usize);
        let reference = particles.get(&REFERENCE);
        // Who is gone has no neighbours.
        let places: Vec<DVec3> = rows
            .iter()
            .map(|&row| of_row(row).map_or(DVec3::NAN, |row| reference[row].truncate().as_dvec3()))
            .collect();
        let volume = particles.get(&VOLUME);
        let volumes: Vec<f32> = match structure.sheets.iter().find(|sheet| sheet.body == body) {
            Some(sheet) if form != Form::Solid => sheet.volumes(&places),
            _ => rows.iter().map(|&row| of_row(row).map_or(0.0, |row| volume[row])).collect(),
        };
        let support =
            rows.iter().find_map(|&row| of_row(row)).map_or(d.support, |row| particles.get(&SUPPORT)[row]);
        let spacing = f64::from(support) * f64::from(d.spacing) / f64::from(d.support);
        let mut bonds = Bonds::new(&places, &volumes, spacing, d.dimensions, form != Form::Solid);
        if let Some((_, cuts)) = structure.cuts.iter().find(|(of, _)| *of == body) {
            bonds.cut(cuts);
        }
        let gone = rows.iter().filter(|&&row| row == GONE).count();
        let is_flat = d.dimensions == Dimensions::Two;
        structure.elastic.push(Body::new(body, form, nodes, bonds, is_flat, gone));
    }
}

/// Calls for each body of a form whose method is explicit, or is not.
pub(super) fn for_each(
    form: Form,
    explicit: bool,
    now: &Resolved,
    structure: &mut Structure,
    mut call: impl FnMut(&mut Body, &Structure),
) {
    let mut bodies = std::mem::take(&mut structure.elastic);
    let is_meant = |body: &&mut Body| {
        body.form == form && now.used_by(body.body).is_some_and(|used| is_explicit(used) == explicit)
    };
    bodies.iter_mut().filter(is_meant).for_each(|body| call(body, structure));
    structure.elastic = bodies;
}

fn is_explicit(used: &BehaviourUse) -> bool {
    used.schema.index_of("method").is_some_and(|k| used.values[k] == Value::Choice(1))
}

fn is_zero(used: &BehaviourUse, property: &str) -> bool {
    matches!(used.value(property), Value::Number(curve) if curve.as_constant() == Some(0.0))
}

pub(super) fn worse(so_far: Option<Solved>, one: Solved) -> Option<Solved> {
    let so_far = so_far.unwrap_or_default();
    Some(Solved {
        iterations: so_far.iterations.max(one.iterations),
        residual: so_far.residual.max(one.residual),
    })
}

/// Explicit bodies: sound crosses a part of a spacing, and friction evens out a part of a difference.
fn limit(now: &Resolved, state: &LimitState, limits: &mut Limits) {
    if !now.uses().any(is_explicit) {
        return;
    }
    let (e, nu) = (now.weighted("young_modulus").max(), now.field("poisson_ratio").max());
    let stiffness = e * (1.0 - nu) / ((1.0 + nu) * (1.0 - 2.0 * nu));
    let (spacing, density) = (state.discretisation.spacing, state.lightest);
    limits.offer(Limit::Sound, 0.3 * spacing * (density / stiffness.max(f32::MIN_POSITIVE)).sqrt());
    let viscosity = now.weighted("viscosity").max() * stiffness / e.max(f32::MIN_POSITIVE);
    limits.offer(Limit::Viscosity, 0.1 * spacing * spacing * density / viscosity.max(f32::MIN_POSITIVE));
}

impl Body {
    /// Says what each member is made of, from its row.
    pub(super) fn describe(&mut self, of: impl Fn(usize) -> Matter + Sync) {
        let mut matter = std::mem::take(&mut self.matter);
        matter.par_iter_mut().with_min_len(1024).zip(self.rows()).for_each(|(matter, &row)| {
            *matter = if row == GONE { Matter::default() } else { of(row as usize) };
        });
        self.matter = matter;
    }

    /// Bonds that must be cut: those above one of their limits (of strain, and of flow) that are the worst of both their ends.
    fn overstrained(
        &mut self,
        periods: &Periods,
        particles: &Particles,
        limits: impl Fn(usize) -> [f32; 2] + Sync,
    ) -> Vec<[u32; 2]> {
        self.load_places(particles);
        let (rows, flow) = (self.rows(), &self.flow);
        let limits_of = |k: usize| limits(rows[k] as usize);
        let score = |k: usize, bond: &crate::structure::bonds::Bond| {
            let partner = bond.partner as usize;
            let strain = self.stretch(k, bond, periods) - 1.0;
            if bond.weight == 0.0 || strain <= 0.0 {
                return 0.0;
            }
            let ([a, flow_a], [b, flow_b]) = (limits_of(k), limits_of(partner));
            let flowed = if flow.is_empty() { 0.0 } else { flow[k].total + flow[partner].total };
            (strain / (0.5 * (a + b))).max(flowed / (flow_a + flow_b))
        };
        let worst = |k: usize| self.bonds.of(k).iter().map(|bond| score(k, bond)).fold(0.0, f32::max);
        let worst: Vec<f32> = (0..self.bonds.len())
            .into_par_iter()
            .with_min_len(256)
            .map(|k| if rows[k] == GONE { 0.0 } else { worst(k) })
            .collect();
        let over = (0..self.bonds.len()).filter(|&k| worst[k] > 1.0);
        let of = |k: usize| {
            let worst = &worst;
            let is_worst = move |bond: &&crate::structure::bonds::Bond| {
                let own = score(k, bond);
                bond.partner as usize > k && own >= worst[k] && own >= worst[bond.partner as usize]
            };
            self.bonds.of(k).iter().filter(is_worst).map(move |bond| [k as u32, bond.partner])
        };
        over.flat_map(of).collect()
    }
}

fn load_flow(body: &Body, rows: &[u32], particles: &Particles) -> Vec<Flow> {
    let (straight, shear) = (particles.get(&PLASTIC_STRAIN), particles.get(&PLASTIC_SHEAR));
    let of = |&row: &u32| {
        if row == GONE {
            return Flow::default();
        }
        let (a, b) = (straight[row as usize], shear[row as usize]);
        let strain =
            Mat3::from_cols(Vec3::new(a.x, b.z, b.y), Vec3::new(b.z, a.y, b.x), Vec3::new(b.y, b.x, a.z));
        Flow { strain, total: a.w }
    };
    rows[body.nodes()].iter().map(of).collect()
}

fn save_flow(body: &Body, particles: &mut Particles) {
    if body.flow.is_empty() {
        return;
    }
    particles.update2((&PLASTIC_STRAIN, &PLASTIC_SHEAR), |straight, shear, _| {
        for (flow, &row) in body.flow.iter().zip(body.rows()).filter(|(_, row)| **row != GONE) {
            let m = &flow.strain;
            straight[row as usize] = Vec4::new(m.x_axis.x, m.y_axis.y, m.z_axis.z, flow.total);
            shear[row as usize] = Vec4::new(m.y_axis.z, m.x_axis.z, m.x_axis.y, 0.0);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Checkpoint;
    use crate::columns::{MASS, POSITION, VELOCITY};
    use crate::scene;
    use crate::sources::uniform;
    use crate::world::World;

    fn load(text: &str) -> crate::scene::Scene {
        scene::load("test", text, &[]).unwrap_or_else(|problems| panic!("{problems:?}")).0
    }

    /// A block of 4 × 4 × 4, with more properties of `elastic`.
    fn block(more: &str) -> crate::scene::Scene {
        load(&format!(
            "world.gravity = [0, 0, 0]\nsph.spacing = 0.1\ntime.until = 10\n[[body]]\nname = \"block\"\n\
             shape.box = {{ min = [0, 0, 0], max = [0.4, 0.4, 0.4] }}\n\
             behaviours.elastic = {{ young_modulus = 1e5{more} }}"
        ))
    }

    /// Displaces every particle by up to `most`, m.
    fn shake(world: &mut World, most: f32) {
        world.particles.update(&POSITION, |position, particles| {
            for (x, &id) in position.iter_mut().zip(particles.get(&crate::columns::ID)) {
                let by = [0, 1, 2].map(|axis| (2.0 * uniform(7, id, axis) - 1.0) as f32 * most);
                *x += Vec3::from(by).extend(0.0);
            }
        });
    }

    /// Forces on all members, with energies, as the places are.
    fn forces(world: &mut World) -> (Vec<Vec4>, f64) {
        world.evaluate();
        let body = &world.structure.elastic[0];
        let mut force = vec![Vec4::ZERO; body.bonds.len()];
        body.forces(&world.periods, &mut force);
        (force, body.energy(&world.periods))
    }

    #[test]
    fn forces_are_the_slope_of_the_energy_and_keep_momentum() {
        for more in [", method = \"explicit\"", ", method = \"explicit\", strain = \"green\""] {
            let mut world = World::new(&block(more));
            shake(&mut world, 0.01);
            let (force, _) = forces(&mut world);
            let total = force.iter().fold(Vec4::ZERO, |sum, f| sum + *f).length();
            let size: f32 = force.iter().map(|f| f.length()).sum();
            assert!(total < 1e-5 * size, "{total} of {size}");
            let rows = world.structure.elastic[0].rows().to_vec();
            let at = |world: &World, k: usize| world.particles.get(&POSITION)[rows[k] as usize].truncate();
            let torque: Vec3 = (0..rows.len()).map(|k| at(&world, k).cross(force[k].truncate())).sum();
            assert!(torque.length() < 1e-4 * size * 0.4, "{torque} of {size}");
            // Rounding of an energy of some J, over a displacement of 10⁻³ m.
            for k in [0, 5, 21] {
                for axis in [0, 1, 2] {
                    let mut energy_at = |by: f32| {
                        let row = world.structure.elastic[0].rows()[k] as usize;
                        let before = world.particles.get(&POSITION)[row];
                        world.particles.get_mut(&POSITION)[row][axis] += by;
                        let energy = forces(&mut world).1;
                        let row = world.structure.elastic[0].rows()[k] as usize;
                        world.particles.get_mut(&POSITION)[row] = before;
                        energy
                    };
                    let slope = (energy_at(1e-3) - energy_at(-1e-3)) / 2e-3;
                    let expected = f64::from(-force[k][axis]);
                    assert!(
                        (slope - expected).abs() < 0.02 * f64::from(size) / 64.0,
                        "{k}, {axis}: {slope}, {expected}"
                    );
                }
            }
        }
    }

    /// A body that has turned, by any angle, is at rest; both with what it has yielded and without.
    #[test]
    fn a_rotation_is_no_strain() {
        for more in [", method = \"explicit\"", ", method = \"explicit\", yield_stress = 10"] {
            let mut world = World::new(&block(more));
            let turn = Mat3::from_axis_angle(Vec3::new(1.0, 2.0, -0.5).normalize(), 2.5);
            for x in world.particles.get_mut(&POSITION) {
                *x = (turn * x.truncate()).extend(0.0);
            }
            let (force, energy) = forces(&mut world);
            let most = force.iter().map(|f| f.length()).fold(0.0, f32::max);
            // E A is 1000 N for the face of one particle; strains are rounded to 10⁻⁶.
            assert!(most < 1e-2 && energy < 1e-6, "{most} N, {energy} J");
        }
    }

    #[test]
    fn the_solve_keeps_momentum_at_any_step() {
        let mut world = World::new(&block(""));
        shake(&mut world, 0.01);
        for step in [1e-4, 1e-3, 1e-2, 1e-1] {
            world.step(step).expect("a step");
            let rows = world.particles.get(&VELOCITY).iter().zip(world.particles.get(&MASS));
            let (sum, size) =
                rows.fold((Vec4::ZERO, 0.0), |(sum, size), (v, &m)| (sum + *v * m, size + v.length() * m));
            // Forces of up to E A = 1000 N are rounded; what they leave grows with the step.
            let tolerance = 1e-5_f32.max(5e-3 * step as f32);
            assert!(sum.length() < tolerance * size, "Δt = {step}: {sum} of {size}");
        }
        assert!(world.clock.speed < 0.2, "{}", world.clock.speed);
    }

    /// √(3/2) |dev σ| is the yield stress after the flow, and the volume stays.
    #[test]
    fn what_yields_has_the_yield_stress() {
        let matter = Matter { shear: 4e4, lame: 6e4, yield_stress: 100.0, ..Matter::default() };
        let strain = Mat3::from_cols(
            Vec3::new(0.02, 0.01, 0.0),
            Vec3::new(0.01, -0.01, 0.003),
            Vec3::new(0.0, 0.003, 0.004),
        );
        let mut flow = Flow::default();
        let left = flow.give_way(strain, &matter);
        let third = (left.x_axis.x + left.y_axis.y + left.z_axis.z) / 3.0;
        let deviator = (left - Mat3::from_diagonal(Vec3::splat(third))) * (2.0 * matter.shear);
        let size =
            [deviator.x_axis, deviator.y_axis, deviator.z_axis].map(Vec3::length_squared).iter().sum::<f32>();
        assert!(((1.5 * size).sqrt() / matter.yield_stress - 1.0).abs() < 1e-4);
        let change = flow.strain.x_axis.x + flow.strain.y_axis.y + flow.strain.z_axis.z;
        assert!(change.abs() < 1e-6 && flow.total > 0.0);
        let again = flow.give_way(left * 0.999, &matter);
        assert_eq!(again, left * 0.999);
    }

    /// Pulled until it flows and breaks; one run goes on, one is saved and goes on from there; on one thread and on three.
    #[test]
    fn cuts_and_flow_survive_a_checkpoint() {
        let scene = load(
            "dimensions = 2\nworld.gravity = [0, 0]\nsph.spacing = 0.02\ntime.until = 1\n[[body]]\nname = \"bar\"\n\
             shape.box = { min = [0, 0], max = [0.3, 0.1] }\n\
             behaviours.elastic = { young_modulus = 1e5, yield_stress = 2e3, ductility = 0.1, break_strain = 0.15 }\n\
             [[pin]]\nshape.box = { min = [-1, -1], max = [0.04, 1] }\n\
             [[pin]]\nshape.box = { min = [0.26, -1], max = [1, 1] }\n\
             motion.position = [[0, [0, 0, 0]], [1, [0.2, 0, 0]]]",
        );
        let run = |threads: usize, saves: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let mut world = World::new(&scene);
                world.advance_to(0.6).expect("a run");
                assert!(!world.structure.elastic[0].bonds.cuts().is_empty(), "nothing has broken yet");
                assert!(world.structure.elastic[0].flow.iter().any(|flow| flow.total > 0.0));
                world.forget_neighbours();
                if saves {
                    let saved = Checkpoint::of(&scene, &world, 0);
                    world = World::new(&scene);
                    world.restore(saved).expect("the same scene");
                }
                world.advance_to(0.8).expect("a run");
                let columns = [&POSITION, &VELOCITY, &PLASTIC_STRAIN, &REFERENCE];
                (columns.map(|column| world.particles.get(column).to_vec()), world.structure.cuts())
            })
        };
        let whole = run(1, false);
        assert_eq!(whole, run(1, true));
        assert_eq!(whole, run(3, false));
        // Pieces have numbers.
        assert!(whole.0[3].iter().any(|reference| reference.w > 0.0), "it is still in one piece");
    }

    #[test]
    fn laws_are_for_layers_or_for_volumes() {
        let code = |shape: &str, law: &str| {
            let text = format!("sph.spacing = 0.1\n[[body]]\n{shape}\nbehaviours.{law}.young_modulus = 1e5");
            scene::load("test", &text, &[]).err().map(|problems| format!("{problems:?}"))
        };
        let sheet = "shape.sheet = { corner = [0, 0, 0], along = [1, 0, 0], across = [0, 0, 1] }";
        let bowl = "shape.turned = { profile = [[0, 0, 0], [0.5, 0.1, 0], [0.7, 0.5, 0]] }";
        let cube = "shape.box = { min = [0, 0, 0], max = [1, 1, 1] }";
        for (shape, law) in [(sheet, "shell"), (bowl, "shell"), (sheet, "sph-cloth"), (cube, "elastic")] {
            assert_eq!(code(shape, law), None);
        }
        for (shape, law) in [(cube, "shell"), (cube, "sph-cloth"), (sheet, "elastic"), (bowl, "elastic")] {
            assert!(
                code(shape, law).is_some_and(|problems| problems.contains("wrong-form")),
                "{shape}, {law}"
            );
        }
    }

    /// A bowl at rest is at rest: its curvature is its own. Pressed flat, it comes back.
    #[test]
    fn a_bowl_keeps_its_shape() {
        let scene = load(
            "world.gravity = [0, 0, 0]\nsph.spacing = 0.05\n[[body]]\nname = \"bowl\"\nthickness = 0.02\n\
             shape.turned = { profile = [[0, 0, 0], [0.2, 0.03, 0], [0.35, 0.12, 0], [0.4, 0.25, 0]] }\n\
             behaviours.shell = { young_modulus = 1e6, viscosity = 2e4 }",
        );
        let mut world = World::new(&scene);
        assert_eq!(world.structure.sheets[0].nodes.len(), world.particles.len());
        world.advance_to(0.2).expect("a run");
        assert!(world.clock.speed < 1e-5, "{}", world.clock.speed);
        let height = |world: &World| {
            let heights = world.particles.get(&POSITION).iter().map(|x| x.y);
            heights.clone().fold(f32::MIN, f32::max) - heights.fold(f32::MAX, f32::min)
        };
        let at_rest = height(&world);
        world.particles.get_mut(&POSITION).iter_mut().for_each(|x| x.y *= 0.7);
        world.advance_to(1.5).expect("a run");
        assert!((height(&world) / at_rest - 1.0).abs() < 0.02, "{} of {at_rest}", height(&world));
    }

    /// A strip of cloth that hangs by its end is longer by ρ g L²/2E.
    #[test]
    fn cloth_stretches_as_its_modulus_says() {
        let (length, modulus) = (1.0f32, 5e4f32);
        let scene = load(&format!(
            "sph.spacing = 0.05\ntime.maximum_step = 0.01\n[[body]]\nname = \"cloth\"\nthickness = 0.001\ndensity = 100\n\
             shape.sheet = {{ corner = [0, 0, 0], along = [0.5, 0, 0], across = [0, -{length}, 0] }}\n\
             behaviours.sph-cloth = {{ young_modulus = {modulus}, viscosity = 5e3 }}\n\
             [[pin]]\nshape.box = {{ min = [-1, -0.01, -1], max = [1, 1, 1] }}"
        ));
        let mut world = World::new(&scene);
        world.advance_to(2.0).expect("a run");
        let lowest = world.particles.get(&POSITION).iter().map(|x| x.y).fold(0.0, f32::min);
        let expected = 100.0 * 9.81 * length * length / (2.0 * modulus);
        // Along the rows of a grid the springs are a fifth stiffer than in the mean of all directions.
        let stretch = -lowest - length;
        assert!((stretch / expected - 1.0).abs() < 0.2, "{stretch}, {expected}");
    }
}
