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

pub mod bonds;
pub mod nodes;
pub mod pins;
mod sheets;

pub use nodes::Nodes;
pub use pins::Pins;
pub use sheets::Sheet;

/// The bodies that hold a shape.
#[derive(Default)]
pub struct Structure {
    pub nodes: Nodes,
    /// Bodies of one layer, in the scene's order.
    pub sheets: Vec<Sheet>,
    pub pins: Pins,
    /// Bodies held together by bonds.
    pub elastic: Vec<crate::solve::elastic::Elastic>,
    /// Members of the bonds that were cut before a checkpoint, by body: whoever makes bonds cuts them again.
    pub cuts: Vec<(u32, Vec<[u32; 2]>)>,
}

impl Structure {
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
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
