//! Whole runs, through the program: what they write, and that they write the same again.

mod common;

use common::*;
use littoral::frame::Frame;
use serde_json::Value;

#[test]
fn a_scene_becomes_frames_and_a_report() {
    let folder = Folder::with(DAM);
    let told = folder.ok(&["run", "scene.toml"]);
    assert!(told.contains("200 particles") && told.contains("finished at frame 10"), "{told}");

    let frames = folder.frames("out/scene");
    assert_eq!(frames.len(), 11);
    let frame = Frame::read(&folder.path("out/scene/frames/000010.arrow")).unwrap();
    assert_eq!((frame.info.frame, frame.info.time, frame.info.dimensions), (10, 0.2, 2));
    assert_eq!((frame.info.title.as_str(), frame.info.bodies.join(" ")), ("A small dam", "water".to_owned()));
    assert!(frame.indices("id").unwrap().iter().copied().eq(0..200), "rows are in the order of ids");
    let front = frame.vectors("position").unwrap().iter().map(|p| p[0]).fold(0.0, f32::max);
    assert!(front > 0.3, "the dam has broken: {front}");
    assert_eq!(frame.column("velocity").unwrap().unit, "m/s");
    assert!(frame.column("acceleration").is_none(), "only what is meant to be seen");

    // The first frame knows its density: that of a fluid at rest, within what the jitter does to it.
    let first = Frame::read(&folder.path("out/scene/frames/000000.arrow")).unwrap();
    let fullest = first.scalars("density").unwrap().iter().copied().fold(0.0, f32::max);
    assert!((1000.0..1200.0).contains(&fullest), "{fullest}");

    let report = folder.report("out/scene");
    assert_eq!((report["finished"].as_bool(), report["last_frame"].as_u64()), (Some(true), Some(10)));
    assert_eq!(report["frames"].as_array().unwrap().len(), 11);
    assert_eq!(report["error"], Value::Null);
    assert!(report["wall_time"]["stages"]["forces"].as_f64().unwrap() > 0.0);
    let energy = |k: usize| report["frames"][k]["potential_energy"].as_f64().unwrap();
    assert!(energy(10) < energy(0), "water flows downhill");

    let info = folder.ok(&["info", "out/scene"]);
    for word in ["finished", "11 of 11", "position", "kg/m³", "frame 10"] {
        assert!(info.contains(word), "`{word}` in {info}");
    }
    assert!(folder.ok(&["info", "out/scene", "--frame", "0"]).contains("frame 0"));
    folder.fails(2, &["info", "out/scene", "--frame", "99"]);
    folder.fails(2, &["info", "elsewhere"]);
}

#[test]
fn threads_do_not_change_a_bit() {
    // More than one chunk of every parallel loop.
    let more = ["--set", "sph.spacing=5 mm", "--until", "0.02", "--set", "time.frames_per_second=100"];
    let folder = Folder::with(DAM);
    for threads in ["1", "2", "8", "2"] {
        let out = format!("run-{threads}");
        let arguments = ["run", "scene.toml", "--threads", threads, "--out", &out, "--fresh"];
        folder.ok(&[&arguments[..], &more[..]].concat());
    }
    let one = folder.frames("run-1");
    assert_eq!(one.len(), 3);
    for other in ["run-2", "run-8"] {
        assert_same_frames(&one, &folder.frames(other));
        assert_eq!(folder.records("run-1"), folder.records(other));
    }
}

#[test]
fn json_lines_parse() {
    let folder = Folder::with(DAM);
    let told = folder.ok(&["run", "scene.toml", "--json", "--frames", "3"]);
    let events: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["start", "frame", "frame", "frame", "frame", "end"]);
    assert_eq!(events[0]["particles"], 200);
    assert_eq!(events[4]["frame"], 3);
    assert!(events[4]["kinetic_energy"].as_f64().unwrap() > 0.0);
    assert_eq!(events[5]["outcome"], "finished");

    let failed = folder.littoral(&["run", "scene.toml", "--json", "--set", "sph.spacing=-1"]);
    assert_eq!(failed.status.code(), Some(2));
    let event: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!(event["event"], "error");
    assert_eq!(event["problems"][0]["file"], "--set");
}

#[test]
fn quiet_is_quiet() {
    let folder = Folder::with(DAM);
    let output = folder.littoral(&["run", "scene.toml", "--quiet", "--frames", "2"]);
    assert!(output.status.success());
    assert_eq!((text(&output.stdout), text(&output.stderr)), (String::new(), String::new()));
}

#[test]
fn a_step_that_fails_keeps_the_frames_before_it() {
    let folder = Folder::with(DAM);
    // No scene check can know that neighbours this close will be accelerated so much.
    let arguments = ["run", "scene.toml", "--set", "water.jitter=0.49", "--set", "time.minimum_step=2.8e-4"];
    let told = folder.fails(1, &arguments);
    assert!(told.contains("time.minimum_step"), "{told}");
    let report = folder.report("out/scene");
    assert_eq!(report["finished"], false);
    assert!(report["error"].as_str().unwrap().contains("time.minimum_step"));
    assert!(folder.frames("out/scene").contains_key("000000.arrow"));
    assert!(folder.ok(&["info", "out/scene"]).contains("failed"));
}
