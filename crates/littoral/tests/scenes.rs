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
