//! What is wrong with a scene, where, and what to do about it.
//!
//! A [`Problem`] carries its own source text, so that it can be shown long after the scene was read: by miette in
//! a terminal, as plain text ([`Problem::plain`]), or as JSON (it serialises).

use std::fmt::{self, Display, Write as _};
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// A named text that problems point into: the scene file, or one `--set`.
pub type Source = Arc<NamedSource<String>>;

/// A stretch of a source, in bytes.
#[derive(Clone, Debug)]
pub struct Place {
    pub source: Source,
    pub span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One thing that is wrong, or looks wrong, with a scene.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Short and stable, such as `unknown-key`.
    pub code: &'static str,
    pub severity: Severity,
    /// What is wrong, in a sentence without its full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Where; `None` for what has no text to point at, such as a missing file.
    place: Option<Place>,
    /// Written under the offending text.
    label: String,
    /// A second stretch of the same text that explains the first.
    also: Option<(Range<usize>, String)>,
}

impl Problem {
    pub fn error(code: &'static str, place: &Place, message: impl Into<String>) -> Problem {
        Problem {
            code,
            severity: Severity::Error,
            message: message.into(),
            help: None,
            place: Some(place.clone()),
            label: String::new(),
            also: None,
        }
    }

    pub fn warning(code: &'static str, place: &Place, message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::error(code, place, message) }
    }

    /// The words under the underlined text.
    #[must_use]
    pub fn label(self, label: impl Into<String>) -> Problem {
        Problem { label: label.into(), ..self }
    }

    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Problem {
        Problem { help: Some(help.into()), ..self }
    }

    /// Help, where there is something helpful to say.
    #[must_use]
    pub fn help_if(self, help: Option<String>) -> Problem {
        Problem { help: help.or(self.help), ..self }
    }

    /// Points at a second place, if it is in the same text.
    #[must_use]
    pub fn also(self, other: &Place, label: impl Into<String>) -> Problem {
        let same = self.place.as_ref().is_some_and(|place| Arc::ptr_eq(&place.source, &other.source));
        let also = same.then(|| (other.span.clone(), label.into()));
        Problem { also, ..self }
    }

    /// Name of the file, where there is one.
    pub fn file(&self) -> Option<&str> {
        self.place.as_ref().map(|place| place.source.name())
    }

    /// Line and column of the first offending character, from 1; columns count characters.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let place = self.place.as_ref()?;
        let line = Line::at(place.source.inner(), place.span.start);
        Some((line.number, line.column(place.span.start)))
    }

    /// Order of reading: the scene by place, then overrides as they were found.
    pub(super) fn reading_order(&self) -> usize {
        match &self.place {
            Some(place) if place.source.name() == super::overrides::FILE => usize::MAX,
            Some(place) => place.span.start,
            None => 0,
        }
    }

    /// The whole problem as text of several lines, for logs and for terminals without colour.
    pub fn plain(&self) -> String {
        let mut text = format!("{}[{}]: {}\n", self.severity.word(), self.code, self.message);
        if let (Some(place), Some((line, column))) = (&self.place, self.line_column()) {
            // Writing into a String cannot fail.
            let _ = writeln!(text, "  --> {}:{line}:{column}", place.source.name());
            let source = place.source.inner();
            let others = self.also.iter().map(|(span, label)| (span, label));
            let marked: Vec<_> = std::iter::once((&place.span, &self.label)).chain(others).collect();
            let last = marked.iter().map(|(span, _)| Line::at(source, span.start).number).max().unwrap_or(0);
            for (span, label) in marked {
                text += &excerpt(source, span, label, last.to_string().len());
            }
        }
        if let Some(help) = &self.help {
            let _ = writeln!(text, "  = help: {help}");
        }
        text
    }
}

/// A numbered line of text.
struct Line<'a> {
    number: usize,
    start: usize,
    text: &'a str,
}

impl Line<'_> {
    fn at(text: &str, offset: usize) -> Line<'_> {
        let offset = floor_boundary(text, offset);
        let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |newline| offset + newline);
        let number = text[..start].matches('\n').count() + 1;
        Line { number, start, text: text[start..end].trim_end_matches('\r') }
    }

    fn column(&self, offset: usize) -> usize {
        self.characters_before(offset) + 1
    }

    fn characters_before(&self, offset: usize) -> usize {
        let within = floor_boundary(self.text, offset.saturating_sub(self.start));
        self.text[..within].chars().count()
    }
}

/// The last character boundary at or before `offset`.
fn floor_boundary(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

/// The first line of a span with its offending part underlined; line numbers take `digits` columns.
fn excerpt(text: &str, span: &Range<usize>, label: &str, digits: usize) -> String {
    let line = Line::at(text, span.start);
    let first = line.characters_before(span.start);
    let width = line.characters_before(span.end.max(span.start)).saturating_sub(first).max(1);
    let gutter = " ".repeat(digits);
    // A tab stays a tab in the row below, so that the marks stand under their text.
    let indent: String = line.text.chars().take(first).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let marks = "^".repeat(width);
    let rows = [
        format!("{gutter} |"),
        format!("{:digits$} | {}", line.number, line.text),
        format!("{gutter} | {indent}{marks} {label}"),
    ];
    rows.iter().map(|row| format!("{}\n", row.trim_end())).collect()
}

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|place| place.source.as_ref() as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.place.as_ref()?;
        let words = |label: &str| (!label.is_empty()).then(|| label.to_owned());
        let primary = LabeledSpan::new_primary_with_span(words(&self.label), place.span.clone());
        let also =
            self.also.as_ref().map(|(span, label)| LabeledSpan::new_with_span(words(label), span.clone()));
        Some(Box::new(std::iter::once(primary).chain(also)))
    }
}

/// The plain machine form: code, severity, message, help, file, line, column.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let at = self.line_column();
        let mut fields = serializer.serialize_struct("Problem", 7)?;
        fields.serialize_field("code", self.code)?;
        fields.serialize_field("severity", self.severity.word())?;
        fields.serialize_field("message", &self.message)?;
        fields.serialize_field("help", &self.help)?;
        fields.serialize_field("file", &self.file())?;
        fields.serialize_field("line", &at.map(|at| at.0))?;
        fields.serialize_field("column", &at.map(|at| at.1))?;
        fields.end()
    }
}

/// Everything that is wrong with a scene, in reading order: at least one error, and the warnings found on the way.
///
/// `Display` is a headline; [`Problems::plain`] is the whole report, and so is what miette makes of it.
#[derive(Clone, Debug)]
pub struct Problems {
    name: String,
    list: Vec<Problem>,
}

impl Problems {
    pub(super) fn new(name: &str, list: Vec<Problem>) -> Problems {
        Problems { name: name.to_owned(), list }
    }

    /// A scene that could not be read at all; suggests gallery scenes of a similar name.
    pub fn missing_file(name: &str, reason: &std::io::Error) -> Problems {
        let near = crate::gallery::suggest(name);
        let help = match near {
            Some(scene) => format!("did you mean the gallery scene `{scene}`?"),
            None => format!("gallery scenes are {}", crate::gallery::names().join(", ")),
        };
        let problem = Problem {
            code: "missing-file",
            severity: Severity::Error,
            message: format!("cannot read `{name}`: {reason}"),
            help: Some(help),
            place: None,
            label: String::new(),
            also: None,
        };
        Problems::new(name, vec![problem])
    }

    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.list.iter()
    }

    pub fn error_count(&self) -> usize {
        self.list.iter().filter(|problem| problem.severity == Severity::Error).count()
    }

    /// The whole report as text.
    pub fn plain(&self) -> String {
        let mut text: String = self.list.iter().map(|problem| problem.plain() + "\n").collect();
        let _ = writeln!(text, "{self}");
        text
    }
}

impl Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.error_count() {
            1 => write!(f, "{}: 1 problem", self.name),
            n => write!(f, "{}: {n} problems", self.name),
        }
    }
}

impl std::error::Error for Problems {}

impl Diagnostic for Problems {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.list.iter().map(|problem| problem as &dyn Diagnostic)))
    }
}

impl Serialize for Problems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}
