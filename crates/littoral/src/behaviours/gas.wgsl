// Linear gas pressure: p = w k ρ₀ (δ − 1), at least 0 unless there is tension [Desbrun1996; Lenaerts2009, 3.2].
fn gas_pressure(body: u32, ratio: f32) -> f32 {
    let share = gas_stiffness(body) * rest_density(body) * (ratio - 1.0);
    return select(share, max(share, 0.0), gas_tension(body) == 0.0);
}

// Sound crosses at most 0.4 ℓ in a step.
fn gas_limit(speed: f32) -> f32 {
    return 0.4 * smoothing_length / max(gas_fastest + speed, smallest);
}
