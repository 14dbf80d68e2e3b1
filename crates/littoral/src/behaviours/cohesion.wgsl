// Surface tension as attraction: −κ V_i V_j (x_i − x_j) W [Becker2007; Lenaerts2009, Eq. 3.14].
fn cohesion_force(own: Own, other: Other, x: vec3f, r: f32) -> vec3f {
    let tension = 0.5 * (cohesion_tension(own.body) + cohesion_tension(other.body));
    return x * (tension * other.volume * (-own.volume * cohesion_strength) * density_w(r));
}

fn cohesion_limit(speed: f32) -> f32 {
    return cohesion_longest_step;
}
