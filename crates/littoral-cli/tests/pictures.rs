//! Pictures and films, through the program.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::*;
use littoral_picture::image::Image;
use serde_json::Value;

/// Small and coarse: what is tested is that pictures are made, kept and made again, not that they are pretty.
const SMALL: [&str; 4] = ["--size", "96x54", "--samples", "2"];

fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = entries.map(|entry| entry.unwrap().path());
    files
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap()))
        .collect()
}

fn image(path: &Path) -> Image {
    Image::from_png(&fs::read(path).unwrap()).unwrap()
}

/// Mean of each channel.
fn mean(image: &Image) -> [f64; 3] {
    std::array::from_fn(|c| {
        image.pixels.iter().map(|pixel| f64::from(pixel[c])).sum::<f64>() / image.pixels.len() as f64
    })
}

#[test]
fn a_scene_becomes_a_film_and_pictures_are_made_once() {
    let folder = Folder::with(DAM);
    let film = with(&["film", "scene.toml"], &SMALL);
    let told = folder.ok(&film);
    assert!(told.contains("made 11 pictures") && told.contains("film.mp4"), "{told}");
    let run = folder.path("out/scene");
    let pictures = files(&run.join("pictures"));
    assert_eq!(pictures.len(), 11);
    let poster = image(&run.join("poster.png"));
    assert_eq!((poster.width, poster.height), (96, 54));
    let movie = fs::read(run.join("film.mp4")).unwrap();
    assert_eq!(&movie[4..8], b"ftyp");

    // Nothing is done twice, and the film is the same to the byte.
    let told = folder.ok(&film);
    assert!(told.contains("made 0 pictures, 11 were there"), "{told}");
    assert_eq!(fs::read(run.join("film.mp4")).unwrap(), movie);

    // A picture that is gone, or broken, is made again; the others are not.
    fs::remove_file(run.join("pictures/000003.png")).unwrap();
    fs::write(run.join("pictures/000004.png"), b"not a picture").unwrap();
    let told = folder.ok(&with(&film, &["--threads", "1"]));
    assert!(told.contains("made 2 pictures, 9 were there"), "{told}");
    assert_eq!(files(&run.join("pictures")), pictures, "the same bits on any number of threads");

    // Another camera makes other pictures of the same run.
    let frames = folder.frames("out/scene");
    let told = folder.ok(&with(&film, &["--set", "camera.at=[1, 1, 2]"]));
    assert!(told.contains("already complete") && told.contains("made 11 pictures"), "{told}");
    assert_same_frames(&frames, &folder.frames("out/scene"));
    assert_ne!(files(&run.join("pictures")), pictures);
    // …and stays with the run.
    assert!(folder.ok(&with(&["render", "out/scene"], &SMALL)).contains("11 were there"));
}

/// What can be known before a long run is said before it.
#[test]
fn a_film_that_cannot_be_made_is_refused_before_the_run() {
    let folder = Folder::with(DAM);
    for (more, told) in [
        (&["--size", "9000x9000"][..], "3840"),
        (&["--colour", "presure"], "did you mean `pressure`?"),
        (&["--set", "water.look.draw=mesh", "--set", "water.look.mesh=no.obj"], "no.obj"),
    ] {
        let complaint = folder.fails(2, &with(&["film", "scene.toml"], more));
        assert!(complaint.contains(told), "{complaint}");
        assert!(!folder.path("out/scene/frames").exists(), "nothing has run");
    }
}

/// A mesh beside the scene is found from anywhere, also by later commands; when it changes, so do the pictures.
#[test]
fn a_mesh_is_looked_for_beside_its_scene() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("scenes")).unwrap();
    let body = "look = { draw = \"mesh\", mesh = \"block.obj\", finish = \"diffuse\" }";
    let scene = format!(
        "world.gravity = [0, 0, 0]\nsph.spacing = 0.05\ntime.until = 0.01\n[[body]]\nmaterial = \"water\"\n\
         shape.box = {{ min = [0, 0, 0], max = [0.3, 0.3, 0.3] }}\n{body}"
    );
    fs::write(folder.path("scenes/block.toml"), scene).unwrap();
    let block = |top: f32| {
        format!("v 0 0 0\nv 0.3 0 0\nv 0 {top} 0\nv 0 0 0.3\nf 1 3 2\nf 1 4 3\nf 1 2 4\nf 2 3 4\n")
    };
    fs::write(folder.path("scenes/block.obj"), block(0.3)).unwrap();
    folder.ok(&with(&["film", "scenes/block.toml", "--quiet"], &SMALL));
    let first = files(&folder.path("out/block/pictures"));
    let told = folder.ok(&with(&["render", "out/block"], &SMALL));
    assert!(told.contains("1 were there"), "{told}");
    fs::write(folder.path("scenes/block.obj"), block(0.2)).unwrap();
    folder.ok(&with(&["render", "out/block"], &SMALL));
    assert_ne!(files(&folder.path("out/block/pictures")), first);
}

/// Grains that drift have gone elsewhere than those that keep to their particle, the same way every time.
#[test]
fn grains_drift_with_the_flow() {
    let folder = Folder::with(DAM);
    folder.ok(&["run", "scene.toml", "--quiet"]);
    let render = with(&["render", "out/scene", "--frame", "8", "--set", "water.look.draw=grains"], &SMALL);
    let draw = |more: &[&str]| {
        folder.ok(&with(&with(&render, &["--out", "one.png"]), more));
        image(&folder.path("one.png"))
    };
    let (fixed, drifting) = (draw(&[]), draw(&["--set", "water.look.advected=true"]));
    assert_ne!(fixed, drifting);
    assert_eq!(draw(&["--set", "water.look.advected=true", "--threads", "1"]), drifting);
    let told = folder.fails(2, &with(&render, &["--set", "water.look.grains=1001"]));
    assert!(told.contains("1 to 1000"), "{told}");
}

#[test]
fn a_blurred_picture_is_another_one() {
    let folder = Folder::with(DAM);
    folder.ok(&["run", "scene.toml", "--quiet"]);
    let render = with(&["render", "out/scene", "--frame", "8", "--out", "one.png"], &SMALL);
    folder.ok(&render);
    let sharp = image(&folder.path("one.png"));
    folder.ok(&with(&render, &["--set", "picture.motion_blur=1"]));
    assert_ne!(image(&folder.path("one.png")), sharp);
}

#[test]
fn a_coarse_first_look_has_a_folder_of_its_own() {
    let folder = Folder::with(DAM);
    folder.ok(&with(&["film", "scene.toml", "--quick", "--until", "0.04"], &SMALL));
    assert!(folder.path("out/scene-quick/film.mp4").is_file());
    let spacing = folder.report("out/scene-quick")["spacing"].as_f64().unwrap();
    assert!(spacing > 0.03, "{spacing}");
    assert!(!folder.path("out/scene").exists());
}

#[test]
fn particles_are_coloured_by_a_column() {
    let folder = Folder::with(DAM);
    folder.ok(&["run", "scene.toml", "--quiet"]);
    for preview in [&["--preview"][..], &[]] {
        let arguments = ["render", "out/scene", "--frame", "last", "--size", "320x180", "--samples", "1"];
        let plain = with(&with(&arguments, preview), &["--out", "plain.png"]);
        let still = ["--colour", "speed", "--range", "100,200", "--out", "still.png"];
        let swift = ["--colour", "speed", "--range", "0,0.001", "--out", "swift.png"];
        folder.ok(&plain);
        folder.ok(&with(&with(&arguments, preview), &still));
        folder.ok(&with(&with(&arguments, preview), &swift));
        let [plain, still, swift] =
            ["plain.png", "still.png", "swift.png"].map(|name| image(&folder.path(name)));
        // The last colour is brighter and yellower than the first: more light, and less of it blue.
        let (low, high) = (mean(&still), mean(&swift));
        assert!(high[0] > low[0] + 1.0 && high[1] > low[1] + 1.0, "{low:?} {high:?}");
        assert_ne!(plain, still);
    }
    folder.ok(&[
        "render",
        "out/scene",
        "--frame",
        "last",
        "--preview",
        "--colour",
        "speed",
        "--size",
        "64x36",
    ]);
    assert!(
        folder.path("out/scene/pictures-preview-speed/000010.png").is_file(),
        "kinds have folders of their own"
    );

    let told = folder.fails(2, &["render", "out/scene", "--frame", "0", "--colour", "presure"]);
    assert!(told.contains("did you mean `pressure`?") && told.contains("density-error"), "{told}");
    let told = folder.fails(2, &["render", "out/scene", "--frame", "99"]);
    assert!(told.contains("frames 0 to 10"), "{told}");
    let told = folder.fails(2, &["render", "out/scene", "--set", "sph.spacing=0.05"]);
    assert!(told.contains("changes more than looks"), "{told}");
    assert!(folder.fails(2, &["render", "nowhere"]).contains("littoral run"));
    for wrong in ["velocity.w", "pressure.x", "velocity./../x"] {
        folder.fails(2, &["render", "out/scene", "--frame", "0", "--colour", wrong]);
    }
    // A still leaves the pictures of a film alone.
    let film = with(&["render", "out/scene", "--frame", "3"], &SMALL);
    folder.ok(&film);
    let before = fs::read(folder.path("out/scene/pictures/000003.png")).unwrap();
    folder.ok(&[
        "render",
        "out/scene",
        "--frame",
        "3",
        "--size",
        "32x18",
        "--samples",
        "1",
        "--out",
        "still.png",
    ]);
    assert_eq!(fs::read(folder.path("out/scene/pictures/000003.png")).unwrap(), before);
    folder.fails(2, &["render", "out/scene", "--size", "9000"]);
}

#[test]
fn surfaces_go_to_other_tools_and_come_back_as_carried_meshes() {
    let ball = DAM.replace("dimensions = 2\n", "").replace("max = [0.8, 0.6]", "max = [0.8, 0.6, 0.4]");
    let ball = ball.replace("min = [0, 0], max = [0.8", "min = [0, 0, 0], max = [0.8");
    let ball = ball.replace(
        "shape.box = { min = [0, 0], max = [0.25, 0.5] }",
        "shape.sphere = { centre = [0.4, 0.3, 0.2], radius = 0.12 }",
    );
    let folder = Folder::with(&ball);
    folder.ok(&["run", "scene.toml", "--frames", "3", "--quiet"]);
    folder.ok(&["surface", "out/scene", "--frame", "0", "--format", "obj"]);
    for format in ["ply", "vtp"] {
        folder.ok(&["surface", "out/scene", "--format", format]);
        let last = format!("out/scene/surfaces/water-000003.{format}");
        assert!(fs::metadata(folder.path(&last)).unwrap().len() > 10_000, "{last}");
    }
    let ply = fs::read(folder.path("out/scene/surfaces/water-000000.ply")).unwrap();
    assert!(ply.starts_with(b"ply\nformat binary_little_endian 1.0\n"));

    // The ball's own surface, bound to its particles: the picture hardly changes.
    let render = with(&["render", "out/scene", "--frame", "3"], &["--size", "96x54", "--samples", "8"]);
    folder.ok(&with(&render, &["--set", "water.look.finish=diffuse", "--out", "surface.png"]));
    let mesh = ["--set", "water.look.finish=diffuse", "--set", "water.look.draw=mesh", "--out", "mesh.png"];
    let told = folder.fails(2, &with(&render, &with(&mesh, &["--set", "water.look.mesh=nothing.obj"])));
    assert!(told.contains("nothing.obj"), "{told}");
    folder
        .ok(&with(&render, &with(&mesh, &["--set", "water.look.mesh=out/scene/surfaces/water-000000.obj"])));
    let (a, b) = (mean(&image(&folder.path("surface.png"))), mean(&image(&folder.path("mesh.png"))));
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 3.0), "{a:?} {b:?}");
}

#[test]
fn every_way_to_draw_leaves_its_mark() {
    let scene = r#"
        world = { gravity = [0, 0, 0] }
        sph.spacing = 0.02
        time = { until = 0.01 }
        picture = { size = [96, 54], samples = 2 }
        [[body]]
        name = "cloth"
        material = "milk"
        shape.sheet = { corner = [0, 0, 0], along = [0.4, 0, 0], across = [0, 0.3, 0] }
    "#;
    let folder = Folder::with(scene);
    folder.ok(&["run", "scene.toml", "--quiet"]);
    let draw = |how: &str| {
        let set = format!("cloth.look.draw={how}");
        folder.ok(&["render", "out/scene", "--frame", "0", "--set", &set, "--out", "one.png"]);
        image(&folder.path("one.png"))
    };
    let empty = draw("nothing");
    for how in ["surface", "particles", "grains", "sheet", "yarn"] {
        let shown = draw(how);
        let changed = shown
            .pixels
            .iter()
            .zip(&empty.pixels)
            .filter(|(a, b)| a.iter().zip(b.iter()).any(|(a, b)| a.abs_diff(*b) > 12));
        assert!(changed.count() > 200, "{how}");
    }
}

#[test]
fn a_run_is_plotted() {
    let folder = Folder::with(DAM);
    folder.ok(&["run", "scene.toml", "--quiet"]);
    let told = folder.ok(&["plot", "out/scene"]);
    assert!(told.contains("plots.png") && told.contains("plots.svg"), "{told}");
    let svg = fs::read_to_string(folder.path("out/scene/plots.svg")).unwrap();
    for word in ["Energy", "kinetic", "Density above rest", "Time step", "A small dam"] {
        assert!(svg.contains(word), "`{word}`");
    }
    assert!(image(&folder.path("out/scene/plots.png")).width > 600);
    folder.fails(2, &["plot", "nowhere"]);
}

#[test]
fn films_speak_json() {
    let folder = Folder::with(DAM);
    let told = folder.ok(&with(&["film", "scene.toml", "--json", "--frames", "2"], &SMALL));
    let events: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["start", "frame", "frame", "frame", "end", "picture", "picture", "picture", "end"]);
    assert!(events[8]["film"].as_str().unwrap().ends_with("film.mp4"));
    assert!(events[5]["rays"].as_u64().unwrap() > 0);
}

/// The engine reads names that the picture crate gives meaning to.
#[test]
fn scenes_know_every_surface() {
    let names = littoral_picture::surface::Field::NAMES.map(|(name, _)| name);
    assert_eq!(littoral::scene::keys::SURFACES, names);
}

/// Every scene of the gallery has a poster in the repository, small enough to stay there, and is shown.
#[test]
fn every_gallery_scene_has_a_poster() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let gallery = fs::read_to_string(root.join("docs/gallery.md")).unwrap();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    for name in littoral::gallery::names() {
        let poster = fs::read(root.join(format!("docs/posters/{name}.png"))).unwrap_or_else(|error| {
            panic!("docs/posters/{name}.png: {error}; make it with scenes/posters {name}")
        });
        assert!(poster.len() < 150_000, "{name}: {} bytes", poster.len());
        assert_eq!(Image::from_png(&poster).map(|image| image.width).unwrap(), 640, "{name}");
        for (file, text) in [("docs/gallery.md", &gallery), ("README.md", &readme)] {
            assert!(text.contains(&format!("posters/{name}.png")), "{name} is not in {file}");
        }
    }
}
