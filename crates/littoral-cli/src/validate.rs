//! `littoral validate`: physics against known answers.

use std::time::Instant;

use littoral::scene::nearest_name;
use littoral::validation::{ALL, Check, Validation};
use serde_json::json;

use crate::failure::Failure;
use crate::print;

#[derive(clap::Args)]
pub struct Arguments {
    /// Which ones; all when none is named
    names: Vec<String>,
    /// Only list them
    #[arg(long)]
    list: bool,
    /// One JSON object for each validation, for machines
    #[arg(long)]
    json: bool,
}

pub fn command(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.list {
        ALL.iter().for_each(|one| print(&format!("{:22} {}\n", one.name, one.what)));
        return Ok(());
    }
    let (mut passed, mut failed) = (0, 0);
    for validation in chosen(&arguments.names)? {
        let start = Instant::now();
        let result = (validation.run)(&|_| {});
        let seconds = start.elapsed().as_secs_f64();
        let good = result.as_ref().is_ok_and(|checks| checks.iter().all(|check| check.passed));
        if good {
            passed += 1
        } else {
            failed += 1
        }
        if arguments.json {
            let (checks, error) = match &result {
                Ok(checks) => (&checks[..], None),
                Err(error) => (&[][..], Some(error.to_string())),
            };
            let line = json!({
                "name": validation.name, "what": validation.what, "passed": good,
                "checks": checks, "error": error, "seconds": seconds,
            });
            print(&format!("{line}\n"));
            continue;
        }
        print(&format!("{}: {} ({seconds:.1} s)\n", validation.name, validation.what));
        match &result {
            Ok(checks) => checks.iter().for_each(|check| print(&row(check))),
            Err(error) => print(&format!("  FAILED   {error}\n")),
        }
    }
    if !arguments.json {
        print(&format!("{passed} passed, {failed} failed\n"));
    }
    if failed > 0 { Err(Failure::Silent(1)) } else { Ok(()) }
}

fn chosen(names: &[String]) -> Result<Vec<&'static Validation>, Failure> {
    if names.is_empty() {
        return Ok(ALL.to_vec());
    }
    let find = |name: &String| {
        ALL.iter().copied().find(|one| one.name == name).ok_or_else(|| {
            let known: Vec<&str> = ALL.iter().map(|one| one.name).collect();
            let hint = nearest_name(name, &known).map(|near| format!(": did you mean `{near}`?"));
            let hint = hint.unwrap_or_else(|| "; `littoral validate --list` lists them".into());
            Failure::Input(format!("there is no validation `{name}`{hint}"))
        })
    };
    names.iter().map(find).collect()
}

/// Verdict, quantity, measured, expected, tolerance.
fn row(check: &Check) -> String {
    let verdict = if check.passed { "ok" } else { "FAILED" };
    let unit = if check.unit.is_empty() { String::new() } else { format!(" {}", check.unit) };
    let wanted = if check.tolerance.is_infinite() {
        format!("at least {:.4}{unit}", check.expected)
    } else if check.expected == 0.0 {
        format!("at most {:.3e}{unit}", check.tolerance)
    } else {
        format!("expected {:.4} ± {:.4}{unit}", check.expected, check.tolerance)
    };
    format!("  {verdict:8} {:100} {:>11.5}{unit}   {wanted}\n", check.quantity, check.measured)
}
