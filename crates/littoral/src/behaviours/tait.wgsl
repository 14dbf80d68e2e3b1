// Tait pressure: p = w ρ₀c²/γ (δ^γ − 1), at least 0 unless there is tension [Lenaerts2009, Eqs. 3.6–3.7].
fn tait_pressure(body: u32, ratio: f32) -> f32 {
    let speed = tait_sound_speed(body);
    let stiffness = rest_density(body) * speed * speed;
    var share = stiffness * tait_law(ratio, tait_exponent(body));
    if tait_tension(body) == 0.0 {
        share = max(share, 0.0);
    }
    return tait_weight(body) * (share + stiffness * tait_background(body));
}

// (δ^γ − 1)/γ. The usual exponents are multiplied out, as in tait.rs; `pow` is exp2(γ log2 δ).
fn tait_law(ratio: f32, exponent: f32) -> f32 {
    if exponent == 7.0 {
        let cube = ratio * ratio * ratio;
        return (cube * cube * ratio - 1.0) / 7.0;
    }
    if exponent == 1.0 {
        return ratio - 1.0;
    }
    return (pow(ratio, exponent) - 1.0) / exponent;
}

// Sound crosses at most 0.4 ℓ in a step.
fn tait_limit(speed: f32) -> f32 {
    return 0.4 * smoothing_length / max(tait_fastest + speed, smallest);
}
