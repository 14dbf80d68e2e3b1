//! `littoral info`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use littoral::frame::Frame;
use littoral::report::Report;
use littoral::run_folder::{frame_files, report_file};
use littoral::table::{TableColumn, Values};

use crate::failure::Failure;
use crate::text;

#[derive(Args)]
pub struct Arguments {
    /// The folder of a run
    folder: PathBuf,
    /// The frame whose columns to look at [default: the last]
    #[arg(long, value_name = "N")]
    frame: Option<u64>,
}

pub fn command(arguments: &Arguments) -> Result<String, Failure> {
    let folder = &arguments.folder;
    let report = Report::read(&report_file(folder))
        .map_err(|error| Failure::Input(format!("`{}` holds no run: run.json: {error}", folder.display())))?;
    let frames = frame_files(folder);
    let mut told = summary(folder, &report, frames.len());

    let wanted = match arguments.frame {
        Some(number) => {
            let found = frames.iter().find(|(k, _)| *k == number);
            let message = || format!("there is no frame {number} in {}", folder.display());
            Some(found.ok_or_else(|| Failure::Input(message()))?)
        }
        None => frames.last(),
    };
    if let Some((number, path)) = wanted {
        let frame = Frame::read(path).map_err(|error| Failure::Run(error.to_string()))?;
        told += &format!(
            "\nframe {number} at {} s: {}\n",
            text::number(frame.info.time),
            text::plural(frame.len(), "particle")
        );
        told += &text::columns(&frame.columns.iter().map(describe).collect::<Vec<_>>());
    }
    Ok(told)
}

fn summary(folder: &Path, report: &Report, frames: usize) -> String {
    let state = match (&report.error, report.finished) {
        (Some(error), _) => format!("failed: {error}"),
        (None, true) => "finished".to_owned(),
        (None, false) => format!("not finished; go on with: littoral run {} --resume", folder.display()),
    };
    let mut rows = vec![
        vec!["state".to_owned(), state],
        vec!["frames".to_owned(), format!("{frames} of {}", report.last_frame + 1)],
        vec![
            "scene".to_owned(),
            format!("{} {}", &report.scene_hash.get(..12).unwrap_or(""), report.overrides.join(" ")),
        ],
        vec!["bodies".to_owned(), report.bodies.join(", ")],
        vec![
            "particles".to_owned(),
            format!(
                "{} and {} wall samples, {} a particle",
                text::count(report.particles as u64),
                text::count(report.walls as u64),
                text::bytes(report.bytes_per_particle)
            ),
        ],
        vec!["steps".to_owned(), format!("{}, limited by {}", text::count(report.steps), limits(report))],
    ];
    if let Some(last) = report.frames.last() {
        let d = &last.diagnostics;
        rows.push(vec![
            "energy".to_owned(),
            format!(
                "{} J kinetic, {} J potential at {} s",
                text::number(d.kinetic_energy),
                text::number(d.potential_energy),
                text::number(last.time)
            ),
        ]);
        rows.push(vec![
            "compression".to_owned(),
            format!(
                "{:.3} % at most, {:.3} % on average",
                100.0 * d.density_error_max,
                100.0 * d.density_error_mean
            ),
        ]);
        if let Some(water) = d.water {
            rows.push(vec![
                "liquid".to_owned(),
                format!(
                    "{} kg: {} free, {} in pores, {} in films on them",
                    text::number(water.total()),
                    text::number(water.free),
                    text::number(water.absorbed),
                    text::number(water.pooled)
                ),
            ]);
        }
    }
    let seconds = Duration::try_from_secs_f64(report.wall_time.total).unwrap_or_default();
    let device = report.device.clone().unwrap_or_else(|| text::plural(report.threads, "thread"));
    rows.push(vec![
        "took".to_owned(),
        format!(
            "{} by littoral {} on {} ({device})",
            text::duration(seconds),
            report.littoral,
            report.backend
        ),
    ]);
    rows.extend(report.warnings.iter().map(|warning| vec!["warning".to_owned(), warning.clone()]));
    format!("{}\n{}", report.title, text::columns(&rows))
}

fn limits(report: &Report) -> String {
    let mut limits: Vec<(&String, &u64)> = report.limits.iter().collect();
    limits.sort_by_key(|(_, steps)| std::cmp::Reverse(**steps));
    let share = |steps: u64| 100.0 * steps as f64 / report.steps.max(1) as f64;
    let told: Vec<String> =
        limits.iter().map(|(name, steps)| format!("{name} ({:.0} %)", share(**steps))).collect();
    if told.is_empty() { "nothing yet".to_owned() } else { told.join(", ") }
}

/// Name, unit and range of a column; lengths where it holds vectors.
fn describe(column: &TableColumn) -> Vec<String> {
    let (kind, numbers): (&str, Vec<f64>) = match &column.values {
        Values::Scalars(values) => ("", values.iter().map(|&value| f64::from(value)).collect()),
        Values::Indices(values) => ("", values.iter().map(|&value| f64::from(value)).collect()),
        Values::Vectors { width, numbers } => {
            let length = |row: &[f32]| row.iter().map(|&c| f64::from(c).powi(2)).sum::<f64>().sqrt();
            ("length", numbers.chunks(*width).map(length).collect())
        }
    };
    let smallest = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = if numbers.is_empty() {
        "empty".to_owned()
    } else {
        format!("{kind} {} to {}", text::number(smallest), text::number(largest)).trim().to_owned()
    };
    vec![column.name.clone(), column.unit.clone(), range]
}
