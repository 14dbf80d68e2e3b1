//! Ropes: which particles of a row one thread runs through.
//!
//! A rope is drawn as round threads through its particles ([`crate::trace::Shape::Curves`]). It ends where a particle is missing, and where it
//! has torn: frames do not tell which particles still hold on to each other, but what has torn moves apart.
//! Kept honest by `a_torn_rope_is_two_threads`.

use std::ops::Range;

use glam::Vec3;

/// Pieces of a row of particles with these numbers, none of them alone; `longest` is how far apart two may be, m.
pub fn pieces(points: &[Vec3], numbers: &[u32], longest: f32) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for next in 1..=points.len() {
        let goes_on = next < points.len()
            && numbers[next] == numbers[next - 1] + 1
            && points[next].distance(points[next - 1]) <= longest;
        if !goes_on {
            pieces.extend((next - start > 1).then_some(start..next));
            start = next;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_rope_is_two_threads() {
        let ends = |places: &[f32], numbers: &[u32]| -> Vec<(usize, usize)> {
            let points: Vec<Vec3> = places.iter().map(|&x| Vec3::X * x).collect();
            pieces(&points, numbers, 1.5).iter().map(|piece| (piece.start, piece.end)).collect()
        };
        let numbers: Vec<u32> = (7..14).collect();
        assert_eq!(ends(&[0.0, 1.0, 2.1, 3.0, 4.0, 5.0, 6.0], &numbers), [(0, 7)]);
        // Torn in the middle; and the last one has come off.
        assert_eq!(ends(&[0.0, 1.0, 2.1, 4.0, 5.0, 6.0, 9.0], &numbers), [(0, 3), (3, 6)]);
        // A sink has taken the third.
        assert_eq!(ends(&[0.0, 1.0, 2.0, 3.0], &[1, 2, 4, 5]), [(0, 2), (2, 4)]);
        assert!(ends(&[], &[]).is_empty());
    }
}
