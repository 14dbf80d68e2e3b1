//! A checkpoint is the whole state of a run at the end of a frame: all columns in the order they stand in, and
//! the rest as JSON. A run that goes on from it makes the same bits as one that was never stopped.
//!
//! What is *not* kept is what a step makes anew: the curves' values, the rows that loops over neighbours load,
//! and the lists of neighbours, which every run forgets at the end of every frame.

use std::path::Path;

use glam::Vec4;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::frame::VERSION;
use crate::memory::{History, HistoryBits};
use crate::particles::{Column, Data};
use crate::scene::Scene;
use crate::sources::{Ledger, LedgerBits};
use crate::table::{Table, TableColumn, TableError, Values};
use crate::timestep::Limit;
use crate::world::World;

/// Key of the JSON in the table's metadata.
const STATE: &str = "checkpoint";

/// A run's state at the end of a frame.
pub struct Checkpoint {
    pub state: State,
    pub columns: Vec<TableColumn>,
}

/// Everything but the columns. Numbers that must come back exactly are kept as their bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub littoral: String,
    pub scene_hash: String,
    /// The frame at whose end this is.
    pub frame: u64,
    pub time_bits: u64,
    pub steps: u64,
    pub step_bits: u64,
    pub limit: String,
    /// Steps that each limit bound, as in [`Limit::ALL`].
    pub bound: Vec<u64>,
    pub speed_bits: u32,
    pub acceleration_bits: u32,
    pub next_id: u32,
    pub drained: u64,
    pub caught: u64,
    /// What each emitter has done and owes.
    pub emitters: Vec<LedgerBits>,
    /// Count and bits of the volume that went into each sink.
    pub sinks: Vec<(u64, u64)>,
    /// ρ₀ of each body at the last step.
    pub rest_density_bits: Vec<u32>,
    /// Pose, velocities and wrench of each solid: see `SolidState::bits`.
    #[serde(default)]
    pub solid_bits: Vec<Vec<u64>>,
    /// State of the rigid bodies, as hexadecimal digits.
    #[serde(default)]
    pub rigid: String,
    /// Ends of springs that are cut, as nodes.
    #[serde(default)]
    pub cuts: Vec<[u32; 2]>,
    /// Members of bonds that were cut, by body.
    #[serde(default)]
    pub bond_cuts: Vec<(u32, Vec<[u32; 2]>)>,
    /// Springs between the particles of fluids, as hexadecimal digits: see `structure/ties.rs`.
    #[serde(default)]
    pub ties: String,
    /// What histories know of time.
    #[serde(default)]
    pub histories: Vec<HistoryBits>,
    #[serde(default)]
    pub scalar_histories: Vec<HistoryBits>,
    /// Time that liquid in pores has yet to flow for, s.
    #[serde(default)]
    pub pores_bits: u64,
}

/// Why a checkpoint cannot be gone on from.
#[derive(Debug, Error)]
pub enum CheckpointError {
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(
        "the checkpoint was written by littoral {found}, and this is {VERSION}: the run can only start anew"
    )]
    OtherVersion { found: String },
    #[error("the checkpoint does not fit the scene ({what}): the run can only start anew")]
    Unfit { what: String },
}

impl Checkpoint {
    /// The world as it is now, at the end of a frame.
    pub fn of(scene: &Scene, world: &World, frame: u64) -> Checkpoint {
        let clock = &world.clock;
        let state = State {
            littoral: VERSION.to_owned(),
            scene_hash: scene.hash.clone(),
            frame,
            time_bits: clock.time.to_bits(),
            steps: clock.steps,
            step_bits: clock.step.to_bits(),
            limit: clock.binding.name().to_owned(),
            bound: clock.bound.to_vec(),
            speed_bits: clock.speed.to_bits(),
            acceleration_bits: clock.acceleration.to_bits(),
            next_id: world.next_id,
            drained: world.drained,
            caught: world.caught,
            emitters: world.emitters.iter().map(|emitter| (&emitter.ledger).into()).collect(),
            sinks: world.sinks.iter().map(|drain| (drain.count, drain.volume.to_bits())).collect(),
            rest_density_bits: world.bodies.iter().map(|body| body.rest_density.to_bits()).collect(),
            solid_bits: world.solids.iter().map(|solid| solid.bits().to_vec()).collect(),
            rigid: world.rigid.as_ref().map_or_else(String::new, |rigid| to_hex(&rigid.bytes())),
            cuts: world.structure.nets.iter().flat_map(|net| net.cuts()).collect(),
            bond_cuts: world.structure.cuts(),
            ties: to_hex(&world.structure.ties.bytes()),
            histories: world.histories.iter().map(History::bits).collect(),
            scalar_histories: world.scalar_histories.iter().map(History::bits).collect(),
            pores_bits: world.structure.pores.pending.to_bits(),
        };
        Checkpoint { state, columns: world.particles.columns().iter().map(save).collect() }
    }

    pub fn write(self, path: &Path) -> Result<(), TableError> {
        let state = serde_json::to_string(&self.state).expect("plain numbers and texts");
        Table { metadata: [(STATE.to_owned(), state)].into(), columns: self.columns }.write(path)
    }

    pub fn read(path: &Path) -> Result<Checkpoint, CheckpointError> {
        let table = Table::read(path)?;
        let state = table.metadata.get(STATE).map(|text| serde_json::from_str(text));
        match state {
            Some(Ok(state)) => Ok(Checkpoint { state, columns: table.columns }),
            _ => {
                Err(TableError::Foreign { path: path.to_owned(), what: "it holds no checkpoint".to_owned() }
                    .into())
            }
        }
    }
}

impl World {
    /// Puts a new world of the same scene into a checkpoint's state.
    pub fn restore(&mut self, checkpoint: Checkpoint) -> Result<(), CheckpointError> {
        let Checkpoint { state, columns } = checkpoint;
        if state.littoral != VERSION {
            return Err(CheckpointError::OtherVersion { found: state.littoral });
        }
        let unfit = |what: &str| CheckpointError::Unfit { what: what.to_owned() };
        let binding = Limit::ALL.into_iter().find(|limit| limit.name() == state.limit);
        let clock = &mut self.clock;
        clock.time = f64::from_bits(state.time_bits);
        clock.steps = state.steps;
        clock.step = f64::from_bits(state.step_bits);
        clock.binding = binding.ok_or_else(|| unfit("limit"))?;
        clock.bound = state.bound.try_into().map_err(|_| unfit("number of limits"))?;
        clock.speed = f32::from_bits(state.speed_bits);
        clock.acceleration = f32::from_bits(state.acceleration_bits);
        (self.next_id, self.drained, self.caught) = (state.next_id, state.drained, state.caught);

        let fits = state.sinks.len() == self.sinks.len() && state.emitters.len() == self.emitters.len();
        if !fits || state.rest_density_bits.len() != self.bodies.len() {
            return Err(unfit("number of bodies"));
        }
        for (emitter, ledger) in self.emitters.iter_mut().zip(state.emitters) {
            let ledger = Ledger::from(ledger);
            if ledger.owed.len() != emitter.ledger.owed.len() {
                return Err(unfit("places of an emitter"));
            }
            emitter.ledger = ledger;
        }
        for (drain, (count, volume)) in self.sinks.iter_mut().zip(state.sinks) {
            (drain.count, drain.volume) = (count, f64::from_bits(volume));
        }
        for (body, bits) in self.bodies.iter_mut().zip(state.rest_density_bits) {
            body.rest_density = f32::from_bits(bits);
        }

        let bits = |all: &Vec<u64>| all.as_slice().try_into().ok();
        let solids: Option<Vec<_>> = state.solid_bits.iter().map(bits).collect();
        let solids = solids.filter(|solids| solids.len() == self.solids.len());
        self.place_solids(&solids.ok_or_else(|| unfit("number of solids"))?);
        if let Some(rigid) = &mut self.rigid {
            let bytes = from_hex(&state.rigid).ok_or_else(|| unfit("rigid bodies"))?;
            if !rigid.restore(&bytes) {
                return Err(unfit("rigid bodies"));
            }
        }

        let as_many = self.histories.len() == state.histories.len();
        let mut histories = self.histories.iter_mut().zip(&state.histories);
        if !as_many || !histories.all(|(own, bits)| own.restore(bits)) {
            return Err(unfit("histories"));
        }
        let as_many = self.scalar_histories.len() == state.scalar_histories.len();
        let mut histories = self.scalar_histories.iter_mut().zip(&state.scalar_histories);
        if !as_many || !histories.all(|(own, bits)| own.restore(bits)) {
            return Err(unfit("histories"));
        }

        let specs: Vec<_> = self.particles.columns().iter().map(|column| column.spec).collect();
        if specs.len() != columns.len() {
            return Err(unfit("number of columns"));
        }
        self.particles.resize(columns.first().map_or(0, |column| column.values.len()));
        for (spec, column) in specs.into_iter().zip(columns) {
            let like = &self.particles.find(spec.name).expect("it has just been listed").data;
            let data = load(column.values, like).filter(|_| column.name == spec.name);
            self.particles.insert(spec, data.ok_or_else(|| unfit(spec.name))?);
        }
        self.structure.pins.resume(self.clock.time);
        self.structure.nodes.find(&self.particles);
        self.structure.cuts = state.bond_cuts;
        self.link();
        self.structure.cut(&state.cuts);
        self.structure.pores.pending = f64::from_bits(state.pores_bits);
        if !from_hex(&state.ties).is_some_and(|ties| self.structure.ties.restore(&ties)) {
            return Err(unfit("springs of a fluid"));
        }
        self.forget_neighbours();
        Ok(())
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16);
    let byte = |pair: &[u8; 2]| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8);
    let (pairs, rest) = text.as_bytes().as_chunks();
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

fn save(column: &Column) -> TableColumn {
    let values = match &column.data {
        Data::Scalars(numbers) => Values::Scalars(numbers.clone()),
        Data::Indices(numbers) => Values::Indices(numbers.clone()),
        Data::Vectors(vectors) => {
            Values::Vectors { width: 4, numbers: vectors.iter().flat_map(Vec4::to_array).collect() }
        }
    };
    TableColumn { name: column.spec.name.to_owned(), unit: column.spec.unit.to_owned(), values }
}

/// `None` unless the values are of the kind, and as many, as a column's.
fn load(values: Values, like: &Data) -> Option<Data> {
    let data = match (values, like) {
        (Values::Scalars(numbers), Data::Scalars(_)) => Data::Scalars(numbers),
        (Values::Indices(numbers), Data::Indices(_)) => Data::Indices(numbers),
        (Values::Vectors { width: 4, numbers }, Data::Vectors(_)) => {
            Data::Vectors(numbers.as_chunks().0.iter().copied().map(Vec4::from_array).collect())
        }
        _ => return None,
    };
    (data.len() == like.len()).then_some(data)
}
