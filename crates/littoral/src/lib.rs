//! littoral: one particle world for everything that meets at the waterline.
//!
//! Particles are columns ([`particles`]). Behaviours are laws ([`behaviours`]). The timeline decides how much of
//! each law each particle feels ([`timeline`], [`resolve`]). The step is one readable page ([`step`]).

#[macro_use]
mod pair;

pub mod backend;
pub mod behaviour;
pub mod behaviours;
pub mod checkpoint;
pub mod columns;
pub mod diagnostics;
pub mod discretisation;
pub mod files;
pub mod forces;
pub mod frame;
pub mod gallery;
pub mod geometry;
pub mod integrate;
pub mod interfaces;
pub mod kernels;
pub mod materials;
pub mod memory;
pub mod neighbourhood;
pub mod particles;
pub mod plan;
pub mod pores;
pub mod refine;
pub mod report;
pub mod resolve;
pub mod run_folder;
pub mod scene;
pub mod simd;
pub mod simulation;
pub mod solids;
pub mod solve;
pub mod solves;
pub mod sources;
pub mod step;
pub mod structure;
pub mod table;
pub mod timeline;
pub mod timers;
pub mod timestep;
pub mod validation;
pub mod walls;
pub mod world;
