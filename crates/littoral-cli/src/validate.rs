//! `littoral validate`: physics against known answers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use littoral::scene::nearest_name;
use littoral::step::StepError;
use littoral::validation::{ALL, Check, Validation};
use rayon::ThreadPoolBuilder;
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
    run_all(&chosen(&arguments.names)?, &mut |validation, outcome| {
        let good = outcome.is_good();
        if good {
            passed += 1
        } else {
            failed += 1
        }
        print(&if arguments.json { outcome.json(validation) } else { outcome.text(validation) });
    })?;
    if !arguments.json {
        print(&format!("{passed} passed, {failed} failed\n"));
    }
    if failed > 0 { Err(Failure::Silent(1)) } else { Ok(()) }
}

/// What came of a validation.
struct Outcome {
    result: Result<Vec<Check>, StepError>,
    seconds: f64,
}

impl Outcome {
    fn of(validation: &Validation) -> Outcome {
        let start = Instant::now();
        let result = (validation.run)(&|_| {});
        Outcome { result, seconds: start.elapsed().as_secs_f64() }
    }

    fn is_good(&self) -> bool {
        self.result.as_ref().is_ok_and(|checks| checks.iter().all(|check| check.passed))
    }

    fn json(&self, validation: &Validation) -> String {
        let (checks, error) = match &self.result {
            Ok(checks) => (&checks[..], None),
            Err(error) => (&[][..], Some(error.to_string())),
        };
        let line = json!({
            "name": validation.name, "what": validation.what, "passed": self.is_good(),
            "checks": checks, "error": error, "seconds": self.seconds,
        });
        format!("{line}\n")
    }

    fn text(&self, validation: &Validation) -> String {
        let rows = match &self.result {
            Ok(checks) => checks.iter().map(row).collect(),
            Err(error) => format!("  FAILED   {error}\n"),
        };
        format!("{}: {} ({:.1} s)\n{rows}", validation.name, validation.what, self.seconds)
    }
}

/// Runs validations side by side and tells of each in the order of the list.
///
/// Threads are shared out among them: worlds as small as these do not keep several busy. What they compute does not depend on it.
fn run_all(
    chosen: &[&'static Validation],
    tell: &mut dyn FnMut(&Validation, &Outcome),
) -> Result<(), Failure> {
    let threads = rayon::current_num_threads();
    let at_once = threads.min(chosen.len()).max(1);
    let pool = || ThreadPoolBuilder::new().num_threads(threads / at_once).build();
    let pools: Result<Vec<_>, _> = (0..at_once).map(|_| pool()).collect();
    let pools = pools.map_err(|error| Failure::Run(format!("cannot start {threads} threads: {error}")))?;
    let next = AtomicUsize::new(0);
    let (sender, done) = mpsc::channel();
    thread::scope(|scope| {
        for pool in pools {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some((k, one)) = take(next, chosen) {
                    // Who does not listen has left with a panic of its own.
                    let _ = sender.send((k, pool.install(|| Outcome::of(one))));
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut told = 0;
        for (k, outcome) in done {
            early.insert(k, outcome);
            while let Some(outcome) = early.remove(&told) {
                tell(chosen[told], &outcome);
                told += 1;
            }
        }
    });
    Ok(())
}

/// The next validation that nobody has begun.
fn take(next: &AtomicUsize, chosen: &[&'static Validation]) -> Option<(usize, &'static Validation)> {
    let k = next.fetch_add(1, Ordering::Relaxed);
    chosen.get(k).map(|one| (k, *one))
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
