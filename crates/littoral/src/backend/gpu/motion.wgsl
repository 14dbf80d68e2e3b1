// How particles move; the twin of integrate.rs.

struct Moved {
    x: vec3f,
    v: vec3f,
    caught: bool,
}

// Puts a particle that got past a wall back onto it, without its speed into the wall; wraps periodic axes.
fn hold(x_raw: vec3f, v: vec3f) -> Moved {
    var x = x_raw;
    if any(periodic) {
        x = select(x, x + period, x < box_low);
        // Also after the line above: rounding may land a particle on the upper edge itself.
        x = select(x, x - period, periodic & (x >= box_high));
    }
    let inside = clamp(x, box_low, box_high);
    let into_wall = (x - inside) * v > vec3f(0.0);
    return Moved(inside, select(v, vec3f(0.0), into_wall), dot(x - inside, x - inside) > caught_beyond * caught_beyond);
}
