//! Runs that stop and go on: by request, by kill, by a longer end. They write the bytes of a run that never
//! stopped.

mod common;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use common::*;
use littoral::frame::Frame;

#[test]
fn a_resumed_run_equals_one_that_was_never_stopped() {
    let verlet = ["--set", "time.integrator=velocity-verlet"];
    let [own_verlet, rk4, rk45] =
        ["verlet", "rk4", "rk45"].map(|name| ["--set".to_owned(), format!("time.integrator={name}")]);
    let [own_verlet, rk4, rk45] = [&own_verlet, &rk4, &rk45].map(|set| set.each_ref().map(String::as_str));
    let incompressible = incompressible_dam();
    let cases: [(&str, &[&str]); 8] = [
        (DAM, &[]),
        (DAM, &verlet),
        (&incompressible, &[]),
        (JET, &[]),
        (JET, &verlet),
        (JET, &own_verlet),
        (JET, &rk4),
        (JET, &rk45),
    ];
    for (scene, more) in cases {
        let folder = Folder::with(scene);
        let run = |out: &str, extra: &[&str]| {
            folder.ok(&[&["run", "scene.toml", "--out", out], more, extra].concat());
        };
        run("whole", &[]);
        run("parts", &["--frames", "3"]);
        assert_eq!(folder.frames("parts").len(), 4);
        run("parts", &["--resume", "--frames", "4", "--threads", "1"]);
        run("parts", &["--resume"]);
        assert_same_frames(&folder.frames("whole"), &folder.frames("parts"));
        assert_eq!(folder.records("whole"), folder.records("parts"));
        let checkpoint = |out: &str| fs::read(folder.path(out).join("checkpoint.arrow")).unwrap();
        assert!(checkpoint("whole") == checkpoint("parts"), "checkpoints differ");
    }
}

#[test]
fn the_scene_of_that_test_takes_part_in_everything() {
    let folder = Folder::with(JET);
    folder.ok(&["run", "scene.toml"]);
    let report = folder.report("out/scene");
    assert!(report["drained"].as_u64().unwrap() > 0, "the sink drains");
    let last = Frame::read(&folder.path("out/scene/frames/000010.arrow")).unwrap();
    assert!(last.indices("body").unwrap().contains(&1), "the jet flows");
}

#[test]
fn a_complete_run_says_so_and_a_longer_one_goes_on() {
    let folder = Folder::with(DAM);
    folder.ok(&["run", "scene.toml", "--until", "0.06"]);
    let before = fs::read(folder.path("out/scene/run.json")).unwrap();
    let told = folder.ok(&["run", "scene.toml", "--until", "0.06", "--resume"]);
    assert!(told.contains("already complete"), "{told}");
    assert!(folder.ok(&["run", "scene.toml", "--frames", "2", "--resume"]).contains("already complete"));
    assert!(before == fs::read(folder.path("out/scene/run.json")).unwrap(), "the report is left alone");

    // The folder of a run knows its scene.
    let told = folder.ok(&["run", "out/scene", "--until", "0.1", "--resume"]);
    assert!(told.contains("going on after frame 3"), "{told}");
    folder.ok(&["run", "scene.toml", "--until", "0.1", "--out", "whole"]);
    assert_same_frames(&folder.frames("whole"), &folder.frames("out/scene"));
}

#[test]
fn nothing_is_lost_without_being_told_to() {
    let folder = Folder::with(DAM);
    folder.ok(&["run", "scene.toml", "--frames", "2"]);
    let frames = folder.frames("out/scene");
    let told = folder.fails(2, &["run", "scene.toml", "--frames", "2"]);
    assert!(told.contains("--resume") && told.contains("--fresh"), "{told}");
    let other = ["run", "scene.toml", "--set", "water.jitter=0.2"];
    assert!(folder.fails(2, &other).contains("another run"));
    let told = folder.fails(2, &[&other[..], &["--resume"]].concat());
    assert!(told.contains("another run"), "{told}");
    assert_same_frames(&frames, &folder.frames("out/scene"));

    // --fresh removes what we wrote, and nothing else.
    let foreign =
        ["notes.txt", "frames/picture.png", "frames/0001.arrow", "frames/.hidden.tmp", "checkpoint.old"];
    for name in foreign {
        fs::write(folder.path("out/scene").join(name), name).unwrap();
    }
    fs::write(folder.path("out/scene/frames/.000009.arrow.tmp"), "left by a kill").unwrap();
    folder.ok(&[&other[..], &["--fresh", "--frames", "1"]].concat());
    for name in foreign {
        assert_eq!(fs::read_to_string(folder.path("out/scene").join(name)).unwrap(), name);
    }
    let frames = folder.frames("out/scene");
    let ours = ["000000.arrow", "000001.arrow"];
    let left: Vec<&str> = frames
        .keys()
        .map(String::as_str)
        .filter(|name| !foreign.contains(&&*format!("frames/{name}")))
        .collect();
    assert_eq!(left, ours);
}

#[test]
fn a_kill_at_any_moment_leaves_whole_files() {
    for scene in [DAM, JET] {
        let folder = Folder::with(scene);
        let long = ["run", "scene.toml", "--frames", "30"];
        folder.ok(&[&long[..], &["--out", "whole"]].concat());
        let whole = folder.frames("whole");
        let arguments = [&long[..], &["--out", "killed", "--resume", "--checkpoint-every", "0"]].concat();
        let mut kills = 0;
        // Moments that look random: from before the first file to some frames later.
        for wait in [3, 20, 47, 8, 71, 33, 110, 14, 59, 5] {
            let mut child = folder.command(&arguments).stdout(Stdio::null()).spawn().unwrap();
            sleep(Duration::from_millis(wait));
            child.kill().unwrap();
            kills += u32::from(!child.wait().unwrap().success());
            assert_whole_files(&folder.path("killed"));
        }
        assert!(kills > 1, "the machine is too fast for this test");
        folder.ok(&arguments);
        let mut killed = folder.frames("killed");
        killed.retain(|name, _| name.ends_with(".arrow"));
        assert_same_frames(&whole, &killed);
        assert_eq!(folder.records("whole"), folder.records("killed"));
    }
}

/// Everything that has its name can be read.
fn assert_whole_files(run: &Path) {
    let Ok(entries) = fs::read_dir(run.join("frames")) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "arrow") {
            Frame::read(&path).unwrap();
        }
    }
    if let Ok(bytes) = fs::read(run.join("run.json")) {
        serde_json::from_slice::<serde_json::Value>(&bytes).unwrap();
    }
}

#[test]
#[cfg(unix)]
fn an_interrupt_stops_after_the_frame() {
    let folder = Folder::with(DAM);
    folder.ok(&["run", "scene.toml", "--out", "whole"]);
    let endless = ["run", "scene.toml", "--out", "stopped", "--until", "1000"];
    let mut child = folder.command(&endless).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !folder.path("stopped/frames/000001.arrow").exists() {
        sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let reached = folder.frames("stopped").len() as u64 - 1;
    assert!(folder.path("stopped/checkpoint.arrow").exists());
    assert_eq!(folder.report("stopped")["finished"], false);

    let last = (reached + 2).to_string();
    folder.ok(&["run", "scene.toml", "--out", "stopped", "--resume", "--frames", &last]);
    folder.ok(&["run", "scene.toml", "--out", "whole", "--resume", "--frames", &last]);
    let stopped = folder.frames("stopped");
    assert_eq!(stopped.len() as u64, reached + 3);
    let mut whole = folder.frames("whole");
    whole.retain(|name, _| stopped.contains_key(name));
    assert_same_frames(&whole, &stopped);
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let folder = Folder::with(DAM);
    let mut first =
        folder.command(&["run", "scene.toml", "--until", "1000"]).stdout(Stdio::null()).spawn().unwrap();
    while !folder.path("out/scene/frames/000000.arrow").exists() {
        sleep(Duration::from_millis(5));
    }
    let told = folder.fails(2, &["run", "scene.toml", "--fresh"]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(told.contains("another run is writing"), "{told}");
    assert!(folder.path("out/scene/frames/000000.arrow").exists(), "and nothing was removed");
}
