//! `littoral plot`: what a run says about itself, as curves over time.

use std::path::{Path, PathBuf};

use clap::Args;
use littoral::report::{FrameRecord, Report};
use littoral::run_folder::report_file;
use littoral_picture::plot::{self, Panel, Series};

use crate::failure::Failure;
use crate::picture::album;
use crate::print;

#[derive(Args)]
pub struct Arguments {
    /// The folder of a run, also of one that goes on
    folder: PathBuf,
    /// Where plots go, without an ending: OUT.png and OUT.svg [default: DIR/plots]
    #[arg(long, value_name = "OUT")]
    out: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

pub fn command(arguments: &Arguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let report = Report::read(&report_file(folder))
        .map_err(|error| Failure::Input(format!("`{}` holds no run: run.json: {error}", folder.display())))?;
    if report.frames.is_empty() {
        return Err(Failure::Input(format!("`{}` has no frames yet: nothing to plot", folder.display())));
    }
    let panels = panels(&report);
    let out = arguments.out.clone().unwrap_or_else(|| folder.join("plots"));
    // Not `with_extension`: a name may have dots of its own.
    let file = |ending: &str| PathBuf::from(format!("{}.{ending}", out.display()));
    album::write(&file("svg"), plot::svg(&panels, &report.title).as_bytes())?;
    album::write(&file("png"), &plot::png(&panels, &report.title).to_png())?;
    if !arguments.quiet {
        print(&format!("{}\n{}\n", shown(&file("png")), shown(&file("svg"))));
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    format!("  plots: {}", path.display())
}

fn panels(report: &Report) -> Vec<Panel> {
    let over_time = |name: &str, value: &dyn Fn(&FrameRecord) -> f64| Series {
        name: name.to_owned(),
        points: report.frames.iter().map(|record| (record.time, value(record))).collect(),
    };
    let panel = |title: &str, y_label: &str, log_y: bool, series: Vec<Series>| Panel {
        title: title.to_owned(),
        x_label: "time, s".to_owned(),
        y_label: y_label.to_owned(),
        series,
        log_y,
    };
    let energy = if report.dimensions == 2 { "J/m" } else { "J" };
    let percent = |part: f64| 100.0 * part;
    let taken: Vec<(f64, f64)> =
        report.frames.windows(2).map(|pair| (pair[1].time, (pair[1].steps - pair[0].steps) as f64)).collect();
    vec![
        panel(
            "Energy",
            energy,
            false,
            vec![
                over_time("kinetic", &|record| record.diagnostics.kinetic_energy),
                over_time("potential", &|record| record.diagnostics.potential_energy),
                over_time("sum", &|record| {
                    record.diagnostics.kinetic_energy + record.diagnostics.potential_energy
                }),
            ],
        ),
        panel(
            "Density above rest",
            "%",
            false,
            vec![
                over_time("largest", &|record| percent(record.diagnostics.density_error_max)),
                over_time("mean", &|record| percent(record.diagnostics.density_error_mean)),
            ],
        ),
        panel("Time step", "s", true, vec![over_time("step", &|record| record.dt)]),
        panel("Steps a frame", "steps", false, vec![Series { name: "steps".to_owned(), points: taken }]),
        panel("Particles", "particles", false, vec![over_time("particles", &|r| r.particles as f64)]),
        panel("Computing time a frame", "s", false, vec![over_time("time", &|record| record.wall_seconds)]),
    ]
}
