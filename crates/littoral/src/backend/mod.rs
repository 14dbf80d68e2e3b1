//! The generic loops that run laws.

pub mod cpu;
