//! `[picture]`, `[camera]`, `[sky]`, `[sun]`, `[ground]`, `[[lamp]]` and `[body.look]`: from tables to a [`Picture`].

use super::picture::{Camera, Container, Draw, Finish, Ground, Lamp, Look, Picture, Sky, Sun};
use super::problem::Problem;
use super::read::Reader;
use super::shapes::length;
use crate::materials::Material;
use crate::timeline::Driver;

/// White with a little warmth; as on a screen.
const SUN_COLOUR: [f64; 3] = [1.0, 0.96, 0.89];
/// Pale sand.
const GROUND_COLOUR: [f64; 3] = [0.72, 0.67, 0.60];

/// Frame rates that are shown as they are.
const PLAYABLE: std::ops::RangeInclusive<f64> = 10.0..=60.0;
const USUAL_RATE: f64 = 30.0;

/// `simulated` are the frames written for each second of the scene.
pub fn picture(root: &Reader<'_>, simulated: Option<f64>) -> Option<Picture> {
    let (picture, camera, sky) = (root.table("picture"), root.table("camera"), root.table("sky"));
    let (sun, ground) = (root.table("sun"), root.table("ground"));
    // All of it is read before anything is given up, so that all problems show.
    let camera = camera.as_ref().map(read_camera);
    let sky = sky.as_ref().map(read_sky);
    let sun = sun.as_ref().map(read_sun);
    let ground = ground.as_ref().map(read_ground);
    let lamps: Vec<Option<Lamp>> = root.tables("lamp").iter().map(read_lamp).collect();
    let picture = picture.as_ref()?;
    let size = match picture.entry("size") {
        Some(_) => picture.size("size"),
        None => Some([1280, 720]),
    };
    let rate = optional(picture, "frames_per_second", |reader| reader.number("frames_per_second"));
    let usual_rate = simulated.filter(|rate| PLAYABLE.contains(rate)).unwrap_or(USUAL_RATE);
    let poster = optional(picture, "poster", |reader| reader.number("poster"));
    let (samples, exposure) = (picture.whole("samples"), picture.number("exposure"));
    let (motion_blur, surface) = (picture.number("motion_blur"), picture.word("surface"));
    let hollows = picture.flag("hollows");
    let (cell, container) = (picture.number("cell"), picture.word("container"));
    Some(Picture {
        size: size?,
        samples: samples? as u32,
        exposure: exposure?,
        motion_blur: motion_blur?,
        surface: surface?,
        cell: cell?,
        hollows: hollows?,
        container: match container? {
            "glass" => Container::Glass,
            "nothing" => Container::Nothing,
            _ => Container::Edges,
        },
        frames_per_second: rate?.unwrap_or(usual_rate),
        poster: poster?,
        camera: camera??,
        sky: sky??,
        sun: sun??,
        ground: ground??,
        lamps: lamps.into_iter().collect::<Option<_>>()?,
    })
}

/// A key that may be left out: `Some(None)` then, `None` where it is there and wrong.
pub fn optional<T>(
    reader: &Reader<'_>,
    key: &str,
    read: impl Fn(&Reader<'_>) -> Option<T>,
) -> Option<Option<T>> {
    match reader.entry(key) {
        Some(_) => read(reader).map(Some),
        None => Some(None),
    }
}

fn read_camera(reader: &Reader<'_>) -> Option<Camera> {
    let at = optional(reader, "at", |reader| reader.motion("at"));
    let look_at = optional(reader, "look_at", |reader| reader.motion("look_at"));
    let (field_of_view, aperture) = (reader.curve("field_of_view"), reader.number("aperture"));
    let focus = optional(reader, "focus", |reader| reader.number("focus"));
    let field_of_view = field_of_view?;
    if field_of_view.driver != Driver::Time {
        let problem = Problem::error(
            "unknown-name",
            &reader.place("field_of_view"),
            "a camera has no particles to ask: its view changes over time only",
        );
        reader.context.log.push(problem.label("expected `over = \"time\"`"));
        return None;
    }
    if let (Some(Some(at)), Some(Some(look_at))) = (&at, &look_at)
        && at.at(0.0) == look_at.at(0.0)
    {
        let place = reader.place("look_at");
        let problem =
            Problem::error("zero-direction", &place, "the camera looks at the place where it stands");
        reader.context.log.push(problem.label("expected another place than `at`"));
        return None;
    }
    Some(Camera { at: at?, look_at: look_at?, field_of_view, aperture: aperture?, focus: focus? })
}

fn read_sky(reader: &Reader<'_>) -> Option<Sky> {
    let (kind, strength) = (reader.word("kind"), reader.number("strength"));
    let zenith = optional(reader, "zenith", |reader| reader.colour("zenith"));
    let horizon = optional(reader, "horizon", |reader| reader.colour("horizon"));
    Some(Sky { kind: kind?, strength: strength?, zenith: zenith?, horizon: horizon? })
}

fn read_sun(reader: &Reader<'_>) -> Option<Sun> {
    let (direction, strength) = (reader.vector("direction"), reader.number("strength"));
    let (size, colour) =
        (reader.number("size"), optional(reader, "colour", |reader| reader.colour("colour")));
    let direction = direction?;
    if length(direction) == 0.0 {
        let problem = Problem::error("zero-direction", &reader.place("direction"), "the sun stands nowhere");
        reader.context.log.push(problem.label("expected a vector that is not 0"));
        return None;
    }
    Some(Sun { direction, strength: strength?, size: size?, colour: colour?.unwrap_or(SUN_COLOUR) })
}

fn read_ground(reader: &Reader<'_>) -> Option<Ground> {
    let show = reader.flag("show");
    let height = optional(reader, "height", |reader| reader.number("height"));
    let colour = optional(reader, "colour", |reader| reader.colour("colour"));
    let tiles = optional(reader, "tiles", |reader| reader.number("tiles"));
    Some(Ground { show: show?, height: height?, colour: colour?.unwrap_or(GROUND_COLOUR), tiles: tiles? })
}

fn read_lamp(reader: &Reader<'_>) -> Option<Lamp> {
    let (at, look_at) = (reader.vector("at"), reader.vector("look_at"));
    let (width, height) = (reader.number("width"), reader.number("height"));
    let colour = optional(reader, "colour", |reader| reader.colour("colour"));
    let strength = reader.number("strength");
    let (at, look_at) = (at?, look_at?);
    if at == look_at {
        let problem = Problem::error("zero-direction", &reader.place("look_at"), "the lamp shines nowhere");
        reader.context.log.push(problem.label("expected another place than `at`"));
        return None;
    }
    Some(Lamp {
        at,
        look_at,
        width: width?,
        height: height?,
        colour: colour?.unwrap_or([1.0; 3]),
        strength: strength?,
    })
}

/// What a body's particles can be drawn through.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Rows and columns.
    Sheet,
    /// Triangles.
    Net,
    /// A row.
    Line,
    Other,
}

/// What is not written comes from the material, and from the form of the body.
pub fn look(body: &Reader<'_>, material: Option<&Material>, form: Form) -> Option<Look> {
    let usual = material.map_or(Look::PLAIN, |material| material.look.clone());
    let reader = body.table("look")?;
    let draw = optional(&reader, "draw", |reader| reader.word("draw"));
    let finish = optional(&reader, "finish", |reader| reader.word("finish"));
    let colour = optional(&reader, "colour", |reader| reader.colour("colour"));
    let roughness = optional(&reader, "roughness", |reader| reader.number("roughness"));
    let index = optional(&reader, "index", |reader| reader.number("index"));
    let depth = optional(&reader, "depth", |reader| reader.number("depth"));
    let (porosity, grains) = (reader.number("porosity"), reader.whole("grains"));
    let advected = reader.flag("advected");
    let thickness = optional(&reader, "thickness", |reader| reader.number("thickness"));
    let mesh = optional(&reader, "mesh", |reader| reader.text("mesh").map(str::to_owned));

    let usual_draw = if form == Form::Line { Draw::Rope } else { usual.draw };
    let draw_named = |name| Draw::NAMES.iter().find(|(known, _)| *known == name).map(|named| named.1);
    let draw = draw.map(|name| name.and_then(draw_named).unwrap_or(usual_draw));
    let log = reader.context.log;
    if draw == Some(Draw::Mesh) && reader.entry("mesh").is_none() {
        let problem = Problem::error("missing-key", &reader.place("draw"), "no `mesh` to draw");
        log.push(problem.label("`mesh` is missing").help("name an OBJ file: `mesh = \"duck.obj\"`"));
        return None;
    }
    let can_be_drawn = form == Form::Sheet || (form == Form::Net && draw == Some(Draw::Sheet));
    if matches!(draw, Some(Draw::Sheet | Draw::Yarn)) && !can_be_drawn {
        let message = "only a sheet of particles has the rows and columns to draw this through";
        let problem = Problem::error("key-clash", &reader.place("draw"), message);
        log.push(
            problem.label("the body has another shape").help("give it `shape.sheet`, or draw a `surface`"),
        );
        return None;
    }
    if draw == Some(Draw::Rope) && form != Form::Line {
        let problem =
            Problem::error("key-clash", &reader.place("draw"), "only a line of particles is a rope");
        log.push(
            problem.label("the body has another shape").help("give it `shape.line`, or draw a `surface`"),
        );
        return None;
    }
    let finish_named = |name| Finish::NAMES.iter().find(|(known, _)| *known == name).map(|named| named.1);
    Some(Look {
        draw: draw?,
        finish: finish?.and_then(finish_named).unwrap_or(usual.finish),
        colour: colour?.unwrap_or(usual.colour),
        roughness: roughness?.unwrap_or(usual.roughness),
        index: index?.unwrap_or(usual.index),
        depth: depth?.unwrap_or(usual.depth),
        porosity: porosity?,
        grains: grains? as u32,
        advected: advected?,
        thickness: thickness?,
        mesh: mesh?,
    })
}
