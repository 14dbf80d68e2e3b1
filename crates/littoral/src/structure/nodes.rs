//! Particles that keep their number, wherever sorting puts them.

use std::ops::Range;

use crate::columns::NODE;
use crate::particles::Particles;

/// Where the particles of bodies that hold a shape stand.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// Row of each node; [`GONE`] where a sink has taken it.
    rows: Vec<u32>,
    /// Nodes of each body, by the body's place in the scene; empty for fluids.
    bodies: Vec<Range<u32>>,
}

/// The row of a node that is no more.
pub const GONE: u32 = u32::MAX;

impl Nodes {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Row of each node among the particles, or [`GONE`].
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Row of a node, unless it is gone.
    #[inline]
    pub fn row(&self, node: u32) -> Option<usize> {
        let row = self.rows[node as usize];
        (row != GONE).then_some(row as usize)
    }

    /// Nodes of a body, in the order in which its particles were born.
    pub fn of_body(&self, body: u32) -> Range<u32> {
        self.bodies.get(body as usize).cloned().unwrap_or_default()
    }

    /// Bodies that have nodes, with those.
    pub fn bodies(&self) -> impl Iterator<Item = (u32, Range<u32>)> + '_ {
        let all = self.bodies.iter().enumerate().map(|(body, nodes)| (body as u32, nodes.clone()));
        all.filter(|(_, nodes)| !nodes.is_empty())
    }

    /// Numbers the particles in these rows, which have just been born into a body.
    pub(crate) fn add(&mut self, body: u32, born: Range<usize>, particles: &mut Particles) {
        let first = self.rows.len() as u32;
        for (k, number) in particles.get_mut(&NODE)[born.clone()].iter_mut().enumerate() {
            // Zero is for particles that are no node.
            *number = first + k as u32 + 1;
        }
        self.rows.extend(born.map(|row| row as u32));
        self.bodies.resize(self.bodies.len().max(body as usize + 1), 0..0);
        self.bodies[body as usize] = first..self.rows.len() as u32;
    }

    /// Finds all nodes again, after particles may have moved in memory. Tells whether some are gone.
    pub(crate) fn find(&mut self, particles: &Particles) -> bool {
        if self.rows.is_empty() {
            return false;
        }
        self.rows.fill(GONE);
        let mut left = self.rows.len();
        for (row, &number) in particles.get(&NODE).iter().enumerate() {
            if number > 0 {
                self.rows[number as usize - 1] = row as u32;
                left -= 1;
            }
        }
        left > 0
    }
}
