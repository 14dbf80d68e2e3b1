//! Near misses: what a misspelt name was probably meant to be.

use super::keys::OTHER_WORDS;

/// Longer names than this are not misspellings of ours; also bounds the work on hostile text.
const MAX_LENGTH: usize = 40;

/// The candidate closest to `name`, if one is close.
pub fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    if name.len() > MAX_LENGTH {
        return None;
    }
    let lower = name.to_lowercase().replace(' ', "_");
    let synonym = OTHER_WORDS.iter().filter(|(other, _)| *other == lower).map(|(_, ours)| *ours);
    if let Some(found) = synonym.filter_map(|ours| candidates.iter().find(|c| **c == ours)).next() {
        return Some(found);
    }
    let distance = |candidate: &str| strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
    // One slip in three letters; a name of one or two letters must match but for case.
    let allowed = lower.chars().count() / 3;
    candidates
        .iter()
        .copied()
        .map(|c| (distance(c), c))
        .filter(|(d, _)| *d <= allowed)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// "did you mean `spacing`?"
pub fn did_you_mean(name: &str, candidates: &[&str]) -> Option<String> {
    nearest(name, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// "`a`, `b` or `c`"
pub fn list_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_near_misses_and_other_words() {
        let keys = ["spacing", "support", "kernel"];
        assert_eq!(nearest("spaceing", &keys), Some("spacing"));
        assert_eq!(nearest("Kernel", &keys), Some("kernel"));
        assert_eq!(nearest("smoothing_length", &keys), Some("support"));
        assert_eq!(nearest("colour", &keys), None);
        assert_eq!(nearest(&"x".repeat(10_000), &keys), None);
    }

    #[test]
    fn lists_read_as_english() {
        assert_eq!(list_of(&["a"]), "`a`");
        assert_eq!(list_of(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
