//! Solids of a scene as things to draw, where a frame says they are.

use glam::{DQuat, DVec3, Quat, Vec3};
use littoral::frame::Frame;
use littoral::geometry::{Geometry, TriangleMesh};
use littoral::scene::{Dimensions, Draw, Scene, Solid};
use littoral::solids::SolidRecord;
use littoral_picture::mesh::Mesh;
use littoral_picture::trace::{Shape, Thing};

use super::framing;
use super::stage::vector;
use super::subjects::answer;

/// Faces that meet at less than this angle look like one smooth surface: its cosine.
const SMOOTH: f32 = 0.77;

/// Everything the solids of a frame are drawn as.
pub fn things(scene: &Scene, frame: &Frame) -> Vec<Thing> {
    shown(scene, frame)
        .map(|(solid, record)| Thing {
            shape: Shape::Mesh(mesh(scene, solid, record)),
            look: answer(&solid.look),
        })
        .collect()
}

/// The surface of each solid, with its name.
pub fn meshes(scene: &Scene, frame: &Frame) -> Vec<(String, Mesh)> {
    shown(scene, frame)
        .map(|(solid, record)| (solid.name.clone(), mesh(scene, solid, record)))
        .filter(|(_, mesh)| !mesh.triangles.is_empty())
        .collect()
}

/// Points all over the surface of each solid, for a quick look, with the colour on a screen.
pub fn dots(scene: &Scene, frame: &Frame) -> Vec<(Vec3, [f64; 3])> {
    let spacing = scene.sph.spacing;
    let dots = |(solid, record): (&Solid, &SolidRecord)| {
        let samples = Geometry::of(&solid.shape, scene.dimensions).surface_samples(spacing, 0.5 * spacing);
        let place = placing(record);
        let colour = solid.look.colour;
        samples.into_iter().map(move |sample| (place(sample.position), colour)).collect::<Vec<_>>()
    };
    shown(scene, frame).flat_map(dots).collect()
}

fn shown<'a>(scene: &'a Scene, frame: &'a Frame) -> impl Iterator<Item = (&'a Solid, &'a SolidRecord)> {
    let record = |solid: &'a Solid| frame.info.solids.iter().find(|record| record.name == solid.name);
    let drawn = scene.solids.iter().filter(|solid| solid.look.draw != Draw::Nothing);
    drawn.filter_map(move |solid| Some((solid, record(solid)?)))
}

/// From the shape as the scene places it to where the solid is.
fn placing(record: &SolidRecord) -> impl Fn(DVec3) -> Vec3 + use<> {
    let rotation = DQuat::from_array(record.rotation);
    let (position, origin) = (DVec3::from(record.position), DVec3::from(record.origin));
    move |p| (position + rotation * (p - origin)).as_vec3()
}

fn mesh(scene: &Scene, solid: &Solid, record: &SolidRecord) -> Mesh {
    let geometry = Geometry::of(&solid.shape, scene.dimensions);
    let cell = 0.5 * scene.sph.spacing;
    let (min, max) = geometry.bounds();
    let triangles = match scene.dimensions {
        Dimensions::Two => {
            slab(&geometry.outline(cell), 0.5 * framing::slab_layers(scene) as f64 * scene.sph.spacing)
        }
        Dimensions::Three if min.is_finite() && max.is_finite() => geometry.triangles(cell),
        Dimensions::Three => {
            let bounds = framing::bounds(scene, None);
            let margin = DVec3::splat(f64::from(bounds.size().max_element()));
            geometry.triangles_within(cell, (bounds.min.as_dvec3() - margin, bounds.max.as_dvec3() + margin))
        }
    };
    let place = placing(record);
    let positions: Vec<Vec3> = triangles.positions.into_iter().map(place).collect();
    creased(&positions, &triangles.triangles)
}

/// An outline as a slab around the plane; its two faces are fans about its middle.
fn slab(outline: &[[DVec3; 2]], half: f64) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    let count = (2 * outline.len()).max(1) as f64;
    let middle = outline.iter().flatten().copied().sum::<DVec3>() / count;
    let mut triangle = |corners: [DVec3; 3]| {
        let first = mesh.positions.len() as u32;
        mesh.positions.extend(corners);
        mesh.triangles.push([first, first + 1, first + 2]);
    };
    for &[a, b] in outline {
        let [front, back] = [half, -half].map(|z| [a, b, middle].map(|p| p.with_z(z)));
        triangle([front[0], front[1], front[2]]);
        triangle([back[1], back[0], back[2]]);
        triangle([back[0], back[1], front[1]]);
        triangle([back[0], front[1], front[0]]);
    }
    mesh
}

/// Normals for every corner of every triangle: the mean of those faces around it that look the same way.
fn creased(positions: &[Vec3], triangles: &[[u32; 3]]) -> Mesh {
    let corners = |triangle: &[u32; 3]| triangle.map(|i| positions[i as usize]);
    let faces: Vec<Vec3> = triangles
        .iter()
        .map(|triangle| {
            let [a, b, c] = corners(triangle);
            (b - a).cross(c - a)
        })
        .collect();
    let mut around: std::collections::HashMap<[u32; 3], Vec<u32>> = std::collections::HashMap::new();
    let key = |p: Vec3| p.to_array().map(f32::to_bits);
    for (face, triangle) in triangles.iter().enumerate() {
        for p in corners(triangle) {
            around.entry(key(p)).or_default().push(face as u32);
        }
    }
    let mut mesh = Mesh::default();
    for (face, triangle) in triangles.iter().enumerate() {
        let own = faces[face].normalize_or_zero();
        for p in corners(triangle) {
            let alike = |&&other: &&u32| faces[other as usize].normalize_or_zero().dot(own) > SMOOTH;
            let sum: Vec3 = around[&key(p)].iter().filter(alike).map(|&other| faces[other as usize]).sum();
            mesh.positions.push(p);
            mesh.normals.push(sum.normalize_or(own));
        }
        let first = 3 * face as u32;
        mesh.triangles.push([first, first + 1, first + 2]);
    }
    mesh
}

/// The solids a moment later, each carried on by its velocity.
pub fn advance(records: &mut [SolidRecord], seconds: f32) {
    for record in records {
        let shift = vector(record.velocity) * seconds;
        record.position = (DVec3::from(record.position) + shift.as_dvec3()).to_array();
        let turn = Quat::from_scaled_axis(vector(record.angular_velocity) * seconds).as_dquat();
        record.rotation = (turn * DQuat::from_array(record.rotation)).normalize().to_array();
    }
}
