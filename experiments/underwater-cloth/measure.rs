//! Underwater cloth, measured: four drag models on a hanging cloth whose top edge is swung or towed [Ozgen2010; Ozgen2013, ch. 3].
//!
//!   underwater-cloth models | scenes | weights | history | window | steps | cost
//!
//! Each prints a table; `models:31×21` and `scenes:figure` print only the rows of that mesh or scene. Bumps are extrema of the mid-line's distance from its chord; see `Profile`.

use std::time::Instant;

use glam::Vec4;
use littoral::columns::POSITION;
use littoral::scene;
use littoral::solve::fractional::{Of, Rule, window as weights_of};
use littoral::world::World;

/// Of the cloth, m; its particles in a row and in a column.
const HEIGHT: f64 = 0.6;
const WIDTH: f64 = 0.4;
const FINE: (usize, usize) = (41, 61);
const COARSE: (usize, usize) = (21, 31);
/// Longest step, s; faster cloth takes shorter ones.
const STEP: f64 = 2e-3;
/// So long that it never counts, s.
const LONGEST: f64 = 1.0;
/// Of a swing, s and m.
const PERIOD: f64 = 1.0;
const SWING: f64 = 0.08;
/// A bump is at least so deep, m.
const LEAST: f64 = 0.004;

fn main() {
    for name in std::env::args().skip(1) {
        let start = Instant::now();
        let (experiment, only) = name.split_once(':').unwrap_or((&name, ""));
        match experiment {
            "models" => models(only),
            "scenes" => scenes(only),
            "weights" => weights(),
            "history" => history(),
            "window" => window(),
            "steps" => steps(),
            "cost" => cost(only),
            other => panic!("no experiment is called `{other}`"),
        }
        eprintln!("{name}: {:.0} s", start.elapsed().as_secs_f64());
    }
}

/// What the water and the springs do.
#[derive(Clone, Debug)]
struct Model {
    name: &'static str,
    springs: String,
    water: String,
}

/// Those of [Ozgen2010, fig. 7], from left to right.
fn four() -> [Model; 4] {
    let damped = || "stretch_damping = 0.01\nshear_damping = 0.01\nbend_damping = 0.01".to_owned();
    let model = |name, springs, water: &str| Model { name, springs, water: water.to_owned() };
    [
        model("viscous and normal", damped(), "viscous_drag = 2\nnormal_drag = 4"),
        model("viscous", damped(), "viscous_drag = 2"),
        model("normal", damped(), "normal_drag = 4"),
        fractional(3.0, "reach = \"coimbra\"\nsteps = 3"),
    ]
}

fn fractional(history: f64, reach: &str) -> Model {
    Model {
        name: "fractional",
        springs: format!("memory = 0.1\n{reach}"),
        water: format!("viscous_drag = 2\nhistory_drag = {history}\n{reach}"),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Motion {
    Swung,
    Towed,
}

/// 2.2 kg/m² of wet cotton, of which water carries 2.0.
fn world(model: &Model, motion: Motion, (columns, rows): (usize, usize), step: f64, seconds: f64) -> World {
    let spacing = HEIGHT / (rows - 1) as f64;
    assert!((WIDTH / (columns - 1) as f64 - spacing).abs() < 1e-9, "square cells");
    let place = |t: f64| match motion {
        Motion::Swung => SWING * (std::f64::consts::TAU * t / PERIOD).sin(),
        // Off at once, as by hand.
        Motion::Towed => 0.25 * t,
    };
    let keys: Vec<String> = (0..=(seconds * 32.0) as usize)
        .map(|k| {
            let t = k as f64 / 32.0;
            format!("[{t}, [{}, 0, 0]]", place(t))
        })
        .collect();
    let text = format!(
        "sph.spacing = {spacing}\ntime = {{ until = {seconds}, maximum_step = {step} }}\n[[body]]\ndensity = 1100\nthickness = 0.002\n\
         shape.sheet = {{ corner = [0, 0, 0], along = [0, 0, {WIDTH}], across = [0, {}, 0] }}\n\
         [body.behaviours.springs]\nstretch_stiffness = 200\nshear_stiffness = 20\nbend_stiffness = 1e-5\n{}\n\
         [body.behaviours.underwater]\n{}\n[[pin]]\nshape.box = {{ min = [-1, -0.001, -1], max = [1, 1, 1] }}\n\
         motion.position = {{ keys = [{}], ease = \"linear\" }}\n",
        -HEIGHT,
        model.springs,
        model.water,
        keys.join(", "),
    );
    let (scene, _) =
        scene::load("underwater", &text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
    World::new(&scene)
}

/// Scenes with cloths side by side, and when each is looked at, s.
const SCENES: [(&str, &str, [f64; 2]); 5] = [
    ("underwater-cloth", include_str!("../../scenes/underwater-cloth.toml"), [3.0, 5.0]),
    ("corners", include_str!("corners.toml"), [3.0, 5.0]),
    ("sideways", include_str!("sideways.toml"), [2.8, 4.4]),
    ("underwater-sphere", include_str!("../../scenes/underwater-sphere.toml"), [0.35, 5.0]),
    ("underwater-figure", include_str!("../../scenes/underwater-figure.toml"), [1.25, 5.0]),
];

/// The mid-line of a cloth, from top to bottom, and its distance from the chord, away from the top edge.
struct Profile {
    bumps: Vec<Bump>,
    /// Mean angle between neighbouring edges of rows and columns, rad: folds anywhere, however small.
    folded: f64,
}

#[derive(Clone, Copy, Debug)]
struct Bump {
    /// How far down the cloth, m along it.
    down: f64,
    /// From the line between the two bumps beside it, or the ends, m; its sign is the side.
    depth: f64,
}

impl Profile {
    fn of(world: &World, sheet: usize) -> Profile {
        let sheet = &world.structure.sheets[sheet];
        let (rows, columns) = sheet.grid.expect("a grid");
        let position = world.particles.get(&POSITION);
        let place = |row: usize, column: usize| -> Vec4 {
            let node = sheet.nodes.start as usize + row * columns + column;
            position[world.structure.nodes.rows()[node] as usize].with_w(0.0)
        };
        let line: Vec<Vec4> = (0..rows).map(|row| place(row, columns / 2)).collect();
        let chord = (line[rows - 1] - line[0]).normalize();
        let edge = place(0, columns - 1) - place(0, 0);
        let side = edge.truncate().cross(chord.truncate()).normalize().extend(0.0);
        let away: Vec<f64> = line.iter().map(|x| f64::from((*x - line[0]).dot(side))).collect();
        let mut down = vec![0.0];
        for k in 1..rows {
            down.push(down[k - 1] + f64::from(line[k].distance(line[k - 1])));
        }
        // Turning points, then the shallow ones out, in pairs, from the shallowest on: what is left alternates.
        let mut turns = vec![0];
        turns.extend(
            (1..rows - 1).filter(|&k| {
                (away[k] - away[k - 1]) * (away[k + 1] - away[k]) <= 0.0 && away[k] != away[k - 1]
            }),
        );
        turns.push(rows - 1);
        loop {
            let height = |k: usize| (away[turns[k + 1]] - away[turns[k]]).abs();
            let Some(least) = (0..turns.len() - 1).min_by(|&a, &b| height(a).total_cmp(&height(b))) else {
                break;
            };
            if height(least) >= LEAST || turns.len() == 2 {
                break;
            }
            // The ends stay.
            let last = turns.len() - 1;
            if least == 0 {
                turns.remove(1);
            } else if least + 1 == last {
                turns.remove(last - 1);
            } else {
                turns.drain(least..=least + 1);
            }
        }
        let bump = |k: usize| {
            let [a, b, c] = [turns[k - 1], turns[k], turns[k + 1]];
            let share = (down[b] - down[a]) / (down[c] - down[a]);
            Bump { down: down[b], depth: away[b] - away[a] - share * (away[c] - away[a]) }
        };
        let along = |row: usize, column: usize| [(row, column - 1), (row, column + 1)];
        let across = |row: usize, column: usize| [(row - 1, column), (row + 1, column)];
        let inner = (1..rows - 1).flat_map(|row| (1..columns - 1).map(move |column| (row, column)));
        let (mut folded, mut count) = (0.0, 0);
        for (row, column) in inner {
            for [before, after] in [along(row, column), across(row, column)] {
                let here = place(row, column);
                let [a, b] = [here - place(before.0, before.1), place(after.0, after.1) - here];
                folded += f64::from(a.truncate().angle_between(b.truncate()));
                count += 1;
            }
        }
        Profile {
            bumps: (1..turns.len().max(2) - 1).map(bump).collect(),
            folded: folded / f64::from(count.max(1)),
        }
    }
}

#[derive(Default)]
struct Measured {
    /// Mean number of bumps, and most at one time.
    count: f64,
    most: usize,
    /// Mean depth, m.
    depth: f64,
    /// Mean way of a bump down the cloth over time, m/s, and how far down the deepest place of bumps at least 4 mm deep was.
    speed: f64,
    reach: f64,
    /// Mean of [`Profile::folded`], rad.
    folded: f64,
}

/// Looks at all cloths fifty times a second from `from` to `until`, s.
fn measure(mut world: World, from: f64, until: f64) -> Vec<Measured> {
    let every = 0.02;
    world.advance_to(from).unwrap();
    let count = world.structure.sheets.len();
    let look = |world: &World| (0..count).map(|k| Profile::of(world, k)).collect::<Vec<_>>();
    let (mut before, mut looks) = (look(&world), 0);
    let mut all: Vec<Measured> = (0..count).map(|_| Measured::default()).collect();
    // How far bumps went, over how many pairs of looks; and how many were seen.
    let mut ways = vec![(0.0, 0, 0); count];
    for k in 1..=((until - from) / every).round() as usize {
        world.advance_to(from + every * k as f64).unwrap();
        let now = look(&world);
        looks += 1;
        for (k, now) in now.iter().enumerate() {
            let (all, (went, matches, bumps)) = (&mut all[k], &mut ways[k]);
            *bumps += now.bumps.len();
            all.most = all.most.max(now.bumps.len());
            all.folded += now.folded;
            for bump in &now.bumps {
                all.depth += bump.depth.abs();
                all.reach = all.reach.max(bump.down);
                // The same bump a moment ago: the nearest one on the same side.
                let same = before[k].bumps.iter().filter(|old| old.depth * bump.depth > 0.0);
                let near = same.map(|old| bump.down - old.down).min_by(|a, b| a.abs().total_cmp(&b.abs()));
                if let Some(way) = near.filter(|way| way.abs() < 0.06) {
                    *went += way;
                    *matches += 1;
                }
            }
        }
        before = now;
    }
    for (all, (went, matches, bumps)) in all.iter_mut().zip(ways) {
        all.count = bumps as f64 / f64::from(looks);
        all.depth /= bumps.max(1) as f64;
        all.folded /= f64::from(looks);
        all.speed = went / (every * f64::from(matches.max(1)));
    }
    all
}

/// The first cloth alone.
fn measure_one(world: World, from: f64, until: f64) -> Measured {
    measure(world, from, until).swap_remove(0)
}

/// Cloths side by side, as the paper and the thesis show them.
fn scenes(only: &str) {
    println!(
        "| scene | cloth | bumps | most | depth, mm | speed, m/s | lowest, m | folds, ° |\n|---|---|---|---|---|---|---|---|"
    );
    for (name, text, [from, until]) in SCENES.iter().filter(|scene| scene.0.contains(only)) {
        let (scene, _) =
            scene::load(name, text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
        let world = World::new(&scene);
        let bodies: Vec<String> = world
            .structure
            .sheets
            .iter()
            .map(|sheet| scene.bodies[sheet.body as usize].name.clone())
            .collect();
        for (body, m) in bodies.iter().zip(measure(world, *from, *until)) {
            println!(
                "| {name} | {body} | {:.1} | {} | {:.1} | {:.2} | {:.2} | {:.1} |",
                m.count,
                m.most,
                1e3 * m.depth,
                m.speed,
                m.reach,
                m.folded.to_degrees()
            );
        }
    }
}

/// Weights of the newest velocities in a half-derivative over a hundred steps, as parts of their sum [Ozgen2010, fig. 6].
fn weights() {
    println!(
        "| step, s | newest | 1 before | 2 before | 3 before | 10 before | newest four, of all |\n|---|---|---|---|---|---|---|"
    );
    for step in [0.1, 0.01, 0.001] {
        let weights = weights_of(0.5, Rule::Coimbra, Of::Rates, &[step; 100]);
        let all: f64 = weights.iter().sum();
        let part = |k: usize| weights[k] / all;
        println!(
            "| {step} | {:.4} | {:.4} | {:.4} | {:.4} | {:.4} | {:.2} |",
            part(0),
            part(1),
            part(2),
            part(3),
            part(10),
            (0..4).map(part).sum::<f64>()
        );
    }
}

fn label((columns, rows): (usize, usize)) -> String {
    format!("{rows}×{columns}")
}

fn line(name: &str, motion: Motion, mesh: (usize, usize), m: &Measured) {
    println!(
        "| {name} | {} | {} | {:.1} | {} | {:.1} | {:.2} | {:.2} |",
        if motion == Motion::Swung { "swung" } else { "towed" },
        label(mesh),
        m.count,
        m.most,
        1e3 * m.depth,
        m.speed,
        m.reach
    );
}

fn head(first: &str) {
    println!(
        "| {first} | top edge | mesh | bumps | most | depth, mm | speed, m/s | lowest, m |\n|---|---|---|---|---|---|---|---|"
    );
}

fn models(only: &str) {
    head("model");
    for mesh in [FINE, COARSE].into_iter().filter(|mesh| label(*mesh).contains(only)) {
        for motion in [Motion::Swung, Motion::Towed] {
            for model in four() {
                let (from, until) = if motion == Motion::Swung { (3.0, 5.0) } else { (0.0, 2.0) };
                let measured = measure_one(world(&model, motion, mesh, STEP, 5.0), from, until);
                line(model.name, motion, mesh, &measured);
            }
        }
    }
}

fn swung(name: &str, model: &Model, step: f64) {
    line(name, Motion::Swung, COARSE, &measure_one(world(model, Motion::Swung, COARSE, step, 5.0), 3.0, 5.0));
}

fn history() {
    head("history drag, Pa·s^½/m");
    for drag in [0.0, 1.0, 3.0, 10.0, 30.0] {
        swung(&format!("{drag}"), &fractional(drag, "reach = \"coimbra\"\nsteps = 3"), STEP);
    }
}

fn window() {
    head("remembered");
    for steps in [1, 2, 3, 5, 10, 30] {
        swung(
            &format!("{steps} steps"),
            &fractional(3.0, &format!("reach = \"coimbra\"\nsteps = {steps}")),
            STEP,
        );
    }
    swung("whole past", &fractional(3.0, "reach = \"whole\"\nhorizon = 10"), STEP);
}

/// What a window of three steps does depends on how long they are.
fn steps() {
    head("step");
    for step in [4e-3, 2e-3, 1e-3, 5e-4] {
        let name = |reach: &str| format!("{} ms, {reach}", 1e3 * step);
        swung(&name("3 steps"), &fractional(3.0, "reach = \"coimbra\"\nsteps = 3"), step);
        swung(&name("whole past"), &fractional(3.0, "reach = \"whole\"\nhorizon = 10"), step);
    }
}

/// Time that the processor has worked for this program, s; by the clock where the system does not tell. It hardly depends on who else uses the machine.
fn processor_time(start: Instant) -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let texts = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    let times = texts.filter_map(|text| text.split(' ').next()?.parse::<f64>().ok());
    match 1e-9 * times.sum::<f64>() {
        0.0 => start.elapsed().as_secs_f64(),
        time => time,
    }
}

/// Frames of 1/30 s, in the steps that the world takes of itself, with the sort of particles that a run makes at each; nothing is written.
fn cost(only: &str) {
    println!(
        "| mesh | model | steps a frame | a step, ms | of the processor, ms | frames a second | of the processor | over the regular model |\n|---|---|---|---|---|---|---|---|"
    );
    let started = Instant::now();
    for mesh in [FINE, COARSE].into_iter().filter(|mesh| label(*mesh).contains(only)) {
        let regular = four()[1].clone();
        let models = [
            ("regular", regular),
            ("fractional, 3 steps", fractional(3.0, "reach = \"coimbra\"\nsteps = 3")),
            ("fractional, whole past", fractional(3.0, "reach = \"whole\"\nhorizon = 10")),
        ];
        let mut worlds: Vec<World> =
            models.iter().map(|(_, model)| world(model, Motion::Swung, mesh, LONGEST, 9.0)).collect();
        worlds.iter_mut().for_each(|world| world.advance_to(1.0).unwrap());
        // In turns, so that whoever else uses the machine slows all of them; the fastest swing counts.
        let (rounds, frames) = (6, 30);
        let mut best = [[f64::INFINITY; 2]; 3];
        let mut steps = [0; 3];
        for round in 0..rounds {
            for ((world, best), steps) in worlds.iter_mut().zip(&mut best).zip(&mut steps) {
                let now = || [started.elapsed().as_secs_f64(), processor_time(started)];
                let (start, before) = (now(), world.clock.steps);
                for frame in 1..=frames {
                    world.forget_neighbours();
                    world.advance_to(1.0 + f64::from(round * frames + frame) / 30.0).unwrap();
                }
                let end = now();
                (0..2).for_each(|k| best[k] = best[k].min((end[k] - start[k]) / f64::from(frames)));
                *steps += world.clock.steps - before;
            }
        }
        for (((name, _), time), steps) in models.iter().zip(best).zip(steps) {
            let over = 100.0 * (time[1] / best[0][1] - 1.0);
            let a_frame = steps as f64 / f64::from(rounds * frames);
            let [clock, processor] = time.map(|time| 1e3 * time / a_frame);
            println!(
                "| {} | {name} | {a_frame:.1} | {clock:.3} | {processor:.3} | {:.0} | {:.0} | {over:+.0} % |",
                label(mesh),
                1.0 / time[0],
                1.0 / time[1],
            );
        }
    }
}
