//! Particles, and their images behind walls, sorted into cubic bins.
//!
//! Bins are found by hash, so that one drop a kilometre away costs one bin. Sites within a bin keep the order of
//! the cloud, bins have an order of their own: every sum over neighbours has one order, whatever the threads do.
//! [`crate::nearby`] answers single places; here fields are gathered bin by bin, and blocks of a lattice ask for boxes.

use super::{Cloud, Wall};
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::ops::Range;

/// A particle, or the image of one.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    pub position: Vec3,
    /// Volume over spacing³.
    pub volume: f32,
    /// Index into the cloud.
    pub particle: u32,
    /// Walls that mirrored it, one bit each; 0 for the particle itself.
    pub mirrors: u32,
}

/// Volumes count up to this many spacing³: what reaches further than the kernels do cannot be found.
const LARGEST_VOLUME: f32 = 8.0;

/// Particles that can be drawn, and their images in the walls that are nearer than `reach` (m).
pub fn sites(cloud: &Cloud, walls: &[Wall], reach: f32) -> Vec<Site> {
    let rest = cloud.spacing.powi(3);
    let particle = |index: usize| {
        let volume = cloud.volumes.map_or(1.0, |volumes| volumes[index] / rest).min(LARGEST_VOLUME);
        let mut position = cloud.positions[index];
        // A particle pressed a little into a wall is drawn at the wall; one that got through is not drawn.
        for wall in walls {
            let distance = wall.distance(position);
            if distance < -cloud.spacing {
                return None;
            }
            position -= wall.normal * distance.min(0.0);
        }
        (position.is_finite() && volume > 0.0).then_some(Site {
            position,
            volume,
            particle: index as u32,
            mirrors: 0,
        })
    };
    let mut sites: Vec<Site> = (0..cloud.positions.len()).into_par_iter().filter_map(particle).collect();
    // Images of images fill the corners.
    for (index, wall) in walls.iter().enumerate() {
        let mut images: Vec<Site> = sites
            .par_iter()
            .filter(|site| wall.distance(site.position) < reach)
            .map(|site| Site {
                position: wall.mirror(site.position),
                mirrors: site.mirrors | 1 << index,
                ..*site
            })
            .collect();
        sites.append(&mut images);
    }
    sites
}

/// Packs whole coordinates into one key whose order is z, y, x. 21 bits each.
pub fn pack(at: IVec3) -> u64 {
    let half = 1 << 20;
    let part = |x: i32| (x + half) as u64 & 0x1f_ffff;
    part(at.z) << 42 | part(at.y) << 21 | part(at.x)
}

pub fn unpack(key: u64) -> IVec3 {
    let part = |shift: u32| (key >> shift & 0x1f_ffff) as i32 - (1 << 20);
    IVec3::new(part(0), part(21), part(42))
}

/// Coordinates that can be packed, with room for neighbours.
pub fn packable(at: Vec3) -> bool {
    at.abs().max_element() < 1_000_000.0
}

/// From packed coordinates to an index: open addressing, linear probing.
pub struct Directory {
    slots: Vec<(u64, u32)>,
    mask: usize,
}

const FREE: u64 = u64::MAX;

impl Directory {
    pub fn new(keys: impl ExactSizeIterator<Item = u64>) -> Self {
        let capacity = (2 * keys.len() + 2).next_power_of_two();
        let mut slots = vec![(FREE, 0); capacity];
        let mask = capacity - 1;
        for (index, key) in keys.enumerate() {
            let mut slot = Self::scatter(key) & mask;
            while slots[slot].0 != FREE {
                slot = (slot + 1) & mask;
            }
            slots[slot] = (key, index as u32);
        }
        Self { slots, mask }
    }

    fn scatter(key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
    }

    pub fn find(&self, key: u64) -> Option<usize> {
        let mut slot = Self::scatter(key) & self.mask;
        loop {
            match self.slots[slot] {
                (found, index) if found == key => return Some(index as usize),
                (FREE, _) => return None,
                _ => slot = (slot + 1) & self.mask,
            }
        }
    }
}

pub struct Bins {
    /// Edge of a bin, m.
    pub edge: f32,
    /// Sorted by bin.
    pub sites: Vec<Site>,
    keys: Vec<u64>,
    starts: Vec<u32>,
    directory: Directory,
}

impl Bins {
    pub fn new(sites: &[Site], edge: f32) -> Self {
        let mut order: Vec<(u64, u32)> = sites
            .par_iter()
            .enumerate()
            .filter(|(_, site)| packable(site.position / edge))
            .map(|(index, site)| (pack((site.position / edge).floor().as_ivec3()), index as u32))
            .collect();
        order.par_sort_unstable();
        let sorted = order.par_iter().map(|&(_, index)| sites[index as usize]).collect();
        let (mut keys, mut starts) = (vec![], vec![]);
        for (index, &(key, _)) in order.iter().enumerate() {
            if keys.last() != Some(&key) {
                keys.push(key);
                starts.push(index as u32);
            }
        }
        starts.push(order.len() as u32);
        let directory = Directory::new(keys.iter().copied());
        Self { edge, sites: sorted, keys, starts, directory }
    }

    /// How many bins hold something.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn at(&self, bin: usize) -> IVec3 {
        unpack(self.keys[bin])
    }

    pub fn range(&self, bin: usize) -> Range<usize> {
        self.starts[bin] as usize..self.starts[bin + 1] as usize
    }

    pub fn find(&self, at: IVec3) -> Option<usize> {
        self.directory.find(pack(at))
    }

    pub fn home(&self, position: Vec3) -> IVec3 {
        (position / self.edge).floor().as_ivec3()
    }

    /// Bins that hold something and touch a box, in order.
    pub fn touching(&self, low: Vec3, high: Vec3) -> impl Iterator<Item = usize> + '_ {
        let (low, high) = (self.home(low), self.home(high));
        (low.z..=high.z).flat_map(move |z| {
            (low.y..=high.y)
                .flat_map(move |y| (low.x..=high.x).filter_map(move |x| self.find(IVec3::new(x, y, z))))
        })
    }
}
