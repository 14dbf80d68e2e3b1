//! Pores: liquid inside a body of particles, on it, and on its way in and out [Lenaerts2009, ch. 6].
//!
//! Any body that holds a shape may be `porous`, and so may sand (`behaviours/porous.rs` says what can be set). Its particles carry liquid: so much
//! mass inside (`LIQUID`), so much as a film on the outside (`FILM`). In every fourth step, after all has moved,
//!
//! - liquid flows from particle to particle, and out of the surface or into it (`flow.rs`, `network.rs`, `grains.rs`, `law.rs`);
//! - fluid particles that touch the surface give what the pores ask for, and shrink; what is left of very small ones joins the film
//!   (`surface.rs`);
//! - films that have gathered enough let go of a fluid particle, or make one grow that is too small.
//!
//! Nothing is lost on the way: masses inside are kept in two columns, 48 bits, and what is taken from a fluid particle is what its
//! rounded mass has lost. A fluid particle is never smaller than a tenth of its size, and is born whole: the time step does not notice.
//!
//! Pores know the change of their volume: where a body is squeezed, they hold less. Grains do not shrink, so that of a volume V φ
//! there is left V (J − 1 + φ), with J the volume over that at rest. ([Lenaerts2009, Eq. 6.4] has V J φ for it, as if they did.)
//!
//! The particles of a sheet or a rope do not know its thickness. There J is that of fibres under the pressure p of all that touches
//! them, p = P (J⁻³ − 1) [vanWyk1946]: cloth that is twisted or trodden on gives its water away. The liquid bears none of that pressure.
//!
//! Kept honest by `littoral validate darcy wicking capillary-rise water-kept soaked-block wet-sand moist-column`.

pub mod flow;
pub mod grains;
pub mod law;
pub mod network;
pub mod surface;
#[cfg(test)]
mod tests;

use glam::{DVec3, Vec4};
use rayon::prelude::*;

use crate::behaviours::porous;
use crate::columns::*;
use crate::discretisation::Discretisation;
use crate::particles::{Particles, Scalars};
use crate::resolve::{Field, Resolved};
use crate::scene::Dimensions;
use crate::structure::bonds::Bonds;
use crate::structure::nodes::{GONE, Nodes};
use crate::world::World;
use flow::{Cell, Change, Flow, Ways};
use grains::Grains;
use law::{Law, Pull};
use network::{Member, Network, Rest, Way};
use surface::Surface;

/// Steps of the world to one of the pores, which bears any length: liquid in pores is slow, and whenever fluid particles come
/// and go, all neighbours must be found anew.
const EVERY: u64 = 4;

/// Pores that are squeezed shut keep this part of their volume.
const LEAST_VOLUME: f64 = 0.05;

/// Over this time pressures on a layer, and those of fluid before a surface, are means, s: both act in blows, from step to step.
const BLOWS: f64 = 0.02;

/// The porous bodies of a world.
#[derive(Default)]
pub struct Pores {
    /// All porous bodies, ascending.
    bodies: Vec<u32>,
    /// Those of them that hold a shape.
    networks: Vec<Network>,
    /// Those that are granular: their cells come after all others.
    granular: Vec<u32>,
    grains: Grains,
    laws: Vec<Law>,
    ways: Ways,
    cells: Vec<Cell>,
    /// Out of the body, for cells at the surface.
    normals: Vec<DVec3>,
    changes: Vec<Change>,
    flow: Flow,
    surface: Surface,
    /// Time since the last step of the pores, s.
    pub(crate) pending: f64,
}

/// Liquid in a world, kg (kg for each metre of depth in 2-D).
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Water {
    /// In fluid particles.
    pub free: f64,
    /// In pores.
    pub absorbed: f64,
    /// As films on porous bodies.
    pub pooled: f64,
}

impl Water {
    pub fn total(&self) -> f64 {
        self.free + self.absorbed + self.pooled
    }
}

impl Pores {
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// The porous bodies that are granular.
    pub fn granular(&self) -> &[u32] {
        &self.granular
    }

    /// Cells of bodies that hold a shape.
    fn shaped(&self) -> usize {
        self.networks.iter().map(Network::count).sum()
    }

    /// Makes the ways of every porous body that holds a shape, from its places at rest.
    pub fn link(
        &mut self,
        now: &Resolved,
        d: &Discretisation,
        nodes: &Nodes,
        thickness_of: impl Fn(u32) -> f64,
        particles: &Particles,
    ) {
        *self = Pores { bodies: now.bodies().collect(), ..Pores::default() };
        for (body, range) in nodes.bodies().filter(|(body, _)| now.is_used_by(*body)) {
            let rows = &nodes.rows()[range.start as usize..range.end as usize];
            let own = |row: u32| (row != GONE).then_some(row as usize);
            let reference = particles.get(&REFERENCE);
            let (volume, permeability) = (particles.get(&PORE_VOLUME), now.used_by(body));
            let places: Vec<DVec3> = rows
                .iter()
                .map(|&row| own(row).map_or(DVec3::NAN, |row| reference[row].truncate().as_dvec3()))
                .collect();
            let volumes: Vec<f32> = rows.iter().map(|&row| own(row).map_or(0.0, |row| volume[row])).collect();
            let along = match permeability.map(|used| used.value("permeability_along")) {
                Some(crate::behaviour::Value::Vector(along)) => DVec3::from(*along),
                _ => DVec3::ONE,
            };
            let thickness = thickness_of(body);
            let rest = Rest {
                places: &places,
                volumes: &volumes,
                along,
                is_flat: d.dimensions == Dimensions::Two,
                size: f64::from(d.spacing),
                thickness,
            };
            let bonds = Bonds::new(&places, &volumes, f64::from(d.spacing), d.dimensions, thickness > 0.0);
            self.networks.push(Network::new(body, range.start, &rest, bonds));
        }
        let is_shaped = |body: &u32| self.networks.iter().any(|network| network.body == *body);
        self.granular = self.bodies.iter().copied().filter(|body| !is_shaped(body)).collect();
        self.ways.starts.push(0);
        let mut first = 0;
        for network in &self.networks {
            for k in 0..network.count() {
                let ways = network.of(k);
                self.ways.all.extend(ways.iter().map(|way| Way { partner: first + way.partner, ..*way }));
                self.ways.starts.push(self.ways.all.len() as u32);
            }
            first += network.count() as u32;
        }
    }

    /// Loads the cells from the particles.
    fn gather(&mut self, world: &World, now: &Resolved) {
        let particles = &world.particles;
        let time = world.clock.time;
        let kinds: Vec<Kind> = self.bodies.iter().map(|&body| Kind::of(body, world, now)).collect();
        self.laws.truncate(self.bodies.len());
        for (index, &body) in self.bodies.iter().enumerate() {
            let number = |name: &str| f64::from(now.of_body(body, name, time).unwrap_or(0.0));
            let pull = match kinds[index].is_leverett {
                true => Pull::Leverett,
                false => Pull::Power(number("capillary_exponent")),
            };
            let exponent = number("flow_exponent");
            match self.laws.get(index) {
                Some(law) if law.is(pull, exponent) => {}
                Some(_) => self.laws[index] = Law::new(pull, exponent),
                None => self.laws.push(Law::new(pull, exponent)),
            }
        }
        let loader = Loader::new(world, now);
        let position = particles.get(&POSITION);
        let (squeeze, bearing) = (particles.get(&SQUEEZE), now.field("squeeze_pressure"));
        let shaped = self.shaped();
        if !self.granular.is_empty() {
            self.grains.find(world, now, &self.granular);
        }
        let count = shaped + self.grains.rows.len();
        self.cells.resize(count, Cell::default());
        self.normals.resize(count, DVec3::ZERO);
        let rows = world.structure.nodes.rows();
        let mut start = 0;
        for network in &self.networks {
            let index = self.bodies.binary_search(&network.body).expect("all porous bodies are known");
            let kind = &kinds[index];
            let own = &rows[network.first as usize..network.first as usize + network.count()];
            let end = start + network.count();
            let cells = (&mut self.cells[start..end], &mut self.normals[start..end]).into_par_iter();
            cells.with_min_len(512).enumerate().for_each(|(k, (cell, normal))| {
                let row = own[k];
                if row == GONE {
                    *cell = Cell { row: GONE, body: index as u32, capacity: 1.0, ..Cell::default() };
                    return;
                }
                let i = row as usize;
                let way_to = |member: usize| {
                    let other = own[member];
                    (other != GONE)
                        .then(|| world.periods.nearest(position[other as usize] - position[i]).truncate())
                };
                let member = &network.members[k];
                let (stretch, out) = if network.is_thin() && member.opening == 0.0 {
                    (1.0, glam::Vec3::ZERO)
                } else {
                    network.shape(k, way_to)
                };
                let stretch = if network.is_thin() {
                    libm::cbrtf(1.0 / (1.0 + squeeze[i] / bearing.at(i)))
                } else {
                    stretch
                };
                *normal = out.as_dvec3();
                *cell = Cell { body: index as u32, ..loader.load(row, kind, member, stretch, *normal) };
            });
            start = end;
        }
        let (grains, bodies, body) = (&self.grains, &self.bodies, particles.get(&BODY));
        let cells = (&mut self.cells[shaped..], &mut self.normals[shaped..]).into_par_iter();
        cells.with_min_len(512).enumerate().for_each(|(k, (cell, normal))| {
            let (row, around) = (grains.rows[k], &grains.around[k]);
            let index = bodies.binary_search(&body[row as usize]).expect("all porous bodies are known");
            *normal = around.out.as_dvec3();
            let loaded = loader.load(row, &kinds[index], &around.member, 1.0, *normal);
            *cell = Cell { body: index as u32, is_buried: around.is_buried, ..loaded };
            cell.soak_up();
        });
    }

    /// Notes how hard layers are pressed. What lies between two others is pressed from both sides by one and the same force.
    fn feel(&self, world: &mut World, dt: f64) {
        let World { structure, particles, .. } = world;
        let (rows, contacts) = (structure.nodes.rows(), &structure.contacts);
        let part = (1.0 - libm::exp(-dt / BLOWS)) as f32;
        let squeeze = particles.get_mut(&SQUEEZE);
        for network in self.networks.iter().filter(|network| network.is_thin()) {
            for (node, member) in (network.first as usize..).zip(&network.members) {
                if rows[node] != GONE && member.area > 0.0 {
                    let pressure = 0.5 * contacts.pressing(node) / member.area;
                    let mean = &mut squeeze[rows[node] as usize];
                    *mean += part * (pressure - *mean);
                }
            }
        }
    }

    /// Writes the cells back, with what follows from their fill.
    fn put_back(&self, now: &Resolved, particles: &mut Particles) {
        let keys =
            [&LIQUID, &LIQUID_REST, &FILM, &FILM_REST, &SATURATION, &PORE_PRESSURE, &FELT_PRESSURE, &MASS];
        let mut columns = keys.map(|key| particles.take(key));
        let (mut stress, mut stiffness) = (particles.take(&PORE_STRESS), particles.take(&PORE_STIFFNESS));
        let mut swelling = particles.take(&SWELLING);
        let (coupling, swells) = (now.field("stress_coupling"), now.field("swelling"));
        let (dry, volume, density) =
            (particles.get(&DRY_MASS), particles.get(&PORE_VOLUME), now.field("liquid_density"));
        let shaped = self.shaped();
        let cells = self.cells.iter().zip(&self.changes).enumerate();
        for (k, (cell, change)) in cells.filter(|(_, (cell, _))| cell.row != GONE) {
            let i = cell.row as usize;
            let [liquid, liquid_rest, film, film_rest, saturation, pressure, felt, mass] = &mut columns;
            (liquid[i], liquid_rest[i]) = split(cell.liquid);
            (film[i], film_rest[i]) = split(cell.film);
            saturation[i] = cell.fill().clamp(0.0, 1.0) as f32;
            pressure[i] = change.pressure as f32;
            felt[i] = cell.felt as f32;
            mass[i] = (f64::from(dry[i]) + cell.liquid + cell.film) as f32;
            // Between grains, liquid that pulls presses them together, as far as it fills the pores [Bishop1959].
            let pulls = if k < shaped { 0.0 } else { saturation[i] };
            stress[i] = coupling.at(i) * (pressure[i].max(0.0) + pulls * pressure[i].min(0.0));
            // dp/dJ of full pores, of which V (J − 1 + φ) is left.
            let volume = f64::from(volume[i]) * f64::from(density.at(i));
            let answer =
                if cell.fill() > 1.0 { cell.stiffness * cell.fill() * volume / cell.capacity } else { 0.0 };
            stiffness[i] = coupling.at(i) * answer as f32;
            swelling[i] = swells.at(i) * saturation[i];
        }
        for (key, column) in keys.into_iter().zip(columns) {
            particles.put(key, column);
        }
        particles.put(&PORE_STRESS, stress);
        particles.put(&PORE_STIFFNESS, stiffness);
        particles.put(&SWELLING, swelling);
        particles.update(&VELOCITY, |velocity, particles| {
            let held = particles.try_get(&PIN);
            for cell in self.cells.iter().filter(|cell| cell.row != GONE) {
                if held.is_none_or(|held| held[cell.row as usize] == 0) {
                    velocity[cell.row as usize] = cell.velocity.as_vec3().extend(0.0);
                }
            }
        });
    }
}

/// What all cells of a body share.
struct Kind {
    is_leverett: bool,
    keeps_permeability: bool,
    /// m/s².
    gravity: DVec3,
}

impl Kind {
    fn of(body: u32, world: &World, now: &Resolved) -> Kind {
        let time = world.clock.time;
        Kind {
            is_leverett: now.of_body(body, "capillarity", time).unwrap_or(0.0) > 0.5,
            keeps_permeability: now.used_by(body).is_some_and(varies_in_space),
            gravity: world.weight_of(body, time).truncate().as_dvec3(),
        }
    }
}

/// Makes cells of particles.
struct Loader<'a> {
    position: &'a [Vec4],
    velocity: &'a [Vec4],
    mass: &'a [f32],
    fixed_permeability: &'a [f32],
    felt: &'a [f32],
    liquid: Exact<'a>,
    film: Exact<'a>,
    porosity: &'a Field,
    permeability: &'a Field,
    strength: &'a Field,
    tension: &'a Field,
    stiffness: &'a Field,
    density: &'a Field,
    viscosity: &'a Field,
}

impl<'a> Loader<'a> {
    fn new(world: &'a World, now: &'a Resolved) -> Loader<'a> {
        let particles = &world.particles;
        Loader {
            position: particles.get(&POSITION),
            velocity: particles.get(&VELOCITY),
            mass: particles.get(&MASS),
            fixed_permeability: particles.get(&PERMEABILITY),
            felt: particles.get(&FELT_PRESSURE),
            liquid: Exact::of(particles, LIQUIDS),
            film: Exact::of(particles, FILMS),
            porosity: now.field("porosity"),
            permeability: now.field("permeability"),
            strength: now.field("capillary_pressure"),
            tension: now.field("surface_tension"),
            stiffness: now.field("pore_stiffness"),
            density: now.field("liquid_density"),
            viscosity: now.field("liquid_viscosity"),
        }
    }

    /// `stretch` is J; `out` leads out of the body.
    fn load(&self, row: u32, kind: &Kind, member: &Member, stretch: f32, out: DVec3) -> Cell {
        let i = row as usize;
        let phi = f64::from(self.porosity.at(i));
        let open = (f64::from(stretch) - 1.0 + phi).max(LEAST_VOLUME * phi);
        let rho = f64::from(self.density.at(i));
        let own = if kind.keeps_permeability { self.fixed_permeability[i] } else { self.permeability.at(i) };
        let own = f64::from(own);
        let mobility = rho * own / f64::from(self.viscosity.at(i));
        Cell {
            row,
            body: 0,
            is_buried: false,
            liquid: self.liquid.at(i),
            film: self.film.at(i),
            capacity: rho * f64::from(member.volume) * open,
            strength: if kind.is_leverett {
                f64::from(self.tension.at(i)) * (phi / own.max(f64::MIN_POSITIVE)).sqrt()
            } else {
                f64::from(self.strength.at(i))
            },
            stiffness: f64::from(self.stiffness.at(i)),
            mobility,
            weight: kind.gravity * rho,
            head: rho * kind.gravity.dot(self.position[i].truncate().as_dvec3()),
            opening: mobility * f64::from(member.opening),
            coverage: 0.0,
            felt: f64::from(self.felt[i]),
            // Air, before the face.
            outside: -rho * kind.gravity.dot(out) * f64::from(member.depth),
            velocity: self.velocity[i].truncate().as_dvec3(),
            mass: f64::from(self.mass[i]),
        }
    }
}

impl World {
    /// Stage 10: liquid flows in pores, into them and out of them.
    pub(crate) fn flow_through_pores(&mut self, dt: f64) {
        if self.structure.pores.is_empty() {
            return;
        }
        let mut pores = std::mem::take(&mut self.structure.pores);
        pores.feel(self, dt);
        pores.pending += dt;
        self.structure.pores = pores;
        // After the first step too: moist sand would start to fall.
        if !self.clock.steps.is_multiple_of(EVERY) && self.clock.steps != 1 {
            return;
        }
        let Some(place) = self.behaviours.iter().position(|now| now.behaviour.schema().name == "porous")
        else {
            return;
        };
        let mut pores = std::mem::take(&mut self.structure.pores);
        let now = &self.behaviours[place];
        let dt = std::mem::take(&mut pores.pending);
        // Grains that have been poured out since.
        porous::fill_grains(now, &pores.granular, &mut self.particles);
        pores.gather(self, now);
        pores.surface.touch(&mut pores.cells, self, now, dt);
        let is_idle = |cell: &Cell| cell.liquid == 0.0 && cell.film == 0.0 && cell.coverage == 0.0;
        if !pores.cells.par_iter().with_min_len(4096).all(is_idle) {
            if !pores.granular.is_empty() {
                let shaped = pores.shaped();
                pores.ways.starts.truncate(shaped + 1);
                pores.ways.all.truncate(pores.ways.starts[shaped] as usize);
                pores.grains.link(self, now, &mut pores.ways);
            }
            let Pores { cells, ways, laws, flow, changes, .. } = &mut pores;
            let solved = flow.step(cells, ways, laws, dt, changes);
            self.solves.add("pores", solved);
            for (cell, change) in cells.iter_mut().zip(changes.iter()) {
                let mass = cell.mass + change.gained;
                cell.velocity = (cell.velocity * cell.mass + change.momentum) / mass.max(f64::MIN_POSITIVE);
                cell.mass = mass;
                cell.liquid += change.gained;
            }
            pores.surface.exchange(&mut pores.cells, &pores.changes, self);
            pores.surface.let_go(&mut pores.cells, &pores.ways, &pores.normals, self, dt);
            pores.put_back(&self.behaviours[place], &mut self.particles);
            pores.surface.bury(self);
        }
        self.structure.pores = pores;
    }

    /// Where the world's liquid is; `None` where nothing is porous.
    pub fn water(&self) -> Option<Water> {
        let particles = &self.particles;
        particles.try_get(&LIQUID)?;
        let (liquid, film) = (Exact::of(particles, LIQUIDS), Exact::of(particles, FILMS));
        let (mass, body) = (particles.get(&MASS), particles.get(&BODY));
        let mut water = Water::default();
        for i in 0..particles.len() {
            water.absorbed += liquid.at(i);
            water.pooled += film.at(i);
            if self.bodies[body[i] as usize].is_fluid {
                water.free += f64::from(mass[i]);
            }
        }
        Some(water)
    }
}

/// Whether permeability is another at other places: then it stays with the particles as they were at the start.
pub fn varies_in_space(used: &crate::behaviour::BehaviourUse) -> bool {
    use crate::behaviour::Value;
    use crate::timeline::Driver;
    matches!(used.value("permeability"), Value::Number(curve) if !matches!(curve.driver, Driver::Time))
}

/// A quantity in two columns.
struct Exact<'a>([&'a [f32]; 2]);

type Both = [&'static Scalars; 2];
const LIQUIDS: Both = [&LIQUID, &LIQUID_REST];
const FILMS: Both = [&FILM, &FILM_REST];

impl<'a> Exact<'a> {
    fn of(particles: &'a Particles, keys: Both) -> Exact<'a> {
        Exact(keys.map(|key| particles.get(key)))
    }

    fn at(&self, i: usize) -> f64 {
        f64::from(self.0[0][i]) + f64::from(self.0[1][i])
    }
}

/// A number as two of single precision.
pub(crate) fn split(number: f64) -> (f32, f32) {
    let high = number as f32;
    (high, (number - f64::from(high)) as f32)
}

/// Distance of two places, m.
fn apart(world: &World, a: Vec4, b: Vec4) -> f32 {
    world.periods.nearest((a - b).with_w(0.0)).length()
}
