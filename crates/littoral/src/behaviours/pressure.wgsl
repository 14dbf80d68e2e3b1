// The pressure force: −A_i A_j (P_i + P_j) ∇W; see pressure.rs for both forms, and for what walls do.
fn pressure_force(own: Own, other: Other, x: vec3f, r: f32) -> vec3f {
    let strength = (other.pressure + own.pressure) * other.volume * -own.volume;
    return x * (strength * pressure_gradient_over_r(r));
}

fn pressure_wall_force(own: Own, wall: Wall, x: vec3f, r: f32) -> vec3f {
    let strength = (wall.pressure + own.pressure) * wall.volume * -own.volume;
    return x * (strength * pressure_gradient_over_r(r));
}

// What a particle brings to the pair: A and P.
fn pressure_terms(volume: f32, pressure: f32, ratio: f32) -> vec2f {
    if pressure_by_sum {
        return vec2f(volume / ratio, pressure);
    }
    return vec2f(volume, pressure / (ratio * ratio));
}

// A wall never pulls, and one that sees a single drop must not divide by its density.
fn pressure_wall_term(pressure: f32, ratio: f32) -> f32 {
    return pressure_terms(1.0, max(pressure, 0.0), max(ratio, 1.0)).y;
}
