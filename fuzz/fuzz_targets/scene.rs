//! No text may make the scene reader, or what shows its problems, panic.
//!
//! Lines that start with `#! --set ` are overrides, as in the bad scenes of the tests.

#![no_main]

use libfuzzer_sys::fuzz_target;
use littoral::scene;

fuzz_target!(|text: &str| {
    let overrides: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("#! --set ")).map(str::to_owned).collect();
    match scene::load("fuzz.toml", text, &overrides) {
        Ok((scene, warnings)) => {
            assert!(scene::automatic_sound_speed(&scene).is_finite());
            for warning in warnings {
                let _ = warning.plain();
            }
        }
        Err(problems) => {
            assert!(problems.error_count() > 0);
            let _ = problems.plain();
            let _ = serde_json::to_string(&problems);
            let mut shown = String::new();
            let theme = miette::GraphicalTheme::unicode_nocolor();
            let _ = miette::GraphicalReportHandler::new_themed(theme).render_report(&mut shown, &problems);
        }
    }
});
