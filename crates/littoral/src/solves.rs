//! How implicit solves went: iterations and what error is left, for `run.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::behaviours::Solved;

/// Solves since the last frame, by name.
#[derive(Clone, Debug, Default)]
pub struct Solves(BTreeMap<&'static str, Tally>);

/// All solves of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub solves: u64,
    /// Of all of them.
    pub iterations: u64,
    /// Most that one of them took.
    pub most_iterations: u32,
    /// Error that was left, in the solver's own measure: the mean over the solves, and the worst.
    pub mean_residual: f64,
    pub worst_residual: f64,
}

impl Solves {
    pub fn add(&mut self, name: &'static str, solved: Solved) {
        let tally = self.0.entry(name).or_default();
        tally.solves += 1;
        tally.iterations += u64::from(solved.iterations);
        tally.most_iterations = tally.most_iterations.max(solved.iterations);
        let residual = f64::from(solved.residual);
        tally.mean_residual += (residual - tally.mean_residual) / tally.solves as f64;
        tally.worst_residual = tally.worst_residual.max(residual);
    }

    pub fn get(&self, name: &str) -> Tally {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// The tallies so far; counting starts anew.
    pub fn take(&mut self) -> BTreeMap<String, Tally> {
        std::mem::take(&mut self.0).into_iter().map(|(name, tally)| (name.to_owned(), tally)).collect()
    }
}
