//! A raft that floats as deep as Archimedes says: a solid, and a rigid body of particles.

use glam::DVec3;

use super::{Check, Tamper, Validation};
use crate::columns::{BODY, MASS, POSITION, REFERENCE, VELOCITY};
use crate::step::StepError;
use crate::world::World;

pub static ARCHIMEDES: Validation = Validation {
    name: "archimedes",
    what: "a raft of density 600 on water: its draught against 0.6 of its height, its weight against the fluid's push",
    run: raft,
};

pub static ARCHIMEDES_PARTICLES: Validation = Validation {
    name: "archimedes-particles",
    what: "rafts of particles, rigid, of densities 600 and 100 on water: their draught against 0.6 and 0.1 of their height",
    run: |tamper| {
        let mut checks = particles(600.0, 2, tamper)?;
        checks.extend(particles(100.0, 2, tamper)?);
        checks.extend(particles(600.0, 3, tamper)?);
        Ok(checks)
    },
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

/// The same for a rigid body of particles; in 3-D a smaller one.
fn particles(density: f64, dimensions: usize, tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let (spacing, tank, height) = if dimensions == 2 { (0.01, 0.8, 0.2) } else { (0.025, 0.5, 0.2) };
    let (depth, deep) = (0.5 * tank, if dimensions == 2 { 0.0 } else { tank });
    let [left, right] = [0.25 * tank, 0.75 * tank];
    let [near, far] = [0.25 * deep, 0.75 * deep];
    let text = format!(
        r#"
        dimensions = {dimensions}
        [world]
        box = {{ min = [0, 0, 0], max = [{tank}, 0.8, {deep}], open = ["+y"] }}
        [sph]
        spacing = {spacing}
        [time]
        until = 3
        [[body]]
        name = "water"
        shape.box = {{ min = [0, 0, 0], max = [{tank}, {depth}, {deep}] }}
        [body.behaviours.gravity]
        [body.behaviours.incompressible]
        [body.behaviours.viscosity]
        dynamic_viscosity = 5
        [[body]]
        name = "raft"
        density = {density}
        shape.box = {{ min = [{left}, {depth}, {near}], max = [{right}, {}, {far}] }}
        [body.behaviours.gravity]
        [body.behaviours.rigid]
        "#,
        depth + height
    );
    let mut world = super::world(&text, tamper);
    world.advance_to(2.0)?;
    let (mut draught, mut level, mut samples) = (0.0, 0.0, 0.0);
    for k in 1..=20 {
        world.advance_to(2.0 + 0.05 * k as f64)?;
        level = surface(&world, spacing, tank);
        draught += level - (middle(&world, &POSITION).y - 0.5 * height);
        samples += 1.0;
    }
    let water = world.particles.get(&BODY).iter().filter(|body| **body == 0).count() as f64;
    let (volume, area) = (water * spacing.powi(dimensions as i32), tank.powi(dimensions as i32 - 1));
    let expected = density / 1000.0 * height;
    let base = (right - left).powi(dimensions as i32 - 1);
    // How far the corners are from where they would be without any turn.
    let (here, rest) = (middle(&world, &POSITION), middle(&world, &REFERENCE));
    let columns = world.particles.get(&POSITION).iter().zip(world.particles.get(&REFERENCE));
    let tilts = columns.zip(world.particles.get(&BODY)).filter(|(_, body)| **body == 1);
    let rise = |((now, then), _): ((&glam::Vec4, &glam::Vec4), &u32)| {
        (f64::from(now.y) - here.y - (f64::from(then.y) - rest.y)).abs()
    };
    let tilt =
        tilts.map(rise).fold(0.0, f64::max) / (0.5 * (right - left) * (dimensions as f64 - 1.0).sqrt());
    let fastest = world.particles.get(&VELOCITY).iter().map(|v| f64::from(v.length())).fold(0.0, f64::max);
    let name = |what: &str| format!("{what}, density {density}, {dimensions}-D");
    // To a tenth of a spacing, and as for the solid where it is larger.
    let tolerance = (0.03 * expected).max(0.1 * spacing);
    Ok(vec![
        Check::near(name("draught"), "m", draught / samples, expected, tolerance),
        Check::below(name("tilt"), "", tilt, 0.02),
        Check::below(name("fastest particle"), "m/s", fastest, 0.1),
        Check::near(name("level of the water"), "m", level, (volume + base * expected) / area, 0.01),
    ])
}

/// Of the raft, m.
fn middle(world: &World, places: &'static crate::particles::Vectors) -> DVec3 {
    let particles = &world.particles;
    let rows = particles.get(places).iter().zip(particles.get(&MASS)).zip(particles.get(&BODY));
    let own = rows
        .filter(|(_, body)| **body == 1)
        .map(|((x, &mass), _)| (x.truncate().as_dvec3(), f64::from(mass)));
    let (moment, mass) = own.fold((DVec3::ZERO, 0.0), |sum, (x, m)| (sum.0 + x * m, sum.1 + m));
    moment / mass
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
