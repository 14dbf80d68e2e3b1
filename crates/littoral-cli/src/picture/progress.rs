//! What is said while pictures are made.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use super::album::Cost;
use crate::print;
use crate::progress::Voice;
use crate::text;

pub struct PictureProgress {
    voice: Voice,
    /// What is made: "picture", "surface".
    noun: &'static str,
    bar: Option<ProgressBar>,
    total: usize,
    made: usize,
    kept: usize,
    cost: Cost,
    started: Instant,
    spoken: Option<Instant>,
}

const BETWEEN_LINES: Duration = Duration::from_secs(2);

impl PictureProgress {
    pub fn start(voice: Voice, noun: &'static str, total: usize) -> PictureProgress {
        let with_bar = voice == Voice::Human && io::stderr().is_terminal();
        let bar = with_bar.then(|| {
            let style = ProgressStyle::with_template("{bar:16} {wide_msg}").expect("the template is ours");
            ProgressBar::new(total as u64).with_style(style.progress_chars("━╸─"))
        });
        PictureProgress {
            voice,
            noun,
            bar,
            total,
            made: 0,
            kept: 0,
            cost: Cost::default(),
            started: Instant::now(),
            spoken: None,
        }
    }

    /// One is done: made at this cost, or kept because it was there and still right.
    pub fn done(&mut self, frame: u64, cost: Option<Cost>) {
        match cost {
            None => self.kept += 1,
            Some(cost) => {
                self.made += 1;
                self.cost.rays += cost.rays;
                self.cost.seconds += cost.seconds;
            }
        }
        self.say(frame, cost);
    }

    fn say(&mut self, frame: u64, cost: Option<Cost>) {
        let done = self.made + self.kept;
        match self.voice {
            Voice::Quiet => {}
            Voice::Json => {
                let Cost { rays, seconds } = cost.unwrap_or_default();
                let event = json!({
                    "event": self.noun, "frame": frame, "made": cost.is_some(), "seconds": seconds, "rays": rays,
                });
                print(&format!("{event}\n"));
            }
            Voice::Human => {
                let each = self.started.elapsed().as_secs_f64() / self.made.max(1) as f64;
                let left = each * (self.total - done) as f64;
                let left = match self.total - done {
                    0 => String::new(),
                    _ => format!(", {} left", text::duration(Duration::from_secs_f64(left.min(3e9)))),
                };
                let line = format!("{} {done}/{}{left}", self.noun, self.total);
                match &self.bar {
                    Some(bar) => {
                        bar.set_position(done as u64);
                        bar.set_message(line);
                    }
                    None if self.spoken.is_none_or(|spoken| spoken.elapsed() >= BETWEEN_LINES) => {
                        print(&format!("  {line}\n"));
                        self.spoken = Some(Instant::now());
                    }
                    None => {}
                }
            }
        }
    }

    /// The user asked to stop.
    pub fn stopped(&self, next: &Path) {
        self.clear();
        if self.voice == Voice::Json {
            print(&format!(
                "{}\n",
                json!({ "event": "end", "outcome": "stopped", "made": self.made, "kept": self.kept })
            ));
        }
        if self.voice == Voice::Human {
            let done = self.made + self.kept;
            let next = next.display();
            print(&format!(
                "stopped after {done} of {}, before {next}; the same command goes on\n",
                self.total
            ));
        }
    }

    /// All is done: these files, by what they are.
    pub fn end(&self, files: &[(&str, PathBuf)]) {
        self.clear();
        match self.voice {
            Voice::Quiet => {}
            Voice::Json => {
                let mut event = Map::from_iter([
                    ("event".to_owned(), json!("end")),
                    ("outcome".to_owned(), json!("finished")),
                    ("made".to_owned(), json!(self.made)),
                    ("kept".to_owned(), json!(self.kept)),
                    ("seconds".to_owned(), json!(self.started.elapsed().as_secs_f64())),
                    ("rays".to_owned(), json!(self.cost.rays)),
                ]);
                event.extend(files.iter().map(|(what, file)| ((*what).to_owned(), json!(file))));
                print(&format!("{}\n", Value::Object(event)));
            }
            Voice::Human => {
                let kept = if self.kept > 0 { format!(", {} were there", self.kept) } else { String::new() };
                let mut lines = format!(
                    "made {}{kept}, in {}",
                    text::plural(self.made, self.noun),
                    text::duration(self.started.elapsed())
                );
                if self.cost.rays > 0 {
                    let rate = self.cost.rays as f64 / self.cost.seconds.max(1e-9);
                    lines += &format!(": {:.1} million rays/s", 1e-6 * rate);
                }
                lines += "\n";
                for (what, file) in files {
                    lines += &format!("  {what}: {}\n", file.display());
                }
                print(&lines);
            }
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
