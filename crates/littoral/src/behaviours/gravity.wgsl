// Weight: a = w g.
fn gravity_acceleration(body: u32, velocity: vec3f) -> vec3f {
    return vec3f(gravity_x(body), gravity_y(body), gravity_z(body)) * gravity_weight(body);
}
