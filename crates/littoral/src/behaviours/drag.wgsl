// Resistance of still air: a = −w v/τ.
fn drag_acceleration(body: u32, velocity: vec3f) -> vec3f {
    return velocity * (-drag_weight(body) / drag_relaxation_time(body));
}

fn drag_limit(speed: f32) -> f32 {
    return drag_longest_step;
}
