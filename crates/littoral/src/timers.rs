//! Wall time of each stage.

use std::time::{Duration, Instant};

/// Stages of a step that take time worth telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Timeline,
    Neighbours,
    Prepare,
    Forces,
    Solve,
    Motion,
    Relax,
    Memory,
    Solids,
    Exchange,
    Clock,
}

impl Stage {
    pub const ALL: [Stage; 11] = [
        Stage::Timeline,
        Stage::Neighbours,
        Stage::Prepare,
        Stage::Forces,
        Stage::Solve,
        Stage::Motion,
        Stage::Relax,
        Stage::Memory,
        Stage::Solids,
        Stage::Exchange,
        Stage::Clock,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Stage::Timeline => "timeline",
            Stage::Neighbours => "neighbours",
            Stage::Prepare => "prepare",
            Stage::Forces => "forces",
            Stage::Solve => "solve",
            Stage::Motion => "motion",
            Stage::Relax => "relax",
            Stage::Memory => "memory",
            Stage::Solids => "solids",
            Stage::Exchange => "exchange",
            Stage::Clock => "clock",
        }
    }
}

/// Time spent in each stage so far.
#[derive(Clone, Debug, Default)]
pub struct Timers {
    spent: [Duration; Stage::ALL.len()],
}

impl Timers {
    pub fn add(&mut self, stage: Stage, since: Instant) {
        self.spent[stage as usize] += since.elapsed();
    }

    pub fn spent(&self, stage: Stage) -> Duration {
        self.spent[stage as usize]
    }

    pub fn total(&self) -> Duration {
        self.spent.iter().sum()
    }
}
