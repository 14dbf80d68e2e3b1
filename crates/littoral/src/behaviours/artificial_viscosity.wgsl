// Monaghan's artificial viscosity: V_i V_j 2(d+2) μ (v_ij·x_ij)/(x_ij² + 0.01h²) ∇W [Monaghan2005].
fn artificial_viscosity_force(own: Own, other: Other, x: vec3f, r: f32) -> vec3f {
    let strength = 0.5 * (artificial_viscosity_strength(own.body) + artificial_viscosity_strength(other.body));
    let only = 0.5 * (artificial_viscosity_approaching_only(own.body) + artificial_viscosity_approaching_only(other.body));
    let scale = strength * other.volume * own.volume;
    return artificial_viscosity_along(x, r, own.velocity - other.velocity, scale, only);
}

fn artificial_viscosity_wall_force(own: Own, wall: Wall, x: vec3f, r: f32) -> vec3f {
    let strength = wall.volume * (artificial_viscosity_strength(own.body) * own.volume) * wall_grip(wall, x);
    let only = artificial_viscosity_approaching_only(own.body);
    return artificial_viscosity_along(x, r, own.velocity - wall.velocity, strength, only);
}

fn artificial_viscosity_along(x: vec3f, r: f32, velocity: vec3f, strength: f32, only: f32) -> vec3f {
    let all = dot(velocity, x);
    let closing = all + (2.0 * min(all, 0.0) - all) * only;
    let scale = strength * artificial_viscosity_factor * closing / (r * r + artificial_viscosity_softening);
    return x * (scale * pressure_gradient_over_r(r));
}

fn artificial_viscosity_limit(speed: f32) -> f32 {
    return artificial_viscosity_longest_step;
}
