//! From a frame's particles to things a picture can show: surfaces, balls, grains, cloth, yarn, carried meshes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use glam::{Vec3, vec3};
use littoral::frame::Frame;
use littoral::gallery;
use littoral::scene::{self, Dimensions, Draw, Finish, Look, Scene, Side, Source};
use littoral::structure;
use littoral::table::{TableColumn, Values};
use littoral_picture::carry::Carried;
use littoral_picture::grains::{self, Advected, Fade, Sand};
use littoral_picture::mesh::{Attribute, Mesh};
use littoral_picture::obj;
use littoral_picture::rope;
use littoral_picture::sheet::{self, Sheet};
use littoral_picture::surface::{self, Cloud, Column, Field, Wall};
use littoral_picture::trace::{self, Shape, Thing};
use littoral_picture::yarn::{Spun, Stitches, Yarn};

use super::framing;
use super::paint::Paint;
use super::solids;
use super::stage::linear;
use crate::failure::Failure;

/// Particles of a frame that belong together, in the order of their ids.
struct Group {
    /// Places in the frame's columns.
    rows: Vec<usize>,
    ids: Vec<u32>,
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// Support radii, m.
    supports: Vec<f32>,
    /// 0 to 1.
    wetness: Vec<f32>,
}

impl Group {
    fn particles(&self) -> grains::Particles<'_> {
        grains::Particles { positions: &self.positions, ids: &self.ids, wetness: &self.wetness }
    }

    /// Some of it.
    fn part(&self, range: std::ops::Range<usize>) -> Group {
        Group {
            rows: self.rows[range.clone()].to_vec(),
            ids: self.ids[range.clone()].to_vec(),
            positions: self.positions[range.clone()].to_vec(),
            velocities: self.velocities[range.clone()].to_vec(),
            supports: self.supports[range.clone()].to_vec(),
            wetness: self.wetness.get(range).unwrap_or_default().to_vec(),
        }
    }

    /// Wetness as a value of the particles, if there is any.
    fn wetness_column(&self) -> Vec<Attribute> {
        let wetness = Attribute { name: "wetness".to_owned(), width: 1, values: self.wetness.clone() };
        if self.wetness.is_empty() { Vec::new() } else { vec![wetness] }
    }

    /// From here to where the same particles are later; those that are gone by then keep their own velocity.
    fn mean_velocities(&self, later: &Group, seconds: f32) -> Vec<Vec3> {
        let places: HashMap<u32, Vec3> =
            later.ids.iter().copied().zip(later.positions.iter().copied()).collect();
        let mean = |((id, from), own): ((&u32, &Vec3), &Vec3)| {
            places.get(id).map_or(*own, |to| (*to - *from) / seconds)
        };
        self.ids.iter().zip(&self.positions).zip(&self.velocities).map(mean).collect()
    }
}

/// Points that a surface is laid around.
struct Parts {
    positions: Vec<Vec3>,
    /// m³; empty where all have the spacing's.
    volumes: Vec<f32>,
    /// The particle that each is a part of; empty where each is one of its own.
    of: Vec<usize>,
}

/// What a surface is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Picture,
    Export,
}

/// Grains take some 40 bytes each, and twice that in the tracer.
const MOST_GRAINS: usize = 100_000_000;

/// Particles of a rope that are farther apart, in spacings, have been torn from each other.
const TORN_APART: f32 = 2.0;

/// Steps of drifting grains between two frames.
const DRIFT_STEPS: usize = 2;

/// Makes things to draw of frame after frame.
pub struct Subjects<'a> {
    scene: &'a Scene,
    /// Where mesh files are looked for.
    folder: PathBuf,
    /// The run's first frame, to which meshes are bound.
    first: PathBuf,
    /// Meshes bound to bodies, with the ids of the particles that carry them.
    carried: HashMap<usize, (Carried, Vec<u32>)>,
    /// Width of a pixel where the camera looks, m: what is finer need not be drawn.
    pixel: f32,
    /// Yarn of bodies, spun at rest.
    spun: HashMap<usize, Spun>,
    /// Drifting grains of bodies, and the frame they have come to.
    drifted: HashMap<usize, (u64, Advected)>,
}

impl<'a> Subjects<'a> {
    /// `folder` is where the scene's text came from, `first` is the file of frame 0.
    pub fn new(scene: &'a Scene, folder: &Path, first: &Path, pixel: f32) -> Subjects<'a> {
        Subjects {
            scene,
            pixel,
            folder: folder.to_owned(),
            first: first.to_owned(),
            carried: HashMap::new(),
            spun: HashMap::new(),
            drifted: HashMap::new(),
        }
    }

    /// Everything the bodies of a frame are drawn as.
    pub fn things(&mut self, frame: &Frame) -> Result<Vec<Thing>, Failure> {
        let mut things = Vec::new();
        for (look, bodies) in self.looks() {
            let thing = match look.draw {
                Draw::Nothing => continue,
                Draw::Surface => self.surface(frame, look, &bodies),
                Draw::Particles => self.balls(frame, look, &bodies),
                Draw::Grains => {
                    things.extend(self.wet_surface(frame, look, &bodies));
                    self.grains(frame, look, &bodies)?
                }
                Draw::Sheet => self.sheet(frame, look, bodies[0])?,
                Draw::Yarn => self.yarn(frame, look, bodies[0])?,
                Draw::Rope => self.ropes(frame, look, &bodies),
                Draw::Mesh => self.mesh(frame, look, bodies[0])?,
            };
            things.push(thing);
        }
        things.extend(solids::things(self.scene, frame));
        Ok(things)
    }

    /// All particles as balls, coloured by a column.
    pub fn painted(&self, frame: &Frame, paint: &Paint) -> Result<Thing, Failure> {
        let bodies: Vec<usize> = (0..self.scene.bodies.len()).collect();
        let group = gather(frame, &bodies);
        let colours = paint.values(self.scene, frame)?.into_iter().map(|value| paint.colour(value)).collect();
        let radii = self.radii(&group);
        let shape = Shape::Spheres { centres: group.positions, radii, colours, wetness: Vec::new() };
        let look = trace::Look::Diffuse { colour: Vec3::ONE, porosity: 0.0 };
        Ok(Thing { shape, look })
    }

    /// The surface of each group of bodies that look the same, with its name: that of its first body.
    pub fn surfaces(&self, frame: &Frame) -> Vec<(String, Mesh)> {
        let groups = self.looks().into_iter().filter(|(look, _)| look.draw == Draw::Surface);
        groups
            .map(|(_, bodies)| {
                let name = self.scene.bodies[bodies[0]].name.clone();
                let group = gather(frame, &bodies);
                (name, self.surface_mesh(&group, &columns_of(frame, &group.rows), Purpose::Export))
            })
            .chain(solids::meshes(self.scene, frame))
            .collect()
    }

    fn spacing(&self) -> f32 {
        self.scene.sph.spacing as f32
    }

    /// Half the spacing that each particle has at rest, m.
    fn radii(&self, group: &Group) -> Vec<f32> {
        group.supports.iter().map(|support| 0.5 * support / self.scene.sph.support as f32).collect()
    }

    /// Bodies by look: those that look the same share one surface. Sheets and meshes stay on their own.
    fn looks(&self) -> Vec<(&'a Look, Vec<usize>)> {
        let mut groups: Vec<(&Look, Vec<usize>)> = Vec::new();
        for (index, body) in self.scene.bodies.iter().enumerate() {
            let shared = !matches!(body.look.draw, Draw::Sheet | Draw::Yarn | Draw::Mesh);
            match groups.iter_mut().find(|(look, _)| shared && **look == body.look) {
                Some((_, bodies)) => bodies.push(index),
                None => groups.push((&body.look, vec![index])),
            }
        }
        groups
    }

    /// Walls that surfaces end at. For pictures the floor is a little deeper: what stands on the ground is then seen
    /// through the water, without a film of air in between.
    fn walls(&self, purpose: Purpose) -> Vec<Wall> {
        let domain = &self.scene.domain;
        let mut walls = Vec::new();
        for axis in 0..3 {
            for end in 0..2 {
                let place = if end == 0 { domain.min[axis] } else { domain.max[axis] } as f32;
                if domain.sides[axis][end] == Side::Open || !place.is_finite() {
                    continue;
                }
                let sign = if end == 0 { 1.0 } else { -1.0 };
                let mut normal = Vec3::ZERO;
                normal[axis] = sign;
                let is_floor = (axis, end) == (1, 0) && purpose == Purpose::Picture;
                let sunk = if is_floor { 0.1 * self.spacing() } else { 0.0 };
                walls.push(Wall { normal, offset: sign * place - sunk });
            }
        }
        if self.scene.dimensions == Dimensions::Two {
            let half = 0.5 * framing::slab_layers(self.scene) as f32 * self.spacing();
            walls.push(Wall { normal: Vec3::Z, offset: -half });
            walls.push(Wall { normal: Vec3::NEG_Z, offset: -half });
        }
        walls
    }

    /// The surface of some particles, with values of theirs at its vertices.
    fn surface_mesh(&self, group: &Group, values: &[Attribute], purpose: Purpose) -> Mesh {
        let layers = framing::slab_layers(self.scene);
        let parts = self.parts(group);
        let positions = layered(&parts.positions, layers, self.spacing());
        let volumes = parts.volumes.repeat(layers);
        let volumes = (!volumes.is_empty()).then_some(&volumes[..]);
        let cloud = Cloud { positions: &positions, spacing: self.spacing(), volumes };
        let picture = &self.scene.picture;
        let options = surface::Options {
            field: field(picture.surface),
            cell: picture.cell as f32,
            walls: self.walls(purpose),
            hollows: picture.hollows,
            ..surface::Options::default()
        };
        let mut mesh = surface::surface(&cloud, &options);
        let of_parts = |one: &Attribute| -> Vec<f32> {
            let row = |&k: &usize| &one.values[k * one.width..(k + 1) * one.width];
            if parts.of.is_empty() {
                one.values.clone()
            } else {
                parts.of.iter().flat_map(row).copied().collect()
            }
        };
        let repeated: Vec<Vec<f32>> = values.iter().map(|one| of_parts(one).repeat(layers)).collect();
        let columns: Vec<Column> = values
            .iter()
            .zip(&repeated)
            .map(|(one, values)| Column { name: &one.name, width: one.width, values })
            .collect();
        if !columns.is_empty() {
            surface::interpolate_columns(&cloud, &mut mesh, &columns);
        }
        mesh
    }

    /// Large particles as the lattice of small ones that would fill them: a surface knows one spacing only.
    fn parts(&self, group: &Group) -> Parts {
        let finest = self.scene.sph.support as f32 * self.spacing();
        if group.supports.iter().all(|support| *support <= 1.001 * finest) {
            return Parts { positions: group.positions.clone(), volumes: Vec::new(), of: Vec::new() };
        }
        let flat = self.scene.dimensions == Dimensions::Two;
        let mut parts = Parts { positions: Vec::new(), volumes: Vec::new(), of: Vec::new() };
        for (k, (position, support)) in group.positions.iter().zip(&group.supports).enumerate() {
            let size = support / finest;
            let count = size.round().max(1.0) as i32;
            let step = size * self.spacing() / count as f32;
            let volume = if flat { step * step * self.spacing() } else { step * step * step };
            let along = |i: i32| (i as f32 - 0.5 * (count - 1) as f32) * step;
            for z in 0..if flat { 1 } else { count } {
                for (y, x) in (0..count).flat_map(|y| (0..count).map(move |x| (y, x))) {
                    let depth = if flat { 0.0 } else { along(z) };
                    parts.positions.push(*position + Vec3::new(along(x), along(y), depth));
                    parts.volumes.push(volume);
                    parts.of.push(k);
                }
            }
        }
        parts
    }

    fn surface(&self, frame: &Frame, look: &Look, bodies: &[usize]) -> Thing {
        let group = gather(frame, bodies);
        let mesh = self.surface_mesh(&group, &group.wetness_column(), Purpose::Picture);
        let mesh = surface::split_at_walls(&mesh, &self.walls(Purpose::Picture));
        Thing { shape: Shape::Mesh(mesh), look: answer(look) }
    }

    fn balls(&self, frame: &Frame, look: &Look, bodies: &[usize]) -> Thing {
        let group = gather(frame, bodies);
        let radii = self.radii(&group);
        let shape =
            Shape::Spheres { centres: group.positions, radii, colours: Vec::new(), wetness: group.wetness };
        Thing { shape, look: answer(look) }
    }

    /// Grains, fixed to their particles or drifting with them.
    fn grains(&mut self, frame: &Frame, look: &Look, bodies: &[usize]) -> Result<Thing, Failure> {
        let group = gather(frame, bodies);
        let count = group.positions.len() * look.grains as usize;
        if count > MOST_GRAINS {
            let (name, fewer) = (&self.scene.bodies[bodies[0]].name, MOST_GRAINS / group.positions.len());
            return Err(Failure::Input(format!(
                "`{name}` would have {count} grains, more than memory holds; lower its look.grains to {fewer}"
            )));
        }
        let sand = Sand { colours: shades(look), ..Sand::new(self.spacing(), look.grains as usize) };
        let drawn = if look.advected {
            self.drift(frame, &sand, bodies)?.grains(&sand, &group.particles())
        } else {
            grains::grains(&sand, &group.particles())
        };
        let look = trace::Look::Diffuse { colour: Vec3::ONE, porosity: look.porosity as f32 };
        let shape = Shape::Spheres {
            centres: drawn.centres,
            radii: drawn.radii,
            colours: drawn.colours,
            wetness: drawn.wetness,
        };
        Ok(Thing { shape, look })
    }

    /// Grains that have drifted up to this frame, through all frames before it.
    fn drift(&mut self, frame: &Frame, sand: &Sand, bodies: &[usize]) -> Result<&mut Advected, Failure> {
        let key = bodies[0];
        // A film goes forwards; whoever goes back starts again.
        let start = match self.drifted.remove(&key) {
            Some((number, grains)) if number <= frame.info.frame => (number, grains),
            _ => (0, Advected::default()),
        };
        let (mut number, mut drifting) = start;
        let mut before = gather(&self.read(number)?, bodies);
        while number < frame.info.frame {
            let next = self.read(number + 1)?;
            let seconds = 1.0 / self.scene.time.frames_per_second as f32;
            let after = gather(&next, bodies);
            let velocities = before.mean_velocities(&after, seconds);
            drifting.advance(sand, &before.particles(), &velocities, seconds, DRIFT_STEPS);
            (number, before) = (number + 1, after);
        }
        Ok(&mut self.drifted.entry(key).insert_entry((number, drifting)).into_mut().1)
    }

    /// A frame of the run, by its number.
    fn read(&self, number: u64) -> Result<Frame, Failure> {
        let path = self.first.with_file_name(format!("{number:06}.arrow"));
        Frame::read(&path).map_err(|error| Failure::Run(error.to_string()))
    }

    /// Where grains are wet, a surface rises from among them.
    fn wet_surface(&self, frame: &Frame, look: &Look, bodies: &[usize]) -> Option<Thing> {
        let group = gather(frame, bodies);
        let fade = Fade::default();
        if !group.wetness.iter().any(|&wetness| fade.surface(wetness) > 0.0) {
            return None;
        }
        let mut mesh = self.surface_mesh(&group, &group.wetness_column(), Purpose::Picture);
        fade.sink(&mut mesh, self.spacing());
        let look = trace::Look::Diffuse { colour: linear(look.colour), porosity: look.porosity as f32 };
        Some(Thing { shape: Shape::Mesh(mesh), look })
    }

    /// The particles of a sheet in their rows, and how many rows and columns there are.
    fn rows(&self, frame: &Frame, body: usize) -> Result<(Group, usize, usize), Failure> {
        let about = &self.scene.bodies[body];
        let grid = match &about.source {
            Source::Shape(shape) => shape.rows_and_columns(self.scene.sph.spacing),
            _ => None,
        };
        let group = gather(frame, &[body]);
        match grid {
            Some((rows, columns)) if rows * columns * about.layers == group.positions.len() => {
                Ok((group, rows, columns))
            }
            _ => Err(Failure::Run(format!(
                "`{}` is drawn through the rows of its sheet, but frame {} has lost some of its particles; draw a \
                 `surface` or `particles` instead",
                about.name, frame.info.frame
            ))),
        }
    }

    fn thickness(&self, look: &Look) -> f32 {
        look.thickness.unwrap_or(self.scene.sph.spacing) as f32
    }

    fn sheet(&self, frame: &Frame, look: &Look, body: usize) -> Result<Thing, Failure> {
        let options = Sheet { thickness: self.thickness(look), ..Sheet::default() };
        let mesh = match &self.scene.bodies[body].source {
            Source::Shape(shape @ (scene::Shape::Net { .. } | scene::Shape::Turned { .. })) => {
                let group = gather(frame, &[body]);
                let spacing = self.scene.bodies[body].spacing;
                let mut triangles = match shape {
                    scene::Shape::Turned { curve, .. } => curve.layer(spacing).triangles,
                    _ => shape.net(spacing).triangles,
                };
                if let Some(whole) = whole_triangles(frame, &group, &triangles) {
                    let mut whole = whole.into_iter();
                    triangles.retain(|_| whole.next() == Some(true));
                }
                sheet::sheet_of_triangles(&group.positions, &triangles, &group.wetness_column(), &options)
            }
            _ => {
                let (all, rows, columns) = self.rows(frame, body)?;
                // Of several layers, the middle one.
                let in_layer = rows * columns;
                let middle = self.scene.bodies[body].layers / 2 * in_layer;
                let group = all.part(middle..middle + in_layer);
                let grid = structure::Sheet::grid(0, 0..in_layer as u32, (rows, columns), 1, 1.0);
                // A cell is two triangles.
                let cells = whole_triangles(frame, &group, &grid.triangles)
                    .map(|whole| whole.chunks(2).map(|cell| cell.iter().all(|whole| *whole)).collect());
                let cells: Option<Vec<bool>> = cells;
                let wetness = group.wetness_column();
                sheet::sheet(&group.positions, rows, columns, cells.as_deref(), &wetness, &options)
            }
        };
        let mesh = mesh.map_err(|error| Failure::Run(error.to_string()))?;
        Ok(Thing { shape: Shape::Mesh(mesh), look: answer(look) })
    }

    fn yarn(&mut self, frame: &Frame, look: &Look, body: usize) -> Result<Thing, Failure> {
        let (group, rows, columns) = self.rows(frame, body)?;
        let name = &self.scene.bodies[body].name;
        let told = |error: &dyn std::fmt::Display| Failure::Run(format!("the yarn of `{name}`: {error}"));
        let stitches = Stitches::stockinette(rows, columns, columns - 1, rows - 1);
        // A stitch is a spacing wide; yarn of this radius fills it like wool.
        let radius = 0.5 * look.thickness.unwrap_or(0.38 * self.scene.sph.spacing) as f32;
        let depth = 2.2 * radius;
        let (in_layer, layers) = (rows * columns, self.scene.bodies[body].layers);
        // Knitwear has a front and a back; what is one sheet is given both.
        let lines = |points: &[Vec3]| match layers {
            1 => stitches.lines(points, depth),
            _ => stitches.lines_between(&points[(layers - 1) * in_layer..], &points[..in_layer]),
        };
        if !self.spun.contains_key(&body) {
            // Spun at rest, so that twist and hairs stay where they are on the yarn. Of two dozen fibres in a ply, as
            // many as pixels can tell apart.
            let (rest, ..) = self.rows(&self.read(0)?, body)?;
            let at_rest = lines(&rest.positions).map_err(|error| told(&error))?;
            let detail = (0.25 * radius / self.pixel).clamp(0.2, 1.0);
            let yarn = Yarn { colour: linear(look.colour), detail, ..Yarn::wool(radius) };
            self.spun.insert(body, Spun::new(&at_rest, &yarn).map_err(|error| told(&error))?);
        }
        let now = lines(&group.positions).map_err(|error| told(&error))?;
        let wetness = match group.wetness.as_slice() {
            [] => Vec::new(),
            values => stitches.values(&values[..in_layer]).map_err(|error| told(&error))?,
        };
        let fibres = self.spun[&body].fibres(&now, &wetness);
        let strands: Vec<usize> = fibres.starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize).collect();
        let colours = strands
            .iter()
            .zip(&fibres.colours)
            .flat_map(|(&points, &colour)| std::iter::repeat_n(colour, points))
            .collect();
        let shape = Shape::Curves {
            points: fibres.points,
            radii: fibres.radii,
            strands,
            colours,
            wetness: fibres.wetness,
        };
        let look =
            trace::Look::Fibre { colour: Vec3::ONE, translucency: 0.3, porosity: look.porosity as f32 };
        Ok(Thing { shape, look })
    }

    fn ropes(&self, frame: &Frame, look: &Look, bodies: &[usize]) -> Thing {
        let (mut points, mut radii, mut wetness) = (Vec::new(), Vec::new(), Vec::new());
        let mut strands = Vec::new();
        for &body in bodies {
            let about = &self.scene.bodies[body];
            let radius = 0.5 * look.thickness.unwrap_or(about.thickness) as f32;
            let group = gather(frame, &[body]);
            for piece in rope::pieces(&group.positions, &group.ids, TORN_APART * about.spacing as f32) {
                strands.push(piece.len());
                radii.extend(std::iter::repeat_n(radius, piece.len()));
                wetness.extend_from_slice(group.wetness.get(piece.clone()).unwrap_or_default());
                points.extend_from_slice(&group.positions[piece]);
            }
        }
        let shape = Shape::Curves { points, radii, strands, colours: Vec::new(), wetness };
        Thing { shape, look: answer(look) }
    }

    fn mesh(&mut self, frame: &Frame, look: &Look, body: usize) -> Result<Thing, Failure> {
        if !self.carried.contains_key(&body) {
            let bound = self.bind(body)?;
            self.carried.insert(body, bound);
        }
        let (carried, ids) = &self.carried[&body];
        let group = gather(frame, &[body]);
        let of_id: HashMap<u32, Vec3> = group.ids.iter().copied().zip(group.positions).collect();
        let current: Option<Vec<Vec3>> = ids.iter().map(|id| of_id.get(id).copied()).collect();
        let Some(current) = current else {
            let name = &self.scene.bodies[body].name;
            let message = format!(
                "the mesh of `{name}` cannot follow it: frame {} has lost some of the particles that carried it",
                frame.info.frame
            );
            return Err(Failure::Run(message));
        };
        Ok(Thing { shape: Shape::Mesh(carried.follow(&current)), look: answer(look) })
    }

    /// Reads all meshes that bodies name.
    pub fn check_meshes(&self) -> Result<(), Failure> {
        for (index, body) in self.scene.bodies.iter().enumerate() {
            if body.look.draw == Draw::Mesh {
                self.read_mesh(index)?;
            }
        }
        Ok(())
    }

    fn read_mesh(&self, body: usize) -> Result<Mesh, Failure> {
        let body = &self.scene.bodies[body];
        let wish = body.look.mesh.as_deref().unwrap_or_default();
        let path = self.find(wish);
        let mesh = match gallery::FILES.iter().find(|(name, _)| *name == wish && !path.is_file()) {
            Some((_, text)) => obj::parse(text, &path),
            None => obj::read(&path),
        };
        mesh.map_err(|error| {
            let looked = "\n  looked for beside the scene, and where the command was given";
            let looked = if path.is_file() { "" } else { looked };
            Failure::Input(format!("the mesh of `{}`: {error}{looked}", body.name))
        })
    }

    /// A file that the scene names: beside the scene, or where the command was given.
    pub fn find(&self, name: &str) -> PathBuf {
        let beside = self.folder.join(name);
        if beside.is_file() { beside } else { PathBuf::from(name) }
    }

    /// Binds a body's mesh to its particles in the first frame.
    fn bind(&self, body: usize) -> Result<(Carried, Vec<u32>), Failure> {
        let mesh = self.read_mesh(body)?;
        let rest = gather(&self.read(0)?, &[body]);
        let name = &self.scene.bodies[body].name;
        let carried = Carried::bind(&mesh, &rest.positions, 2.0 * self.spacing())
            .map_err(|error| Failure::Input(format!("the mesh of `{name}`: {error}")))?;
        Ok((carried, rest.ids))
    }
}

/// Colours of grains: sand's own mixture, tinted towards the look's colour.
fn shades(look: &Look) -> Vec<(Vec3, f32)> {
    let colour = linear(look.colour);
    vec![(colour, 0.6), (1.25 * colour, 0.25), (0.6 * colour, 0.11), (0.2 * colour, 0.04)]
}

/// Radiance of what glows white: a few times that of a white ground in the sun.
const GLOW: f32 = 3.0;

/// What light does with a body.
pub fn answer(look: &Look) -> trace::Look {
    let colour = linear(look.colour);
    let (roughness, porosity) = (look.roughness as f32, look.porosity as f32);
    match look.finish {
        Finish::Clear => {
            // The colour is what `depth` leaves of white light: exp(−absorption · depth).
            let kept = colour.clamp(Vec3::splat(1e-4), Vec3::ONE);
            let absorption = -vec3(kept.x.ln(), kept.y.ln(), kept.z.ln()) / look.depth as f32;
            trace::Look::Clear { index: look.index as f32, absorption, roughness }
        }
        Finish::Diffuse => trace::Look::Diffuse { colour, porosity },
        Finish::Glossy => trace::Look::Glossy { colour, roughness },
        Finish::Metal => trace::Look::Metal { colour, roughness },
        Finish::Wax => trace::Look::Wax { colour, mean_free_path: look.depth as f32, roughness },
        Finish::Glow => trace::Look::Glow { radiance: GLOW * colour },
    }
}

/// The field of this name; scenes know no others.
fn field(name: &str) -> Field {
    Field::NAMES.iter().find(|(known, _)| *known == name).map_or_else(Field::default, |(_, field)| *field)
}

/// The particles of some bodies.
fn gather(frame: &Frame, bodies: &[usize]) -> Group {
    let belongs = frame.indices("body").unwrap_or_default();
    let rows: Vec<usize> =
        (0..belongs.len()).filter(|&row| bodies.contains(&(belongs[row] as usize))).collect();
    let vectors = |name: &str| {
        let column = frame.vectors(name).unwrap_or_default();
        rows.iter().filter_map(|&row| column.get(row)).map(|&v| Vec3::from_array(v)).collect::<Vec<Vec3>>()
    };
    let ids = frame.indices("id").unwrap_or_default();
    let supports = frame.scalars("support").unwrap_or_default();
    let wetness = frame.scalars("saturation").map_or_else(Vec::new, |column| {
        rows.iter().filter_map(|&row| column.get(row)).map(|s| s.clamp(0.0, 1.0)).collect()
    });
    Group {
        ids: rows.iter().filter_map(|&row| ids.get(row)).copied().collect(),
        positions: vectors("position"),
        velocities: vectors("velocity"),
        supports: rows.iter().filter_map(|&row| supports.get(row)).copied().collect(),
        wetness,
        rows,
    }
}

/// Which triangles of a sheet are still there; `None` where nothing has torn.
fn whole_triangles(frame: &Frame, group: &Group, triangles: &[[u32; 3]]) -> Option<Vec<bool>> {
    let torn = frame.indices("torn")?;
    let torn: Vec<u32> = group.rows.iter().map(|&row| torn.get(row).copied().unwrap_or(0)).collect();
    let slots = structure::slots(triangles);
    let is_whole =
        |(corner, bit): (u32, u32)| torn.get(corner as usize).is_some_and(|torn| torn >> bit & 1 == 0);
    torn.iter().any(|torn| *torn != 0).then(|| slots.into_iter().map(is_whole).collect())
}

/// Every column but those that only name particles, for these rows.
fn columns_of(frame: &Frame, rows: &[usize]) -> Vec<Attribute> {
    let columns = frame.columns.iter().filter(|column| column.name != "position");
    let attribute = |column: &TableColumn| {
        let (width, numbers) = match &column.values {
            Values::Scalars(numbers) => (1, numbers),
            Values::Vectors { width, numbers } => (*width, numbers),
            Values::Indices(_) => return None,
        };
        let values = rows.iter().flat_map(|&row| &numbers[row * width..(row + 1) * width]).copied().collect();
        Some(Attribute { name: column.name.clone(), width, values })
    };
    columns.filter_map(attribute).collect()
}

/// A flat world several times over, one behind the other.
fn layered(positions: &[Vec3], layers: usize, spacing: f32) -> Vec<Vec3> {
    let depth = |k: usize| (k as f32 - 0.5 * (layers - 1) as f32) * spacing;
    (0..layers).flat_map(|k| positions.iter().map(move |p| *p + Vec3::Z * depth(k))).collect()
}
