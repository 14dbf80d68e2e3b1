//! From text to scene: good scenes, bad scenes with the messages they get, and text that is no scene at all.
//!
//! Each `bad-scenes/NAME.toml` has a `NAME.expected` with its whole report. After a deliberate change of wording:
//! `LITTORAL_BLESS=1 cargo test -p littoral --test scenes`, then read the difference.

use std::fs;
use std::path::{Path, PathBuf};

use littoral::behaviour::Value;
use littoral::scene::{self, Body, Dimensions, KernelName, Problems, Scene, Severity, Side, Source};
use littoral::timeline::{Curve, Driver, Ease};
use littoral::{gallery, materials};
use proptest::prelude::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad-scenes")
}

fn blessing() -> bool {
    std::env::var_os("LITTORAL_BLESS").is_some()
}

/// Lines `#! --set TEXT` at the top of a bad scene are its overrides.
fn overrides_in(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_prefix("#! --set ")).map(str::to_owned).collect()
}

#[test]
fn bad_scenes_get_the_messages_they_deserve() {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    assert!(files.len() >= 10);
    let mut wrong = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let report = match scene::load(name, &text, &overrides_in(&text)) {
            Ok(_) => "no problem found\n".to_owned(),
            Err(problems) => {
                render(&problems);
                problems.plain()
            }
        };
        let expected = path.with_extension("expected");
        if blessing() {
            fs::write(&expected, &report).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != report {
            wrong.push(format!("{name}:\n{report}"));
        }
    }
    assert!(wrong.is_empty(), "these reports changed:\n{}", wrong.join("\n"));
}

/// As the command line shows it; must not fail, whatever the text.
fn render(problems: &Problems) -> String {
    let mut shown = String::new();
    let handler = miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor());
    handler.render_report(&mut shown, problems).unwrap();
    shown
}

fn load(text: &str) -> Scene {
    load_with(text, &[])
}

fn load_with(text: &str, overrides: &[&str]) -> Scene {
    let overrides: Vec<String> = overrides.iter().map(|&one| one.to_owned()).collect();
    match scene::load("test.toml", text, &overrides) {
        Ok((scene, warnings)) => {
            assert!(warnings.is_empty(), "{}", warnings.iter().map(|w| w.plain()).collect::<String>());
            scene
        }
        Err(problems) => panic!("{}", problems.plain()),
    }
}

/// Codes of all problems of a text.
fn codes(text: &str) -> Vec<&'static str> {
    match scene::load("test.toml", text, &[]) {
        Ok((_, warnings)) => warnings.iter().map(|problem| problem.code).collect(),
        Err(problems) => problems.iter().map(|problem| problem.code).collect(),
    }
}

fn number(body: &Body, behaviour: &str, property: &str) -> Curve {
    let one = body.behaviours.iter().find(|one| one.schema.name == behaviour).expect(behaviour);
    match one.value(property) {
        Value::Number(curve) => curve.clone(),
        other => panic!("{behaviour}.{property} is {other:?}"),
    }
}

fn names(body: &Body) -> Vec<&'static str> {
    body.behaviours.iter().map(|one| one.schema.name).collect()
}

const TINY: &str = r#"
[sph]
spacing = 0.1
[[body]]
material = "water"
shape.box = { min = [0, 0, 0], max = [1, 1, 1] }
"#;

#[test]
fn a_tiny_scene_has_good_defaults() {
    let scene = load(TINY);
    assert_eq!(scene.title, "test");
    assert_eq!(scene.dimensions, Dimensions::Three);
    assert_eq!(scene.gravity, [0.0, -9.81, 0.0]);
    assert_eq!(scene.domain.sides, [[Side::Open; 2]; 3]);
    assert_eq!(scene.sph.support, 2.0);
    assert_eq!(scene.sph.density_kernel, KernelName::CubicSpline);
    assert_eq!(scene.sph.viscosity_kernel, KernelName::Viscosity);
    assert_eq!((scene.time.until, scene.time.frames_per_second), (2.0, 30.0));
    assert_eq!(scene.time.maximum_step, 1.0 / 30.0);
    let body = &scene.bodies[0];
    assert_eq!(body.name, "body-1");
    assert_eq!(body.rest_density.as_constant(), Some(998.2));
    assert_eq!(names(body), ["gravity", "incompressible", "viscosity"]);
    assert_eq!(number(body, "viscosity", "dynamic_viscosity").as_constant(), Some(1.0016e-3));
    assert_eq!(scene.hash.len(), 64);
}

#[test]
fn a_full_scene_reads_as_written() {
    let scene = load(
        r#"
        title = "All keys"
        dimensions = 3
        seed = 7
        [world]
        gravity = [0, 0, "-981 cm/s²"]
        box = { min = [0, 0, 0], max = [4, 3, 1], open = ["+y"], periodic = ["z"] }
        slip = "50 %"
        wall_velocity = { "-y" = [1, 0, 0] }
        [sph]
        spacing = "2 cm"
        support = 2.5
        kernel = "spiky"
        density_kernel = "poly6"
        density = "normalised"
        [time]
        until = "500 ms"
        frames_per_second = "60 fps"
        integrator = "velocity-verlet"
        maximum_step = 0.01
        caution = 0.5
        [[body]]
        name = "mud"
        material = "glycerine"
        density = [[0, "1.2 g/cm3"], [1, 1300]]
        shape.sphere = { centre = [1, 1, 0.5], radius = "20 cm" }
        velocity = [1, 2, 3]
        jitter = 0.1
        [body.behaviours.gas]
        stiffness = 400
        [body.behaviours.artificial-viscosity]
        approaching_only = false
        weight = [[0, 1], [2, 0]]
        [body.behaviours.cohesion]
        surface_tension = { over = "y", keys = [["10 cm", 0.1], [0.5, 0]], ease = "smooth" }
        [[body]]
        name = "jet"
        material = "water"
        behaviours.tait = {}
        emitter.jet = { at = [3, 2, 0.5], direction = [0, -3, 4], radius = 0.1, speed = 2, from = 0.1 }
        [[sink]]
        shape.box = { min = [0, 0, 0], max = [4, 0.1, 1] }
        "#,
    );
    assert_eq!((scene.title.as_str(), scene.seed), ("All keys", 7));
    assert_eq!(scene.gravity, [0.0, 0.0, -9.81]);
    assert_eq!(scene.domain.sides[1], [Side::Wall, Side::Open]);
    assert_eq!(scene.domain.sides[2], [Side::Periodic; 2]);
    assert_eq!(scene.domain.slip, 0.5);
    assert_eq!(scene.domain.wall_velocity[1][0], [1.0, 0.0, 0.0]);
    assert_eq!(scene.sph.density_kernel, KernelName::Poly6);
    assert_eq!(scene.sph.pressure_kernel, KernelName::Spiky);
    assert!(scene.sph.normalised_density);
    assert_eq!(scene.time.until, 0.5);

    let mud = &scene.bodies[0];
    // The written gas and artificial viscosity stand in for what the material would have brought.
    assert_eq!(names(mud), ["gravity", "gas", "artificial-viscosity", "cohesion"]);
    assert_eq!(number(mud, "artificial-viscosity", "dynamic_viscosity").as_constant(), Some(1.41));
    assert_eq!(mud.rest_density.at(0.5), 1250.0);
    let tension = number(mud, "cohesion", "surface_tension");
    assert_eq!((&tension.driver, tension.ease), (&Driver::Column("y"), Ease::Smooth));
    assert_eq!(tension.keys()[0].at, 0.1);

    let Source::Jet(jet) = &scene.bodies[1].source else { panic!("not a jet") };
    assert_eq!(jet.direction, [0.0, -0.6, 0.8]);
    // Until the end of the run, and on if the run is made longer.
    assert_eq!((jet.from, jet.until), (0.1, f64::INFINITY));
    assert_eq!(scene.sinks.len(), 1);
}

#[test]
fn a_law_of_no_weight_is_dropped_and_tait_stays_beside_gas_if_written() {
    let more = "[body.behaviours.gas]\n[body.behaviours.tait]\n[body.behaviours.gravity]\nweight = 0\n";
    let scene = load(&format!("{TINY}{more}"));
    assert_eq!(names(&scene.bodies[0]), ["tait", "gas", "viscosity"]);
}

#[test]
fn overrides_replace_and_add() {
    let scene = load_with(
        TINY,
        &[
            "body-1.viscosity.dynamic_viscosity=0.01",
            "body-1.tait.weight=[[0,1],[1,0]]",
            "sph.spacing=5 cm",
            "time.until=3",
            "world.gravity=[0,-1,0]",
            "body-1.velocity=[1,0,0]",
            "body-1.shape.box.max=[2, 1, 1]",
            "body.1.jitter=0.2",
            "title=Set from outside",
        ],
    );
    let body = &scene.bodies[0];
    assert_eq!(number(body, "viscosity", "dynamic_viscosity").as_constant(), Some(0.01));
    let tait = body.behaviours.iter().find(|one| one.schema.name == "tait").unwrap();
    assert_eq!(tait.weight.at(0.5), 0.5);
    assert_eq!((scene.sph.spacing, scene.time.until), (0.05, 3.0));
    assert_eq!((scene.gravity, body.velocity), ([0.0, -1.0, 0.0], [1.0, 0.0, 0.0]));
    assert_eq!(body.jitter, 0.2);
    assert_eq!(scene.title, "Set from outside");
    assert_ne!(scene.hash, load(TINY).hash);
}

/// What only pictures depend on may change while the frames stay good; nothing else may.
#[test]
fn looks_are_not_part_of_a_scenes_identity() {
    let bare = load(TINY);
    let sections = "\n[picture]\nsize = [64, 48]\n[camera]\nat = [[0, [1, 2, 3]], [1, [2, 2, 3]]]\n[sky]\nkind = \"dusk\"\n\
                    [sun]\nsize = 1\n[ground]\nshow = false\n[[lamp]]\nat = [0, 1, 0]\nlook_at = [0, 0, 0]\nwidth = 1\nheight = 1";
    let look = "look = { finish = \"wax\", colour = \"#ff8000\" }";
    let scene = load(&format!("title = \"Other\"{}{look}{sections}", TINY));
    assert_eq!(scene.hash, bare.hash);
    assert_eq!(scene.picture.size, [64, 48]);
    assert_eq!(scene.picture.camera.at.unwrap().at(0.5), [1.5, 2.0, 3.0]);
    assert_eq!(scene.picture.lamps.len(), 1);
    let look = &scene.bodies[0].look;
    assert_eq!((look.finish, look.colour), (scene::Finish::Wax, [1.0, 128.0 / 255.0, 0.0]));
    assert_eq!(look.index, 1.333, "what is not written is the material's");

    let law = load(&format!("{TINY}[body.behaviours.artificial-viscosity]\n"));
    assert_ne!(law.hash, bare.hash, "a law with all its defaults is a law");
    for other in ["sph.spacing=0.09", "seed=2", "body-1.velocity=[0, 1, 0]", "time.frames_per_second=25"] {
        assert_ne!(load_with(TINY, &[other]).hash, bare.hash, "{other}");
    }
    assert_eq!(load_with(TINY, &["sph.spacing=0.1", "time.until=5"]).hash, bare.hash, "as it was");
}

#[test]
fn a_sheet_has_rows_and_columns() {
    let sheet = "shape.sheet = { corner = [0, 1, 0], along = [1, 0, 0], across = [0, 0, 0.5] }";
    let scene = load(&TINY.replace("shape.box = { min = [0, 0, 0], max = [1, 1, 1] }", sheet));
    let Source::Shape(shape) = &scene.bodies[0].source else { panic!("no shape") };
    assert_eq!(shape.rows_and_columns(0.1), Some((6, 11)));
    let world = littoral::world::World::new(&scene);
    assert_eq!(world.particles.len(), 66);
}

/// A scene with a body of this shape, and files beside it.
fn load_shape(shape: &str, folder: &Path) -> Result<Scene, Problems> {
    let text = TINY.replace("shape.box = { min = [0, 0, 0], max = [1, 1, 1] }", shape);
    let files = scene::Files::beside(Some(folder.to_owned()));
    scene::load_with("test.toml", &text, &[], &files).map(|(scene, _)| scene)
}

fn filled(scene: &Scene) -> (usize, f64) {
    let world = littoral::world::World::new(scene);
    let volumes = world.particles.get(&littoral::columns::VOLUME).iter();
    (world.particles.len(), volumes.map(|&volume| f64::from(volume)).sum())
}

/// An upright cylinder of triangles: 2 across, 1.6 high, standing at y = 0.2.
fn cylinder_obj(lid: bool) -> String {
    let segments = 48;
    let mut text = "v 0 0.2 0\nv 0 1.8 0\n".to_owned();
    for k in 0..segments {
        let angle = std::f64::consts::TAU * f64::from(k) / f64::from(segments);
        let (x, z) = (angle.cos(), angle.sin());
        text += &format!("v {x} 0.2 {z}\nv {x} 1.8 {z}\n");
    }
    for k in 0..segments {
        let (a, b) = (2 * k + 3, 2 * ((k + 1) % segments) + 3);
        text += &format!("f {a} {} {} {b}\nf 1 {a} {b}\n", a + 1, b + 1);
        if lid {
            text += &format!("f 2 {} {}\n", b + 1, a + 1);
        }
    }
    text
}

#[test]
fn a_mesh_is_filled_level_and_its_file_is_part_of_the_scene() {
    let folder = std::env::temp_dir().join(format!("littoral-mesh-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let shape = "shape.mesh = { file = \"can.obj\" }";
    fs::write(folder.join("can.obj"), cylinder_obj(true)).unwrap();
    let scene = load_shape(shape, &folder).unwrap_or_else(|problems| panic!("{}", problems.plain()));
    let (count, volume) = filled(&scene);
    let exact = 48.0 * 0.5 * (std::f64::consts::TAU / 48.0).sin() * 1.6;
    assert!((volume / exact - 1.0).abs() < 0.02, "{count} particles of {volume} in {exact}");
    // Sixteen level layers, half a spacing from floor and lid.
    let world = littoral::world::World::new(&scene);
    let heights = world.particles.get(&littoral::columns::POSITION).iter().map(|p| f64::from(p.y));
    let layers: std::collections::BTreeSet<i64> = heights.map(|y| (y * 1e4).round() as i64).collect();
    let level: std::collections::BTreeSet<i64> = (0..16).map(|k| 2500 + 1000 * k).collect();
    assert_eq!(layers, level);

    // The same text with another file is another scene.
    fs::write(folder.join("can.obj"), cylinder_obj(true).replace("1.8", "1.7")).unwrap();
    assert_ne!(load_shape(shape, &folder).unwrap().hash, scene.hash);
    // A quarter of a turn leaves its size, half the scale an eighth of it.
    let smaller = "shape.mesh = { file = \"can.obj\", scale = 0.5, rotate = { axis = [1, 0, 0], degrees = 90 }, at = [1, 2, 3] }";
    let (_, turned) = filled(&load_shape(smaller, &folder).unwrap());
    assert!((turned / (exact * 1.5 / 1.6 / 8.0) - 1.0).abs() < 0.05, "{turned}");

    fs::write(folder.join("can.obj"), cylinder_obj(false)).unwrap();
    let codes = |shape: &str| -> Vec<&'static str> {
        load_shape(shape, &folder).unwrap_err().iter().map(|problem| problem.code).collect()
    };
    assert_eq!(codes(shape), ["open-shape"]);
    assert!(
        load_shape("shape.shell = { thickness = 0.2, of = { mesh = { file = \"can.obj\" } } }", &folder)
            .is_ok()
    );
    fs::write(folder.join("can.obj"), "v 0 0 0\n").unwrap();
    assert_eq!(codes(shape), ["bad-file"]);
    fs::write(folder.join("hills.txt"), "0 1 0\n1 2 1\n0 1 x\n").unwrap();
    let hills = "shape.heightfield = { min = [0, 0, 0], max = [1, 1, 1], file = \"hills.txt\" }";
    assert_eq!(codes(hills), ["bad-file"]);
    fs::write(folder.join("hills.txt"), "0 1 0\n1 2 1\n0 1 0\n").unwrap();
    let (_, volume) = filled(&load_shape(hills, &folder).unwrap());
    // Four slopes of mean height a half, on a floor a tenth below.
    assert!((0.4..0.6).contains(&(volume - 0.1)), "{volume}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn trees_of_shapes_are_filled() {
    let nowhere = Path::new("");
    let volume = |shape: &str| {
        let scene = load_shape(shape, nowhere).unwrap_or_else(|problems| panic!("{}", problems.plain()));
        let Source::Shape(shape) = &scene.bodies[0].source else { panic!("no shape") };
        let content = shape.content(Dimensions::Three, 0.1);
        let (count, volume) = filled(&scene);
        assert!((volume / content - 1.0).abs() < 0.06, "{count} particles of {volume} in {content}");
        content
    };
    let ball = "{ sphere = { centre = [0, 0, 0], radius = 1 } }";
    let rod = "{ cylinder = { from = [0, -2, 0], to = [0, 2, 0], radius = 0.5 } }";
    let whole = volume(&format!("shape.union = {{ of = [{ball}, {rod}] }}"));
    let common = volume(&format!("shape.intersection = {{ of = [{ball}, {rod}] }}"));
    let bored = volume(&format!("shape.difference = {{ of = [{ball}, {rod}] }}"));
    let pi = std::f64::consts::PI;
    // A ball with a hole of half its radius: 4/3 π (R² − r²)^(3/2).
    assert!((bored / (4.0 / 3.0 * pi * 0.75f64.powf(1.5)) - 1.0).abs() < 5e-3, "{bored}");
    assert!((whole + common - 4.0 / 3.0 * pi - pi).abs() < 0.02, "{whole} {common}");
    let filleted = volume(&format!("shape.union = {{ smooth = 0.3, of = [{ball}, {rod}] }}"));
    assert!(filleted > whole, "{filleted} {whole}");
}

#[test]
fn flat_trees_are_filled() {
    let text = "dimensions = 2\n[sph]\nspacing = 0.02\n[[body]]\nmaterial = \"water\"\n\
                shape.difference = { of = [{ box = { min = [0, 0], max = [1, 1] } }, \
                { sphere = { centre = [0.5, 0.5], radius = 0.3 } }, \
                { place = { at = [1, 1], rotate = { degrees = 45 }, of = { box = { min = [-0.1, -0.1], max = [0.1, 0.1] } } } }] }\n\
                [[sink]]\nshape.union = { of = [{ box = { min = [2, 0], max = [3, 1] } }, { sphere = { centre = [2, 0], radius = 0.5 } }] }";
    let scene = load(text);
    let (_, area) = filled(&scene);
    let exact = 1.0 - std::f64::consts::PI * 0.09 - 0.01;
    assert!((area / exact - 1.0).abs() < 0.02, "{area} {exact}");
    let inside = |x: f32, y: f32| {
        let p = glam::Vec4::new(x, y, 0.0, 0.0);
        littoral::sources::contains(&scene.sinks[0].shape, p, Dimensions::Two)
    };
    assert!(inside(2.5, 0.5) && inside(1.6, 0.0) && !inside(1.4, 0.5));
}

#[test]
fn dust_is_allowed_with_a_warning() {
    let text = TINY.replace("material = \"water\"", "");
    assert_eq!(codes(&text), ["no-pressure"]);
    let (scene, warnings) = scene::load("dust.toml", &text, &[]).unwrap();
    assert_eq!(warnings[0].severity, Severity::Warning);
    assert_eq!(names(&scene.bodies[0]), ["gravity"]);
}

#[test]
fn bodies_may_touch_walls_and_each_other_and_wait_above_an_open_tank() {
    load(
        r#"
        [world]
        box = { min = [0, 0, 0], max = [0.3, 1, 1], open = ["+y"] }
        [sph]
        spacing = 0.1
        [[body]]
        name = "left"
        material = "water"
        shape.box = { min = [0, 0, 0], max = [0.1, 1, 1] }
        [[body]]
        name = "right"
        material = "water"
        shape.box = { min = [0.1, 0, 0], max = [0.30000000000000004, 1, 1] }
        [[body]]
        name = "rain"
        material = "water"
        shape.sphere = { centre = [0.15, 1.5, 0.5], radius = 0.12 }
        "#,
    );
}

#[test]
fn the_automatic_sound_speed_follows_the_fall() {
    let tank = |gravity: &str, extra: &str| {
        load(&format!(
            "[world]\ngravity = {gravity}\n{extra}\n[sph]\nspacing = 0.1\n[[body]]\nmaterial = \"water\"\n\
             shape.box = {{ min = [0, 1, 0], max = [1, 2, 1] }}\n"
        ))
    };
    let free = scene::fastest_flow(&tank("[0, -9.81, 0]", ""));
    assert!((free - (2.0 * 9.81f64).sqrt()).abs() < 1e-12, "falls by its own height: {free}");
    let floor = "box = { min = [0, -1, 0], max = [1, 3, 1] }";
    let held = scene::fastest_flow(&tank("[0, -9.81, 0]", floor));
    assert!((held - (2.0 * 9.81 * 3.0f64).sqrt()).abs() < 1e-12, "falls to the floor: {held}");
    let lid = format!("{floor}\nwall_velocity = {{ \"+y\" = [4, 0, 0] }}");
    let moved = scene::fastest_flow(&tank("[0, 0, 0]", &lid));
    assert_eq!(moved, 4.0);
    assert_eq!(scene::automatic_sound_speed(&tank("[0, 0, 0]", &lid)), 40.0);
    let rest = scene::fastest_flow(&tank("[0, 0, 0]", ""));
    assert!(rest > 0.0);
}

#[test]
fn a_fixed_step_below_its_limit_is_accepted() {
    let scene = load(TINY);
    let limit = scene::step_limit(&scene).unwrap();
    let with_step = |step: f64| format!("{TINY}\n[time]\nstep = {step:e}\n");
    assert_eq!(codes(&with_step(0.99 * limit.step)), [""; 0]);
    assert_eq!(codes(&with_step(1.01 * limit.step)), ["unstable-step"]);
}

#[test]
fn problems_have_a_machine_form() {
    let problems = scene::load("bad.toml", "[sph]\nspacing = 'wide'\n", &[]).unwrap_err();
    let list = serde_json::to_value(&problems).unwrap();
    let spacing = list.as_array().unwrap().iter().find(|one| one["code"] == "wrong-type").unwrap();
    assert_eq!(spacing["file"], "bad.toml");
    assert_eq!((spacing["line"].as_u64(), spacing["column"].as_u64()), (Some(2), Some(11)));
    assert_eq!(spacing["severity"], "error");
}

#[test]
fn a_missing_file_suggests_a_gallery_scene() {
    let reason = std::io::Error::from(std::io::ErrorKind::NotFound);
    let problems = Problems::missing_file("dam-brake", &reason);
    assert!(problems.plain().contains("did you mean the gallery scene `dam-break`?"), "{}", problems.plain());
    render(&problems);
}

#[test]
fn every_gallery_scene_loads_without_warnings() {
    for (name, text) in gallery::GALLERY {
        let scene = load_with(text, &[]);
        let count: f64 = scene
            .bodies
            .iter()
            .map(|body| scene::particle_count(&body.source, body.spacing, scene.dimensions, scene.time.until))
            .sum();
        assert!((500.0..1.2e5).contains(&count), "{name}: {count}");
        let steps = scene.time.until / scene::step_limit(&scene).unwrap().step;
        assert!(steps < 2e5, "{name}: {steps} steps");
        println!("{name}: {count:.0} particles, {steps:.0} steps");
    }
}

#[test]
fn every_material_makes_a_scene() {
    for material in materials::MATERIALS {
        let scene = load(&TINY.replace("\"water\"", &format!("{:?}", material.name)));
        assert_eq!(scene.bodies[0].rest_density.as_constant(), Some(material.density));
    }
}

#[test]
fn the_json_schema_knows_every_key() {
    let schema = scene::json_schema();
    let body = &schema["properties"]["body"]["items"]["properties"];
    assert!(body["material"]["enum"].as_array().unwrap().contains(&"honey".into()));
    let tait = &body["behaviours"]["properties"]["tait"];
    assert!(tait["properties"]["sound_speed"]["description"].as_str().unwrap().contains("m/s"));
    assert!(tait["properties"]["weight"].is_object());
    assert_eq!(schema["properties"]["sph"]["required"][0], "spacing");
    assert_eq!(schema["properties"]["world"]["properties"]["box"]["required"][1], "max");
}

/// Tables between `<!-- table: NAME -->` and `<!-- end -->` are made from the code.
#[test]
fn the_document_has_the_tables_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene-format.md");
    let document = fs::read_to_string(&path).unwrap();
    let mut fresh = document.clone();
    for (name, table) in scene::key_tables() {
        let begin = format!("<!-- table: {name} -->\n");
        let (before, rest) = fresh.split_once(&begin).unwrap_or_else(|| panic!("no table `{name}`"));
        let (_, after) = rest.split_once("<!-- end -->").expect("no end");
        fresh = format!("{before}{begin}{table}<!-- end -->{after}");
    }
    if blessing() {
        fs::write(&path, fresh).unwrap();
    } else {
        assert!(fresh == document, "docs/scene-format.md is out of date: run with LITTORAL_BLESS=1");
    }
}

/// The scenes in the document are real ones.
#[test]
fn examples_in_the_document_load() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene-format.md");
    let document = fs::read_to_string(&path).unwrap();
    let scenes: Vec<&str> =
        document.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(scenes.len() >= 2);
    scenes.into_iter().for_each(|text| drop(load(text)));
}

/// Pieces of scenes, put together at random: mostly nonsense that gets past the parser.
fn scene_like() -> impl Strategy<Value = String> {
    let keys = prop::sample::select(vec![
        "title",
        "dimensions",
        "seed",
        "world",
        "sph",
        "time",
        "body",
        "sink",
        "gravity",
        "box",
        "min",
        "max",
        "open",
        "periodic",
        "spacing",
        "support",
        "kernel",
        "until",
        "step",
        "name",
        "material",
        "density",
        "shape.box",
        "shape.sphere",
        "emitter.jet",
        "velocity",
        "behaviours.tait.weight",
        "keys",
        "over",
        "[sph]",
        "[world]",
        "[[body]]",
        "[[sink]]",
        "[time]",
        "[body.behaviours.viscosity]",
        "dynamic_viscosity",
        "\"+y\"",
    ]);
    let values = prop::sample::select(vec![
        "1",
        "-1",
        "0",
        "2",
        "0.01",
        "1e308",
        "-1e-308",
        "nan",
        "inf",
        "true",
        "\"water\"",
        "\"5 mm\"",
        "\"x\"",
        "\"time\"",
        "\"é°µ\"",
        "[]",
        "{}",
        "[0, 0, 0]",
        "[1, 1, 1]",
        "[0, 0]",
        "[[0, 1], [1, 0]]",
        "1979-05-27",
        "{ min = [0, 0, 0], max = [1, 1, 1] }",
        "{ centre = [0, 0, 0], radius = 1 }",
        "{ at = [0,0,0], direction = [1,0,0], radius = 1, speed = 1 }",
        "{ over = \"y\", keys = [[0, 1]] }",
        "99999999999999999999999999",
        "'''\nlong\n'''",
        "[\"+y\", \"z\"]",
        "",
    ]);
    let line = (keys, values).prop_map(|(key, value)| match key.starts_with('[') {
        true => format!("{key}\n"),
        false => format!("{key} = {value}\n"),
    });
    prop::collection::vec(line, 0..25).prop_map(|lines| lines.concat())
}

fn must_not_panic(text: &str, overrides: &[String]) {
    match scene::load("any.toml", text, overrides) {
        Ok((scene, warnings)) => {
            assert!(scene::automatic_sound_speed(&scene).is_finite());
            warnings.iter().for_each(|warning| drop(warning.plain()));
        }
        Err(problems) => {
            assert!(problems.error_count() > 0);
            problems.plain();
            render(&problems);
            serde_json::to_string(&problems).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}") {
        must_not_panic(&text, &[]);
    }

    #[test]
    fn any_arrangement_of_keys_is_read_without_a_panic(text in scene_like()) {
        must_not_panic(&text, &[]);
    }

    #[test]
    fn any_override_is_read_without_a_panic(one in "\\PC{0,40}", path in "(body-1|sph|time|world|body|sink|title)(\\.[a-z1_-]{0,9}){0,3}=\\PC{0,12}") {
        must_not_panic(TINY, &[one, path]);
    }

    #[test]
    fn a_scene_with_bytes_changed_is_read_without_a_panic(
        which in 0..gallery::GALLERY.len(), at in 0.0..1.0, with in "\\PC{0,6}", cut in 0usize..12,
    ) {
        let text = gallery::GALLERY[which].1;
        let start = (0..=(at * text.len() as f64) as usize).rev().find(|&i| text.is_char_boundary(i)).unwrap();
        let end = (start + cut..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len());
        must_not_panic(&format!("{}{with}{}", &text[..start], &text[end..]), &[]);
    }
}

#[test]
fn deep_nesting_is_refused_not_followed() {
    let keys = vec!["a"; 79].join(".");
    let inline = (0..79).fold("1".to_owned(), |inner, _| format!("{{ {keys} = {inner} }}"));
    must_not_panic(&format!("{keys} = {inline}\n"), &[]);
    must_not_panic(&format!("x = {}1{}", "[".repeat(5000), "]".repeat(5000)), &[]);
    must_not_panic("", &[format!("title={}1{}", "[".repeat(500), "]".repeat(500))]);
}
