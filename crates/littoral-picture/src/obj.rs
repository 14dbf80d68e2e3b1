//! Wavefront OBJ files: positions, normals and faces of any number of corners.
//!
//! Read here and not by a crate because a user who names a broken file wants the line and the reason. Texture
//! coordinates, groups and materials are skipped. Polygons become fans of triangles from their first corner, which
//! is right for convex ones. A corner's position with two different normals becomes two vertices; when any corner
//! has no normal, normals are computed for all. Kept honest by `square_with_normals` and `errors_name_the_line`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use glam::Vec3;

use crate::figures::vertex_normals;
use crate::mesh::Mesh;

#[derive(Debug, thiserror::Error)]
pub enum ObjError {
    #[error("cannot read the mesh {path}: {reason}; check that the path is right, relative to where you are")]
    File { path: PathBuf, reason: std::io::Error },
    #[error("{path}, line {line}: {problem}")]
    Line { path: PathBuf, line: usize, problem: String },
    #[error("{path} has no faces; export the mesh as a polygon mesh in Wavefront OBJ format")]
    NoFaces { path: PathBuf },
}

/// The mesh in the file at `path`, in the file's own units.
pub fn read(path: &Path) -> Result<Mesh, ObjError> {
    let bytes = std::fs::read(path).map_err(|reason| ObjError::File { path: path.into(), reason })?;
    // Names of groups and materials may be in any encoding: they are skipped.
    parse(&String::from_utf8_lossy(&bytes), path)
}

/// The mesh in `text`; `path` is what errors call it.
pub fn parse(text: &str, path: &Path) -> Result<Mesh, ObjError> {
    let mut positions: Vec<Vec3> = Vec::new();
    let mut normals: Vec<Vec3> = Vec::new();
    let mut mesh = Mesh::default();
    // A vertex of the mesh for each pair of position and normal that occurs.
    let mut vertices: HashMap<(u32, Option<u32>), u32> = HashMap::new();
    let mut every_corner_has_a_normal = true;

    for (number, line) in text.lines().enumerate() {
        let fail = |problem: String| ObjError::Line { path: path.into(), line: number + 1, problem };
        let line = line.split('#').next().unwrap_or("");
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => positions.push(vector(words).map_err(fail)?),
            Some("vn") => normals.push(vector(words).map_err(fail)?),
            Some("f") => {
                let mut face = Vec::new();
                for word in words {
                    let mut parts = word.split('/');
                    let position = index(parts.next(), positions.len(), "position").map_err(fail)?;
                    let position =
                        position.ok_or_else(|| fail(format!("the corner `{word}` has no position")))?;
                    let normal = index(parts.nth(1), normals.len(), "normal").map_err(fail)?;
                    every_corner_has_a_normal &= normal.is_some();
                    face.push(*vertices.entry((position, normal)).or_insert_with(|| {
                        mesh.positions.push(positions[position as usize]);
                        mesh.normals
                            .push(normal.map_or(Vec3::ZERO, |n| normals[n as usize].normalize_or(Vec3::Y)));
                        mesh.positions.len() as u32 - 1
                    }));
                }
                if face.len() < 3 {
                    return Err(fail(format!("a face needs 3 corners or more, this one has {}", face.len())));
                }
                mesh.triangles.extend(face[1..].windows(2).map(|pair| [face[0], pair[0], pair[1]]));
            }
            _ => {}
        }
    }
    if mesh.triangles.is_empty() {
        return Err(ObjError::NoFaces { path: path.into() });
    }
    if !every_corner_has_a_normal {
        mesh.normals = vertex_normals(&mesh.positions, &mesh.triangles);
    }
    Ok(mesh)
}

fn vector<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Vec3, String> {
    let mut next = |axis| {
        let word = words.next().ok_or_else(|| format!("the {axis} coordinate is missing"))?;
        match word.parse::<f32>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(format!("`{word}` is not a number")),
        }
    };
    Ok(Vec3::new(next("x")?, next("y")?, next("z")?))
}

/// Indices count from 1; negative ones count back from the last item read so far.
fn index(word: Option<&str>, count: usize, what: &str) -> Result<Option<u32>, String> {
    let Some(word) = word.filter(|word| !word.is_empty()) else { return Ok(None) };
    let number: i64 = word.parse().map_err(|_| format!("`{word}` is not the number of a {what}"))?;
    let from_zero = if number < 0 { count as i64 + number } else { number - 1 };
    if (0..count as i64).contains(&from_zero) {
        Ok(Some(from_zero as u32))
    } else {
        Err(format!("a face names {what} {number}, but only {count} stand above this line"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Mesh, ObjError> {
        super::parse(text, Path::new("duck.obj"))
    }

    #[test]
    fn square_with_normals() {
        let text = "# a square\no square\nv 0 0 0\nv 1 0 0 # right\nv 1 0 -1\nv 0 0 -1\nvt 0 0\nvn 0 2 0\n\
                    usemtl stone\nf 1/1/1 2/1/1 3//1 -1//-1\n";
        let mesh = parse(text).unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(mesh.positions[2], Vec3::new(1.0, 0.0, -1.0));
        assert_eq!(mesh.normals, [Vec3::Y; 4]);
    }

    #[test]
    fn normals_are_computed_where_the_file_has_none() {
        let mesh = parse("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3").unwrap();
        assert_eq!(mesh.normals, [Vec3::Z; 3]);
    }

    #[test]
    fn a_hard_edge_makes_two_vertices() {
        let text =
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nvn 0 1 0\nf 1//1 2//1 3//1\nf 1//2 4//2 2//2";
        assert_eq!(parse(text).unwrap().positions.len(), 6);
    }

    #[test]
    fn errors_name_the_line() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(message("v 0 0"), "duck.obj, line 1: the z coordinate is missing");
        assert_eq!(message("v 0 0 nan"), "duck.obj, line 1: `nan` is not a number");
        assert_eq!(
            message("v 0 0 0\nf 1 2 3"),
            "duck.obj, line 2: a face names position 2, but only 1 stand above this line"
        );
        assert_eq!(
            message("v 0 0 0\nf 1 1"),
            "duck.obj, line 2: a face needs 3 corners or more, this one has 2"
        );
        assert_eq!(message("f a b c"), "duck.obj, line 1: `a` is not the number of a position");
        assert!(message("v 0 0 0").contains("no faces"));
        assert!(read(Path::new("no such duck.obj")).unwrap_err().to_string().contains("no such duck"));
    }
}
