//! Liquid in pores: Darcy's flow, wicking, capillary rise; water that is kept, and a block that floats until it is soaked.

use super::{Check, Tamper, Validation};
use crate::columns::{BODY, FILM, LIQUID, MASS, POSITION, REFERENCE, SATURATION};
use crate::step::StepError;
use crate::world::World;

pub static DARCY: Validation = Validation {
    name: "darcy",
    what: "water through a full column, 4 × 4 particles wide, by its own weight: Kρg/μ; and along a direction that lets a quarter pass",
    run: |tamper| {
        let mut checks = Vec::new();
        for (name, along) in [("through a column", 1.0), ("against its layers", 0.25)] {
            let mut world = column(along, tamper);
            // Its sides are wiped: what runs down them has not gone through it.
            let supply = |world: &mut World| {
                let (top, sides) = (rows_at(world, |x| x[1] > 0.019), rows_at(world, |x| x[1] > 0.01));
                let film = world.particles.get_mut(&FILM);
                sides.into_iter().for_each(|i| film[i] = 0.0);
                top.into_iter().for_each(|i| film[i] = 1e-6);
            };
            // Whatever has passed the middle comes out below it.
            let caught = |world: &World| -> f64 {
                let film = world.particles.get(&FILM);
                rows_at(world, |x| x[1] < 0.01).into_iter().map(|i| f64::from(film[i])).sum()
            };
            for _ in 0..200 {
                supply(&mut world);
                world.step(2e-3)?;
            }
            let (before, start) = (caught(&world), world.clock.time);
            for _ in 0..200 {
                supply(&mut world);
                world.step(2e-3)?;
            }
            let flux = (caught(&world) - before) / (world.clock.time - start) / (1000.0 * 16e-6);
            let expected = along * 1e-10 * 1000.0 * 9.81 / 1e-3;
            checks.push(Check::near(format!("flux {name}"), "m/s", flux, expected, 0.05 * expected));
        }
        Ok(checks)
    },
};

/// A column of 4 × 20 × 4, 1 mm apart, that is full and does not move.
fn column(along: f64, tamper: &Tamper) -> World {
    let text = format!(
        r#"
        sph.spacing = 1e-3
        time.until = 10
        [[body]]
        name = "column"
        shape.box = {{ min = [0, 0, 0], max = [4e-3, 2e-2, 4e-3] }}
        behaviours.elastic = {{ young_modulus = 1e5 }}
        behaviours.porous = {{ porosity = 0.5, permeability = 1e-10, permeability_along = [1, {along}, 1], saturation = 1 }}
        [[pin]]
        shape.box = {{ min = [-1, -1, -1], max = [1, 1, 1] }}
        "#
    );
    super::world(&text, tamper)
}

/// Rows of the particles whose places at rest are meant.
fn rows_at(world: &World, is_meant: impl Fn([f32; 4]) -> bool) -> Vec<usize> {
    let places = world.particles.get(&REFERENCE).iter().enumerate();
    places.filter(|(_, x)| is_meant(x.to_array())).map(|(i, _)| i).collect()
}

pub static WICKING: Validation = Validation {
    name: "wicking",
    what: "water drawn into a dry strip: √t, and as much as Philip's solution for these pores says",
    run: |tamper| {
        let (porosity, permeability, pull, viscosity) = (0.7, 1e-12, 15e3, 1e-3);
        let text = format!(
            r#"
            dimensions = 2
            sph.spacing = 1e-3
            time.until = 1000
            world.gravity = [0, 0]
            [[body]]
            name = "strip"
            shape.box = {{ min = [0, 0], max = [8e-2, 3e-3] }}
            behaviours.elastic = {{ young_modulus = 1e5 }}
            behaviours.porous = {{ porosity = {porosity}, permeability = {permeability}, capillary_pressure = {pull} }}
            [[pin]]
            shape.box = {{ min = [-1, -1], max = [1, 1] }}
            "#
        );
        let mut world = super::world(&text, tamper);
        let mut soaked = Vec::new();
        for step in 1..=3600 {
            let end = rows_at(&world, |x| x[0] < 1e-3);
            let film = world.particles.get_mut(&FILM);
            end.into_iter().for_each(|i| film[i] = 1.0);
            world.step(0.025)?;
            if step % 400 == 0 {
                soaked.push(world.particles.get(&LIQUID).iter().map(|&m| f64::from(m)).sum::<f64>());
            }
        }
        let is_within = world.particles.get(&SATURATION).iter().all(|s| (0.0..=1.0).contains(s));
        // The strip has no sides for liquid to come in by but its end, where the first particle is full at once.
        let depth = |k: usize| soaked[k] / (1000.0 * porosity * 3e-3) - 1e-3;
        let speed = (depth(8).powi(2) - depth(3).powi(2)).sqrt() / 50f64.sqrt();
        let slope = (depth(8) / depth(1)).ln() / (9.0f64 / 2.0).ln();
        let unit = (permeability * pull / (porosity * viscosity)).sqrt();
        let expected = unit * philip(0.1, 7.0);
        Ok(vec![
            Check::near("depth over √t", "m/√s", speed, expected, 0.1 * expected),
            Check::near("power of the time", "", slope, 0.5, 0.03),
            Check::near("saturations within 0 and 1", "", f64::from(u8::from(is_within)), 1.0, 0.0),
            Check::below("falls of the profile that rise again", "", rises(&world, 0), 0.0),
        ])
    },
};

/// How much depth of liquid √t draws into pores with a diffusivity f^β α(1 − f)^(α−1), by Philip's method: with λ = x/√t over f,
/// D = −½ (dλ/df) ∫₀^f λ; the depth is ∫₀¹ λ df.
fn philip(exponent: f64, flow: f64) -> f64 {
    const N: usize = 4000;
    let fill = |k: usize| k as f64 / N as f64;
    // ∫ D over each piece: the pull's change times the flow in its middle.
    let pull = |k: usize| libm::pow(1.0 - fill(k), exponent);
    let piece: Vec<f64> =
        (0..N).map(|k| (pull(k) - pull(k + 1)) * libm::pow((k as f64 + 0.5) / N as f64, flow)).collect();
    let mut depth = vec![1.0; N + 1];
    for _ in 0..200 {
        // λ̄: running integral from dry to each fill.
        let mut below = vec![0.0; N + 1];
        for k in 0..N {
            below[k + 1] = below[k] + 0.5 * (depth[k] + depth[k + 1]) / N as f64;
        }
        let mut next = vec![0.0; N + 1];
        for k in (0..N).rev() {
            next[k] = next[k + 1] + 2.0 * piece[k] / (0.5 * (below[k] + below[k + 1]));
        }
        // Half the way: the whole one overshoots.
        depth.iter_mut().zip(next).for_each(|(old, new)| *old = 0.5 * (*old + new));
    }
    (0..N).map(|k| 0.5 * (depth[k] + depth[k + 1]) / N as f64).sum()
}

/// Where, along an axis, the mean saturation of a row is higher than that of the row before, by how much in all.
fn rises(world: &World, axis: usize) -> f64 {
    let mut rows = std::collections::BTreeMap::<i64, (f64, f64)>::new();
    for (x, &s) in world.particles.get(&REFERENCE).iter().zip(world.particles.get(&SATURATION)) {
        let row = rows.entry((f64::from(x[axis]) * 1e5).round() as i64).or_default();
        *row = (row.0 + f64::from(s), row.1 + 1.0);
    }
    let means: Vec<f64> = rows.values().map(|(sum, count)| sum / count).collect();
    means.windows(2).map(|pair| (pair[1] - pair[0] - 1e-6).max(0.0)).sum()
}

pub static CAPILLARY_RISE: Validation = Validation {
    name: "capillary-rise",
    what: "water that a strip has drawn up, at rest: S = 1 − ρgz/P_c, up to P_c/ρg",
    run: |tamper| {
        let (spacing, height) = (2e-3, 0.06);
        let pull = 1000.0 * 9.81 * height;
        let text = format!(
            r#"
            dimensions = 2
            sph.spacing = {spacing}
            time.until = 1000
            [[body]]
            name = "strip"
            shape.box = {{ min = [0, 0], max = [6e-3, 8e-2] }}
            behaviours.elastic = {{ young_modulus = 1e5 }}
            [body.behaviours.porous]
            porosity = 0.7
            permeability = 1e-9
            capillary_pressure = {pull}
            capillary_exponent = 1
            flow_exponent = 1
            [[pin]]
            shape.box = {{ min = [-1, -1], max = [1, 1] }}
            "#
        );
        let mut world = super::world(&text, tamper);
        for _ in 0..2000 {
            // By the middle of its foot: at corners the way out is slanted.
            let foot = rows_at(&world, |x| x[1] < 2e-3 && x[0] > 2e-3 && x[0] < 4e-3);
            let film = world.particles.get_mut(&FILM);
            foot.into_iter().for_each(|i| film[i] = 1.0);
            world.step(0.025)?;
        }
        let particles = &world.particles;
        let profile = particles.get(&REFERENCE).iter().zip(particles.get(&SATURATION));
        let errors =
            profile.clone().map(|(x, &s)| (f64::from(s) - (1.0 - f64::from(x.y) / height).max(0.0)).abs());
        let drawn = particles.get(&LIQUID).iter().map(|&m| f64::from(m)).sum::<f64>();
        let expected = 1000.0 * 0.7 * 6e-3 * 0.5 * height;
        Ok(vec![
            Check::below("largest deviation of the saturation", "", errors.fold(0.0, f64::max), 0.03),
            Check::near("water drawn up", "kg/m", drawn, expected, 0.03 * expected),
            Check::below("rises of the profile", "", rises(&world, 1), 0.0),
        ])
    },
};

pub static WATER_KEPT: Validation = Validation {
    name: "water-kept",
    what: "a sponge takes up a puddle, is squeezed by a plate, and drips: all water is somewhere; saturations within 0 and 1",
    run: |tamper| {
        let text = r#"
            dimensions = 2
            [world]
            box = { min = [0, 0], max = [0.12, 0.14], open = ["+y"] }
            [sph]
            spacing = 2e-3
            [time]
            until = 3
            [[body]]
            name = "sponge"
            density = 300
            shape.box = { min = [0.04, 0.03], max = [0.08, 0.06] }
            behaviours.elastic = { young_modulus = 2e4 }
            behaviours.porous = { porosity = 0.6, permeability = 2e-10, capillary_pressure = 2e3, saturation = 0.5 }
            [[body]]
            name = "water"
            material = "water"
            shape.box = { min = [0.05, 0.064], max = [0.07, 0.08] }
            [[solid]]
            name = "table"
            shape.box = { min = [0.042, 0.02], max = [0.078, 0.0295] }
            [[solid]]
            name = "plate"
            shape.box = { min = [0.035, 0], max = [0.085, 0.008] }
            motion.pivot = [0, 0, 0]
            motion.position = [[0, [0, 0.1, 0]], [0.3, [0, 0.1, 0]], [1.0, [0, 0.0505, 0]], [1.3, [0, 0.0505, 0]]]
        "#;
        let mut world = super::world(text, tamper);
        let total = |world: &World| world.water().map_or(f64::NAN, |water| water.total());
        let start = total(&world);
        let sizes = |world: &World| world.water().unwrap_or_default();
        let (mut worst, mut within, mut most, mut least) = (0.0f64, true, 0.0f64, f64::INFINITY);
        for k in 1..=26 {
            world.advance_to(0.05 * f64::from(k))?;
            worst = worst.max((total(&world) / start - 1.0).abs());
            within &= world.particles.get(&SATURATION).iter().all(|s| (0.0..=1.0).contains(s));
            let absorbed = sizes(&world).absorbed;
            if k <= 6 {
                most = most.max(absorbed);
            }
            least = least.min(absorbed);
        }
        let first = 1000.0 * 0.04 * 0.03 * 0.6 * 0.5;
        let body = world.particles.get(&BODY);
        let smallest = world.particles.get(&MASS).iter().zip(body).filter(|(_, b)| **b == 1);
        let smallest = smallest.map(|(m, _)| f64::from(*m) / 4e-3).fold(f64::INFINITY, f64::min);
        Ok(vec![
            Check::below("water lost or made", "", worst, 1e-6),
            Check::near("saturations within 0 and 1", "", f64::from(u8::from(within)), 1.0, 0.0),
            Check::near(
                "more than 0.3 of the puddle taken up",
                "",
                f64::from(u8::from(most > first + 0.3 * 0.32)),
                1.0,
                0.0,
            ),
            Check::near(
                "more than 0.1 of it squeezed out",
                "",
                f64::from(u8::from(least < 0.9 * most)),
                1.0,
                0.0,
            ),
            Check::near("no dust", "", f64::from(u8::from(smallest > 0.04)), 1.0, 0.0),
        ])
    },
};

pub static SOAKED_BLOCK: Validation = Validation {
    name: "soaked-block",
    what: "a porous block of density 400 floats on water with closed pores, and sinks with open ones; elastic, and rigid",
    run: |tamper| {
        let mut checks = soaked_block("elastic = { young_modulus = 1e5 }", "elastic", tamper)?;
        checks.extend(soaked_block("rigid = {}", "rigid", tamper)?);
        Ok(checks)
    },
};

fn soaked_block(holds: &str, kind: &str, tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let mut checks = Vec::new();
    for (name, permeability, expected) in [("closed pores", 1e-18, 1.0), ("open pores", 1e-9, 0.0)] {
        let text = format!(
            r#"
                dimensions = 2
                [world]
                box = {{ min = [0, 0], max = [0.2, 0.24], open = ["+y"] }}
                [sph]
                spacing = 4e-3
                [time]
                until = 3
                [[body]]
                name = "block"
                density = 400
                shape.box = {{ min = [0.08, 0.13], max = [0.12, 0.17] }}
                behaviours.{holds}
                behaviours.porous = {{ porosity = 0.8, permeability = {permeability}, capillary_pressure = 2e3 }}
                [[body]]
                name = "water"
                material = "water"
                shape.box = {{ min = [0, 0], max = [0.2, 0.13] }}
                behaviours.artificial-viscosity = {{ dynamic_viscosity = 0.3 }}
                "#
        );
        let mut world = super::world(&text, tamper);
        let start = world.water().map_or(f64::NAN, |water| water.total());
        world.advance_to(if expected == 1.0 { 0.8 } else { 2.0 })?;
        let rows = world.particles.get(&BODY).iter().zip(world.particles.get(&POSITION));
        let block: Vec<f64> = rows.filter(|(b, _)| **b == 0).map(|(_, x)| f64::from(x.y)).collect();
        let middle = block.iter().sum::<f64>() / block.len() as f64;
        let floats = f64::from(u8::from(middle > 0.1));
        checks.push(Check::near(format!("{kind}: floats, with {name}"), "", floats, expected, 0.0));
        if expected == 0.0 {
            checks.push(Check::below(
                format!("{kind}: height of its middle above the floor, less half of it"),
                "m",
                middle - 0.02,
                0.01,
            ));
        }
        let total = world.water().map_or(f64::NAN, |water| water.total());
        checks.push(Check::below(
            format!("{kind}: water lost or made, with {name}"),
            "",
            total / start - 1.0,
            1e-6,
        ));
    }
    Ok(checks)
}
