//! Vectors that a solve borrows and gives back, so that no step allocates.

use glam::Vec4;

/// Vectors that nobody uses at the moment. What they hold is left over from whoever had them last.
#[derive(Clone, Default)]
pub struct Workspace {
    vectors: Vec<Vec<Vec4>>,
    /// Sums over pieces of all particles.
    pub sums: Vec<[f64; 3]>,
}

impl Workspace {
    /// A vector of `len` rows, each holding anything.
    pub fn borrow(&mut self, len: usize) -> Vec<Vec4> {
        let mut vector = self.vectors.pop().unwrap_or_default();
        vector.resize(len, Vec4::ZERO);
        vector
    }

    pub fn give_back<const N: usize>(&mut self, vectors: [Vec<Vec4>; N]) {
        self.vectors.extend(vectors);
    }

    /// Memory, bytes.
    pub fn bytes(&self) -> usize {
        self.vectors.iter().map(|vector| 16 * vector.capacity()).sum()
    }
}
