// What a pair law sees; the twin of pair.rs.

// The particle whose force is being summed.
struct Own {
    index: u32,
    position: vec3f,
    velocity: vec3f,
    // Pressure and volume as they enter the pair force.
    pressure: f32,
    volume: f32,
    body: u32,
}

// A neighbour. The laws also get x = x_i − x_j and r = |x|.
struct Other {
    velocity: vec3f,
    pressure: f32,
    volume: f32,
    body: u32,
}

// A wall sample.
struct Wall {
    velocity: vec3f,
    // Towards the fluid; zero on edges and corners.
    normal: vec3f,
    // Behind the surface, m.
    depth: f32,
    volume: f32,
    pressure: f32,
}

// How strongly a wall holds the fluid beside it; see WallFriction in viscosity.rs.
fn wall_grip(wall: Wall, x: vec3f) -> f32 {
    let height = dot(x, wall.normal) - wall.depth;
    let ratio = wall.depth / max(height, wall_closest);
    return (dot(wall.normal, wall.normal) * min(ratio, 4.0) + 1.0) * wall_hold;
}
