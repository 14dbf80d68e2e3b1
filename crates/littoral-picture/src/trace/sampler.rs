//! Low-discrepancy numbers: the first two dimensions of Sobol's sequence, Owen-scrambled by hashing.
//!
//! Every pair of numbers a path asks for is one 2D Sobol point; the order of the points and their digits are
//! scrambled afresh for each pixel and each pair, so that pairs do not know of each other (Burley 2020,
//! "Practical Hash-based Owen Scrambling"; the hash is Laine & Karras' 2011 with Vegdahl's constants).
//! Depends on (seed, pixel, pair, sample) alone: still regions of a film keep their numbers.
//! Kept honest by `sobol_pairs_are_a_net`.

#[derive(Clone, Copy)]
pub(crate) struct Sampler {
    sample: u32,
    seed: u32,
}

impl Sampler {
    pub fn new(seed: u64, pixel: u32, sample: u32) -> Self {
        let seed = mix(mix(seed as u32 ^ 0x9e37_79b9) ^ (seed >> 32) as u32);
        Self { sample, seed: mix(seed ^ mix(pixel.wrapping_add(0x632b_e5ab))) }
    }

    /// Two numbers in [0, 1) for the decision number `pair`.
    pub fn pair(&self, pair: u32) -> (f32, f32) {
        let seed = mix(self.seed ^ pair.wrapping_mul(0x85eb_ca6b).wrapping_add(0x27d4_eb2f));
        let index = owen(self.sample, seed);
        let x = owen(index.reverse_bits(), mix(seed ^ 0x51f1_5e3d));
        let y = owen(pascal(index).reverse_bits(), mix(seed ^ 0xa341_316c));
        (unit(x), unit(y))
    }

    /// Independent random numbers for walks of unknown length.
    pub fn stream(&self, pair: u32) -> Stream {
        let seed = mix(self.seed ^ mix(pair ^ 0x68e3_1da4)) ^ mix(self.sample ^ 0xb529_7a4d);
        Stream(mix(seed))
    }
}

pub(crate) struct Stream(u32);

impl Stream {
    pub fn seeded(seed: u32) -> Self {
        Stream(mix(seed))
    }

    /// A number in [0, 1).
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        unit(mix(self.0))
    }
}

fn unit(bits: u32) -> f32 {
    (bits >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// A 32-bit hash in which every bit of the input reaches every bit of the output (lowbias32, Wellons 2018).
pub(crate) fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Owen-scrambles the digits of the fraction `x` / 2³²: each bit is flipped depending on the bits above it.
fn owen(x: u32, seed: u32) -> u32 {
    let mut x = x.reverse_bits();
    x ^= x.wrapping_mul(0x3d20_adea);
    x = x.wrapping_add(seed);
    x = x.wrapping_mul((seed >> 16) | 1);
    x ^= x.wrapping_mul(0x0552_6c56);
    x ^= x.wrapping_mul(0x53a2_2864);
    x.reverse_bits()
}

/// Index times the Pascal matrix modulo 2, which is the generator of Sobol's second dimension, in five steps
/// of the matrix's block structure (P₂ₙ = [Pₙ Pₙ; 0 Pₙ]).
fn pascal(mut x: u32) -> u32 {
    x ^= x >> 16;
    x ^= (x & 0xff00_ff00) >> 8;
    x ^= (x & 0xf0f0_f0f0) >> 4;
    x ^= (x & 0xcccc_cccc) >> 2;
    x ^ ((x & 0xaaaa_aaaa) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any 2^m consecutive aligned points hit every elementary interval of area 2^-m once: that makes it a net.
    #[test]
    fn sobol_pairs_are_a_net() {
        for pair in 0..20 {
            for m in 0..=8u32 {
                for split in 0..=m {
                    let (columns, rows) = (1u32 << split, 1u32 << (m - split));
                    let mut hits = vec![0; (columns * rows) as usize];
                    for sample in 0..1 << m {
                        let (x, y) = Sampler::new(5, 77, sample).pair(pair);
                        let cell = (x * columns as f32) as u32 + columns * (y * rows as f32) as u32;
                        hits[cell as usize] += 1;
                    }
                    assert!(hits.iter().all(|&n| n == 1), "pair {pair}, {columns} × {rows}: {hits:?}");
                }
            }
        }
    }

    #[test]
    fn pairs_of_one_pixel_do_not_follow_each_other() {
        let n = 4096;
        for (a, b) in [(0, 1), (2, 7), (1, 9)] {
            let product: f32 = (0..n)
                .map(|sample| Sampler::new(1, 3, sample))
                .map(|sampler| (sampler.pair(a).0 - 0.5) * (sampler.pair(b).0 - 0.5))
                .sum();
            // The correlation of independent numbers has a standard deviation of 1/√n = 0.016.
            assert!((product / n as f32 * 12.0).abs() < 0.06, "{a} {b}: {product}");
        }
    }
}
