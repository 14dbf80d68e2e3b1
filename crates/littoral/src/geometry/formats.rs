//! Triangles from files: OBJ, PLY, STL, glTF and GLB.
//!
//! Only the surface is read: normals, colours and textures are not. Polygons are cut into fans. A glTF file's nodes
//! are put where its default scene has them.

use std::io::Cursor;

use base64::Engine as _;
use glam::{DMat4, DVec3};
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};

use super::TriangleMesh;

#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    #[error("its name does not say what it is; expected .obj, .ply, .stl, .gltf or .glb")]
    UnknownEnding,
    #[error("it is no {format} file: {reason}")]
    Broken { format: &'static str, reason: String },
    #[error("a triangle names a corner that is not there")]
    MissingCorner,
    #[error("a corner is not finite")]
    NotFinite,
}

/// Reads a mesh; the ending of `name` says how. `find` reads files that the file itself names (buffers of glTF).
pub fn read_mesh(
    name: &str,
    bytes: &[u8],
    find: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Result<TriangleMesh, FormatError> {
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let mesh = match ending.as_str() {
        "obj" => obj(bytes),
        "ply" => ply(bytes),
        "stl" => stl(bytes),
        "gltf" | "glb" => gltf(bytes, find),
        _ => Err(FormatError::UnknownEnding),
    }?;
    let count = mesh.positions.len() as u32;
    if mesh.triangles.iter().flatten().any(|&i| i >= count) {
        return Err(FormatError::MissingCorner);
    }
    if mesh.positions.iter().any(|p| !p.is_finite()) {
        return Err(FormatError::NotFinite);
    }
    Ok(mesh)
}

fn broken(format: &'static str, reason: impl std::fmt::Display) -> FormatError {
    FormatError::Broken { format, reason: reason.to_string() }
}

fn point(p: [f32; 3]) -> DVec3 {
    DVec3::from(p.map(f64::from))
}

fn obj(bytes: &[u8]) -> Result<TriangleMesh, FormatError> {
    let options = tobj::LoadOptions { triangulate: true, single_index: false, ..Default::default() };
    let no_materials = |_: &std::path::Path| Ok(Default::default());
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(bytes), &options, no_materials)
        .map_err(|error| broken("OBJ", error))?;
    let mut mesh = TriangleMesh::default();
    for model in models {
        let start = mesh.positions.len() as u32;
        let positions = model.mesh.positions.chunks_exact(3);
        mesh.positions.extend(positions.map(|p| point([p[0], p[1], p[2]])));
        let triangles = model.mesh.indices.chunks_exact(3);
        mesh.triangles.extend(triangles.map(|t| [t[0], t[1], t[2]].map(|i| start.saturating_add(i))));
    }
    Ok(mesh)
}

fn stl(bytes: &[u8]) -> Result<TriangleMesh, FormatError> {
    let read = stl_io::read_stl(&mut Cursor::new(bytes)).map_err(|error| broken("STL", error))?;
    Ok(TriangleMesh {
        positions: read.vertices.iter().map(|v| point([v[0], v[1], v[2]])).collect(),
        triangles: read.faces.iter().map(|face| face.vertices.map(|i| i as u32)).collect(),
    })
}

fn ply(bytes: &[u8]) -> Result<TriangleMesh, FormatError> {
    let read = Parser::<DefaultElement>::new()
        .read_ply(&mut Cursor::new(bytes))
        .map_err(|error| broken("PLY", error))?;
    let corners = read.payload.get("vertex").ok_or_else(|| broken("PLY", "it has no `vertex` elements"))?;
    let mut mesh = TriangleMesh::default();
    for corner in corners {
        let place = ["x", "y", "z"].map(|axis| corner.get(axis).and_then(number));
        let [Some(x), Some(y), Some(z)] = place else {
            return Err(broken("PLY", "a vertex has no x, y and z"));
        };
        mesh.positions.push(DVec3::new(x, y, z));
    }
    for face in read.payload.get("face").into_iter().flatten() {
        let list = face.get("vertex_indices").or_else(|| face.get("vertex_index"));
        let corners =
            list.and_then(indices).ok_or_else(|| broken("PLY", "a face has no `vertex_indices`"))?;
        mesh.triangles.extend((2..corners.len()).map(|k| [corners[0], corners[k - 1], corners[k]]));
    }
    Ok(mesh)
}

fn number(property: &Property) -> Option<f64> {
    Some(match *property {
        Property::Char(x) => x.into(),
        Property::UChar(x) => x.into(),
        Property::Short(x) => x.into(),
        Property::UShort(x) => x.into(),
        Property::Int(x) => x.into(),
        Property::UInt(x) => x.into(),
        Property::Float(x) => x.into(),
        Property::Double(x) => x,
        _ => return None,
    })
}

/// Corners of a face; a negative one becomes one that is not there.
fn indices(property: &Property) -> Option<Vec<u32>> {
    fn all<T: Copy + TryInto<u32>>(list: &[T]) -> Vec<u32> {
        list.iter().map(|&i| i.try_into().unwrap_or(u32::MAX)).collect()
    }
    Some(match property {
        Property::ListChar(list) => all(list),
        Property::ListUChar(list) => all(list),
        Property::ListShort(list) => all(list),
        Property::ListUShort(list) => all(list),
        Property::ListInt(list) => all(list),
        Property::ListUInt(list) => all(list),
        _ => return None,
    })
}

fn gltf(bytes: &[u8], find: &dyn Fn(&str) -> Option<Vec<u8>>) -> Result<TriangleMesh, FormatError> {
    let file = gltf::Gltf::from_slice(bytes).map_err(|error| broken("glTF", error))?;
    let blob = file.blob.as_deref();
    let mut buffers = Vec::new();
    for buffer in file.buffers() {
        let data = match buffer.source() {
            gltf::buffer::Source::Bin => blob.map(<[u8]>::to_vec),
            gltf::buffer::Source::Uri(uri) => match uri.split_once(";base64,") {
                Some((_, text)) => base64::engine::general_purpose::STANDARD.decode(text).ok(),
                None => find(uri),
            },
        };
        buffers.push(data.ok_or_else(|| broken("glTF", "a buffer that it names cannot be read"))?);
    }
    let mut mesh = TriangleMesh::default();
    let scene = file.default_scene().or_else(|| file.scenes().next());
    let roots = scene.ok_or_else(|| broken("glTF", "it has no scene"))?;
    let mut open: Vec<(gltf::Node<'_>, DMat4)> = roots.nodes().map(|node| (node, DMat4::IDENTITY)).collect();
    // Hierarchies are trees: the check of the file saw to that.
    while let Some((node, above)) = open.pop() {
        let columns = node.transform().matrix().map(|column| column.map(f64::from));
        let here = above * DMat4::from_cols_array_2d(&columns);
        for part in node.mesh().into_iter().flat_map(|mesh| mesh.primitives().collect::<Vec<_>>()) {
            add_part(&mut mesh, &part, &buffers, &here)?;
        }
        open.extend(node.children().map(|child| (child, here)));
    }
    Ok(mesh)
}

fn add_part(
    mesh: &mut TriangleMesh,
    part: &gltf::Primitive<'_>,
    buffers: &[Vec<u8>],
    place: &DMat4,
) -> Result<(), FormatError> {
    if part.mode() != gltf::mesh::Mode::Triangles {
        return Ok(());
    }
    let reader = part.reader(|buffer| buffers.get(buffer.index()).map(Vec::as_slice));
    let positions = reader.read_positions().ok_or_else(|| broken("glTF", "a mesh has no positions"))?;
    let start = mesh.positions.len() as u32;
    mesh.positions.extend(positions.map(|p| place.transform_point3(point(p))));
    let indices: Vec<u32> = match reader.read_indices() {
        Some(indices) => indices.into_u32().collect(),
        None => (0..mesh.positions.len() as u32 - start).collect(),
    };
    // A mirrored node turns its triangles around.
    let mirrored = place.determinant() < 0.0;
    mesh.triangles.extend(indices.chunks_exact(3).map(|t| {
        let [a, b, c] = [t[0], t[1], t[2]].map(|i| start.saturating_add(i));
        if mirrored { [a, c, b] } else { [a, b, c] }
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tessellate;
    use super::*;

    fn cube() -> TriangleMesh {
        tessellate::cuboid(DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0))
    }

    fn nothing(_: &str) -> Option<Vec<u8>> {
        None
    }

    /// Volume 6, closed, from any file.
    fn check(name: &str, bytes: &[u8]) {
        let read = read_mesh(name, bytes, &nothing).unwrap();
        let mesh = super::super::Mesh::new(&read.positions, &read.triangles).unwrap();
        assert!(mesh.is_closed(), "{name}");
        let volume = super::super::MassProperties::of_mesh(mesh.surface()).volume;
        assert!((volume - 6.0).abs() < 1e-9, "{name}: {volume}");
    }

    #[test]
    fn obj_files_are_read() {
        let cube = cube();
        let mut text = "# a box\nmtllib none.mtl\no box\n".to_owned();
        for p in &cube.positions {
            text += &format!("v {} {} {}\n", p.x, p.y, p.z);
        }
        // Quadrilaterals, counted from 1.
        for pair in cube.triangles.chunks(2) {
            let [a, b, c] = pair[0].map(|i| i + 1);
            text += &format!("f {a} {b} {c} {}\n", pair[1][2] + 1);
        }
        check("box.OBJ", text.as_bytes());
    }

    #[test]
    fn ply_files_are_read_as_text_and_as_bytes() {
        let cube = cube();
        let head = |format: &str| {
            format!(
                "ply\nformat {format} 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n\
                 element face 12\nproperty list uchar int vertex_indices\nend_header\n"
            )
        };
        let mut text = head("ascii");
        let mut bytes = head("binary_little_endian").into_bytes();
        for p in &cube.positions {
            text += &format!("{} {} {}\n", p.x, p.y, p.z);
            p.to_array().iter().for_each(|&x| bytes.extend((x as f32).to_le_bytes()));
        }
        for [a, b, c] in &cube.triangles {
            text += &format!("3 {a} {b} {c}\n");
            bytes.push(3);
            [a, b, c].iter().for_each(|i| bytes.extend(i.to_le_bytes()));
        }
        check("box.ply", text.as_bytes());
        check("box.ply", &bytes);
    }

    #[test]
    fn stl_files_are_read_as_text_and_as_bytes() {
        let cube = cube();
        let mut text = "solid box\n".to_owned();
        let mut bytes = vec![0u8; 80];
        bytes.extend(12u32.to_le_bytes());
        for corners in cube.corners() {
            text += "facet normal 0 0 0\nouter loop\n";
            bytes.extend([0u8; 12]);
            for p in corners {
                text += &format!("vertex {} {} {}\n", p.x, p.y, p.z);
                p.to_array().iter().for_each(|&x| bytes.extend((x as f32).to_le_bytes()));
            }
            text += "endloop\nendfacet\n";
            bytes.extend([0u8; 2]);
        }
        text += "endsolid box\n";
        check("box.stl", text.as_bytes());
        check("box.stl", &bytes);
    }

    /// Positions and indices of the box in one buffer, under a node that moves and mirrors it.
    fn gltf_json(buffer: &str) -> String {
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
            "nodes":[{{"translation":[5,0,0],"children":[1]}},{{"mesh":0,"scale":[-1,1,1]}}],
            "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
            "buffers":[{{{buffer}"byteLength":168}}],
            "bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":96}},{{"buffer":0,"byteOffset":96,"byteLength":72}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":8,"type":"VEC3","min":[0,0,0],"max":[1,2,3]}},
            {{"bufferView":1,"componentType":5123,"count":36,"type":"SCALAR"}}]}}"#
        )
    }

    fn gltf_buffer() -> Vec<u8> {
        let cube = cube();
        let mut buffer = Vec::new();
        cube.positions.iter().for_each(|p| {
            p.to_array().iter().for_each(|&x| buffer.extend((x as f32).to_le_bytes()));
        });
        cube.triangles.iter().flatten().for_each(|&i| buffer.extend((i as u16).to_le_bytes()));
        buffer
    }

    #[test]
    fn gltf_files_are_read_with_their_buffers() {
        let buffer = gltf_buffer();
        let text = base64::engine::general_purpose::STANDARD.encode(&buffer);
        check("box.gltf", gltf_json(&format!("\"uri\":\"data:x;base64,{text}\",")).as_bytes());

        let beside = gltf_json("\"uri\":\"box.bin\",");
        let find = |name: &str| (name == "box.bin").then(gltf_buffer);
        let read = read_mesh("box.gltf", beside.as_bytes(), &find).unwrap();
        assert!(read.positions.iter().all(|p| (4.0..=5.0).contains(&p.x)), "moved by its node");
        assert!(read_mesh("box.gltf", beside.as_bytes(), &nothing).is_err());

        let mut json = gltf_json("").into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut glb = b"glTF".to_vec();
        let total = 12 + 8 + json.len() + 8 + buffer.len();
        [2, total as u32, json.len() as u32].iter().for_each(|x: &u32| glb.extend(x.to_le_bytes()));
        glb.extend(b"JSON");
        glb.extend(&json);
        glb.extend((buffer.len() as u32).to_le_bytes());
        glb.extend(b"BIN\0");
        glb.extend(&buffer);
        check("box.glb", &glb);
    }

    #[test]
    fn what_is_no_mesh_is_refused() {
        for name in ["a.obj", "a.ply", "a.stl", "a.gltf", "a.glb", "a.txt"] {
            // An OBJ file of unknown words is an empty one.
            let read = read_mesh(name, b"f 1 2 3\n\xff\xfe not a mesh", &nothing);
            assert!(read.is_err() || read.is_ok_and(|mesh| mesh.triangles.is_empty()), "{name}");
        }
    }
}
