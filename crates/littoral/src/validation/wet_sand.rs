//! Sand that holds water: how it drains, what its grains bear under water, how high a moist wall of it stands, and that no drop is lost.

use super::{Check, Tamper, Validation};
use crate::columns::{BODY, LIQUID, PORE_PRESSURE, POSITION, PRESSURE, SATURATION};
use crate::step::StepError;
use crate::world::World;

pub static WET_SAND: Validation = Validation {
    name: "wet-sand",
    what: "moist sand drains by Kρg/μ to S = 1 − ρg(z − z₀)/P_c; under water, grains bear their weight less that of the water",
    run: |tamper| {
        let mut checks = drained(tamper)?;
        checks.extend(under_water(tamper)?);
        Ok(checks)
    },
};

pub static MOIST_COLUMN: Validation = Validation {
    name: "moist-column",
    what: "columns of sand held by capillary pull: they stand below ρgH = 2k S|p|/(1 − k), and fall above it, dry and drenched",
    run: |tamper| {
        let mut checks = Vec::new();
        // k for μ = 0.6; the pull is 3 kPa × (1 − S), with S = 0.3.
        let k = 0.5 * (0.6 + 0.6 / 1.36f64.sqrt());
        let highest = 2.0 * k * 0.3 * 0.7 * 3e3 / (1.0 - k) / ((1600.0 + 0.3 * 400.0) * 9.81);
        for (name, saturation, part, stands) in [
            ("moist, 0.75 of that height", 0.3, 0.75, 1.0),
            ("moist, 1.4 times that height", 0.3, 1.4, 0.0),
            ("dry, 0.75 of that height", 0.0, 0.75, 0.0),
            ("drenched, 0.75 of that height", 1.0, 0.75, 0.0),
        ] {
            let height = part * highest;
            let text = format!(
                r#"
                dimensions = 2
                world.box = {{ min = [-0.2, 0], max = [0.2, 0.3], open = ["x", "+y"] }}
                sph.spacing = 3e-3
                time.until = 1
                [[body]]
                name = "sand"
                material = "sand"
                shape.box = {{ min = [-0.025, 0], max = [0.025, {height}] }}
                [body.behaviours.porous]
                porosity = 0.4
                permeability = 1e-14
                capillary_pressure = 3e3
                capillary_exponent = 1
                saturation = {saturation}
                "#
            );
            let mut world = super::world(&text, tamper);
            let start = top(&world);
            world.advance_to(0.3)?;
            let is_standing = f64::from(u8::from(top(&world) > 0.9 * start));
            checks.push(Check::near(format!("stands: {name}"), "", is_standing, stands, 0.0));
        }
        Ok(checks)
    },
};

/// Height of the highest particle, m.
fn top(world: &World) -> f64 {
    world.particles.get(&POSITION).iter().map(|x| f64::from(x.y)).fold(0.0, f64::max)
}

/// Sand in a box, half full of water everywhere at the start.
fn drained(tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let (height, rise) = (0.2, 0.16);
    let pull = 1000.0 * 9.81 * rise;
    let sand = |permeability: f64| {
        let text = format!(
            r#"
            dimensions = 2
            world.box = {{ min = [0, 0], max = [0.04, 0.3], open = ["+y"] }}
            sph.spacing = 4e-3
            time.until = 20
            [[body]]
            name = "sand"
            material = "sand"
            shape.box = {{ min = [0, 0], max = [0.04, {height}] }}
            [body.behaviours.porous]
            porosity = 0.4
            permeability = {permeability}
            capillary_pressure = {pull}
            capillary_exponent = 1
            flow_exponent = 1
            saturation = 0.5
            "#
        );
        super::world(&text, tamper)
    };
    let mut world = sand(1e-9);
    let above = |world: &World| {
        let rows = world.particles.get(&POSITION).iter().zip(world.particles.get(&LIQUID));
        rows.filter(|(x, _)| f64::from(x.y) > 0.5 * height).map(|(_, &m)| f64::from(m)).sum::<f64>()
    };
    world.advance_to(0.02)?;
    let (before, start) = (above(&world), world.clock.time);
    world.advance_to(0.12)?;
    let flux = (before - above(&world)) / (world.clock.time - start) / (1000.0 * 0.04);
    let expected = 0.5 * 1e-9 * 1000.0 * 9.81 / 1e-3;
    let mut world = sand(2e-8);
    let total = world.water().map_or(f64::NAN, |water| water.total());
    world.advance_to(6.0)?;
    let lost = world.water().map_or(f64::NAN, |water| water.total()) / total - 1.0;
    // As much as fills half of all pores.
    let full = 0.5 * height - 0.5 * rise;
    let profile = world.particles.get(&POSITION).iter().zip(world.particles.get(&SATURATION));
    let error = profile.map(|(x, &s)| {
        let expected = 1.0 - (f64::from(x.y) - full) / rise;
        (f64::from(s) - expected.clamp(0.0, 1.0)).abs()
    });
    Ok(vec![
        Check::near("flux while it drains", "m/s", flux, expected, 0.05 * expected),
        Check::below("largest deviation of the saturation, drained", "", error.fold(0.0, f64::max), 0.04),
        Check::below("water lost or made", "", lost, 1e-6),
    ])
}

/// A bed of full sand with water on it.
fn under_water(tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let text = r#"
        dimensions = 2
        world.box = { min = [0, 0], max = [0.06, 0.2], open = ["+y"] }
        sph.spacing = 4e-3
        time.until = 1
        [[body]]
        name = "sand"
        material = "sand"
        shape.box = { min = [0, 0], max = [0.06, 0.08] }
        behaviours.porous = { porosity = 0.4, permeability = 1e-9, capillary_pressure = 2e3, saturation = 1 }
        [[body]]
        name = "water"
        material = "water"
        shape.box = { min = [0, 0.08], max = [0.06, 0.14] }
        behaviours.artificial-viscosity = { dynamic_viscosity = 0.5 }
    "#;
    let mut world = super::world(text, tamper);
    let total = world.water().map_or(f64::NAN, |water| water.total());
    world.advance_to(0.4)?;
    // Pressures of single steps are blows; their mean bears the weight.
    let (mut pores, mut grains, mut samples) = (0.0, 0.0, 0.0);
    world.advance_with(1.0, |world| {
        let particles = &world.particles;
        let rows = particles.get(&POSITION).iter().zip(particles.get(&BODY));
        let rows = rows.zip(particles.get(&PRESSURE).iter().zip(particles.get(&PORE_PRESSURE)));
        // Half way down: away from floor and surface, whose rows of particles see less.
        for ((x, _), (p, q)) in rows.filter(|((_, body), _)| **body == 0) {
            if (f64::from(x.y) - 0.04).abs() < 0.012 {
                (pores, grains, samples) = (pores + f64::from(*q), grains + f64::from(p - q), samples + 1.0);
            }
        }
    })?;
    let lost = world.water().map_or(f64::NAN, |water| water.total()) / total - 1.0;
    // 10 cm of water; 4 cm of sand of 2000 kg/m³ in water.
    let (in_pores, on_grains) = (1000.0 * 9.81 * 0.1, 1000.0 * 9.81 * 0.04);
    Ok(vec![
        Check::near("pressure of the water in the pores", "Pa", pores / samples, in_pores, 0.05 * in_pores),
        Check::near("pressure that grains bear", "Pa", grains / samples, on_grains, 0.2 * on_grains),
        Check::below("water lost or made under water", "", lost, 1e-6),
    ])
}
