//! `[[pin]]`: particles of shaped bodies that are held, or moved as written.

use super::bodies::Draft;
use super::emitters::times;
use super::problem::Problem;
use super::read::Reader;
use super::read_shape::{self, Need};
use super::suggest::did_you_mean;
use super::{Body, Script, Shape, forces, solids};

/// Holds particles; see `structure/pins.rs`.
#[derive(Clone, Debug)]
pub struct Pin {
    /// Places of the bodies whose particles it takes; all that hold a shape where absent.
    pub on: Option<Vec<u32>>,
    pub at: Where,
    pub to: PinTo,
    /// s; it holds while `from` ≤ t < `until`.
    pub from: f64,
    pub until: f64,
}

/// Which particles a pin takes.
#[derive(Clone, Debug)]
pub enum Where {
    /// All inside a shape.
    Region(Shape),
    /// The nearest one to each of these points, m.
    Nearest(Vec<[f64; 3]>),
}

/// What a pin is fixed to.
#[derive(Clone, Debug)]
pub enum PinTo {
    World,
    Motion(Box<Script>),
    /// Place of a solid in [`super::Scene::solids`].
    Solid(usize),
}

pub fn pin(
    reader: &Reader<'_>,
    drafts: &[Draft],
    solids: &[solids::Draft],
    end_of_run: Option<f64>,
) -> Option<Pin> {
    let log = reader.context.log;
    let on = forces::bodies(reader, drafts);
    check_holding(reader, drafts);
    let at = match (reader.entry("shape"), reader.entry("nearest")) {
        (Some(_), None) => read_shape::shape(reader, "shape", Need::Region).map(Where::Region),
        (None, Some(_)) => reader.vectors("nearest").map(Where::Nearest),
        (Some(_), Some(nearest)) => {
            let message = "a pin takes what is in a `shape`, or what is `nearest` to points, not both";
            log.push(Problem::error("key-clash", &nearest.key_at, message).help("write two [[pin]]"));
            None
        }
        (None, None) => {
            log.push(
                Problem::error("missing-key", &reader.at, "the pin says nowhere where")
                    .label("neither `shape` nor `nearest`")
                    .help("add `nearest = [[0, 1, 0]]`, or for instance `shape.box = { min = …, max = … }`"),
            );
            None
        }
    };
    let to = match (reader.entry("to"), reader.entry("motion")) {
        (None, None) => Some(PinTo::World),
        (None, Some(_)) => {
            solids::script(&reader.table("motion")?).map(|script| PinTo::Motion(Box::new(script)))
        }
        (Some(_), None) => solid(reader, solids).map(PinTo::Solid),
        (Some(_), Some(motion)) => {
            let message = "a pin follows its own `motion` or the solid it is pinned `to`, not both";
            log.push(Problem::error("key-clash", &motion.key_at, message).help("give the solid the motion"));
            None
        }
    };
    check_rigid(reader, drafts, solids, on.as_ref().and_then(Option::as_deref), to.as_ref());
    let window = times(reader, "pin", end_of_run);
    if drafts.iter().filter_map(|draft| draft.body.as_ref()).all(|body| !body.holds_shape()) {
        let message = "there is nothing to pin: no body of the scene holds a shape";
        let problem = Problem::error("nothing-to-pin", &reader.at, message);
        log.push(problem.help("give a body a behaviour that does: see `littoral behaviours`"));
        return None;
    }
    let (from, until) = window?;
    Some(Pin { on: on?, at: at?, to: to?, from, until })
}

/// Bodies that are named must hold a shape; where none does, that is said once.
fn check_holding(reader: &Reader<'_>, drafts: &[Draft]) {
    let is_held = |draft: &Draft| draft.body.as_ref().is_none_or(Body::holds_shape);
    if reader.entry("on").is_none() || !drafts.iter().any(is_held) {
        return;
    }
    for (name, at) in reader.texts("on").unwrap_or_default() {
        if drafts.iter().any(|draft| draft.name == name && !is_held(draft)) {
            let message = format!("`{name}` cannot be pinned: it holds no shape");
            let problem = Problem::error("nothing-to-pin", &at, message);
            reader
                .context
                .log
                .push(problem.help("give it a behaviour that does, such as `springs` or `elastic`"));
        }
    }
}

/// A rigid body does not tell a free solid what it takes to hold it.
fn check_rigid(
    reader: &Reader<'_>,
    drafts: &[Draft],
    solids: &[solids::Draft],
    on: Option<&[u32]>,
    to: Option<&PinTo>,
) {
    let Some(PinTo::Solid(solid)) = to else { return };
    let is_meant = |k: usize| on.is_none_or(|on| on.contains(&(k as u32)));
    let is_rigid = |draft: &Draft| {
        draft.body.as_ref().is_some_and(|body| body.behaviours.iter().any(|used| used.schema.name == "rigid"))
    };
    let found = drafts.iter().enumerate().find(|(k, draft)| is_meant(*k) && is_rigid(draft));
    if let Some((_, draft)) = found.filter(|_| solids[*solid].is_free) {
        let message = format!("`{}` is rigid, and `{}` is free", draft.name, solids[*solid].name);
        reader.context.log.push(
            Problem::error("key-clash", &reader.place("to"), message)
                .label("the solid would not feel its weight")
                .help("name the other bodies in `on`; or make one solid of both; or give the body `elastic` in place of `rigid`"),
        );
    }
}

fn solid(reader: &Reader<'_>, solids: &[solids::Draft]) -> Option<usize> {
    let name = reader.text("to")?;
    let found = solids.iter().position(|solid| solid.name == name);
    if found.is_none() {
        let names: Vec<&str> = solids.iter().map(|solid| solid.name.as_str()).collect();
        let message = format!("there is no solid called `{name}`");
        let problem = Problem::error("unknown-name", &reader.place("to"), message);
        let problem = problem.label(did_you_mean(name, &names).unwrap_or_default());
        let help = match &names[..] {
            [] => {
                "the scene has no solids: add a [[solid]], or leave `to` out to pin to the world".to_owned()
            }
            _ => format!("solids of this scene: {}", names.join(", ")),
        };
        reader.context.log.push(problem.help(help));
    }
    found
}
