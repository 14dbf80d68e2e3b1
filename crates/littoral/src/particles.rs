//! Particles are columns.
//!
//! [`Particles`] is the only place where numbers per particle are kept. Sorting, emission, deletion, saving and
//! the mirror on a device are written once, over columns, and so work for columns that nobody has thought of yet.
//!
//! A step that writes a column takes it out, reads the others, and puts it back ([`Particles::update`]):
//! nothing is copied, and nothing can be read half-written.

use glam::Vec4;
use rayon::prelude::*;

use crate::columns::MASS;
use crate::solve::Workspace;

/// Name and unit of a column.
#[derive(Debug, PartialEq)]
pub struct ColumnSpec {
    pub name: &'static str,
    pub unit: &'static str,
    /// Written to frames; all columns are written to checkpoints.
    pub in_frames: bool,
    /// What becomes of it when a particle is halved, or two become one.
    pub part: Part,
}

/// How a quantity is shared by the two halves of a particle, and what two particles that become one make of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Each half has half of it; two add up.
    Extensive,
    /// Each half has all of it; of two, the mean by mass.
    Intensive,
    /// As intensive, and the first one's of two: who changes particles gives it a value (`refine.rs`).
    Own,
}

/// Key of a column of scalars.
#[derive(Debug)]
pub struct Scalars(pub ColumnSpec);
/// Key of a column of vectors: rows of four, of which the last is zero, so that one load fetches a row.
#[derive(Debug)]
pub struct Vectors(pub ColumnSpec);
/// Key of a column of whole numbers.
#[derive(Debug)]
pub struct Indices(pub ColumnSpec);

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    Scalars(Vec<f32>),
    Vectors(Vec<Vec4>),
    Indices(Vec<u32>),
}

impl Data {
    pub fn len(&self) -> usize {
        match self {
            Data::Scalars(v) => v.len(),
            Data::Vectors(v) => v.len(),
            Data::Indices(v) => v.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bytes_per_particle(&self) -> usize {
        match self {
            Data::Scalars(_) | Data::Indices(_) => 4,
            Data::Vectors(_) => 16,
        }
    }

    fn resize(&mut self, len: usize) {
        match self {
            Data::Scalars(v) => v.resize(len, 0.0),
            Data::Vectors(v) => v.resize(len, Vec4::ZERO),
            Data::Indices(v) => v.resize(len, 0),
        }
    }

    fn retain(&mut self, keep: &[bool]) {
        fn filter<T>(v: &mut Vec<T>, keep: &[bool]) {
            let mut flags = keep.iter();
            v.retain(|_| *flags.next().expect("one flag for each particle"));
        }
        match self {
            Data::Scalars(v) => filter(v, keep),
            Data::Vectors(v) => filter(v, keep),
            Data::Indices(v) => filter(v, keep),
        }
    }

    fn permute(&mut self, order: &[u32], spare: &mut Spare) {
        match self {
            Data::Scalars(v) => {
                // Scalars and indices share one spare: their bits are moved, not read.
                let mut bits = bytemuck::cast_vec(std::mem::take(v));
                permute(&mut bits, order, &mut spare.indices);
                *v = bytemuck::cast_vec(bits);
            }
            Data::Vectors(v) => permute(v, order, &mut spare.vectors),
            Data::Indices(v) => permute(v, order, &mut spare.indices),
        }
    }
}

/// Memory that sorting swaps with the columns, so that it allocates nothing.
#[derive(Clone, Default)]
struct Spare {
    vectors: Vec<Vec4>,
    indices: Vec<u32>,
}

fn permute<T: Copy + Default + Send + Sync>(v: &mut Vec<T>, order: &[u32], spare: &mut Vec<T>) {
    spare.resize(order.len(), T::default());
    spare.par_iter_mut().with_min_len(4096).zip(order).for_each(|(to, &from)| *to = v[from as usize]);
    std::mem::swap(v, spare);
}

/// A column with its name.
#[derive(Clone)]
pub struct Column {
    pub spec: &'static ColumnSpec,
    pub data: Data,
}

/// A set of particles as columns of equal length.
#[derive(Clone, Default)]
pub struct Particles {
    columns: Vec<Column>,
    len: usize,
    spare: Spare,
    /// Vectors for whoever solves for something; not part of the state.
    pub(crate) workspace: Workspace,
}

impl Particles {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Sets the number of particles; new ones have zeros in every column.
    pub fn resize(&mut self, len: usize) {
        self.len = len;
        self.columns.iter_mut().for_each(|column| column.data.resize(len));
    }

    /// Removes the particles whose flag is false.
    pub fn retain(&mut self, keep: &[bool]) {
        assert_eq!(keep.len(), self.len);
        self.columns.iter_mut().for_each(|column| column.data.retain(keep));
        self.len = keep.iter().filter(|&&k| k).count();
    }

    /// Puts particle `order[k]` at place k, in every column.
    pub fn reorder(&mut self, order: &[u32]) {
        assert_eq!(order.len(), self.len);
        for column in &mut self.columns {
            column.data.permute(order, &mut self.spare);
        }
    }

    /// Halves particle i: the other half is added at the end.
    pub fn halve(&mut self, i: usize) {
        self.resize(self.len + 1);
        let new = self.len - 1;
        for Column { spec, data } in &mut self.columns {
            let part = if spec.part == Part::Extensive { 0.5 } else { 1.0 };
            match data {
                Data::Scalars(v) => {
                    v[i] *= part;
                    v[new] = v[i];
                }
                Data::Vectors(v) => {
                    v[i] *= part;
                    v[new] = v[i];
                }
                Data::Indices(v) => v[new] = v[i],
            }
        }
    }

    /// Makes one of particles i and j, at the place of i; j stays until it is removed.
    pub fn unite(&mut self, i: usize, j: usize) {
        let (a, b) = (f64::from(self.get(&MASS)[i]), f64::from(self.get(&MASS)[j]));
        for Column { spec, data } in &mut self.columns {
            let unite = |x: f32, y: f32| match spec.part {
                Part::Extensive => x + y,
                Part::Intensive => ((a * f64::from(x) + b * f64::from(y)) / (a + b)) as f32,
                Part::Own => x,
            };
            match data {
                Data::Scalars(v) => v[i] = unite(v[i], v[j]),
                Data::Vectors(v) => {
                    let (x, y) = (v[i].to_array(), v[j].to_array());
                    v[i] = Vec4::from_array(std::array::from_fn(|k| unite(x[k], y[k])));
                }
                Data::Indices(_) => {}
            }
        }
    }

    /// Bytes that all columns take for one particle, the spare memory for sorting not counted.
    pub fn bytes_per_particle(&self) -> usize {
        self.columns.iter().map(|column| column.data.bytes_per_particle()).sum()
    }

    /// A column by name, if these particles have it.
    pub fn find(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.spec.name == name)
    }

    /// Replaces a whole column, as when a checkpoint is read.
    ///
    /// # Panics
    /// If the length differs from the other columns'.
    pub fn insert(&mut self, spec: &'static ColumnSpec, data: Data) {
        assert_eq!(data.len(), self.len, "column `{}`", spec.name);
        match self.columns.iter_mut().find(|column| std::ptr::eq(column.spec, spec)) {
            Some(column) => column.data = data,
            None => self.columns.push(Column { spec, data }),
        }
    }

    /// Adds the column, filled with zeros, unless it is there.
    pub fn require<K: Key>(&mut self, key: &'static K) {
        if self.position_of(key.spec()).is_none() {
            let mut data = K::wrap(Vec::new());
            data.resize(self.len);
            self.columns.push(Column { spec: key.spec(), data });
        }
    }

    /// The values of a column.
    ///
    /// # Panics
    /// If no behaviour required it: a mistake in the engine, not in a scene.
    pub fn get<K: Key>(&self, key: &'static K) -> &[K::Item] {
        K::slice(&self.columns[self.place(key)].data)
    }

    /// The values of a column, if some behaviour required it.
    pub fn try_get<K: Key>(&self, key: &'static K) -> Option<&[K::Item]> {
        self.position_of(key.spec()).map(|place| K::slice(&self.columns[place].data))
    }

    pub fn get_mut<K: Key>(&mut self, key: &'static K) -> &mut [K::Item] {
        let place = self.place(key);
        K::vec(&mut self.columns[place].data)
    }

    /// Writes one column while reading the others: `write` gets the column and the particles without it.
    pub fn update<K: Key, R>(
        &mut self,
        key: &'static K,
        write: impl FnOnce(&mut [K::Item], &Particles) -> R,
    ) -> R {
        let mut values = self.take(key);
        let result = write(&mut values, self);
        self.put(key, values);
        result
    }

    /// The same for two columns.
    pub fn update2<A: Key, B: Key, R>(
        &mut self,
        keys: (&'static A, &'static B),
        write: impl FnOnce(&mut [A::Item], &mut [B::Item], &Particles) -> R,
    ) -> R {
        let (mut a, mut b) = (self.take(keys.0), self.take(keys.1));
        let result = write(&mut a, &mut b, self);
        self.put(keys.0, a);
        self.put(keys.1, b);
        result
    }

    /// Takes a column out; until it is [`Particles::put`] back, it reads as empty.
    pub(crate) fn take<K: Key>(&mut self, key: &'static K) -> Vec<K::Item> {
        let place = self.place(key);
        std::mem::take(K::vec(&mut self.columns[place].data))
    }

    pub(crate) fn put<K: Key>(&mut self, key: &'static K, values: Vec<K::Item>) {
        let place = self.place(key);
        *K::vec(&mut self.columns[place].data) = values;
    }

    fn place<K: Key>(&self, key: &'static K) -> usize {
        let place = self.position_of(key.spec());
        place.unwrap_or_else(|| panic!("no column `{}`", key.spec().name))
    }

    fn position_of(&self, spec: &'static ColumnSpec) -> Option<usize> {
        self.columns.iter().position(|column| std::ptr::eq(column.spec, spec))
    }
}

/// Ties a column's key to the type of its values.
pub trait Key {
    type Item;
    fn spec(&'static self) -> &'static ColumnSpec;
    fn wrap(values: Vec<Self::Item>) -> Data;
    fn slice(data: &Data) -> &[Self::Item];
    fn vec(data: &mut Data) -> &mut Vec<Self::Item>;
}

macro_rules! key {
    ($key:ident, $item:ty) => {
        impl Key for $key {
            type Item = $item;
            fn spec(&'static self) -> &'static ColumnSpec {
                &self.0
            }
            fn wrap(values: Vec<$item>) -> Data {
                Data::$key(values)
            }
            fn slice(data: &Data) -> &[$item] {
                let Data::$key(values) = data else { unreachable!("a key fixes its column's type") };
                values
            }
            fn vec(data: &mut Data) -> &mut Vec<$item> {
                let Data::$key(values) = data else { unreachable!("a key fixes its column's type") };
                values
            }
        }
    };
}
key!(Scalars, f32);
key!(Vectors, Vec4);
key!(Indices, u32);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{ID, POSITION};

    fn three() -> Particles {
        let mut p = Particles::default();
        p.require(&POSITION);
        p.require(&MASS);
        p.require(&ID);
        p.resize(3);
        p.get_mut(&MASS).copy_from_slice(&[1.0, 2.0, 3.0]);
        p.get_mut(&ID).copy_from_slice(&[10, 20, 30]);
        p.get_mut(&POSITION)[1] = Vec4::new(1.0, 2.0, 3.0, 0.0);
        p
    }

    #[test]
    fn reordering_moves_whole_particles() {
        let mut p = three();
        p.reorder(&[2, 0, 1]);
        assert_eq!(p.get(&ID), [30, 10, 20]);
        assert_eq!(p.get(&MASS), [3.0, 1.0, 2.0]);
        assert_eq!(p.get(&POSITION)[2].y, 2.0);
    }

    #[test]
    fn removing_keeps_the_rest_together() {
        let mut p = three();
        p.retain(&[true, false, true]);
        assert_eq!((p.len(), p.get(&ID), p.get(&MASS)), (2, &[10, 30][..], &[1.0, 3.0][..]));
    }

    #[test]
    fn two_halves_make_a_whole() {
        let mut p = three();
        p.halve(1);
        assert_eq!(p.get(&MASS), [1.0, 1.0, 3.0, 1.0]);
        assert_eq!(p.get(&ID), [10, 20, 30, 20]);
        assert_eq!(p.get(&POSITION)[3], p.get(&POSITION)[1]);
        p.get_mut(&POSITION)[3] = Vec4::new(3.0, 2.0, 1.0, 0.0);
        p.unite(1, 3);
        assert_eq!(p.get(&MASS)[1], 2.0);
        assert_eq!(p.get(&POSITION)[1], Vec4::new(2.0, 2.0, 2.0, 0.0));
        // By mass: the heavier one moves less.
        p.unite(2, 1);
        assert_eq!(p.get(&POSITION)[2], Vec4::new(0.8, 0.8, 0.8, 0.0));
        assert_eq!((p.get(&ID)[2], p.get(&MASS)[2]), (30, 5.0));
    }

    #[test]
    fn update_reads_other_columns() {
        let mut p = three();
        p.update(&MASS, |mass, p| mass.iter_mut().zip(p.get(&ID)).for_each(|(m, &id)| *m = id as f32));
        assert_eq!(p.get(&MASS), [10.0, 20.0, 30.0]);
    }
}
