//! Checks that need more than one key: bodies against the box, against each other and against the resolution.

use super::bodies::Draft;
use super::estimate::{at_most, particle_count, step_limit, wall_sample_count};
use super::problem::{Place, Problem};
use super::read::Reader;
use super::sections::side_name;
use super::values::{Log, show, show_rounded};
use super::{
    Body, Dimensions, Domain, IntegratorName, Mobility, Opening, Scene, Shape, Side, Solid, Solver, Source,
    Sph, Time, WallModel, Where,
};
use crate::behaviour::BehaviourUse;
use crate::behaviour::Value;
use crate::behaviours::{self, Behaviour, REGISTRY, past, springs, underwater, viscous_memory};
use crate::discretisation::Discretisation;
use crate::sources;
use crate::timeline::Curve;

/// More particles than this are a slip of the keyboard: 2·10⁸ take more than 20 GB.
const MAX_PARTICLES: f64 = 2e8;

/// More frames than this, likewise.
const MANY_FRAMES: f64 = 1e5;

/// Where a body has more particles than this, nobody asks where each is before the run.
const MANY_TO_PLACE: f64 = 1e6;

/// A periodic axis must be so many supports long, or a particle would meet itself.
const PERIOD_IN_SUPPORTS: f64 = 3.0;

/// f32 keeps a position to 1/256 of a spacing up to here.
const MAX_SPACINGS_FROM_ORIGIN: f64 = 65_536.0;

/// Bodies may reach so far into a wall or into each other, in spacings: the rounding of a decimal fraction.
const SKIN: f64 = 1e-3;

/// Solute that weighs more in one body than in another would gain mass on its way.
pub fn density_gains(drafts: &[Draft], log: &Log) {
    let gain = |draft: &Draft| {
        let body = draft.body.as_ref()?;
        let dispersion = body.behaviours.iter().find(|one| one.schema.name == "dispersion")?;
        match dispersion.value("density_gain") {
            Value::Number(curve) => Some((draft.at.clone(), curve.clone())),
            _ => None,
        }
    };
    let gains: Vec<(Place, Curve)> = drafts.iter().filter_map(gain).collect();
    for (at, gain) in &gains {
        if gain.as_constant().is_none() || *gain != gains[0].1 {
            let message = "the `density_gain` of `dispersion` is not the same number for all bodies";
            log.push(
                Problem::error("density-gain", at, message)
                    .label("differs here")
                    .help("solute keeps its mass on its way from body to body: give them all the same"),
            );
        }
    }
}

/// A pin that takes nothing when it starts with the run holds nothing for ever.
pub fn idle_pins(scene: &Scene, places: &[Place], log: &Log) {
    for (number, (pin, place)) in scene.pins.iter().zip(places).enumerate() {
        // What is where later on, only the run can tell; the nearest particle is always there.
        let Where::Region(region) = &pin.at else { continue };
        if pin.from > 0.0 {
            continue;
        }
        let is_for = |k: usize| pin.on.as_ref().is_none_or(|on| on.contains(&(k as u32)));
        let bodies = scene.bodies.iter().enumerate();
        let bodies: Vec<&Body> =
            bodies.filter(|(k, body)| is_for(*k) && body.holds_shape()).map(|(_, body)| body).collect();
        let takes_some = |body: &Body| {
            let Source::Shape(shape) = &body.source else { return true };
            let count = particle_count(&body.source, body.spacing, scene.dimensions, scene.time.until);
            // Chance may still bring one in; and a check must not take as long as a run.
            if body.jitter > 0.0 || count > MANY_TO_PLACE {
                return true;
            }
            let mut born = sources::fill(shape, &Discretisation::new(scene).of_body(body.spacing));
            if body.layers > 1 {
                born = sources::layered(&born, shape, body.layers, body.thickness);
            }
            let is_held = |one: &sources::Newborn| {
                sources::contains(region, one.position.as_vec3().extend(0.0), scene.dimensions)
            };
            born.iter().any(is_held)
        };
        if bodies.iter().any(|body| takes_some(body)) {
            continue;
        }
        let names: Vec<String> = bodies.iter().map(|body| format!("`{}`", body.name)).collect();
        let message =
            format!("pin {} holds nothing: no particle of {} is in it", number + 1, names.join(", "));
        let problem = Problem::error("nothing-to-pin", place, message).label("its `shape` is elsewhere");
        log.push(problem.help(
            "make the shape larger (a box takes what lies on its lower sides, not on its upper ones), or name points: `nearest = [[x, y, z]]`",
        ));
    }
}

/// Only friction looks into the past, that which is solved for not into every one; and only some solves of springs do.
pub fn memories(drafts: &[Draft], log: &Log) {
    let uses = |draft: &Draft, name: &str| {
        let used = draft.body.iter().flat_map(|body| &body.behaviours).find(|used| used.schema.name == name);
        used.cloned()
    };
    for draft in drafts {
        let has_friction = viscous_memory::FRICTIONS.iter().any(|friction| uses(draft, friction).is_some());
        if uses(draft, "viscous-memory").is_some() && !has_friction {
            let message =
                format!("`{}` has `viscous-memory`, but no friction that could remember", draft.name);
            log.push(
                Problem::error("key-clash", &draft.at, message)
                    .label("has neither `viscosity` nor `artificial-viscosity` nor `implicit-viscosity`")
                    .help("give it one of them, or leave `viscous-memory` out"),
            );
        }
        if uses(draft, viscous_memory::IMPLICIT).is_some()
            && uses(draft, "viscous-memory").is_some_and(|used| !viscous_memory::is_sound_implicitly(&used))
        {
            let message =
                format!("the memory of `{}` is cut off too soon for its `implicit-viscosity`", draft.name);
            log.push(
                Problem::error("key-clash", &draft.at, message)
                    .label("its window forgets at once what still weighs much, and thick fluid would swing")
                    .help("raise `order` to 0.3 or more, take fewer `steps`, or `reach = \"whole\"`"),
            );
        }
        if uses(draft, "springs")
            .is_some_and(|used| springs::remember(&used) && !springs::may_remember(&used))
        {
            let message = format!("the springs of `{}` remember, and their method cannot", draft.name);
            log.push(
                Problem::error("key-clash", &draft.at, message)
                    .label("has `memory` in `springs`")
                    .help("use `method = \"implicit\"` or \"undamped\", or leave `memory` out"),
            );
        }
    }
    one_past(drafts, "viscous-memory", |_| true, log);
    one_past(drafts, "springs", springs::remember, log);
    one_past(drafts, "underwater", underwater::remembers, log);
}

/// Particles have one past, for each behaviour that remembers.
fn one_past(drafts: &[Draft], name: &str, remembers: fn(&BehaviourUse) -> bool, log: &Log) {
    let mut first: Option<(&Draft, BehaviourUse)> = None;
    for draft in drafts {
        let used = draft.body.iter().flat_map(|body| &body.behaviours).find(|used| used.schema.name == name);
        let Some(used) = used.filter(|used| remembers(used)).cloned() else { continue };
        for property in past::COMMON {
            let changes =
                matches!(used.value(property), Value::Number(curve) if curve.as_constant().is_none());
            let differs = first.as_ref().filter(|(_, first)| first.value(property) != used.value(property));
            if changes || differs.is_some() {
                let message =
                    format!("the `{property}` of `{name}` is not the same for all bodies at all times");
                let problem = Problem::error("one-past", &draft.at, message)
                    .label(if changes { "changes here" } else { "differs here" })
                    .help("particles have one past: give all bodies the same number");
                log.push(match differs {
                    Some((other, _)) => problem.also(&other.at, "the first one"),
                    None => problem,
                });
            }
        }
        if let Value::Number(steps) = used.value("steps")
            && steps.as_constant().is_some_and(|steps| steps.fract() != 0.0)
        {
            let message = format!("`{}` has a `{name}` over a part of a step", draft.name);
            log.push(
                Problem::error("one-past", &draft.at, message)
                    .label("its `steps` are no whole number")
                    .help("a window is made of whole steps: round it"),
            );
        }
        first.get_or_insert((draft, used));
    }
}

pub fn duplicate_names(drafts: &[Draft], log: &Log) {
    for (index, draft) in drafts.iter().enumerate() {
        if let Some(first) = drafts[..index].iter().find(|other| other.name == draft.name) {
            let message = format!("there are two bodies called `{}`", draft.name);
            log.push(
                Problem::error("duplicate-name", &draft.at, message)
                    .label("choose another name")
                    .also(&first.at, "the first one"),
            );
        }
    }
}

pub fn frame_count(time: &Time, at: &Place, log: &Log) {
    let frames = time.until * time.frames_per_second;
    if frames > MANY_FRAMES {
        let message = format!("the run would write about {frames:.1e} frames");
        log.push(
            Problem::warning("many-frames", at, message)
                .label("long")
                .help("lower `until` or `frames_per_second`"),
        );
    }
}

/// A step that cannot work, whether fixed by hand or forced by stability.
pub fn time_step(scene: &Scene, step_at: &Place, minimum_at: &Place, log: &Log) {
    let Some(limit) = step_limit(scene) else { return };
    let works = show_rounded(0.99 * limit.step);
    match scene.time.fixed_step {
        Some(step) if step > limit.step => {
            let message = format!("a fixed step of {} s is unstable", show(step));
            log.push(
                Problem::error("unstable-step", step_at, message)
                    .label(format!("at most {works} s"))
                    .help(format!("{}; leave `step` out to let it adapt", limit.reason)),
            );
        }
        None if limit.step < scene.time.minimum_step => {
            let message = format!(
                "the scene needs steps of {works} s, below `minimum_step` ({} s)",
                show(scene.time.minimum_step)
            );
            log.push(
                Problem::error("unstable-step", minimum_at, message)
                    .label("the run would stop at once")
                    .help(format!("{}; use a coarser spacing, or a smaller `minimum_step`", limit.reason)),
            );
        }
        _ => {}
    }
}

/// What an integrator cannot do.
pub fn integrator(scene: &Scene, reader: &Reader<'_>, log: &Log) {
    let (integrator, at) = (scene.time.integrator, reader.place("integrator"));
    let name = integrator.name();
    let clash = |at: &Place, message: String, label: &str, help: &str| {
        log.push(Problem::error("key-clash", at, message).label(label).help(help));
    };
    if integrator != IntegratorName::Rk45 && reader.entry("tolerance").is_some() {
        let message = format!("`{name}` looks at no error, and so has no `tolerance`");
        clash(
            &reader.place("tolerance"),
            message,
            "does nothing",
            "use `integrator = \"rk45\"`, or leave it out",
        );
    }
    if integrator == IntegratorName::Rk45 && reader.entry("step").is_some() {
        let message = "`rk45` finds its step by itself".to_owned();
        let help = "leave `step` out and give a `tolerance`, or use `integrator = \"rk4\"`";
        clash(&reader.place("step"), message, "a fixed step", help);
    }
    let used = || scene.bodies.iter().flat_map(|body| &body.behaviours);
    let has = |used: &BehaviourUse, test: fn(&dyn Behaviour, &BehaviourUse) -> bool| {
        let is_meant = |behaviour: &&&dyn Behaviour| std::ptr::eq(behaviour.schema(), used.schema);
        REGISTRY.iter().find(is_meant).is_some_and(|behaviour| test(*behaviour, used))
    };
    match integrator {
        IntegratorName::SymplecticEuler => return,
        // A sound wave gains (ω Δt)² of its energy in every step.
        IntegratorName::ExplicitEuler => {
            let sounds =
                |law: &dyn Behaviour, used: &BehaviourUse| law.has_pressure() && !law.has_solve(used);
            if let Some(law) = used().find(|used| has(used, sounds)) {
                let message = format!("`explicit-euler` lets the sound waves of `{}` grow", law.schema.name);
                log.push(
                    Problem::warning("unstable-integrator", &at, message)
                        .label("stable for no oscillation")
                        .help("use `symplectic-euler`, the default: it costs the same"),
                );
            }
        }
        IntegratorName::Verlet if !scene.refinements.is_empty() => {
            let help = "use `integrator = \"velocity-verlet\"`: it takes the same way";
            clash(
                &at,
                "`verlet` does not go with [[refine]]".to_owned(),
                "knows no velocities to unite",
                help,
            );
        }
        IntegratorName::Rk4 | IntegratorName::Rk45 => {
            let moves = |solid: &&Solid| !matches!(solid.mobility, Mobility::Fixed);
            if let Some(solid) = scene.solids.iter().find(moves) {
                let message = format!("`{name}` does not go with the solid `{}`, which moves", solid.name);
                let help = "use `integrator = \"velocity-verlet\"`, or make the solid stay";
                clash(&at, message, "evaluates forces at moments for which it has no pose", help);
            }
        }
        _ => {}
    }
    // Only kick, solve, drift has a place for a solve.
    if let Some(used) = used().find(|used| has(used, |law, used| law.has_solve(used))) {
        let law = used.schema.name;
        let help = match law {
            "contact" => {
                "use `integrator = \"symplectic-euler\"`, the default, or `contact.method = \"discrete-elements\"`"
            }
            "springs" | "elastic" => {
                "use `integrator = \"symplectic-euler\"`, the default, or `method = \"explicit\"` of the law"
            }
            "implicit-viscosity" => {
                "use `integrator = \"symplectic-euler\"`, the default, or an explicit law such as `viscosity`"
            }
            "incompressible" => "use `integrator = \"symplectic-euler\"`, the default, or `tait`",
            _ => "use `integrator = \"symplectic-euler\"`, the default",
        };
        clash(&at, format!("`{law}` does not go with `{name}`"), "moves particles before the solve", help);
    }
}

/// A solve for the pressure holds all fluids of a world, or none.
pub fn one_pressure(drafts: &[Draft], log: &Log) {
    let with = |name: &'static str| {
        let uses = move |draft: &&Draft| {
            let body = draft.body.as_ref();
            body.is_some_and(|body| body.behaviours.iter().any(|used| used.schema.name == name))
        };
        drafts.iter().find(uses)
    };
    let other = with("tait").or(with("gas")).or(with("double-density"));
    let (Some(solved), Some(other)) = (with("incompressible"), other) else { return };
    let message = format!("`{}` is incompressible and `{}` is not", solved.name, other.name);
    log.push(
        Problem::error("key-clash", &other.at, message)
            .label("its pressure follows from its density")
            .also(&solved.at, "its pressure is solved for")
            .help(
                "give all fluids `incompressible` (what a material brings), or all of them `tait`, `gas` or `double-density`",
            ),
    );
}

/// All fluids of yielding springs remember in the same way, all the time.
pub fn one_memory(drafts: &[Draft], log: &Log) {
    let schema = &behaviours::yielding_springs::SCHEMA;
    let uses = |draft: &&Draft| {
        let mut used = draft.body.iter().flat_map(|body| body.behaviours.clone());
        used.find(|used| std::ptr::eq(used.schema, schema))
    };
    let mut drafts = drafts.iter().filter_map(|draft| uses(&draft).map(|used| (draft, used)));
    let Some((first, own)) = drafts.next() else { return };
    if let Value::Number(window) = own.value("window")
        && window.as_constant().is_some_and(|steps| steps.fract() != 0.0)
    {
        let message = format!("`{}` of `{}` remember a part of a step", schema.name, first.name);
        log.push(
            Problem::error("one-past", &first.at, message)
                .label("its `window` is no whole number")
                .help("a window is made of whole steps: round it"),
        );
    }
    for property in behaviours::yielding_springs::SHARED {
        if matches!(own.value(property), Value::Number(curve) if curve.as_constant().is_none()) {
            let message = format!("`{property}` of `{}` of `{}` changes", schema.name, first.name);
            log.push(
                Problem::error("key-clash", &first.at, message)
                    .label("what is remembered cannot be remembered in another way later")
                    .help(format!("give `{property}` one value; `history_modulus` and `weight` may change")),
            );
        }
    }
    for (draft, used) in drafts {
        for property in behaviours::yielding_springs::SHARED {
            if used.value(property) != own.value(property) {
                let message = format!("`{}` and `{}` differ in `{property}`", first.name, draft.name);
                log.push(
                    Problem::error("key-clash", &draft.at, message)
                        .label(format!("all fluids of `{}` remember in the same way", schema.name))
                        .also(&first.at, "the other one")
                        .help(format!("give both the same `{property}`; `history_modulus` may differ")),
                );
            }
        }
    }
}

/// Grains rub by the pressure that is solved for, all in one way.
pub fn sand(drafts: &[Draft], log: &Log) {
    let used = |draft: &Draft, name: &str| {
        let used = draft.body.iter().flat_map(|body| &body.behaviours).find(|used| used.schema.name == name);
        used.cloned()
    };
    let grains = drafts.iter().filter_map(|draft| used(draft, "sand").map(|sand| (draft, sand)));
    let grains: Vec<_> = grains.collect();
    for (draft, sand) in &grains {
        if used(draft, "incompressible").is_none() {
            let message = format!("`sand` of `{}` needs `incompressible`", draft.name);
            log.push(
                Problem::error("key-clash", &draft.at, message)
                    .label("friction follows from the pressure that is solved for")
                    .help("leave its other pressure out: `sand` brings `incompressible` by itself"),
            );
        }
        if draft
            .body
            .iter()
            .any(|body| body.behaviours.iter().any(|used| behaviours::holds_shape(used.schema)))
        {
            let message = format!("`{}` cannot both hold a shape and be sand", draft.name);
            log.push(
                Problem::error("key-clash", &draft.at, message)
                    .label("grains flow")
                    .help("make two bodies of it, or leave `sand` out"),
            );
        }
        let (first, own) = &grains[0];
        if sand.value("method") != own.value("method") {
            let message = format!("`{}` and `{}` differ in `method`", first.name, draft.name);
            log.push(
                Problem::error("key-clash", &draft.at, message)
                    .label("all sand of a world rubs in the same way")
                    .also(&first.at, "the other one")
                    .help("give both the same `method` of `sand`"),
            );
        }
    }
}

/// What springs and air need of a body's shape.
pub fn springs_and_air(drafts: &[Draft], log: &Log) {
    let uses = |draft: &Draft, name: &str| {
        let used = draft.body.iter().flat_map(|body| &body.behaviours).find(|used| used.schema.name == name);
        used.cloned()
    };
    for draft in drafts {
        let Some(source) = &draft.source else { continue };
        // An emitter has been reported.
        if !matches!(source, Source::Shape(_)) {
            continue;
        }
        let has_rows = matches!(source, Source::Shape(Shape::Sheet { .. } | Shape::Line { .. }));
        let is_filter = |used: &BehaviourUse| *used.value("method") == Value::Choice(springs::FILTER);
        if uses(draft, "springs").is_some_and(|used| is_filter(&used)) && !has_rows {
            let message = format!("`{}` has no rows: the filter of its springs would be full", draft.name);
            log.push(
                Problem::error("key-clash", &draft.at, message)
                    .label("has `method = \"filter\"`")
                    .help("use `implicit` or `neighbours`; `filter` is for sheets and lines"),
            );
        }
        let has_surface = has_rows || matches!(source, Source::Shape(Shape::Net { .. }));
        let is_held = draft.body.as_ref().is_some_and(Body::holds_shape);
        for around in ["air", "underwater"] {
            if uses(draft, around).is_some() && !(has_surface && is_held) {
                let message = format!("`{}` has no surface that `{around}` could act on", draft.name);
                log.push(
                    Problem::error("key-clash", &draft.at, message).label(format!("has `{around}`")).help(
                        "it is for sheets, nets and lines that hold their shape; `drag` is for all others",
                    ),
                );
            }
        }
    }
}

/// Only cloth has edges whose stretch could be limited.
pub fn stretch_limit(drafts: &[Draft], log: &Log) {
    let limits = |draft: &&Draft| {
        let body = draft.body.as_ref();
        body.is_some_and(|body| body.behaviours.iter().any(|used| used.schema.name == "stretch-limit"))
    };
    // An emitter has been reported.
    let is_other = |draft: &&Draft| {
        let cloth = |shape: &Shape| matches!(shape, Shape::Sheet { .. } | Shape::Net { .. });
        matches!(&draft.source, Some(Source::Shape(shape)) if !cloth(shape))
    };
    for draft in drafts.iter().filter(limits).filter(is_other) {
        let message = format!("`{}` has `stretch-limit`, but is no cloth", draft.name);
        log.push(
            Problem::error("key-clash", &draft.source_at, message)
                .label("has no edges that could be limited")
                .help("give it `shape.sheet` or `shape.net`, or leave `stretch-limit` out"),
        );
    }
}

/// Fluid clings to samples that stand for a volume.
pub fn adhesion(drafts: &[Draft], walls: WallModel, log: &Log) {
    if !walls.is_contact() {
        return;
    }
    let clings = |draft: &&Draft| {
        let body = draft.body.as_ref();
        body.is_some_and(|body| body.behaviours.iter().any(|used| used.schema.name == "adhesion"))
    };
    for draft in drafts.iter().filter(clings) {
        let message = format!("`{}` cannot cling to walls that only push", draft.name);
        log.push(
            Problem::error("key-clash", &draft.at, message)
                .label("has `adhesion`")
                .help("use `walls = \"samples\"` or \"sph\" in [world], or leave `adhesion` out"),
        );
    }
}

/// Laws that know particles of different sizes.
const KNOW_SIZES: [&str; 7] = [
    "gravity",
    "incompressible",
    "viscosity",
    "artificial-viscosity",
    "implicit-viscosity",
    "viscous-memory",
    "drag",
];

/// Finest and coarsest bodies may differ so much: cells are as wide as the largest support, and those of the finest
/// particles would look at thousands of candidates.
const MAX_SIZES: f64 = 8.0;

/// Pores lead from one particle to the next in solids and in sand.
pub fn pores(drafts: &[Draft], log: &Log) {
    for draft in drafts {
        let Some(body) = &draft.body else { continue };
        let Some(used) = body.behaviours.iter().find(|used| used.schema.name == "porous") else { continue };
        if body.is_fluid() {
            let message = format!("`{}` is `porous`, but neither holds a shape nor is sand", draft.name);
            log.push(
                Problem::error("key-clash", &draft.at, message)
                    .label("its particles have no pores between them")
                    .help("add `elastic`, `rigid`, `shell`, `springs`, `sph-cloth` or `sand`, or leave `porous` out"),
            );
        } else if !body.holds_shape() {
            for property in ["permeability_along", "swelling", "squeeze_pressure"] {
                if used.value(property) != BehaviourUse::with_defaults(used.schema).value(property) {
                    let message = format!("`{}` is sand, and `porous` with `{property}`", draft.name);
                    log.push(
                        Problem::error("key-clash", &draft.at, message)
                            .label("grains have no axes, and keep no shape that could be changed")
                            .help(format!("leave `{property}` out")),
                    );
                }
            }
        }
        if let Value::Vector(along) = used.value("permeability_along")
            && (along.iter().any(|part| *part < 0.0) || along[..2].iter().all(|part| *part == 0.0))
        {
            let message = format!("`permeability_along` of `{}` is {along:?}", draft.name);
            log.push(
                Problem::error("out-of-range", &draft.at, message)
                    .label("liquid cannot flow so")
                    .help("give parts of the permeability along x, y and z: none below 0, and x or y above"),
            );
        }
    }
}

/// What particles of different sizes cannot do yet.
pub fn sizes(drafts: &[Draft], finest: f64, domain: &Domain, solver: &Solver, has_solids: bool, log: &Log) {
    let coarsest = drafts.iter().map(|draft| draft.spacing).fold(0.0, f64::max);
    let Some(differs) = drafts.iter().find(|draft| draft.spacing > finest * (1.0 + 1e-6)) else { return };
    let problem = |at: &Place, message: String, help: &str| {
        Problem::error("several-sizes", at, message)
            .label("not with particles of several sizes")
            .help(help.to_owned())
    };
    let general = |message: String, help: &str| log.push(problem(&differs.spacing_at, message, help));
    if coarsest > MAX_SIZES * finest * (1.0 + 1e-6) {
        let message =
            format!("`{}` is more than {MAX_SIZES} times as coarse as the finest particles", differs.name);
        general(message, "choose spacings that are closer to each other");
    }
    for draft in drafts {
        let uses = draft.body.iter().flat_map(|body| &body.behaviours);
        for used in uses.filter(|used| !KNOW_SIZES.contains(&used.schema.name)) {
            let message =
                format!("`{}` of `{}` needs one spacing for all particles", used.schema.name, draft.name);
            let help = match used.schema.name {
                "tait" | "gas" => {
                    "use `incompressible` (what a material brings), or one spacing for all particles"
                }
                _ => "leave the law out, or use one spacing for all particles",
            };
            let coarser = format!("`{}` is coarser than the finest particles", differs.name);
            log.push(problem(&draft.at, message, help).also(&differs.spacing_at, coarser));
        }
    }
    if domain.walls != WallModel::Samples {
        general(
            "these walls need one spacing for all particles".to_owned(),
            "use `walls = \"samples\"` in [world], the default",
        );
    }
    if has_solids {
        general(
            "solids need one spacing for all particles".to_owned(),
            "leave out the solids, or `spacing` and [[refine]]",
        );
    }
    if solver.shift {
        general(
            "`solver.shift` needs one spacing for all particles".to_owned(),
            "leave `shift` out of [solver]",
        );
    }
}

/// Checks of geometry, all against the same resolution.
pub struct Geometry<'a> {
    pub sph: &'a Sph,
    /// Spacing of the coarsest body, m.
    pub coarsest: f64,
    pub dimensions: Dimensions,
    pub log: &'a Log,
}

impl Geometry<'_> {
    pub fn periods(&self, domain: &Domain, at: &Place) {
        let least = PERIOD_IN_SUPPORTS * self.sph.support * self.coarsest;
        for axis in (0..self.dimensions.count()).filter(|&axis| domain.sides[axis][0] == Side::Periodic) {
            let length = domain.max[axis] - domain.min[axis];
            // Rounding must not refuse a box of exactly three supports.
            if length < least * (1.0 - 1e-9) {
                let name = ["x", "y", "z"][axis];
                let message = format!("the periodic axis {name} is {} m long", show_rounded(length));
                self.log.push(
                    Problem::error("short-period", at, message)
                        .label(format!("expected at least {} m", show_rounded(least)))
                        .help("three supports (3 × support × spacing); widen the box or use a finer spacing"),
                );
            }
        }
    }

    pub fn wall_samples(&self, domain: &Domain, at: &Place) {
        let samples = wall_sample_count(domain, self.sph, self.coarsest, self.dimensions);
        if samples > MAX_PARTICLES {
            let message = format!("the walls of the box take about {samples:.1e} samples");
            self.log.push(
                Problem::error("too-many-particles", at, message)
                    .label(format!("the most is {MAX_PARTICLES:.0e}"))
                    .help("use a smaller box, open sides or a coarser spacing"),
            );
        }
    }

    /// Bodies hold a particle, and lie in the box.
    pub fn placement(&self, drafts: &[Draft], domain: &Domain) {
        for draft in drafts {
            let Some(source) = &draft.source else { continue };
            match source {
                Source::Shape(shape) => self.holds_a_particle(draft, shape),
                Source::Fill(fill) => self.holds_a_particle(draft, &fill.shape),
                Source::Jet(jet) => self.is_wide_enough(draft, &jet.opening),
                Source::Rain(rain) => self.is_wide_enough(draft, &rain.opening),
                Source::Surface(one) => self.holds_a_particle(draft, &one.shape),
            }
            let bounds = source.bounds(self.dimensions);
            self.is_inside(draft, bounds, domain);
            self.is_near_the_origin(draft, bounds);
        }
    }

    fn holds_a_particle(&self, draft: &Draft, shape: &Shape) {
        if shape.is_empty(self.dimensions, draft.spacing) {
            let message = format!("`{}` is too small to hold a particle", draft.name);
            let help = "make the body larger or the spacing finer";
            self.log.push(
                Problem::error("empty-shape", &draft.source_at, message)
                    .label(format!("the spacing is {} m", show(draft.spacing)))
                    .help(help),
            );
        }
    }

    fn is_wide_enough(&self, draft: &Draft, opening: &Opening) {
        let least = 0.5 * draft.spacing;
        let [half_width, half_height] = opening.half_size();
        let narrow =
            if self.dimensions == Dimensions::Two { half_width } else { half_width.min(half_height) };
        // A rectangle is given by whole lengths, a disc by half of one.
        let (name, size, least) = match opening {
            Opening::Round { .. } => ("radius", narrow, least),
            Opening::Rectangle { .. } => ("width and height", 2.0 * narrow, least),
        };
        if size < least * (1.0 - 1e-9) {
            let message = format!("the nozzle of `{}` is narrower than a particle", draft.name);
            self.log.push(
                Problem::error("empty-shape", &draft.source_at, message)
                    .label(format!("expected a {name} of at least {} m", show_rounded(least)))
                    .help("half a spacing; widen the nozzle or use a finer spacing"),
            );
        }
    }

    /// Beyond an open side the world goes on; beyond a wall or a periodic side there is nothing.
    fn is_inside(&self, draft: &Draft, (min, max): ([f64; 3], [f64; 3]), domain: &Domain) {
        for axis in 0..self.dimensions.count() {
            let beyond = [domain.min[axis] - min[axis], max[axis] - domain.max[axis]];
            let shut = |end: &usize| domain.sides[axis][*end] != Side::Open;
            for end in (0..2).filter(shut).filter(|&end| beyond[end] > SKIN * self.sph.spacing) {
                let (by, side) = (show_rounded(beyond[end]), side_name(axis, end));
                let message = format!("`{}` reaches out of the box", draft.name);
                self.log.push(
                    Problem::error("outside-box", &draft.source_at, message)
                        .label(format!("{by} m beyond its side {side}"))
                        .help("a body may touch a side, not pass it"),
                );
            }
        }
    }

    fn is_near_the_origin(&self, draft: &Draft, (min, max): ([f64; 3], [f64; 3])) {
        let farthest = min.iter().chain(&max).fold(0.0, |far: f64, x| far.max(x.abs()));
        if farthest > MAX_SPACINGS_FROM_ORIGIN * self.sph.spacing {
            let message = format!("`{}` lies {} m from the origin", draft.name, show_rounded(farthest));
            self.log.push(
                Problem::warning("imprecise", &draft.source_at, message)
                    .label("so far out, positions are rounded to a visible part of a spacing")
                    .help("move the scene closer to [0, 0, 0]"),
            );
        }
    }

    /// No two bodies share space. Each body is reported once, with the first it meets.
    pub fn overlaps(&self, drafts: &[Draft]) {
        fn shape_of(draft: &Draft) -> Option<&Shape> {
            match &draft.source {
                Some(Source::Shape(shape)) => Some(shape),
                _ => None,
            }
        }
        for (index, draft) in drafts.iter().enumerate() {
            let Some(shape) = shape_of(draft) else { continue };
            let meets = |other: &&Draft| {
                let skin = SKIN * self.sph.spacing;
                shape_of(other).is_some_and(|other| shape.overlaps(other, self.dimensions, skin))
            };
            if let Some(other) = drafts[..index].iter().find(meets) {
                let message = format!("`{}` overlaps `{}`", draft.name, other.name);
                self.log.push(
                    Problem::error("overlap", &draft.source_at, message)
                        .label("particles would start on top of each other")
                        .also(&other.source_at, format!("`{}`", other.name))
                        .help("bodies may touch; move one or make it smaller"),
                );
            }
        }
    }

    pub fn particle_total(&self, drafts: &[Draft], end_of_run: f64, at: &Place) {
        let count = |draft: &Draft| {
            let source = draft.source.as_ref()?;
            Some(at_most(particle_count(source, draft.spacing, self.dimensions, end_of_run), draft.maximum))
        };
        let total: f64 = drafts.iter().filter_map(count).sum();
        if total > MAX_PARTICLES {
            let axes = self.dimensions.count() as f64;
            let coarser = 1.01 * self.sph.spacing * (total / MAX_PARTICLES).powf(1.0 / axes);
            let message =
                format!("the scene asks for about {total:.1e} particles; the most is {MAX_PARTICLES:.0e}");
            self.log.push(
                Problem::error("too-many-particles", at, message)
                    .label(format!("a spacing of {} m would do", show_rounded(coarser)))
                    .help("use a coarser spacing or smaller bodies"),
            );
        }
    }
}
