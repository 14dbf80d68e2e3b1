//! Bodies that hold a shape: what their particles know of each other.
//!
//! Elastic bodies, shells and cloth are particles like all others, sorted with all others. What makes them a body is kept
//! here and refers to *nodes*: the particles of such bodies, numbered once and for all at the start. Wherever sorting has
//! put a particle, [`Nodes::row`] finds it. Behaviours that hold a shape keep their links in terms of nodes
//! (`Behaviour::strain`, `solve` and `relax` get them), and never see a particle move in memory.
//!
//! To fluids such a body is a boundary that gives way: its particles fill a volume, are pushed by the fluid's pressure, and
//! have none of their own (see `solve/pressure.rs`). A sheet is one layer of particles; each stands for as much volume as a
//! wall sample would, so that fluid on either side is as dense before it as before a wall.

pub mod barrier;
pub mod bonds;
pub mod closing;
pub mod contact;
pub mod nodes;
pub mod pins;
pub mod rigid;
mod sheets;
pub mod springs;
pub mod ties;
pub mod web;

pub use barrier::Barrier;
pub use contact::Contacts;
pub use nodes::Nodes;
pub use pins::Pins;
pub use rigid::RigidBodies;
pub use sheets::{Line, Sheet, slots};
pub use ties::Ties;

use crate::behaviours::stretch_limit::Limited;

/// The bodies that hold a shape.
#[derive(Default)]
pub struct Structure {
    pub nodes: Nodes,
    /// Bodies of one layer, in the scene's order.
    pub sheets: Vec<Sheet>,
    /// Ropes.
    pub lines: Vec<Line>,
    /// Springs of the bodies that have some.
    pub nets: Vec<springs::Net>,
    pub pins: Pins,
    /// Springs between the particles of fluids, which have no shape to hold.
    pub ties: Ties,
    /// Friction inside granular materials, which have no shape either.
    pub friction: crate::solve::granular::FrictionSolve,
    pub(crate) contacts: Contacts,
    /// Volumes that are out of sight for a while; else zeros.
    pub(crate) hidden: Vec<f32>,
    pub(crate) barrier: Barrier,
    /// Cloths that are kept from stretching.
    pub limited: Vec<Limited>,
    /// Bodies held together by bonds.
    pub elastic: Vec<crate::solve::elastic::Elastic>,
    /// Bodies that move as one.
    pub rigid: RigidBodies,
    /// Liquid in the pores of bodies that have some.
    pub pores: crate::pores::Pores,
    /// Members of the bonds that were cut before a checkpoint, by body: whoever makes bonds cuts them again.
    pub cuts: Vec<(u32, Vec<[u32; 2]>)>,
}

impl Structure {
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Cuts springs between these nodes, with what hangs on them.
    pub(crate) fn cut(&mut self, ends: &[[u32; 2]]) {
        for net in &mut self.nets {
            let cut: Vec<u32> = ends.iter().filter_map(|&ends| net.find(ends)).collect();
            if !cut.is_empty() {
                net.cut(cut);
                open(net, &mut self.sheets, &mut self.limited);
            }
        }
    }

    /// Of a body of one layer, m; 0 for others.
    pub fn thickness_of(&self, body: u32) -> f64 {
        self.sheets.iter().find(|sheet| sheet.body == body).map_or(0.0, |sheet| sheet.thickness)
    }

    /// Members of the bonds that were cut so far, by body; nothing for bodies that are whole.
    pub(crate) fn cuts(&self) -> Vec<(u32, Vec<[u32; 2]>)> {
        let cuts = self.elastic.iter().map(|body| (body.body, body.bonds.cuts().to_vec()));
        cuts.filter(|(_, cuts)| !cuts.is_empty()).collect()
    }
}

/// What follows from a net's cuts: its sheet has lost triangles, and nothing keeps the ends of a cut spring together.
pub(crate) fn open(net: &springs::Net, sheets: &mut [Sheet], limited: &mut [Limited]) {
    for sheet in sheets.iter_mut().filter(|sheet| sheet.body == net.body) {
        sheet.triangles = net.whole_triangles();
    }
    for cloth in limited.iter_mut().filter(|cloth| cloth.body == net.body) {
        cloth.cut(|ends| net.find(ends).is_some_and(|spring| net.is_cut(spring as usize)));
    }
}
