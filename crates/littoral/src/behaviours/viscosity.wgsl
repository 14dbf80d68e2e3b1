// Laplacian viscosity: V_i V_j μ (v_j − v_i) ∇²W [Mueller2003; Bayraktar2010, Eq. 3.22].
fn viscosity_force(own: Own, other: Other, x: vec3f, r: f32) -> vec3f {
    let strength = 0.5 * (viscosity_strength(own.body) + viscosity_strength(other.body));
    let scale = strength * other.volume * (own.volume * viscosity_correction) * viscosity_laplacian(r);
    return (other.velocity - own.velocity) * scale;
}

fn viscosity_wall_force(own: Own, wall: Wall, x: vec3f, r: f32) -> vec3f {
    let strength = viscosity_strength(own.body) * own.volume * viscosity_correction;
    let scale = wall.volume * viscosity_laplacian(r) * strength * wall_grip(wall, x);
    return (wall.velocity - own.velocity) * scale;
}

fn viscosity_limit(speed: f32) -> f32 {
    return viscosity_longest_step;
}
