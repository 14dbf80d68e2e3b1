//! A raft that floats as deep as Archimedes says.

use super::{Check, Tamper, Validation};
use crate::columns::{POSITION, VELOCITY};
use crate::step::StepError;
use crate::world::World;

pub static ARCHIMEDES: Validation = Validation {
    name: "archimedes",
    what: "a raft of density 600 on water: its draught against 0.6 of its height, its weight against the fluid's push",
    run: raft,
};

fn raft(tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let (spacing, tank, height, density) = (0.01, 0.8, 0.2, 600.0);
    let text = format!(
        r#"
        dimensions = 2
        [world]
        box = {{ min = [0, 0], max = [{tank}, 0.8], open = ["+y"] }}
        [sph]
        spacing = {spacing}
        [time]
        until = 3
        [[body]]
        name = "water"
        shape.box = {{ min = [0, 0], max = [{tank}, 0.4] }}
        [body.behaviours.gravity]
        [body.behaviours.incompressible]
        [body.behaviours.viscosity]
        dynamic_viscosity = 5  # brings it to rest soon; at rest it does nothing
        [[solid]]
        name = "raft"
        shape.box = {{ min = [0.2, 0.26], max = [0.6, 0.46] }}
        free.density = {density}
        "#
    );
    let mut world = super::world(&text, tamper);
    world.advance_to(2.0)?;
    // Mean over the rest of the time: small waves pass.
    let (mut draught, mut push, mut level, mut samples) = (0.0, 0.0, 0.0, 0.0);
    for k in 1..=20 {
        world.advance_to(2.0 + 0.05 * k as f64)?;
        let raft = &world.solids[0];
        let bottom = raft.pose.position.y - 0.5 * height;
        level = surface(&world, spacing, tank);
        draught += level - bottom;
        push += raft.wrench.force.y;
        samples += 1.0;
    }
    let raft = &world.solids[0];
    let weight = 9.81 / raft.inverse_mass;
    let tilt = (raft.pose.rotation * glam::DVec3::X).y;
    let fastest = world.particles.get(&VELOCITY).iter().map(|v| f64::from(v.length())).fold(0.0, f64::max);
    let volume = world.particles.len() as f64 * spacing * spacing;
    let expected = density / 1000.0 * height;
    Ok(vec![
        Check::near("draught", "m", draught / samples, expected, 0.03 * expected),
        Check::near("push of the water over the raft's weight", "", push / samples / weight, 1.0, 0.03),
        Check::below("tilt", "", tilt, 0.02),
        Check::below("fastest particle", "m/s", fastest, 0.1),
        Check::near("level of the water", "m", level, (volume + 0.4 * expected) / tank, 0.01),
    ])
}

/// Mean height of the free surface, m, half a spacing above the highest particle of each strip beside the raft.
fn surface(world: &World, spacing: f64, tank: f64) -> f64 {
    let width = 4.0 * spacing;
    let mut highest = vec![0.0_f64; (tank / width).round() as usize];
    for x in world.particles.get(&POSITION) {
        let strip = ((f64::from(x.x) / width) as usize).min(highest.len() - 1);
        highest[strip] = highest[strip].max(f64::from(x.y));
    }
    let count = highest.len();
    let beside: Vec<f64> =
        (0..count).filter(|&k| k < count / 5 || k >= count - count / 5).map(|k| highest[k]).collect();
    beside.iter().sum::<f64>() / beside.len() as f64 + 0.5 * spacing
}
