//! Cholesky's factor of a symmetric matrix, row by row from the first number that is not 0.
//!
//! With unknowns in an order that keeps neighbours near, rows are short; the inverse itself would be full.

/// The lower half of a matrix, or its factor L with A = L Lᵀ.
#[derive(Default)]
pub struct Skyline {
    /// Column of the first number of each row.
    first: Vec<u32>,
    /// Where each row starts among the values, which end with its diagonal.
    starts: Vec<usize>,
    values: Vec<f64>,
}

impl Skyline {
    /// All zero, with rows that start at these columns.
    pub fn new(first: impl IntoIterator<Item = u32>) -> Skyline {
        let first: Vec<u32> = first.into_iter().collect();
        let mut starts = vec![0];
        for (row, &first) in first.iter().enumerate() {
            starts.push(starts[row] + row + 1 - first as usize);
        }
        Skyline { values: vec![0.0; starts[first.len()]], starts, first }
    }

    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// A number of the lower half, which must not be left of its row's first.
    #[inline]
    pub fn at(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.values[self.starts[row + 1] + column - row - 1]
    }

    /// Makes the factor of it: L_ij = (A_ij − Σ L_ik L_jk)/L_jj.
    pub fn factor(&mut self) {
        for row in 0..self.first.len() {
            let first = self.first[row] as usize;
            let (above, own) = self.values.split_at_mut(self.starts[row]);
            for column in first..row {
                let from = first.max(self.first[column] as usize);
                let other = &above[self.starts[column]..self.starts[column + 1]];
                let (other, diagonal) = other.split_at(other.len() - 1);
                let left = &own[from - first..column - first];
                let right = &other[from - self.first[column] as usize..];
                own[column - first] = (own[column - first] - dot(left, right)) / diagonal[0];
            }
            let (left, diagonal) = own.split_at_mut(row - first);
            let rest = diagonal[0] - dot(left, left);
            diagonal[0] = rest.max(f64::MIN_POSITIVE).sqrt();
        }
    }

    /// Solves L Lᵀ x = b, in place, for numbers or vectors.
    pub fn solve<T>(&self, x: &mut [T])
    where
        T: Copy + std::ops::SubAssign + std::ops::Mul<f64, Output = T>,
    {
        let row = |k: usize| (self.first[k] as usize, &self.values[self.starts[k]..self.starts[k + 1]]);
        for k in 0..x.len() {
            let (first, values) = row(k);
            let (own, others) = values.split_last().expect("the diagonal");
            let (known, rest) = x.split_at_mut(k);
            for (a, y) in others.iter().zip(&known[first..]) {
                rest[0] -= *y * *a;
            }
            rest[0] = rest[0] * (1.0 / *own);
        }
        for k in (0..x.len()).rev() {
            let (first, values) = row(k);
            let (own, others) = values.split_last().expect("the diagonal");
            let (left, rest) = x.split_at_mut(k);
            rest[0] = rest[0] * (1.0 / *own);
            for (a, y) in others.iter().zip(&mut left[first..]) {
                *y -= rest[0] * *a;
            }
        }
    }
}

/// In four sums, which a processor can add at once.
#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (fours, rest) = (a.chunks_exact(4).zip(b.chunks_exact(4)), a.len() / 4 * 4);
    let mut sums = [0.0; 4];
    for (a, b) in fours {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a[rest..].iter().zip(&b[rest..a.len()]).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_with_gaps_is_solved() {
        // A = B Bᵀ + 1 with rows of any length.
        let count = 40;
        let first: Vec<u32> = (0..count).map(|row: u32| row.saturating_sub(1 + row * 7 % 9)).collect();
        let mut skyline = Skyline::new(first.iter().copied());
        let value = |row: usize, column: usize| match row == column {
            true => 12.0,
            false => ((row * 31 + column * 17) % 13) as f64 / 13.0,
        };
        for (row, &first) in first.iter().enumerate() {
            (first as usize..=row).for_each(|column| *skyline.at(row, column) = value(row, column));
        }
        let full = |row: usize, column: usize| {
            let (low, high) = (row.min(column), row.max(column));
            if low < first[high] as usize { 0.0 } else { value(high, low) }
        };
        let exact: Vec<f64> = (0..count).map(|k| f64::from(k).sin()).collect();
        let product = |row| exact.iter().enumerate().map(|(column, x)| full(row, column) * x).sum();
        let mut x: Vec<f64> = (0..count as usize).map(product).collect();
        skyline.factor();
        skyline.solve(&mut x);
        let worst = x.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-12, "{worst}");
    }
}
