//! `shape`: from tables to a [`Shape`], with the files it names.
//!
//! Whoever reads one says what it is needed for: bodies are filled and must be closed and finite, regions need an
//! inside, solids take anything.

use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};

use super::problem::Problem;
use super::read::Reader;
use super::shapes::{cross, length};
use super::values::show;
use super::{Dimensions, Shape};
use crate::geometry::{Defect, Geometry, HeightGrid, Mesh, Noise, Operation, Placement, Tree, Turned};
use crate::geometry::{flattened, read_mesh, terrain};

/// What a shape is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Filled with particles.
    Body,
    /// Points are inside or outside.
    Region,
    /// A wall: anything, even a thin sheet or half of space.
    Solid,
}

/// The shape that a key describes.
pub fn shape(reader: &Reader<'_>, key: &str, need: Need) -> Option<Shape> {
    let (kind, table) = reader.one_of(key)?;
    let shape = read(kind, &table)?;
    // What a tree is made of reaches across the plane of a flat world.
    let shape = match (&shape, table.context.dimensions) {
        (Shape::Tree(_) | Shape::Torus { .. }, Dimensions::Two) => flattened(&shape),
        _ => shape,
    };
    suits(&shape, &table, need).then_some(shape)
}

fn read(kind: &str, table: &Reader<'_>) -> Option<Shape> {
    match kind {
        "box" => cuboid(table),
        "sphere" => {
            let (centre, radius) = (table.vector("centre"), table.number("radius"));
            Some(Shape::Sphere { centre: centre?, radius: radius? })
        }
        "cylinder" => {
            let (ends, radius) = (ends(table), table.number("radius"));
            let ((from, to), radius) = (ends?, radius?);
            Some(Shape::Cone { from, to, radii: [radius; 2] })
        }
        "capsule" => {
            let (ends, radius) = (ends(table), table.number("radius"));
            let (from, to) = ends?;
            Some(Shape::Capsule { from, to, radius: radius? })
        }
        "cone" => cone(table),
        "torus" => torus(table),
        "plane" => {
            let (point, normal) = (table.vector("point"), direction(table, "normal"));
            Some(Shape::Plane { point: point?, normal: normal? })
        }
        "sheet" => sheet(table),
        "line" => {
            let (from, to) = ends(table)?;
            Some(Shape::Line { from, to })
        }
        "net" => {
            let (of, centre) = (one(table), table.flag("centre"));
            if refuse_flat(table, "nets", "use `shape.line`") {
                return None;
            }
            Some(Shape::Net { of: Arc::new(of?), centre: centre? })
        }
        "turned" => turned(table),
        "mesh" => mesh(table),
        "heightfield" => heightfield(table),
        "shell" => {
            let (of, thickness) = (one(table), table.number("thickness"));
            Some(tree(Operation::Shell { thickness: thickness? }, vec![of?]))
        }
        "round" => {
            let (of, radius) = (one(table), table.number("radius"));
            Some(tree(Operation::Round { radius: radius? }, vec![of?]))
        }
        "place" => {
            let (of, place) = (one(table), placement(table));
            Some(of?.placed(&place?))
        }
        _ => {
            let (of, smooth) = (many(table), table.number("smooth"));
            let smooth = smooth?;
            let operation = match kind {
                "union" => Operation::Union { smooth },
                "difference" => Operation::Difference { smooth },
                _ => Operation::Intersection { smooth },
            };
            Some(tree(operation, of?))
        }
    }
}

fn tree(operation: Operation, of: Vec<Shape>) -> Shape {
    Shape::Tree(Tree::new(operation, of))
}

/// Whether a shape can serve; says why not.
fn suits(shape: &Shape, table: &Reader<'_>, need: Need) -> bool {
    let log = table.context.log;
    let is_sheet =
        matches!(shape, Shape::Sheet { .. } | Shape::Turned { .. } | Shape::Line { .. } | Shape::Net { .. });
    if matches!(shape, Shape::Line { .. } | Shape::Net { .. }) && need == Need::Solid {
        let message = "lines and nets are for bodies that hold a shape";
        let problem = Problem::error("open-shape", &table.at, message).label("a solid needs a surface");
        log.push(problem.help("use a `capsule` for a rope, or the shape itself"));
        return false;
    }
    if shape.is_thin() && need != Need::Solid && !(is_sheet && need == Need::Body) {
        log.push(has_no_inside(shape, table));
        return false;
    }
    if need != Need::Body {
        return true;
    }
    let (min, max) = Geometry::of(shape, table.context.dimensions).bounds();
    if !(min.is_finite() && max.is_finite()) {
        let message = "the body would go on for ever";
        log.push(
            Problem::error("endless-shape", &table.at, message)
                .label("a plane has no end")
                .help("cut it off: `shape.intersection = { of = [{ plane = { … } }, { box = { … } }] }`"),
        );
        return false;
    }
    true
}

fn has_no_inside(shape: &Shape, table: &Reader<'_>) -> Problem {
    let message = match shape {
        Shape::Mesh(_) => "the mesh has a rim: it encloses nothing",
        Shape::Line { .. } => "a line has no inside",
        Shape::Net { .. } => "a net has no inside",
        _ => "a sheet has no inside",
    };
    Problem::error("open-shape", &table.at, message)
        .label("expected a closed shape")
        .help("close it, or give it a thickness: `shape.shell = { thickness = …, of = { … } }`")
}

/// The shape below `of`; a thin one is welcome, it gains a thickness.
fn one(table: &Reader<'_>) -> Option<Shape> {
    let (kind, table) = table.one_of("of")?;
    read(kind, &table)
}

/// The shapes in `of`, each with an inside.
fn many(table: &Reader<'_>) -> Option<Vec<Shape>> {
    let read_one = |choice: Option<(&str, Reader<'_>)>| {
        let (kind, table) = choice?;
        let shape = read(kind, &table)?;
        if shape.is_thin() {
            table.context.log.push(has_no_inside(&shape, &table));
            return None;
        }
        Some(shape)
    };
    // All are read, so that all their problems show.
    let all: Vec<Option<Shape>> = table.many_of("of")?.into_iter().map(read_one).collect();
    all.into_iter().collect()
}

fn cuboid(table: &Reader<'_>) -> Option<Shape> {
    let (min, max) = corners(table, table.context.dimensions.count())?;
    Some(Shape::Box { min, max })
}

/// `min` and `max`, with `max` above `min` along the first `count` axes.
fn corners(table: &Reader<'_>, count: usize) -> Option<([f64; 3], [f64; 3])> {
    let (min, max) = (table.vector("min"), table.vector("max"));
    let (min, max) = (min?, max?);
    let axes = ["x", "y", "z"];
    if let Some(axis) = (0..count).find(|&axis| min[axis] >= max[axis]) {
        let message = format!(
            "the box is empty: along {}, `max` ({}) is not above `min` ({})",
            axes[axis],
            show(max[axis]),
            show(min[axis])
        );
        table.context.log.push(Problem::error("empty-shape", &table.place("max"), message));
        return None;
    }
    Some((min, max))
}

/// `from` and `to`, apart.
fn ends(table: &Reader<'_>) -> Option<([f64; 3], [f64; 3])> {
    let (from, to) = (table.vector("from"), table.vector("to"));
    let (from, to) = (from?, to?);
    if from == to {
        let message = "`from` and `to` are the same point";
        table.context.log.push(
            Problem::error("empty-shape", &table.place("to"), message)
                .label("no length")
                .help("for a ball, use `sphere`"),
        );
        return None;
    }
    Some((from, to))
}

fn cone(table: &Reader<'_>) -> Option<Shape> {
    let (ends, radius, top) = (ends(table), table.number("radius"), table.number("top"));
    let ((from, to), radii) = (ends?, [radius?, top?]);
    if radii == [0.0; 2] {
        let problem = Problem::error("empty-shape", &table.place("radius"), "both radii of the cone are 0");
        table.context.log.push(problem.label("expected one above 0"));
        return None;
    }
    Some(Shape::Cone { from, to, radii })
}

fn torus(table: &Reader<'_>) -> Option<Shape> {
    let (centre, axis) = (table.vector("centre"), direction(table, "axis"));
    let (radius, tube) = (table.number("radius"), table.number("tube"));
    Some(Shape::Torus { centre: centre?, axis: axis?, radius: radius?, tube: tube? })
}

/// A vector of length 1.
fn direction(table: &Reader<'_>, key: &str) -> Option<[f64; 3]> {
    let vector = table.vector(key)?;
    let norm = length(vector);
    if norm == 0.0 {
        let problem = Problem::error("zero-direction", &table.place(key), format!("`{key}` points nowhere"));
        table.context.log.push(problem.label("expected a vector that is not 0"));
        return None;
    }
    Some(vector.map(|component| component / norm))
}

/// Logs what a flat world does not have.
fn refuse_flat(table: &Reader<'_>, what: &str, help: &str) -> bool {
    let flat = table.context.dimensions == Dimensions::Two;
    if flat {
        let problem = Problem::error("flat-world", &table.at, format!("a 2-D scene has no {what}"));
        table.context.log.push(problem.help(help));
    }
    flat
}

fn sheet(table: &Reader<'_>) -> Option<Shape> {
    let (corner, along, across) = (table.vector("corner"), table.vector("along"), table.vector("across"));
    if refuse_flat(table, "sheets", "a box of one spacing's height is a row of particles") {
        return None;
    }
    let (corner, along, across) = (corner?, along?, across?);
    if length(cross(along, across)) <= 1e-6 * length(along) * length(across) {
        let message = "`along` and `across` point the same way: the sheet is a line";
        table.context.log.push(Problem::error("empty-shape", &table.place("across"), message));
        return None;
    }
    Some(Shape::Sheet { corner, along, across })
}

fn turned(table: &Reader<'_>) -> Option<Shape> {
    let (profile, centre, axis) =
        (table.vectors("profile"), table.vector("centre"), direction(table, "axis"));
    if refuse_flat(table, "turned surfaces", "a box of one spacing's height is a row of particles") {
        return None;
    }
    let shape = Shape::turned(Turned::through(&profile?, centre?, axis?));
    if shape.is_none() {
        let message = "the profile makes no surface when it is turned";
        table.context.log.push(
            Problem::error("empty-shape", &table.place("profile"), message)
                .label("expected two different points at least, not both on the axis"),
        );
    }
    shape
}

/// `scale`, `rotate` and `at`.
fn placement(table: &Reader<'_>) -> Option<Placement> {
    let flat = table.context.dimensions == Dimensions::Two;
    let (at, scale) = (table.vector("at"), table.number("scale"));
    let rotation = match table.entry("rotate") {
        None => Some(DQuat::IDENTITY),
        Some(_) => table.table("rotate").and_then(|turn| {
            let usual = if flat { DVec3::Z } else { DVec3::Y };
            let axis = match turn.entry("axis") {
                None => Some(usual),
                Some(_) => direction(&turn, "axis").map(DVec3::from),
            };
            let degrees = turn.number("degrees");
            let axis = axis?;
            if flat && axis.z.abs() < 1.0 {
                let message = "a turn about this axis leaves the plane: the scene is 2-D";
                let problem = Problem::error("flat-world", &turn.place("axis"), message);
                turn.context.log.push(problem.label("expected [0, 0, 1], or nothing"));
                return None;
            }
            Some(DQuat::from_axis_angle(axis, degrees?.to_radians()))
        }),
    };
    Some(Placement { at: at?.into(), rotation: rotation?, scale: scale? })
}

/// What a file holds; says why where it cannot be read.
fn file(table: &Reader<'_>) -> Option<(String, Vec<u8>)> {
    let name = table.text("file")?;
    match table.context.files.read(name) {
        Ok(bytes) => Some((name.to_owned(), bytes)),
        Err(reason) => {
            let message = format!("cannot read `{name}`: {reason}");
            table.context.log.push(
                Problem::error("missing-file", &table.place("file"), message)
                    .label("not found")
                    .help("looked for beside the scene, then where the command was given"),
            );
            None
        }
    }
}

fn bad_file(table: &Reader<'_>, name: &str, reason: impl std::fmt::Display) -> Problem {
    Problem::error("bad-file", &table.place("file"), format!("`{name}`: {reason}"))
}

fn mesh(table: &Reader<'_>) -> Option<Shape> {
    let (file, place, flip) = (file(table), placement(table), table.flag("flip"));
    if refuse_flat(table, "meshes", "use boxes, spheres, and unions of them") {
        return None;
    }
    let ((name, bytes), place, flip) = (file?, place?, flip?);
    let log = table.context.log;
    let beside = |other: &str| {
        let folder = name.rfind(['/', '\\']).map_or("", |end| &name[..=end]);
        table.context.files.read(&format!("{folder}{other}")).ok()
    };
    let read = read_mesh(&name, &bytes, &beside).map_err(|error| log.push(bad_file(table, &name, error)));
    let mut read = read.ok()?;
    read.positions.iter_mut().for_each(|p| *p = place.apply(*p));
    if flip {
        read.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    }
    match Mesh::new(&read.positions, &read.triangles) {
        Ok(mesh) => Some(Shape::Mesh(Arc::new(mesh))),
        Err(defect) => {
            let help = match defect {
                Defect::Empty => "export it as triangles",
                Defect::Twisted(_) => "make its normals consistent in a modelling program",
                Defect::InsideOut if flip => "leave `flip` out",
                Defect::InsideOut => "write `flip = true`",
            };
            log.push(bad_file(table, &name, format!("the mesh {defect}")).help(help));
            None
        }
    }
}

fn heightfield(table: &Reader<'_>) -> Option<Shape> {
    let corners = corners(table, 3);
    let base = match table.entry("base") {
        Some(_) => table.number("base").map(Some),
        None => Some(None),
    };
    if refuse_flat(table, "terrain", "use boxes, spheres, and unions of them") {
        return None;
    }
    let log = table.context.log;
    let grid = match (table.entry("file"), table.entry("noise")) {
        (Some(_), None) => file(table).and_then(|(name, bytes)| {
            HeightGrid::read(&bytes).map_err(|error| log.push(bad_file(table, &name, error))).ok()
        }),
        (None, Some(_)) => {
            let noise = table.table("noise").and_then(|noise| read_noise(&noise));
            noise
                .zip(corners)
                .map(|(noise, (min, max))| noise.grid(DVec2::new(max[0] - min[0], max[2] - min[2])))
        }
        (Some(_), Some(noise)) => {
            let message = "terrain comes from a `file` or from `noise`, not both";
            log.push(Problem::error("key-clash", &noise.key_at, message));
            None
        }
        (None, None) => {
            let message = "the terrain has neither `file` nor `noise`";
            log.push(
                Problem::error("missing-key", &table.at, message)
                    .label("nothing to make hills from")
                    .help("add for instance `noise = { size = 0.5 }`"),
            );
            None
        }
    };
    let ((min, max), base, grid) = (corners?, base?, grid?);
    let side = (max[0] - min[0]).max(max[2] - min[2]);
    let base = base.unwrap_or(min[1] - 0.1 * side);
    if base >= min[1] {
        let message =
            format!("the terrain's floor ({}) is not below its surface ({})", show(base), show(min[1]));
        log.push(Problem::error("out-of-range", &table.place("base"), message).label("too high"));
        return None;
    }
    match terrain(&grid, min.into(), max.into(), base) {
        Ok(mesh) => Some(Shape::Mesh(Arc::new(mesh))),
        Err(defect) => {
            log.push(Problem::error("empty-shape", &table.at, format!("the terrain {defect}")));
            None
        }
    }
}

fn read_noise(table: &Reader<'_>) -> Option<Noise> {
    let (size, octaves) = (table.number("size"), table.whole("octaves"));
    let (roughness, seed) = (table.number("roughness"), table.whole("seed"));
    Some(Noise {
        size: size?,
        octaves: u32::try_from(octaves?).ok()?,
        roughness: roughness?,
        seed: seed?.unsigned_abs(),
    })
}
