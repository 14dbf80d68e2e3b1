//! What can go wrong, and the exit code it gets.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use littoral::scene::Problems;
use littoral::simulation::RunError;
use serde_json::{Value, json};

pub enum Failure {
    /// A scene with problems.
    Scene(Problems),
    /// Anything else that a user can get wrong.
    Input(String),
    /// The run was all right to begin with.
    Run(String),
    /// The user asked for it.
    Stopped,
    /// Already told.
    Silent(u8),
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Failure {
        Failure::Scene(problems)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        if error.is_bad_input() { Failure::Input(error.to_string()) } else { Failure::Run(error.to_string()) }
    }
}

impl Failure {
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::Run(_) => 1,
            Failure::Scene(_) | Failure::Input(_) => 2,
            // As shells report a program that Ctrl-C ended.
            Failure::Stopped => 130,
            Failure::Silent(code) => *code,
        })
    }

    pub fn show(&self) {
        match self {
            Failure::Scene(problems) => show_problems(problems),
            Failure::Input(message) | Failure::Run(message) => eprintln!("error: {message}"),
            Failure::Stopped | Failure::Silent(_) => {}
        }
    }

    /// One line for machines.
    pub fn to_json(&self) -> Value {
        match self {
            Failure::Scene(problems) => {
                json!({ "event": "error", "message": problems.to_string(), "problems": problems })
            }
            Failure::Input(message) | Failure::Run(message) => {
                json!({ "event": "error", "message": message })
            }
            Failure::Stopped | Failure::Silent(_) => Value::Null,
        }
    }

    /// The same failure, with nothing left to say.
    pub fn silenced(self) -> Failure {
        match self {
            Failure::Scene(_) | Failure::Input(_) => Failure::Silent(2),
            Failure::Run(_) => Failure::Silent(1),
            other => other,
        }
    }
}

/// With colours and lines on a terminal, as plain text elsewhere.
pub fn show_problems(problems: &Problems) {
    if io::stderr().is_terminal() {
        eprintln!("{:?}", miette::Report::new(problems.clone()));
    } else {
        eprint!("{}", problems.plain());
    }
}
