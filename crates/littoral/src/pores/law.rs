//! How strongly pores pull, and how easily they let liquid pass, over how full they are.
//!
//! The fill f is the mass of the liquid over what the pores hold: up to 1 it is the saturation. The pressure of the liquid is
//!
//!   p(f) = −P_c c(f)       below 1: pores that are not full pull,
//!   p(f) = k (f − 1)       above: full pores are widened, with the stiffness k,
//!
//! where c falls from c(0) to c(1) = 0: (1 − f)^α [Lenaerts2009, Eq. 6.3], or Leverett's J [Leverett1941; Bayraktar2010,
//! Eq. 3.32] with P_c = σ √(φ/K). Permeability falls to a part f^β of that of full pores [Lenaerts2009, Eq. 6.8].
//!
//! All are kept as straight lines between 129 points: (1 − f)^α is infinitely steep at 1, and a solve wants slopes.

/// Straight pieces from an empty pore to a full one.
const PIECES: usize = 128;

/// The shape of c.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pull {
    /// (1 − f)^α.
    Power(f64),
    /// J(f).
    Leverett,
}

/// The curves of one body.
#[derive(Clone, Debug)]
pub struct Law {
    pull: Pull,
    flow_exponent: f64,
    pulls: Vec<f64>,
    flows: Vec<f64>,
}

impl Law {
    pub fn new(pull: Pull, flow_exponent: f64) -> Law {
        let at = |k: usize| k as f64 / PIECES as f64;
        let pulls = (0..=PIECES).map(|k| pull.at(at(k))).collect();
        let flows = (0..=PIECES).map(|k| libm::pow(at(k), flow_exponent)).collect();
        Law { pull, flow_exponent, pulls, flows }
    }

    /// Whether it is the law of these numbers.
    pub fn is(&self, pull: Pull, flow_exponent: f64) -> bool {
        self.pull == pull && self.flow_exponent == flow_exponent
    }

    /// p over f, Pa, and its slope, for a strength P_c and a stiffness k, both Pa.
    #[inline]
    pub fn pressure(&self, fill: f64, strength: f64, stiffness: f64) -> (f64, f64) {
        if fill >= 1.0 {
            return (stiffness * (fill - 1.0), stiffness);
        }
        let (piece, place) = piece(fill);
        let (a, b) = (self.pulls[piece], self.pulls[piece + 1]);
        (-strength * (a + (b - a) * place), strength * (a - b) * PIECES as f64)
    }

    /// Slope just below full, Pa.
    pub fn steepest(&self, strength: f64) -> f64 {
        strength * (self.pulls[PIECES - 1] - self.pulls[PIECES]) * PIECES as f64
    }

    /// Permeability over that of full pores.
    #[inline]
    pub fn flow(&self, fill: f64) -> f64 {
        let (piece, place) = piece(fill.clamp(0.0, 1.0));
        let (a, b) = (self.flows[piece], self.flows[piece + 1]);
        a + (b - a) * place
    }
}

/// The piece that a fill lies in, and where.
fn piece(fill: f64) -> (usize, f64) {
    let at = fill * PIECES as f64;
    let piece = (at.max(0.0) as usize).min(PIECES - 1);
    (piece, at - piece as f64)
}

impl Pull {
    fn at(self, fill: f64) -> f64 {
        let empty = 1.0 - fill;
        match self {
            Pull::Power(exponent) => libm::pow(empty, exponent),
            Pull::Leverett => empty * (1.417 + empty * (-2.120 + empty * 1.263)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pulls_fall_to_nothing() {
        for pull in [Pull::Power(0.1), Pull::Power(1.0), Pull::Leverett] {
            let law = Law::new(pull, 7.0);
            let mut last = f64::NEG_INFINITY;
            for k in 0..=1300 {
                let (pressure, slope) = law.pressure(f64::from(k) * 1e-3, 15e3, 5e4);
                assert!(pressure > last && slope > 0.0, "{pull:?} {k}");
                last = pressure;
            }
            assert_eq!(law.pressure(1.0, 15e3, 5e4).0, 0.0);
            assert!((law.pressure(1.3, 15e3, 5e4).0 - 1.5e4).abs() < 1e-9);
        }
        // J(0) = 1.417 − 2.120 + 1.263.
        assert!((Law::new(Pull::Leverett, 1.0).pressure(0.0, 1.0, 1.0).0 + 0.56).abs() < 1e-12);
        assert!((Law::new(Pull::Power(0.1), 7.0).flow(0.5) - 0.5f64.powi(7)).abs() < 1e-12);
    }
}
