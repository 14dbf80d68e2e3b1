// Shapes of the smoothing kernels over q = r/h, as in kernels.rs; h is the support radius.
// `flat` and `sides` (dimensions − 1) are constants of the scene. The scaled kernels that laws call
// (density_w, pressure_gradient_over_r, …) are made from these shapes when the program is joined.

fn inner(q: f32) -> f32 {
    return max(1.0 - q, 0.0);
}

fn half_inner(q: f32) -> f32 {
    return max(0.5 - q, 0.0);
}

fn cubic_spline_w(q: f32) -> f32 {
    let a = inner(q);
    let b = half_inner(q);
    return 2.0 * a * a * a - 8.0 * b * b * b;
}

fn cubic_spline_slope(q: f32) -> f32 {
    let a = inner(q);
    let b = half_inner(q);
    return 24.0 * b * b - 6.0 * a * a;
}

fn cubic_spline_laplacian(q: f32) -> f32 {
    let a = inner(q);
    let b = half_inner(q);
    return (12.0 * a - 48.0 * b) + cubic_spline_slope(q) * sides / max(q, 1e-6);
}

fn poly6_w(q: f32) -> f32 {
    let t = max(1.0 - q * q, 0.0);
    return t * t * t;
}

fn poly6_slope(q: f32) -> f32 {
    let t = max(1.0 - q * q, 0.0);
    return -6.0 * t * t * q;
}

fn poly6_laplacian(q: f32) -> f32 {
    let t = max(1.0 - q * q, 0.0);
    return t * (24.0 * q * q - t * (6.0 * (sides + 1.0)));
}

fn spiky_w(q: f32) -> f32 {
    let a = inner(q);
    return a * a * a;
}

fn spiky_slope(q: f32) -> f32 {
    let a = inner(q);
    return -3.0 * a * a;
}

fn spiky_laplacian(q: f32) -> f32 {
    let a = inner(q);
    return 6.0 * a - a * a * (3.0 * sides) / max(q, 1e-6);
}

// The kernel whose Laplacian is proportional to 1 − q: singular at r = 0, so never used for density.
fn viscous_w(q_raw: f32) -> f32 {
    let q = max(q_raw, 1e-6);
    var shape = -0.5 * q * q * q + q * q + 0.5 / q - 1.0;
    if flat {
        shape = 0.25 * q * q - q * q * q / 9.0 - log(q) / 6.0 - 5.0 / 36.0;
    }
    return select(0.0, shape, q_raw < 1.0);
}

fn viscous_slope(q_raw: f32) -> f32 {
    let q = max(q_raw, 1e-6);
    var shape = -1.5 * q * q + 2.0 * q - 0.5 / (q * q);
    if flat {
        shape = 0.5 * q - q * q / 3.0 - 1.0 / (6.0 * q);
    }
    return select(0.0, shape, q_raw < 1.0);
}

fn viscous_laplacian(q: f32) -> f32 {
    return select(6.0, 1.0, flat) * inner(q);
}

fn wendland_w(q: f32) -> f32 {
    let a = inner(q);
    return a * a * a * a * (4.0 * q + 1.0);
}

fn wendland_slope(q: f32) -> f32 {
    let a = inner(q);
    return -20.0 * a * a * a * q;
}

fn wendland_laplacian(q: f32) -> f32 {
    let a = inner(q);
    return 20.0 * a * a * ((4.0 * q - 1.0) - a * sides);
}
