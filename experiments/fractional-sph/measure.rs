//! Fractional SPH, measured: what friction that remembers does to flows [OzgenSumengen2013; Ozgen2013, ch. 4].
//!
//!   fractional-sph operator | cavity | steps | flows | box | dams | sphere | cost
//!
//! Each prints tables and writes the plot that goes with them beside the README.

use std::f64::consts::{PI, TAU};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use glam::{DVec2, Vec4};
use littoral::behaviours::viscous_memory::{largest_damping, mean_weights};
use littoral::columns::{POSITION, VELOCITY, VISCOUS_MEAN, VISCOUS_PAST};
use littoral::memory::{History, Measure, PastColumns, Reach, Remembers};
use littoral::particles::{Particles, Vectors};
use littoral::scene;
use littoral::solve::fractional::{Of, Rule};
use littoral::timers::{Stage, Timers};
use littoral::validation::cavity::{GHIA, points, velocity_at};
use littoral::world::World;
use littoral_picture::plot::{self, Panel, Series};

fn main() {
    for name in std::env::args().skip(1) {
        let start = Instant::now();
        match name.as_str() {
            "operator" => operator(),
            "cavity" => cavity(),
            "steps" => steps(),
            "flows" => flows(),
            "box" => flows_in_a_box(),
            "dams" => dams(),
            "sphere" => sphere(),
            "cost" => cost(),
            other => panic!("no experiment is called `{other}`"),
        }
        eprintln!("{name}: {:.0} s", start.elapsed().as_secs_f64());
    }
}

fn world(text: &str) -> World {
    World::new(&scene::load("experiment", text, &[]).unwrap_or_else(|problems| panic!("{problems}")).0)
}

fn write(name: &str, panels: &[Panel], title: &str) {
    let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::write(file, plot::png(panels, title).to_png()).expect("a plot that can be written");
}

fn series(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), points }
}

/// A body's line for friction that remembers; nothing for friction that does not.
fn memory(q: f64, steps: usize, place: &str) -> String {
    format!("[body.behaviours.viscous-memory]\norder = {q}\nsteps = {steps}\nwhere = \"{place}\"")
}

// ---------------------------------------------------------------- the operator

static COLUMNS: PastColumns<Vectors> =
    PastColumns { source: &VELOCITY, past: &VISCOUS_PAST, result: &VISCOUS_MEAN };

/// Error and cost of windows and of the whole past: D^½ of a way whose speed is 1 + sin 2πt + sin 20πt, over ten seconds in steps of about 5 ms.
fn operator() {
    let count = 20_000;
    let measure = |reach: Reach| {
        let run = |count: usize, steps: usize| {
            let measure = Measure::Derivative;
            let what = Remembers { order: 0.5, of: Of::Rates, reach, measure, columns: &COLUMNS };
            let mut history = History::new(what);
            let mut particles = Particles::default();
            history.require_columns(&mut particles);
            particles.resize(count);
            let rate = |t: f64| 1.0 + (TAU * t).sin() + (10.0 * TAU * t).sin();
            particles.get_mut(&VELOCITY).fill(Vec4::X * rate(0.0) as f32);
            history.born(0..count, &mut particles);
            let (mut time, mut past, mut error, mut size) = (0.0, Vec::new(), 0.0, 0.0);
            let start = Instant::now();
            let mut spent = 0.0;
            for k in 0..steps {
                let dt = 5e-3 * (1.0 + 0.6 * (0.7 * k as f64).sin());
                time += dt;
                particles.get_mut(&VELOCITY).fill(Vec4::X * rate(time) as f32);
                let before = start.elapsed().as_secs_f64();
                history.advance(dt, &mut particles);
                spent += start.elapsed().as_secs_f64() - before;
                if count == 1 {
                    // The whole past by the trapezoidal rule, which is a hundred times as exact as any of these.
                    past.insert(0, dt);
                    if k % 50 == 49 {
                        let weights =
                            littoral::solve::fractional::window(0.5, Rule::Trapezoid, Of::Rates, &past);
                        let mut t = time;
                        let mut exact = 0.0;
                        for (i, weight) in weights.iter().enumerate() {
                            exact += weight * rate(t);
                            t -= past.get(i).copied().unwrap_or(0.0);
                        }
                        let ours = f64::from(particles.get(&VISCOUS_MEAN)[0].x);
                        error += (ours - exact).powi(2);
                        size += exact * exact;
                    }
                }
            }
            ((error / size).sqrt(), spent * 1e9 / (steps * count) as f64, history.bytes_per_particle() as f64)
        };
        let (error, _, bytes) = run(1, 2000);
        // The best of three: other programs share the machine.
        let cost = (0..3).map(|_| run(count, 40).1).fold(f64::INFINITY, f64::min);
        (error, cost, bytes)
    };
    println!("| past | bytes | error | ns a particle and step |\n|---|---|---|---|");
    let mut curves = [[Vec::new(), Vec::new()], [Vec::new(), Vec::new()]];
    for steps in [1, 2, 3, 5, 10, 20, 32] {
        let (error, cost, bytes) = measure(Reach::Window { steps, rule: Rule::Trapezoid });
        println!("| {steps} steps | {bytes} | {error:.2e} | {cost:.1} |");
        curves[0][0].push((bytes, error));
        curves[0][1].push((bytes, cost));
    }
    for tolerance in [1e-1, 1e-2, 1e-3, 1e-4, 1e-5] {
        let (error, cost, bytes) = measure(Reach::Whole { tolerance, horizon: 20.0 });
        println!("| whole, {tolerance:.0e} | {bytes} | {error:.2e} | {cost:.1} |");
        curves[1][0].push((bytes, error));
        curves[1][1].push((bytes, cost));
    }
    let panel = |title: &str, y_label: &str, which: usize, log_y: bool| Panel {
        title: title.into(),
        x_label: "memory, bytes a particle".into(),
        y_label: y_label.into(),
        series: vec![
            series("window", curves[0][which].clone()),
            series("whole past", curves[1][which].clone()),
        ],
        log_y,
    };
    let panels =
        [panel("Error", "relative error", 0, true), panel("Cost", "ns a particle and step", 1, false)];
    write("docs/memory-cost.png", &panels, "A half-derivative over ten seconds");
}

// ---------------------------------------------------------------- the lid-driven cavity

fn cavity_scene(reynolds: f64, across: u32, caution: f64, more: &str) -> String {
    format!(
        r#"
        dimensions = 2
        [world]
        gravity = [0, 0]
        box = {{ min = [0, 0], max = [1, 1] }}
        wall_velocity = {{ "+y" = [1, 0] }}
        [sph]
        spacing = {}
        support = 3
        kernel = "wendland"
        [solver]
        shift = true
        [time]
        until = 100
        caution = {caution}
        [[body]]
        name = "fluid"
        density = 1
        shape.box = {{ min = [0, 0], max = [1, 1] }}
        [body.behaviours.incompressible]
        [body.behaviours.viscosity]
        dynamic_viscosity = {}
        {more}
        "#,
        1.0 / f64::from(across),
        1.0 / reynolds
    )
}

/// u along the vertical centre line, from t = 8 s on.
fn cavity() {
    let across = 32;
    let places: Vec<f64> = (0..=40).map(|k| 0.02 + 0.96 * f64::from(k) / 40.0).collect();
    let profile = |caution: f64, more: &str| {
        let mut world = world(&cavity_scene(100.0, across, caution, more));
        let mut mean = vec![0.0; places.len()];
        let mut table = [0.0; GHIA.len()];
        for moment in 0..5 {
            world.advance_to(8.0 + 0.5 * f64::from(moment)).expect("a stable run");
            let points = points(&world, across);
            let u = |y: f64| velocity_at(&points, DVec2::new(0.5, y), 2.5 / f64::from(across)).x;
            mean.iter_mut().zip(&places).for_each(|(mean, &y)| *mean += 0.2 * u(y));
            table.iter_mut().zip(&GHIA).for_each(|(mean, row)| *mean += 0.2 * u(row.y));
        }
        let step = world.clock.time / world.clock.steps as f64;
        (mean, table, step)
    };
    println!(
        "| friction | mean step, ms | window, s | largest change of u | largest error against Ghia et al. |"
    );
    println!("|---|---|---|---|---|");
    let mut plots = Vec::new();
    for caution in [1.0, 0.3] {
        let plain = profile(caution, "");
        let error =
            |table: &[f64]| table.iter().zip(&GHIA).map(|(u, row)| (u - row.u[0]).abs()).fold(0.0, f64::max);
        println!(
            "| standard, caution {caution} | {:.2} | – | – | {:.1} % |",
            1e3 * plain.2,
            1e2 * error(&plain.1)
        );
        for (q, steps) in [(0.5, 3), (0.5, 10), (0.5, 30), (0.8, 10)] {
            let with = profile(caution, &memory(q, steps, "everywhere"));
            let change = with.0.iter().zip(&plain.0).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            println!(
                "| q = {q}, {steps} steps | {:.2} | {:.3} | {:.1} % | {:.1} % |",
                1e3 * with.2,
                steps as f64 * with.2,
                1e2 * change,
                1e2 * error(&with.1)
            );
            if (q, steps, caution) == (0.5, 10, 0.3) {
                let curve = |u: &[f64]| places.iter().copied().zip(u.iter().copied()).collect();
                let reference = GHIA.iter().map(|row| (row.y, row.u[0])).collect();
                plots = vec![
                    series("Ghia et al. 1982", reference),
                    series("standard", curve(&plain.0)),
                    series("fractional, q = 1/2", curve(&with.0)),
                ];
            }
        }
    }
    let panel = Panel {
        title: "Re = 100".into(),
        x_label: "y, m".into(),
        y_label: "u, m/s".into(),
        series: plots,
        log_y: false,
    };
    write("experiments/fractional-sph/cavity.png", &[panel], "Lid-driven cavity, along x = 1/2");
}

// ---------------------------------------------------------------- the longest stable step

/// A thick fluid under a lid, in fixed steps: which is the longest that stays calm?
fn steps() {
    let text = |more: &str| {
        format!(
            r#"
            dimensions = 2
            [world]
            gravity = [0, 0]
            box = {{ min = [0, 0], max = [1, 1] }}
            wall_velocity = {{ "+y" = [1, 0] }}
            [sph]
            spacing = 0.05
            [solver]
            shift = true
            [time]
            until = 100
            [[body]]
            name = "fluid"
            density = 1
            shape.box = {{ min = [0, 0], max = [1, 1] }}
            [body.behaviours.incompressible]
            [body.behaviours.viscosity]
            dynamic_viscosity = 1
            {more}
            "#
        )
    };
    let stable = |more: &str| {
        let calm = |dt: f64| {
            let mut world = world(&text(more));
            (0..600).all(|_| world.step(dt).is_ok() && world.clock.speed < 3.0)
        };
        let (mut good, mut bad) = (0.0, 0.02);
        while bad - good > 0.01 * bad {
            let middle = 0.5 * (good + bad);
            if calm(middle) { good = middle } else { bad = middle }
        }
        good
    };
    let plain = stable("");
    println!("standard: longest stable step {:.3} ms\n", 1e3 * plain);
    println!(
        "| q | steps | longest stable step, over the standard one | by linear theory, window full | while it fills |"
    );
    println!("|---|---|---|---|---|");
    let mut curves = Vec::new();
    for q in [0.3, 0.5, 0.7, 0.9] {
        let (mut measured, mut theory) = (Vec::new(), Vec::new());
        for steps in [1, 2, 3, 5, 10, 20] {
            let limit = |steps: usize| 0.5 * largest_damping(&mean_weights(q, Rule::Trapezoid, steps), false);
            let least = (1..=steps).map(limit).fold(f64::INFINITY, f64::min);
            let ratio = stable(&memory(q, steps, "everywhere")) / plain;
            println!("| {q} | {steps} | {ratio:.2} | {:.2} | {least:.2} |", limit(steps));
            measured.push((steps as f64, ratio));
            theory.push((steps as f64, limit(steps)));
        }
        curves.push(series(format!("q = {q}"), measured));
    }
    let panel = Panel {
        title: "Paper: 2".into(),
        x_label: "steps of the window".into(),
        y_label: "stable step over standard".into(),
        series: curves,
        log_y: false,
    };
    write("experiments/fractional-sph/steps.png", &[panel], "Longest stable step of a thick fluid");
}

// ---------------------------------------------------------------- colliding flows

/// Sources of flow: where, and which way.
type Sources = Vec<([f64; 2], [f64; 2])>;

/// Pairs that face each other across the grid.
fn facing() -> Sources {
    vec![
        ([0.15, 0.3], [1.0, 0.0]),
        ([0.85, 0.3], [-1.0, 0.0]),
        ([0.5, 0.08], [0.0, 1.0]),
        ([0.5, 0.52], [0.0, -1.0]),
        ([0.2, 0.1], [0.7, 0.7]),
        ([0.8, 0.5], [-0.7, -0.7]),
    ]
}

/// Eight anywhere, in any direction.
fn scattered(seed: u64) -> Sources {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    (0..8)
        .map(|_| {
            let (x, y, angle) = (number(), 0.6 * number(), TAU * number());
            ([x, y], [angle.cos(), angle.sin()])
        })
        .collect()
}

struct Grid {
    pressure: &'static str,
    viscosity: f64,
    sources: Sources,
    /// s.
    step: f64,
    moments: usize,
}

/// Mean velocities of the 48 regions after every step.
fn regions(grid: &Grid, across: u32, jitter: f64, more: &str) -> Vec<[DVec2; 48]> {
    let mut forces = String::new();
    for ([x, y], [u, v]) in &grid.sources {
        let (u, v) = (20.0 * u, 20.0 * v);
        writeln!(
            forces,
            "[[force]]\nlocalised = {{ at = [{x}, {y}], radius = 0.08, acceleration = [{u}, {v}] }}"
        )
        .expect("a string takes all");
    }
    let text = format!(
        r#"
        dimensions = 2
        [world]
        gravity = [0, 0]
        box = {{ min = [0, 0], max = [1, 0.6], periodic = ["x", "y"] }}
        [sph]
        spacing = {}
        [time]
        until = 100
        [[body]]
        name = "fluid"
        density = 1000
        jitter = {jitter}
        shape.box = {{ min = [0, 0], max = [1, 0.6] }}
        [body.behaviours.{}]
        [body.behaviours.viscosity]
        dynamic_viscosity = {}
        {more}
        {forces}
        "#,
        1.0 / f64::from(across),
        grid.pressure,
        grid.viscosity
    );
    let mut world = world(&text);
    let mut records = Vec::new();
    for _ in 0..grid.moments {
        world.step(grid.step).expect("a stable run");
        let (mut sums, mut counts) = ([DVec2::ZERO; 48], [0u32; 48]);
        let p = &world.particles;
        for (x, v) in p.get(&POSITION).iter().zip(p.get(&VELOCITY)) {
            let (i, j) = (f64::from(x.x) * 8.0, f64::from(x.y) / 0.1);
            let (column, row) = (i.floor().clamp(0.0, 7.0), j.floor().clamp(0.0, 5.0));
            let offset = DVec2::new((i - column - 0.5) / 8.0, (j - row - 0.5) * 0.1);
            if offset.length() < 0.05 {
                let region = (row * 8.0 + column) as usize;
                sums[region] += v.truncate().truncate().as_dvec2();
                counts[region] += 1;
            }
        }
        records.push(std::array::from_fn(|k| sums[k] / f64::from(counts[k].max(1))));
    }
    records
}

/// [OzgenSumengen2013, Eq. 10]: the mean angle between velocities, of each region.
fn angles(of: &[[DVec2; 48]], reference: &[[DVec2; 48]]) -> [f64; 48] {
    let mut errors = [0.0; 48];
    for (a, b) in of.iter().zip(reference) {
        for ((error, a), b) in errors.iter_mut().zip(a).zip(b) {
            *error += angle(*a, *b) / of.len() as f64;
        }
    }
    errors
}

fn angle(a: DVec2, b: DVec2) -> f64 {
    if a.length() * b.length() > 0.0 { a.angle_to(b).abs() } else { 0.0 }
}

/// Part of the regions that are nearer to the reference than without a memory.
fn better(with: &[f64; 48], without: &[f64; 48]) -> f64 {
    with.iter().zip(without).filter(|(a, b)| a < b).count() as f64 / 48.0
}

fn flows() {
    println!(
        "Part of the 48 regions whose direction is nearer to 1500 particles with a memory than without, at 1215 particles (paper: 73 %)."
    );
    println!("`same` has no memory either, and another jitter: what chance makes of it.\n");
    let variants: [(&str, String); 7] = [
        ("same", String::new()),
        ("q ½, 10", memory(0.5, 10, "everywhere")),
        ("q ½, 10, collisions", memory(0.5, 10, "collisions")),
        ("q ½, 3", memory(0.5, 3, "everywhere")),
        ("q ½, 30", memory(0.5, 30, "everywhere")),
        ("q 0.2, 10", memory(0.2, 10, "everywhere")),
        ("q 0.8, 10", memory(0.8, 10, "everywhere")),
    ];
    let names: Vec<&str> = variants.iter().map(|(name, _)| *name).collect();
    println!("| pressure | μ, Pa·s | sources | error without, rad | {} |", names.join(" | "));
    println!("|---|---|---|---|{}", "---|".repeat(variants.len()));
    let mut totals = vec![Vec::new(); variants.len()];
    let mut mean_errors = vec![Vec::new(); variants.len()];
    let mut figure = Vec::new();
    for (pressure, step) in [("tait", 4e-4), ("incompressible", 2e-3)] {
        for viscosity in [1.0, 5.0, 20.0] {
            for layout in 0..5 {
                let sources = if layout == 0 { facing() } else { scattered(layout) };
                // Friction binds for the thickest.
                let step = if viscosity > 10.0 { 0.5 * step } else { step };
                let grid = Grid { pressure, viscosity, sources, step, moments: 500 };
                let reference = regions(&grid, 50, 0.0, "");
                let plain = regions(&grid, 45, 0.0, "");
                let without = angles(&plain, &reference);
                let mean = without.iter().sum::<f64>() / 48.0;
                let mut row = String::new();
                for (k, (_, more)) in variants.iter().enumerate() {
                    let run = regions(&grid, 45, if k == 0 { 0.01 } else { 0.0 }, more);
                    let errors = angles(&run, &reference);
                    let share = better(&errors, &without);
                    totals[k].push(share);
                    mean_errors[k].push(errors.iter().sum::<f64>() / 48.0 / mean);
                    write!(row, " {:.0} % |", 1e2 * share).expect("a string takes all");
                    if k == 1 && pressure == "tait" && viscosity == 5.0 && layout == 0 {
                        figure = collision_figure(&grid, &reference, &plain, &run);
                    }
                }
                let name = if layout == 0 { "facing".to_owned() } else { format!("scattered {layout}") };
                println!("| {pressure} | {viscosity} | {name} | {mean:.2} |{row}");
            }
        }
    }
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
    let spread = |shares: &[f64]| {
        let m = mean(shares);
        (shares.iter().map(|s| (s - m).powi(2)).sum::<f64>() / (shares.len() - 1) as f64).sqrt()
    };
    println!(
        "\n| variant | regions that are better: mean | spread | mean error over that without |\n|---|---|---|---|"
    );
    for ((name, _), (shares, errors)) in variants.iter().zip(totals.iter().zip(&mean_errors)) {
        println!(
            "| {name} | {:.0} % | {:.0} % | {:.3} |",
            1e2 * mean(shares),
            1e2 * spread(shares),
            mean(errors)
        );
    }
    write("experiments/fractional-sph/flows.png", &figure, "48 regions, facing sources, tait, 5 Pa·s");
}

/// The middle, where flows collide, and a region beside it: the paper's figures 6 to 9.
fn collision_figure(
    grid: &Grid,
    reference: &[[DVec2; 48]],
    plain: &[[DVec2; 48]],
    with: &[[DVec2; 48]],
) -> Vec<Panel> {
    let mut panels = Vec::new();
    for (title, region) in [("Rich in collisions", 2 * 8 + 3), ("Poor in collisions", 3 * 8 + 7)] {
        let times = || (0..grid.moments).map(|k| k as f64);
        let error = |run: &[[DVec2; 48]]| {
            let rows = run.iter().zip(reference).map(|(a, b)| angle(a[region], b[region]));
            times().zip(rows).collect::<Vec<_>>()
        };
        let speed =
            |run: &[[DVec2; 48]]| times().zip(run.iter().map(|row| row[region].length())).collect::<Vec<_>>();
        let (a, b) = (error(plain), error(with));
        let wins = a.iter().zip(&b).filter(|(a, b)| b.1 < a.1).count() as f64 / a.len() as f64;
        println!("  {title}: nearer in {:.0} % of the time steps (paper: 90 %)", 1e2 * wins);
        panels.push(Panel {
            title: title.into(),
            x_label: "step".into(),
            y_label: "error of direction, rad".into(),
            series: vec![series("standard", a), series("fractional", b)],
            log_y: false,
        });
        panels.push(Panel {
            title: title.into(),
            x_label: "step".into(),
            y_label: "speed, m/s".into(),
            series: vec![
                series("reference", speed(reference)),
                series("standard", speed(plain)),
                series("fractional", speed(with)),
            ],
            log_y: false,
        });
    }
    panels
}

/// The same in three dimensions, between walls: 12,000 particles against 3,000.
fn flows_in_a_box() {
    let run = |spacing: f64, seed: f64, more: &str| {
        let sources = [
            ([0.2, 0.3, 0.2], [20.0, 0.0, 0.0]),
            ([0.8, 0.3, 0.2], [-20.0, 0.0, 0.0]),
            ([0.5, 0.12, 0.2], [0.0, 20.0, 0.0]),
            ([0.5, 0.48, 0.2], [0.0, -20.0, 0.0]),
        ];
        let forces: String = sources
            .iter()
            .map(|(at, a)| {
                format!("[[force]]\nlocalised = {{ at = {at:?}, radius = 0.1, acceleration = {a:?} }}\n")
            })
            .collect();
        let text = format!(
            r#"
            [world]
            gravity = [0, 0, 0]
            box = {{ min = [0, 0, 0], max = [1, 0.6, 0.4] }}
            [sph]
            spacing = {spacing}
            [time]
            until = 100
            [[body]]
            name = "fluid"
            density = 1000
            jitter = {seed}
            shape.box = {{ min = [0, 0, 0], max = [1, 0.6, 0.4] }}
            [body.behaviours.incompressible]
            [body.behaviours.viscosity]
            dynamic_viscosity = 5
            {more}
            {forces}
            "#
        );
        let mut world = world(&text);
        let mut records = Vec::new();
        for _ in 0..1000 {
            world.step(2e-3).expect("a stable run");
            let (mut sums, mut counts) = ([DVec2::ZERO; 48], [0u32; 48]);
            let p = &world.particles;
            for (x, v) in p.get(&POSITION).iter().zip(p.get(&VELOCITY)) {
                if (x.z - 0.2).abs() < 0.1 {
                    let column = (x.x * 8.0).clamp(0.0, 7.9) as usize;
                    let row = (x.y * 10.0).clamp(0.0, 5.9) as usize;
                    sums[row * 8 + column] += v.truncate().truncate().as_dvec2();
                    counts[row * 8 + column] += 1;
                }
            }
            records.push(std::array::from_fn(|k| sums[k] / f64::from(counts[k].max(1))));
        }
        (world.particles.len(), records)
    };
    let (count, reference) = run(0.6 / 22.0, 0.0, "");
    let (few, plain) = run(0.6 / 14.0, 0.0, "");
    let without = angles(&plain, &reference);
    println!(
        "{count} particles against {few}; error without a memory {:.2} rad",
        without.iter().sum::<f64>() / 48.0
    );
    println!(
        "\n| variant | regions that are better | time steps that are better in the middle |\n|---|---|---|"
    );
    let variants = [
        ("same", 0.01, String::new()),
        ("q ½, 10", 0.0, memory(0.5, 10, "everywhere")),
        ("q ½, 10, collisions", 0.0, memory(0.5, 10, "collisions")),
    ];
    for (name, jitter, more) in variants {
        let (_, with) = run(0.6 / 14.0, jitter, &more);
        let share = better(&angles(&with, &reference), &without);
        let middle = 2 * 8 + 3;
        let rows = plain.iter().zip(&with).zip(&reference);
        let wins =
            rows.filter(|((a, b), c)| angle(b[middle], c[middle]) < angle(a[middle], c[middle])).count();
        println!("| {name} | {:.0} % | {:.0} % |", 1e2 * share, 0.1 * wins as f64);
    }
}

// ---------------------------------------------------------------- dam breaks

/// A column of fluid that collapses, over viscosities: where its front is.
fn dams() {
    let run = |viscosity: f64, more: &str| {
        let text = format!(
            r#"
            dimensions = 2
            [world]
            box = {{ min = [0, 0], max = [2, 1] }}
            [sph]
            spacing = 0.0125
            [time]
            until = 2
            [[body]]
            name = "fluid"
            density = 1000
            shape.box = {{ min = [0, 0], max = [0.5, 0.5] }}
            [body.behaviours.incompressible]
            [body.behaviours.viscosity]
            dynamic_viscosity = {viscosity}
            {more}
            "#
        );
        let mut world = world(&text);
        let mut front = vec![(0.0, 0.5)];
        for k in 1..=40 {
            let time = 0.02 * f64::from(k);
            world.advance_to(time).expect("a stable run");
            let far = world.particles.get(&POSITION).iter().map(|x| x.x).fold(0.0, f32::max);
            front.push((time, f64::from(far)));
        }
        (front, world.clock.steps)
    };
    println!(
        "| μ, Pa·s | Re = ρ√(gH)H/μ | front at 0.4 s, standard | fractional | at 0.8 s, standard | fractional | steps, standard | fractional |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut curves = Vec::new();
    for viscosity in [1.0, 10.0, 50.0] {
        let (plain, plain_steps) = run(viscosity, "");
        let (with, with_steps) = run(viscosity, &memory(0.5, 10, "everywhere"));
        println!(
            "| {viscosity} | {:.0} | {:.3} | {:.3} | {:.3} | {:.3} | {plain_steps} | {with_steps} |",
            1000.0 * (9.81f64 * 0.5).sqrt() * 0.5 / viscosity,
            plain[20].1,
            with[20].1,
            plain[40].1,
            with[40].1
        );
        curves.push(series(format!("{viscosity} Pa·s"), plain));
        curves.push(series(format!("{viscosity}, fractional"), with));
    }
    let panel = Panel {
        title: "Front".into(),
        x_label: "time, s".into(),
        y_label: "x, m".into(),
        series: curves,
        log_y: false,
    };
    write("experiments/fractional-sph/dams.png", &[panel], "Dam breaks over viscosities");
}

// ---------------------------------------------------------------- a sphere in a shaken box

/// Of the box's half edge and the sphere's radius, m; of the swing, m; of the fluid, kg/m³.
const BOX: f64 = 0.1;
const RADIUS: f64 = 0.03;
const SWING: f64 = 0.02;
const SPHERE_DENSITY: f64 = 1000.0;
/// Of the sphere's density over the fluid's, as in the paper.
const HEAVIER: f64 = 1.5;

/// A sphere half as heavy again as the fluid around it, weightless, in a box that is shaken [OzgenSumengen2013, 4.1]: its way, as seen from the box. The paper
/// leaves the viscosity, Pa·s, and the frequency, Hz, open.
fn sphere() {
    println!(
        "| μ, Pa·s | Hz | fluid | particles | mean step, ms | amplitude, mm | phase, ° | off a sine, % | swing off the fine one, % |\n|---|---|---|---|---|---|---|---|---|"
    );
    for (viscosity, frequency) in [(1.0, 2.0), (0.2, 2.0), (1.0, 5.0)] {
        let curves = shaken(viscosity, frequency);
        if (viscosity, frequency) == (1.0, 2.0) {
            let panel = Panel {
                title: "Way of the sphere in the box".into(),
                x_label: "time, s".into(),
                y_label: "x, mm".into(),
                series: curves,
                log_y: false,
            };
            write("experiments/fractional-sph/sphere.png", &[panel], "A heavy sphere in a shaken box");
        }
    }
}

/// Prints the rows of one fluid and one frequency.
fn shaken(viscosity: f64, frequency: f64) -> Vec<Series> {
    let omega = TAU * frequency;
    let run = |particles: f64, more: &str| {
        let spacing = 2.0 * BOX / particles.cbrt();
        let text = format!(
            r#"
            world.gravity = [0, 0, 0]
            sph.spacing = {spacing}
            time.until = 10
            [[body]]
            name = "fluid"
            density = {SPHERE_DENSITY}
            shape.box = {{ min = [-{BOX}, -{BOX}, -{BOX}], max = [{BOX}, {BOX}, {BOX}] }}
            [body.behaviours.incompressible]
            [body.behaviours.viscosity]
            dynamic_viscosity = {viscosity}
            {more}
            [[solid]]
            name = "sphere"
            shape.sphere = {{ centre = [0, 0, 0], radius = {RADIUS} }}
            free.density = {density}
            [[solid]]
            name = "box"
            inside = true
            shape.box = {{ min = [-{BOX}, -{BOX}, -{BOX}], max = [{BOX}, {BOX}, {BOX}] }}
            motion.shake = {{ amplitude = {SWING}, frequency = {frequency}, direction = [1, 0, 0] }}
            "#,
            density = HEAVIER * SPHERE_DENSITY
        );
        let mut world = world(&text);
        let way: Vec<(f64, f64)> = (0..=200)
            .map(|k| {
                let time = f64::from(k) / (50.0 * frequency);
                world.advance_to(time).expect("a stable run");
                (time, world.solids[0].pose.position.x - SWING * (omega * time).sin())
            })
            .collect();
        (way, world.particles.len(), world.clock.time / world.clock.steps as f64)
    };

    // Alone in the fluid, the sphere's velocity w against it obeys (ϱ + ½) m w′ + 6πμa w + 6πa²√(μρ) D^½ w = (1 − ϱ) m u′, with m the mass of the
    // fluid in its place [Basset1888]. For e^{iωt}: w = (1 − ϱ) m iω u/(…).
    let mass = SPHERE_DENSITY * 4.0 / 3.0 * PI * RADIUS.powi(3);
    let exact = |history: f64| {
        let late = 6.0 * PI * RADIUS.powi(2) * (viscosity * SPHERE_DENSITY * omega / 2.0).sqrt() * history;
        let drag = 6.0 * PI * viscosity * RADIUS + late;
        let heavy = (HEAVIER + 0.5) * mass * omega + late;
        let push = (1.0 - HEAVIER) * mass * omega;
        // i push/(drag + i heavy), as seen from a swing A sin ωt.
        DVec2::new(push * heavy, push * drag) / (drag * drag + heavy * heavy) * SWING
    };
    let row = |name: &str, run: Option<(usize, f64)>, sine: DVec2, off: Option<[f64; 2]>| {
        let run = run.map_or("– | –".into(), |(count, step)| format!("{count} | {:.1}", 1e3 * step));
        let off =
            off.map_or("– | –".into(), |[sine, fine]| format!("{:.1} | {:.0}", 1e2 * sine, 1e2 * fine));
        let (size, phase) = (1e3 * sine.length(), sine.y.atan2(sine.x).to_degrees());
        println!("| {viscosity} | {frequency} | {name} | {run} | {size:.2} | {phase:.1} | {off} |");
    };
    row("exact, without walls", None, exact(1.0), None);
    row("the same without Basset's force", None, exact(0.0), None);
    let mut curves = Vec::new();
    let mut fine = None;
    for (name, particles, more) in [
        ("fine", 12_000.0, String::new()),
        ("coarse", 7_200.0, String::new()),
        ("coarse, q = ½, 3 steps", 7_200.0, memory(0.5, 3, "everywhere")),
        ("coarse, q = ½, 10 steps", 7_200.0, memory(0.5, 10, "everywhere")),
        ("coarse, q = ½, 30 steps", 7_200.0, memory(0.5, 30, "everywhere")),
    ] {
        let (way, count, step) = run(particles, &more);
        // The last two of four periods, and a straight drift.
        let (sine, rest) = fit(&way[101..], omega);
        let fine = *fine.get_or_insert(sine);
        let off = [rest * 2f64.sqrt() / sine.length(), (sine - fine).length() / fine.length()];
        row(name, Some((count, step)), sine, Some(off));
        curves.push(series(name, way.iter().map(|&(t, x)| (t, 1e3 * x)).collect()));
    }
    curves
}

/// s and c of x = s sin ωt + c cos ωt + a + bt that is nearest to the points, and the root mean square of what is left. Points span whole periods, in
/// which the drift is all but independent of the swing: a few rounds, in turns, find both.
fn fit(points: &[(f64, f64)], omega: f64) -> (DVec2, f64) {
    let count = points.len() as f64;
    let middle = points.iter().map(|p| p.0).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|p| (p.0 - middle).powi(2)).sum();
    let (mut sine, mut mean, mut drift) = (DVec2::ZERO, 0.0, 0.0);
    let wave = |t: f64| DVec2::new((omega * t).sin(), (omega * t).cos());
    for _ in 0..20 {
        let flat = |sine: DVec2| points.iter().map(move |&(t, x)| (t, x - sine.dot(wave(t))));
        mean = flat(sine).map(|p| p.1).sum::<f64>() / count;
        drift = flat(sine).map(|(t, x)| (t - middle) * x).sum::<f64>() / spread;
        let swing = points.iter().map(|&(t, x)| wave(t) * (x - mean - drift * (t - middle)));
        sine = swing.sum::<DVec2>() * 2.0 / count;
    }
    let left = points.iter().map(|&(t, x)| (x - mean - drift * (t - middle) - sine.dot(wave(t))).powi(2));
    (sine, (left.sum::<f64>() / count).sqrt())
}

// ---------------------------------------------------------------- cost

/// 20,000 particles, with the term and without it in turns.
fn cost() {
    let build = |pressure: &str, more: &str| {
        world(&format!(
            r#"
            [world]
            box = {{ min = [0, 0, 0], max = [1.6, 1, 0.5] }}
            [sph]
            spacing = 0.0215
            [time]
            until = 100
            [[body]]
            name = "water"
            density = 1000
            shape.box = {{ min = [0, 0, 0], max = [0.8, 0.5, 0.5] }}
            [body.behaviours.{pressure}]
            [body.behaviours.viscosity]
            dynamic_viscosity = 1
            {more}
            "#
        ))
    };
    let whole = "[body.behaviours.viscous-memory]\nreach = \"whole\"";
    let variants = [
        ("without".to_owned(), String::new()),
        ("window of 10 steps".to_owned(), memory(0.5, 10, "everywhere")),
        ("the same, where flows collide".to_owned(), memory(0.5, 10, "collisions")),
        ("whole past, 10⁻⁴".to_owned(), whole.to_owned()),
        ("whole past, 10⁻³".to_owned(), format!("{whole}\ntolerance = 1e-3")),
    ];
    println!(
        "| pressure | friction | ms a step | over that without | of it in stage 9 | steps a second |\n|---|---|---|---|---|---|"
    );
    for pressure in ["incompressible", "tait"] {
        let mut worlds: Vec<World> = variants.iter().map(|(_, more)| build(pressure, more)).collect();
        let dt = worlds[0].clock.step.min(if pressure == "tait" { 1.0 } else { 1.5e-3 });
        let mut times = vec![Vec::new(); worlds.len()];
        let mut memories = vec![f64::INFINITY; worlds.len()];
        for round in 0..9 {
            for (k, world) in worlds.iter_mut().enumerate() {
                world.timers = Timers::default();
                let start = Instant::now();
                for _ in 0..15 {
                    world.step(dt).expect("a stable run");
                }
                // The first round finds its neighbours and fills its windows.
                if round > 0 {
                    times[k].push(start.elapsed().as_secs_f64() * 1e3 / 15.0);
                    let spent = world.timers.spent(Stage::Memory).as_secs_f64() * 1e3 / 15.0;
                    memories[k] = f64::min(memories[k], spent);
                }
            }
        }
        // The best round: other programs share the machine.
        let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        let first = best(&times[0]);
        for (k, (name, _)) in variants.iter().enumerate() {
            let ms = best(&times[k]);
            println!(
                "| {pressure}, {} particles | {name} | {ms:.2} | {:+.1} % | {:.2} ms | {:.0} |",
                worlds[k].particles.len(),
                1e2 * (ms / first - 1.0),
                memories[k],
                1e3 / ms
            );
        }
    }
}
