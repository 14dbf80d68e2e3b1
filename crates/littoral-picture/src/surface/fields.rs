//! What a particle adds to the field, and the field on a block of lattice points.
//!
//! All fields sum bells (1 − q²)³ [LE 2.11] with q² = (x − c)ᵀ M (x − c): along a row of lattice points q² is a
//! parabola, so that a bell stretched by its neighbourhood costs what a round one does.
//! Lengths inside are in spacings wherever a comment does not say metres.

use super::bins::{Bins, Site};
use super::{Field, Wall};
use glam::{IVec3, Mat3, Vec3, Vec4};
use rayon::prelude::*;
use std::f32::consts::PI;

/// Half width of the widest bell, spacings.
pub const REACH: f32 = 2.0;

/// How far a particle looks to learn the shape of its neighbourhood, spacings.
pub const SEARCH: f32 = 2.5;

/// Σ (1 − q²)² over a full neighbourhood: 32π/105 of the cube of its radius.
const FULL_WEIGHT: f32 = 32.0 * PI / 105.0 * SEARCH * SEARCH * SEARCH;

/// Half width of the bell of a lonely particle. One spacing makes drops and sheets keep their volume at an iso
/// value of a half: s W₁(s/2) ≈ 1/2 where W₁ is the bell summed over a plane.
const NARROW: f32 = 1.0;

/// ∫ (1 − q²)³ over the unit ball is 1 over this.
const BELL: f32 = 315.0 / (64.0 * PI);

/// Lattice points along an edge of a block.
pub const SIDE: usize = 8;
pub const POINTS: usize = SIDE * SIDE * SIDE;

/// One particle's bell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bell {
    /// m.
    pub centre: Vec3,
    /// xx, yy, zz, xy, xz, yz of M, 1/m².
    form: [f32; 6],
    /// Half widths of the box around q < 1, m.
    pub extent: Vec3,
    pub height: f32,
    /// How full the neighbourhood is: 1 deep inside, 1/2 at a flat surface, near 0 for a drop.
    pub crowd: f32,
}

impl Bell {
    fn round(centre: Vec3, half_width: f32, height: f32, crowd: f32) -> Self {
        let inverse = half_width.powi(-2);
        let form = [inverse, inverse, inverse, 0.0, 0.0, 0.0];
        Self { centre, form, extent: Vec3::splat(half_width), height, crowd }
    }

    /// From the matrix whose eigenvalues are the squares of the half widths, m².
    fn stretched(centre: Vec3, squares: Mat3, height: f32, crowd: f32) -> Self {
        let m = squares.inverse();
        let form = [m.x_axis.x, m.y_axis.y, m.z_axis.z, m.y_axis.x, m.z_axis.x, m.z_axis.y];
        let extent = Vec3::new(squares.x_axis.x, squares.y_axis.y, squares.z_axis.z).map(f32::sqrt);
        Self { centre, form, extent, height, crowd }
    }

    /// The bell at a position, and its gradient (1/m).
    pub fn at(&self, position: Vec3) -> (f32, Vec3) {
        let [xx, yy, zz, xy, xz, yz] = self.form;
        let d = position - self.centre;
        let slope = Vec3::new(
            xx * d.x + xy * d.y + xz * d.z,
            xy * d.x + yy * d.y + yz * d.z,
            xz * d.x + yz * d.y + zz * d.z,
        );
        let t = (1.0 - slope.dot(d)).max(0.0);
        (self.height * t * t * t, slope * (-6.0 * self.height * t * t))
    }

    fn mirrored(mut self, wall: &Wall) -> Self {
        self.centre = wall.mirror(self.centre);
        let [xx, yy, zz, xy, xz, yz] = self.form;
        let form = Mat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
        let flip = Mat3::IDENTITY
            - 2.0
                * Mat3::from_cols(
                    wall.normal * wall.normal.x,
                    wall.normal * wall.normal.y,
                    wall.normal * wall.normal.z,
                );
        Self::stretched(self.centre, (flip * form * flip).inverse(), self.height, self.crowd)
    }
}

/// Makes the bells of a bin.
pub struct Shaper<'a> {
    bins: &'a Bins,
    walls: &'a [Wall],
    field: Field,
    /// m.
    spacing: f32,
    /// |n| of each particle, spacings [BA 5.7]; only for Bayraktar's field.
    normals: Vec<f32>,
}

/// What surrounds the bin of the particle last asked for, four sites in a `Row`; the last row is filled up with far sites
/// that have no volume.
#[derive(Default)]
pub struct Neighbours {
    home: Option<IVec3>,
    rows: Vec<Row>,
    particle: Vec<u32>,
}

/// Four sites: positions in m, volumes in spacing³. `Vec4` is one SIMD register.
#[derive(Clone, Copy)]
struct Row {
    x: Vec4,
    y: Vec4,
    z: Vec4,
    volume: Vec4,
}

impl Row {
    /// A square of 1e18 is still a number.
    const FAR: Row = Row { x: Vec4::splat(1e18), y: Vec4::ZERO, z: Vec4::ZERO, volume: Vec4::ZERO };

    /// Offsets from a position, m.
    fn from(&self, position: Vec3) -> [Vec4; 3] {
        [self.x - position.x, self.y - position.y, self.z - position.z]
    }
}

impl Neighbours {
    fn around(&mut self, bins: &Bins, position: Vec3) -> &Self {
        let home = bins.home(position);
        if self.home == Some(home) {
            return self;
        }
        self.home = Some(home);
        self.particle.clear();
        self.rows.clear();
        let middle = (home.as_vec3() + 0.5) * bins.edge;
        for bin in bins.touching(middle - bins.edge, middle + bins.edge) {
            for site in &bins.sites[bins.range(bin)] {
                let lane = self.particle.len() % 4;
                if lane == 0 {
                    self.rows.push(Row::FAR);
                }
                let row = self.rows.last_mut().expect("a row was pushed");
                [row.x[lane], row.y[lane], row.z[lane]] = site.position.to_array();
                row.volume[lane] = site.volume;
                self.particle.push(site.particle);
            }
        }
        self
    }

    /// Σ volume (1 − d²/radius²)², radius in m.
    fn volume_sum(&self, position: Vec3, radius: f32) -> f32 {
        let mut sum = Vec4::ZERO;
        for row in &self.rows {
            let [x, y, z] = row.from(position);
            let t = (Vec4::ONE - (x * x + y * y + z * z) * radius.powi(-2)).max(Vec4::ZERO);
            sum += row.volume * t * t;
        }
        sum.element_sum()
    }

    /// Σ (1 − d²/radius²)³, radius in m.
    fn bell_sum(&self, position: Vec3, radius: f32) -> f32 {
        let mut sum = Vec4::ZERO;
        for row in &self.rows {
            let [x, y, z] = row.from(position);
            let t = (Vec4::ONE - (x * x + y * y + z * z) * radius.powi(-2)).max(Vec4::ZERO);
            sum += t * t * t;
        }
        sum.element_sum()
    }

    /// Particles within a distance (m) of a position, with their offsets in m.
    fn within(&self, position: Vec3, distance: f32) -> impl Iterator<Item = (u32, Vec3)> + '_ {
        let offset = move |index: usize| {
            let (row, lane) = (&self.rows[index / 4], index % 4);
            Vec3::new(row.x[lane], row.y[lane], row.z[lane]) - position
        };
        let sites = self.particle.iter().enumerate().map(move |(index, &particle)| (particle, offset(index)));
        sites.filter(move |(_, offset)| offset.length_squared() <= distance * distance)
    }
}

/// Weighted sums over a neighbourhood, in spacings, about the particle.
struct Moments {
    weight: f32,
    /// About the mean of the neighbours.
    covariance: Mat3,
}

impl Moments {
    /// With weights volume · (1 − q²)².
    fn new(position: Vec3, nearby: &Neighbours, spacing: f32) -> Self {
        let mut sums = [Vec4::ZERO; 10];
        let scale = 1.0 / spacing;
        for row in &nearby.rows {
            let [x, y, z] = row.from(position).map(|offset| offset * scale);
            let t = (Vec4::ONE - (x * x + y * y + z * z) * (1.0 / (SEARCH * SEARCH))).max(Vec4::ZERO);
            let w = row.volume * t * t;
            let (wx, wy, wz) = (w * x, w * y, w * z);
            let terms = [w, wx, wy, wz, wx * x, wy * y, wz * z, wx * y, wx * z, wy * z];
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum += term;
            }
        }
        let [weight, x, y, z, xx, yy, zz, xy, xz, yz] = sums.map(Vec4::element_sum);
        let mean = Vec3::new(x, y, z) / weight;
        let (xx, yy, zz) =
            (xx / weight - mean.x * mean.x, yy / weight - mean.y * mean.y, zz / weight - mean.z * mean.z);
        let (xy, xz, yz) =
            (xy / weight - mean.x * mean.y, xz / weight - mean.x * mean.z, yz / weight - mean.y * mean.z);
        Self { weight, covariance: Mat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]) }
    }
}

impl<'a> Shaper<'a> {
    pub fn new(bins: &'a Bins, walls: &'a [Wall], field: Field, spacing: f32, particles: usize) -> Self {
        let mut shaper = Self { bins, walls, field, spacing, normals: vec![] };
        if field == Field::Bayraktar {
            shaper.normals = shaper.particle_normals(particles);
        }
        shaper
    }

    pub fn bells(&self, bin: usize) -> Vec<Bell> {
        let mut neighbours = Neighbours::default();
        let bell = |site: &Site| {
            // An image has the mirrored bell of its particle: its own neighbourhood is cut off.
            let mirrors = |index: &usize| site.mirrors >> index & 1 == 1;
            let walls = || (0..self.walls.len()).filter(mirrors).map(|index| &self.walls[index]);
            let position = walls().rev().fold(site.position, |position, wall| wall.mirror(position));
            let bell = self.bell(&Site { position, ..*site }, &mut neighbours);
            walls().fold(bell, Bell::mirrored)
        };
        self.bins.sites[self.bins.range(bin)].iter().map(bell).collect()
    }

    fn bell(&self, site: &Site, neighbours: &mut Neighbours) -> Bell {
        let nearby = neighbours.around(self.bins, site.position);
        match self.field {
            Field::Colour | Field::Smoothed => self.colour(site, nearby),
            Field::ZhuBridson => {
                Bell::round(site.position, REACH * self.spacing, 1.0, self.crowd(site, nearby))
            }
            Field::Bayraktar => self.bayraktar(site, nearby),
            Field::Anisotropic => self.anisotropic(site, nearby),
        }
    }

    /// V W with V = 1/Σ W, so that the field is near 1 at every particle [LE 2.8].
    fn colour(&self, site: &Site, nearby: &Neighbours) -> Bell {
        let half_width = REACH * site.volume.cbrt().min(1.0);
        let density = nearby.bell_sum(site.position, half_width * self.spacing);
        Bell::round(site.position, half_width * self.spacing, 1.0 / density, self.crowd(site, nearby))
    }

    fn crowd(&self, site: &Site, nearby: &Neighbours) -> f32 {
        nearby.volume_sum(site.position, SEARCH * self.spacing) / FULL_WEIGHT
    }

    /// The ellipsoid of the neighbourhood, after Yu & Turk 2013. They clamp the eigenvalues of the covariance C
    /// from below; we add NARROW² to all of them, which needs no eigenvectors and does not jump from frame to frame:
    ///   B = NARROW² + f (REACH² − NARROW²) C / C_full,   height = V BELL / √det B.
    /// f falls to 0 in thin spray: wide bells there would all stay below the iso value, and the drops would vanish.
    /// Bells in sheets are raised by a tenth and lonely ones by half: with it they keep their volume, too.
    /// Their shift of the centres towards the mean of the neighbours is left out: measured on shaken water (the example
    /// `surface_probe`) it lowers the surface by up to 0.18 spacings and makes it no flatter.
    fn anisotropic(&self, site: &Site, nearby: &Neighbours) -> Bell {
        let Moments { weight, covariance } = Moments::new(site.position, nearby, self.spacing);
        let full = SEARCH * SEARCH / 9.0; // of a full ball
        let crowd = weight / FULL_WEIGHT;
        let narrow = NARROW * NARROW * site.volume.powf(2.0 / 3.0);
        let stretch = |f: f32| {
            Mat3::from_diagonal(Vec3::splat(narrow))
                + covariance * (f * (REACH * REACH - narrow).max(0.0) / full)
        };
        // How full the ellipsoid is.
        let filling = crowd * REACH.powi(3) / stretch(1.0).determinant().sqrt();
        let f = ((filling - 0.3) / 0.4).clamp(0.0, 1.0);
        let squares = stretch(f * f * (3.0 - 2.0 * f));
        let lonely = (1.0 - crowd / 0.55).max(0.0);
        let height = (1.0 + 0.6 * lonely) * site.volume * BELL / squares.determinant().sqrt();
        Bell::stretched(site.position, squares * self.spacing * self.spacing, height, crowd)
    }

    /// |n| = |x − mean of the neighbours' positions| of every particle, spacings [BA 5.6, 5.7].
    fn particle_normals(&self, particles: usize) -> Vec<f32> {
        let length = |bin: usize| {
            let mut neighbours = Neighbours::default();
            let sites = self.bins.sites[self.bins.range(bin)].iter().filter(|site| site.mirrors == 0);
            sites
                .map(|site| {
                    let nearby = neighbours.around(self.bins, site.position);
                    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
                    for (_, offset) in nearby.within(site.position, SEARCH * self.spacing) {
                        sum += offset / self.spacing;
                        count += 1.0;
                    }
                    (site.particle, sum.length() / count)
                })
                .collect::<Vec<_>>()
        };
        let mut lengths = vec![0.0; particles];
        for (particle, length) in
            (0..self.bins.len()).into_par_iter().flat_map_iter(length).collect::<Vec<_>>()
        {
            lengths[particle as usize] = length;
        }
        lengths
    }

    /// [BA 5.8–5.10], with three departures. The text wants particles near the surface to count less, but d s/h
    /// with s < 1 makes them count more, and leaves a step at d = h: we take d/(s h). The summand ℜ/2 makes the
    /// surface depend on the most exposed particle of the whole frame: we leave it out, s = 1 − ℜᵢ. And the root
    /// is left out: it moves no iso surface once the iso value is squared, but makes interpolation worse.
    fn bayraktar(&self, site: &Site, nearby: &Neighbours) -> Bell {
        let (mut sum, mut count) = (0.0, 0.0);
        for (particle, _) in nearby.within(site.position, SEARCH * self.spacing) {
            sum += self.normals[particle as usize];
            count += 1.0;
        }
        let surface_value = 1.0 - sum / (count * SEARCH);
        let half_width = REACH * surface_value * site.volume.cbrt().min(1.0);
        Bell::round(site.position, half_width * self.spacing, 1.0, self.crowd(site, nearby))
    }
}

/// A block's rows of lattice points: where the first is, and how far apart they are, m.
#[derive(Clone, Copy)]
pub struct Rows {
    pub origin: Vec3,
    pub step: Vec3,
}

impl Rows {
    /// The rows (y, z) that a bell touches; none when it misses the block.
    fn touched(&self, bell: &Bell) -> Option<[usize; 4]> {
        let reach = [bell.centre - bell.extent - self.origin, bell.centre + bell.extent - self.origin];
        if reach[1].min_element() < 0.0 || reach[0].cmpgt(self.step * (SIDE - 1) as f32).any() {
            return None;
        }
        // Casts round towards zero and stop there.
        let low = |axis: usize| (reach[0][axis] / self.step[axis] + 0.999) as usize;
        let high = |axis: usize| (reach[1][axis] / self.step[axis]).min((SIDE - 1) as f32) as usize;
        Some([low(1), high(1), low(2), high(2)])
    }

    /// Σ height (1 − q²)³.
    pub fn add(&self, bell: &Bell, values: &mut [f32; POINTS]) {
        let Some([y0, y1, z0, z1]) = self.touched(bell) else { return };
        let [xx, yy, zz, xy, xz, yz] = bell.form;
        let d = self.origin - bell.centre;
        let halves = [Vec4::new(0.0, 1.0, 2.0, 3.0), Vec4::new(4.0, 5.0, 6.0, 7.0)];
        let dx = halves.map(|x| x * self.step.x + d.x);
        for z in z0..=z1 {
            let dz = d.z + z as f32 * self.step.z;
            for y in y0..=y1 {
                let dy = d.y + y as f32 * self.step.y;
                // q² = xx dx² + b dx + c, and its least value along the row.
                let b = 2.0 * (xy * dy + xz * dz);
                let c = yy * dy * dy + zz * dz * dz + 2.0 * yz * dy * dz;
                if c - b * b / (4.0 * xx) >= 1.0 {
                    continue;
                }
                for (x, values) in dx.iter().zip(values[(z * SIDE + y) * SIDE..][..SIDE].chunks_exact_mut(4))
                {
                    let t = (Vec4::splat(1.0 - c) - (*x * xx + b) * *x).max(Vec4::ZERO);
                    (Vec4::from_slice(values) + t * t * t * bell.height).write_to_slice(values);
                }
            }
        }
    }

    /// r f − |x − x̄|, with the mean position x̄ = Σ w xᵢ / Σ w (Zhu & Bridson 2005). Between two bodies of fluid
    /// x̄ sweeps from one to the other, and the field makes a false bridge. There the largest eigenvalue E of ∇x̄ is
    /// large, and f falls from 1 at E = 0.4 to 0 at E = 3.5 (Solenthaler et al. 2007).
    /// With e = xᵢ − x and w = t³: ∇x̄ = (6/R²) (Σ t² e eᵀ − (x̄ − x) Σ t² eᵀ) / Σ w.
    /// E is taken of the symmetric part, which bounds the real parts of the eigenvalues. Result in spacings.
    pub fn mean_position(&self, bells: &[Bell], radius: f32, spacing: f32) -> Box<[f32; POINTS]> {
        let mut sums = vec![[0.0f32; 13]; POINTS];
        let reach = REACH * spacing;
        for bell in bells {
            let Some([y0, y1, z0, z1]) = self.touched(bell) else { continue };
            for z in z0..=z1 {
                for y in y0..=y1 {
                    for x in 0..SIDE {
                        let point = self.origin + self.step * Vec3::new(x as f32, y as f32, z as f32);
                        let e = (bell.centre - point) / spacing;
                        let t = 1.0 - e.length_squared() * (spacing / reach).powi(2);
                        if t <= 0.0 {
                            continue;
                        }
                        let (t2, t3) = (t * t, t * t * t);
                        let [ex, ey, ez] = e.to_array();
                        let terms = [
                            t3,
                            t3 * ex,
                            t3 * ey,
                            t3 * ez,
                            t2 * ex,
                            t2 * ey,
                            t2 * ez,
                            t2 * ex * ex,
                            t2 * ey * ey,
                            t2 * ez * ez,
                            t2 * ex * ey,
                            t2 * ex * ez,
                            t2 * ey * ez,
                        ];
                        let sum = &mut sums[(z * SIDE + y) * SIDE + x];
                        for (sum, term) in sum.iter_mut().zip(terms) {
                            *sum += term;
                        }
                    }
                }
            }
        }
        let mut values = Box::new([-REACH; POINTS]);
        for (value, sum) in values.iter_mut().zip(&sums) {
            let [w, wx, wy, wz, vx, vy, vz, xx, yy, zz, xy, xz, yz] = *sum;
            // Too far from all particles for the quotient to mean anything.
            if w < 1e-3 {
                continue;
            }
            let m = Vec3::new(wx, wy, wz) / w;
            let v = Vec3::new(vx, vy, vz);
            let half = |a: usize, b: usize| 0.5 * (m[a] * v[b] + m[b] * v[a]);
            let (xx, yy, zz) = (xx - m.x * v.x, yy - m.y * v.y, zz - m.z * v.z);
            let (xy, xz, yz) = (xy - half(0, 1), xz - half(0, 2), yz - half(1, 2));
            let largest = 6.0 / (REACH * REACH) / w * largest_eigenvalue([xx, yy, zz, xy, xz, yz]);
            let gamma = ((3.5 - largest) / (3.5 - 0.4)).clamp(0.0, 1.0);
            let f = gamma * (gamma * (gamma - 3.0) + 3.0);
            *value = radius * f - m.length();
        }
        values
    }
}

/// Of a symmetric matrix, by the trigonometric solution of its cubic.
fn largest_eigenvalue([xx, yy, zz, xy, xz, yz]: [f32; 6]) -> f32 {
    let middle = (xx + yy + zz) / 3.0;
    let (a, b, c) = (xx - middle, yy - middle, zz - middle);
    let p = ((a * a + b * b + c * c + 2.0 * (xy * xy + xz * xz + yz * yz)) / 6.0).sqrt();
    if p <= 1e-12 {
        return middle;
    }
    let determinant = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz);
    let angle = (determinant / (2.0 * p * p * p)).clamp(-1.0, 1.0).acos() / 3.0;
    middle + 2.0 * p * angle.cos()
}
