//! Everything but runs: checks, lists, help, and complaints.

mod common;

use std::fs;

use common::*;
use serde_json::Value;

#[test]
fn check_tells_all_problems_at_once_and_what_a_scene_takes() {
    let folder = Folder::with(DAM);
    let told = folder.ok(&["check", "scene.toml", "dam-break-2d"]);
    for word in ["scene.toml: all right", "dam-break-2d: all right", "200 particles", "frames 0 to 10"] {
        assert!(told.contains(word), "`{word}` in {told}");
    }

    fs::write(
        folder.path("bad.toml"),
        DAM.replace("spacing = 0.025", "spacing = -1").replace("until", "utnil"),
    )
    .unwrap();
    let output = folder.littoral(&["check", "bad.toml", "scene.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    assert!(told.contains("spacing") && told.contains("did you mean `until`"), "{told}");
    assert!(text(&output.stdout).contains("scene.toml: all right"), "the others are checked too");

    let output = folder.littoral(&["check", "--json", "bad.toml", "scene.toml", "nowhere.toml"]);
    let lines: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines.iter().map(|line| line["ok"].as_bool()).collect::<Vec<_>>(),
        [false, true, false].map(Some)
    );
    assert!(lines[0]["problems"].as_array().unwrap().len() >= 2);
    assert_eq!(lines[1]["particles"], 200.0);
}

#[test]
fn bad_input_is_told_from_a_failed_run() {
    let folder = Folder::with(DAM);
    fs::write(folder.path("bad.toml"), "title = ").unwrap();
    folder.fails(2, &["run", "bad.toml"]);
    folder.fails(2, &["run", "scene.toml", "--set", "water.colour=blue"]);
    folder.fails(2, &["run", "scene.toml", "--threads", "0"]);
    folder.fails(2, &["run", "scene.toml", "--resume", "--fresh"]);
    folder.fails(2, &["run", "."]);
    folder.fails(2, &["no-such-command"]);
    assert!(!folder.path("out").exists(), "a run that cannot start leaves nothing");

    let told = folder.fails(2, &["run", "scnee.toml"]);
    assert!(told.contains("did you mean `scene.toml`"), "{told}");
    let told = folder.fails(2, &["run", "dam_break"]);
    assert!(told.contains("did you mean `dam-break`") && told.contains("hydrostatic"), "{told}");

    fs::write(folder.path("file"), "in the way").unwrap();
    let told = folder.fails(2, &["run", "scene.toml", "--out", "file/run"]);
    assert!(told.contains("cannot write to `file/run`"), "{told}");
}

#[test]
fn a_file_comes_before_a_scene_of_the_gallery() {
    let folder = Folder::with(DAM);
    assert!(folder.ok(&["run", "dam-break-2d", "--frames", "0"]).contains("3,200 particles"));
    fs::write(folder.path("dam-break-2d"), DAM).unwrap();
    let told = folder.ok(&["run", "dam-break-2d", "--frames", "0", "--out", "other"]);
    assert!(told.contains("A small dam"), "{told}");
}

#[test]
fn lists_and_help() {
    let folder = Folder::new();
    assert!(folder.ok(&["scenes"]).contains("dam-break-2d"));
    assert_eq!(folder.ok(&["scenes", "drop"]), littoral::gallery::find("drop").unwrap());
    assert!(folder.fails(2, &["scenes", "dorp"]).contains("did you mean `drop`"));

    assert!(folder.ok(&["behaviours"]).contains("viscosity"));
    let help = folder.ok(&["behaviours", "tait"]);
    for word in ["sound_speed", "m/s", "weight", "half weight", "reference"] {
        assert!(help.contains(word), "`{word}` in {help}");
    }
    assert!(folder.fails(2, &["behaviours", "tiat"]).contains("did you mean `tait`"));

    let schema: Value = serde_json::from_str(&folder.ok(&["schema"])).unwrap();
    assert!(schema["properties"]["body"].is_object());
}

#[test]
#[cfg(not(feature = "gpu"))]
fn without_gpu_support_it_says_how_to_get_it() {
    let folder = Folder::with(DAM);
    let told = folder.fails(2, &["run", "scene.toml", "--backend", "gpu"]);
    assert!(told.contains("--features gpu"), "{told}");
}
