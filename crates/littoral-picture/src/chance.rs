//! Pseudo-random numbers that belong to a thing, not to a moment.
//!
//! A stream starts from the numbers that name its owner (a seed, a particle's id, a grain's number), so the
//! owner draws the same values in every frame, in any order and on any number of threads.
//! The generator is SplitMix64 [Steele, Lea, Flood, OOPSLA 2014].

use glam::Vec3;

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[derive(Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    /// The stream of whatever `names` names.
    pub fn of<const N: usize>(names: [u64; N]) -> Chance {
        Chance(
            names.iter().fold(0, |state, &name| mix(state ^ name.wrapping_mul(GOLDEN)).wrapping_add(GOLDEN)),
        )
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// 0 ≤ u < 1.
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }

    /// −1 ≤ u < 1.
    pub fn signed(&mut self) -> f32 {
        2.0 * self.unit() - 1.0
    }

    /// Mean 0, variance 1, never beyond ±3.5: a sum of four uniform numbers, whose tails end.
    pub fn bell(&mut self) -> f32 {
        let bits = self.next();
        let sum: u32 = (0..4).map(|k| (bits >> (16 * k)) as u32 & 0xFFFF).sum();
        // A sum of four has variance 4/12.
        (sum as f32 / 65536.0 - 2.0) * 3f32.sqrt()
    }

    /// Anywhere in the unit ball, all places alike.
    pub fn in_ball(&mut self) -> Vec3 {
        loop {
            let bits = self.next();
            let axis = |k: u32| ((bits >> (21 * k)) & 0x1F_FFFF) as f32 / (1 << 20) as f32 - 1.0;
            let place = Vec3::new(axis(0), axis(1), axis(2));
            if place.length_squared() <= 1.0 {
                return place;
            }
        }
    }

    /// A whole number whose mean is `mean`.
    pub fn count(&mut self, mean: f32) -> usize {
        (mean + self.unit()) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut chance = Chance::of([1, 2]);
        let n = 100_000;
        let (mut unit, mut bell, mut square, mut radius) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
        let mut middle = glam::DVec3::ZERO;
        for _ in 0..n {
            unit += chance.unit() as f64;
            let b = chance.bell() as f64;
            bell += b;
            square += b * b;
            let place = chance.in_ball();
            middle += place.as_dvec3();
            radius += place.length_squared() as f64;
        }
        let n = n as f64;
        // Four standard errors of the mean: σ / √n = 0.0032 σ.
        assert!((unit / n - 0.5).abs() < 4.0 * 0.0032 * 0.29);
        assert!((bell / n).abs() < 4.0 * 0.0032);
        assert!((square / n - 1.0).abs() < 0.02);
        assert!((middle / n).length() < 4.0 * 0.0032);
        // ⟨r²⟩ in a ball is 3/5.
        assert!((radius / n - 0.6).abs() < 0.005);
    }

    #[test]
    fn owners_differ_and_stay_the_same() {
        let draw = |a, b| Chance::of([a, b]).unit();
        assert_eq!(draw(3, 4), draw(3, 4));
        assert_ne!(draw(3, 4), draw(4, 3));
        assert_ne!(draw(0, 0), draw(0, 1));
    }
}
