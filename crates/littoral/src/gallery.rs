//! Scenes that come with the program: every one can be run by its name.

use crate::scene::nearest_name;

macro_rules! scenes {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each scene, in the order they are listed to a user.
        pub static GALLERY: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../scenes/", $name, ".toml")))),*];
    };
}

scenes!(
    "dam-break",
    "dam-break-2d",
    "drop",
    "jet",
    "honey",
    "hydrostatic",
    "putty",
    "looks",
    "double-dam-break",
    "cup",
    "fountain",
    "three-fluids",
    "mixer",
    "rain-on-a-roof",
    "figures-in-a-pipe",
    "river",
    "lava",
    "bowling-ball",
    "vibrated-dish",
    "underwater-cloth",
    "underwater-sphere",
    "underwater-figure",
    "sand-column",
    "hourglass",
    "sand-on-a-figure",
    "jet-on-a-heap",
    "moist-column",
    "rain-to-mud",
    "adhesion",
    "flag",
    "banner",
    "soft-figure",
    "skirt",
    "shell-and-cloth",
    "bowl",
    "breaking-plate",
    "water-on-cloth",
    "jet-on-cloth",
    "leaking-cloth",
    "knit-on-sphere",
    "jet-on-knit",
    "sponges",
    "wet-cloth",
    "wrung-cloth",
    "squeezed-figure",
    "fine-surface"
);

/// Files that scenes of the gallery name, with their text.
pub static FILES: &[(&str, &str)] = &[
    ("putty.obj", include_str!("../../../scenes/putty.obj")),
    ("cup.obj", include_str!("../../../scenes/cup.obj")),
    ("skirt.obj", include_str!("../../../scenes/skirt.obj")),
];

/// The text of a scene of this name.
pub fn find(name: &str) -> Option<&'static str> {
    GALLERY.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub fn names() -> Vec<&'static str> {
    GALLERY.iter().map(|(name, _)| *name).collect()
}

/// The scene that was probably meant by a name or a path that does not exist.
pub fn suggest(name: &str) -> Option<&'static str> {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = file.strip_suffix(".toml").unwrap_or(file);
    nearest_name(stem, &names())
}

/// What a scene shows: the comment on its first line.
pub fn summary(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_start_matches('#').trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_by_name_and_suggests_by_likeness() {
        assert!(find("dam-break").is_some());
        assert!(find("dam_break").is_none());
        assert_eq!(suggest("scenes/dam_break.toml"), Some("dam-break"));
        assert_eq!(suggest("hydrostatik"), Some("hydrostatic"));
        assert_eq!(suggest("volcano"), None);
    }

    #[test]
    fn every_scene_says_what_it_shows() {
        for (name, text) in GALLERY {
            assert!(text.starts_with("# "), "{name}");
            assert!(summary(text).len() > 20, "{name}");
        }
    }
}
