//! Meshes and particles as files that other programs open.
//!
//! PLY (binary, with normals and attributes; also for particles), OBJ (positions and normals), VTK XML (`.vtp`, with
//! attributes). A vertex attribute `colour` of width 3 (linear RGB) becomes `red green blue` bytes, sRGB, in PLY.
//! Kept honest by tests that read the bytes back.

use crate::mesh::{Attribute, Mesh};
use glam::Vec3;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    #[error("{path}: do not know this kind of file; use .ply, .obj or .vtp", path = .0.display())]
    UnknownKind(PathBuf),
    #[error("{path}: {source}; is there a folder, and room on the disk?", path = .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Writes a mesh as the file's extension says. The file appears whole or not at all.
pub fn write_mesh(path: &Path, mesh: &Mesh) -> Result<(), ExchangeError> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("ply") => whole(path, |out| write_ply(out, mesh)),
        Some("obj") => whole(path, |out| write_obj(out, mesh)),
        Some("vtp") => whole(path, |out| write_vtp(out, mesh)),
        _ => Err(ExchangeError::UnknownKind(path.to_owned())),
    }
}

/// Writes particles as PLY points.
pub fn write_points(path: &Path, positions: &[Vec3], attributes: &[Attribute]) -> Result<(), ExchangeError> {
    whole(path, |out| write_ply_points(out, positions, attributes))
}

/// Written aside, then renamed.
fn whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), ExchangeError> {
    let aside = aside(path);
    let attempt = || {
        let mut out = BufWriter::new(File::create(&aside)?);
        write(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&aside, path)
    };
    attempt().map_err(|source| {
        let _ = fs::remove_file(&aside);
        ExchangeError::Io { path: path.to_owned(), source }
    })
}

/// The hidden name a file has until it is whole.
pub(crate) fn aside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".tmp");
    path.with_file_name(name)
}

/// Binary little-endian PLY.
pub fn write_ply(out: &mut impl Write, mesh: &Mesh) -> io::Result<()> {
    write_ply_vertices(out, &mesh.positions, &mesh.normals, &mesh.attributes, Some(mesh.triangles.len()))?;
    for triangle in &mesh.triangles {
        out.write_all(&[3])?;
        out.write_all(bytemuck::bytes_of(&triangle.map(u32::to_le)))?;
    }
    Ok(())
}

/// Points without faces.
pub fn write_ply_points(
    out: &mut impl Write,
    positions: &[Vec3],
    attributes: &[Attribute],
) -> io::Result<()> {
    write_ply_vertices(out, positions, &[], attributes, None)
}

/// Header and vertices.
fn write_ply_vertices(
    out: &mut impl Write,
    positions: &[Vec3],
    normals: &[Vec3],
    attributes: &[Attribute],
    faces: Option<usize>,
) -> io::Result<()> {
    let has_normals = !normals.is_empty();
    writeln!(out, "ply\nformat binary_little_endian 1.0\nelement vertex {}", positions.len())?;
    writeln!(out, "property float x\nproperty float y\nproperty float z")?;
    if has_normals {
        writeln!(out, "property float nx\nproperty float ny\nproperty float nz")?;
    }
    for attribute in attributes {
        if is_colour(attribute) {
            writeln!(out, "property uchar red\nproperty uchar green\nproperty uchar blue")?;
        } else {
            for part in 0..attribute.width {
                writeln!(out, "property float {}", part_name(attribute, part))?;
            }
        }
    }
    if let Some(faces) = faces {
        writeln!(out, "element face {faces}\nproperty list uchar int vertex_indices")?;
    }
    writeln!(out, "end_header")?;

    let write_floats = |out: &mut dyn Write, floats: &[f32]| {
        floats.iter().try_for_each(|float| out.write_all(&float.to_le_bytes()))
    };
    for (vertex, position) in positions.iter().enumerate() {
        write_floats(out, &position.to_array())?;
        if has_normals {
            write_floats(out, &normals[vertex].to_array())?;
        }
        for attribute in attributes {
            let values = &attribute.values[vertex * attribute.width..][..attribute.width];
            if is_colour(attribute) {
                out.write_all(&crate::colour::pixel(Vec3::from_slice(values)))?;
            } else {
                write_floats(out, values)?;
            }
        }
    }
    Ok(())
}

fn is_colour(attribute: &Attribute) -> bool {
    attribute.name == "colour" && attribute.width == 3
}

/// `velocity_x` for a part of a vector, the bare name for a number. PLY knows no blanks in names.
fn part_name(attribute: &Attribute, part: usize) -> String {
    let name = attribute.name.replace(char::is_whitespace, "_");
    match (attribute.width, part) {
        (1, _) => name,
        (2 | 3, part) => format!("{name}_{}", ["x", "y", "z"][part]),
        (_, part) => format!("{name}_{part}"),
    }
}

/// Wavefront OBJ: counts from 1, one normal for each vertex.
pub fn write_obj(out: &mut impl Write, mesh: &Mesh) -> io::Result<()> {
    for p in &mesh.positions {
        writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
    }
    for n in &mesh.normals {
        writeln!(out, "vn {} {} {}", n.x, n.y, n.z)?;
    }
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|vertex| vertex + 1);
        if mesh.normals.is_empty() {
            writeln!(out, "f {a} {b} {c}")?;
        } else {
            writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?;
        }
    }
    Ok(())
}

/// VTK XML poly data, arrays appended raw; each is preceded by its length in bytes (u64).
pub fn write_vtp(out: &mut impl Write, mesh: &Mesh) -> io::Result<()> {
    let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let vectors =
        |values: &[Vec3]| values.iter().flat_map(|v| v.to_array()).flat_map(f32::to_le_bytes).collect();
    let integers = |values: &mut dyn Iterator<Item = u32>| values.flat_map(u32::to_le_bytes).collect();
    let mut appended: Vec<Vec<u8>> = vec![];
    let mut offset = 0;
    // The line that announces an array.
    let mut array = |kind: &str, name: &str, width: usize, bytes: Vec<u8>| {
        let line = format!(
            r#"<DataArray type="{kind}" Name="{name}" NumberOfComponents="{width}" format="appended" offset="{offset}"/>"#
        );
        offset += 8 + bytes.len();
        appended.push(bytes);
        line
    };

    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(
        out,
        r#"<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">"#
    )?;
    writeln!(
        out,
        r#"<PolyData><Piece NumberOfPoints="{}" NumberOfVerts="0" NumberOfLines="0" NumberOfStrips="0" NumberOfPolys="{}">"#,
        mesh.positions.len(),
        mesh.triangles.len()
    )?;
    writeln!(out, "<Points>{}</Points>", array("Float32", "Points", 3, vectors(&mesh.positions)))?;
    let normals = if mesh.normals.is_empty() { "" } else { r#" Normals="Normals""# };
    writeln!(out, "<PointData{normals}>")?;
    if !mesh.normals.is_empty() {
        writeln!(out, "{}", array("Float32", "Normals", 3, vectors(&mesh.normals)))?;
    }
    for attribute in &mesh.attributes {
        let name = escaped(&attribute.name);
        writeln!(out, "{}", array("Float32", &name, attribute.width, floats(&attribute.values)))?;
    }
    writeln!(out, "</PointData>\n<Polys>")?;
    let corners = integers(&mut mesh.triangles.iter().flatten().copied());
    writeln!(out, "{}", array("UInt32", "connectivity", 1, corners))?;
    let ends = integers(&mut (1..=mesh.triangles.len() as u32).map(|triangle| 3 * triangle));
    writeln!(out, "{}", array("UInt32", "offsets", 1, ends))?;
    write!(out, "</Polys></Piece></PolyData>\n<AppendedData encoding=\"raw\">\n_")?;
    for bytes in &appended {
        out.write_all(&(bytes.len() as u64).to_le_bytes())?;
        out.write_all(bytes)?;
    }
    writeln!(out, "\n</AppendedData></VTKFile>")
}

fn escaped(name: &str) -> String {
    name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh() -> Mesh {
        Mesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.1, 0.2, 0.3)],
            normals: vec![Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
            attributes: vec![
                Attribute { name: "wetness".into(), width: 1, values: vec![0.0, 0.25, 0.5, 1.0] },
                Attribute { name: "colour".into(), width: 3, values: [[1.0, 0.5, 0.0]; 4].concat() },
            ],
        }
    }

    /// Header lines and body.
    fn split(bytes: &[u8], mark: &str) -> (String, Vec<u8>) {
        let at = bytes.windows(mark.len()).position(|window| window == mark.as_bytes()).expect("a mark")
            + mark.len();
        (String::from_utf8(bytes[..at].to_vec()).expect("text"), bytes[at..].to_vec())
    }

    fn float(bytes: &[u8], at: usize) -> f32 {
        f32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    }

    #[test]
    fn ply_reads_back() {
        let mut bytes = vec![];
        write_ply(&mut bytes, &mesh()).expect("memory");
        let (header, body) = split(&bytes, "end_header\n");
        assert!(header.starts_with("ply\nformat binary_little_endian 1.0\nelement vertex 4\n"));
        assert!(header.contains("property float wetness\nproperty uchar red\n"));
        // 6 floats, 1 float, 3 bytes; 1 byte and 3 indices.
        let stride = 7 * 4 + 3;
        assert_eq!(body.len(), 4 * stride + 4 * 13);
        let last = &body[3 * stride..4 * stride];
        assert_eq!([float(last, 0), float(last, 4), float(last, 8)], [0.1, 0.2, 0.3]);
        assert_eq!(float(last, 12), -1.0);
        assert_eq!(float(last, 24), 1.0);
        assert_eq!(last[28..], [255, 188, 0]); // linear 1/2 is sRGB 188
        assert_eq!(body[4 * stride..][..13], [3, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn points_have_no_faces() {
        let mut bytes = vec![];
        let speed = Attribute { name: "mean velocity".into(), width: 3, values: vec![1.0, 2.0, 3.0] };
        write_ply_points(&mut bytes, &[Vec3::ONE], &[speed]).expect("memory");
        let (header, body) = split(&bytes, "end_header\n");
        assert!(header.contains("property float mean_velocity_z\n") && !header.contains("face"));
        assert_eq!(body.len(), 24);
        assert_eq!(float(&body, 20), 3.0);
    }

    #[test]
    fn obj_reads_back() {
        let mut bytes = vec![];
        write_obj(&mut bytes, &mesh()).expect("memory");
        let text = String::from_utf8(bytes).expect("text");
        assert_eq!(text.lines().filter(|line| line.starts_with("v ")).nth(3), Some("v 0.1 0.2 0.3"));
        assert_eq!(text.lines().filter(|line| line.starts_with("vn ")).count(), 4);
        assert_eq!(text.lines().last(), Some("f 2//2 3//3 4//4"));
    }

    #[test]
    fn vtp_offsets_point_at_the_arrays() {
        let mut bytes = vec![];
        write_vtp(&mut bytes, &mesh()).expect("memory");
        let (header, body) = split(&bytes, "\n_");
        let offset = |name: &str| {
            let line = header.split(&format!("Name=\"{name}\"")).nth(1).expect("an array");
            line.split("offset=\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next())
                .expect("an offset")
                .parse::<usize>()
        };
        let at = offset("wetness").expect("a number");
        assert_eq!(body[at..at + 8], 16u64.to_le_bytes());
        assert_eq!(float(&body, at + 8 + 12), 1.0);
        let at = offset("connectivity").expect("a number");
        assert_eq!(body[at + 8 + 4], 2);
        let at = offset("offsets").expect("a number");
        assert_eq!(body[at + 8..at + 12], 3u32.to_le_bytes());
        assert!(body.ends_with(b"</VTKFile>\n"));
    }

    #[test]
    fn files_appear_whole_and_kinds_are_known() {
        let folder = std::env::temp_dir().join(format!("littoral-exchange-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        write_mesh(&folder.join("mesh.ply"), &mesh()).expect("a file");
        let names: Vec<_> = fs::read_dir(&folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        assert_eq!(names, ["mesh.ply"]);
        assert!(matches!(write_mesh(&folder.join("mesh.xyz"), &mesh()), Err(ExchangeError::UnknownKind(_))));
        let error = write_mesh(&folder.join("none/mesh.obj"), &mesh()).expect_err("no folder");
        assert!(error.to_string().contains("folder"), "{error}");
        fs::remove_dir_all(&folder).expect("removal");
    }
}
