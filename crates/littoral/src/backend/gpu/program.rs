//! Joins the generic loops with the texts of the laws in use.
//!
//! What does not change during a run becomes a constant of the text, so that the compiler can fold it: the
//! kernels' factors, the box, the properties that all bodies share. Properties that differ between bodies are
//! looked up in a table.

use std::fmt::Write;

use super::GpuError;
use super::device::GROUPS_IN_ROW;
use crate::backend::wgsl::{Wgsl, number};
use crate::behaviours::LimitState;
use crate::integrate::CAUGHT_BEYOND;
use crate::kernels::Kernel;
use crate::scene::{Dimensions, Domain, IntegratorName, KernelName, PressureForm, Side};
use crate::timestep::{Limit, Limits};
use crate::walls::LEAST_SHARE;
use crate::world::World;

/// Threads in a workgroup; 64 to 256 make no difference on an H200.
pub(super) const GROUP_SIZE: u32 = 128;
/// Threads in a workgroup of the scan, and rows of four cells that each takes.
pub(super) const SCAN_GROUP_SIZE: u32 = 256;
pub(super) const SCAN_ROWS: u32 = 4;
/// Cells that a support radius spans, along each axis. Two leave half as many candidates as one; three take
/// longer to look up than they save. (H200, 10⁶ particles, ms a step: 0.68, 0.52, 0.69.)
pub(super) const CELLS_IN_REACH: [u32; 3] = [2; 3];
/// Longest lists of neighbours worth their memory.
const LONGEST_LISTS: u32 = 160;

/// The joined text, and what it was joined from.
pub(super) struct Program {
    /// Constants, kernels, laws: what every kernel may use.
    common: String,
    /// Offers every law's time-step limit.
    limits: String,
    /// Properties that differ between bodies.
    pub tables: Vec<f32>,
    pub has_pressure: bool,
    pub verlet: bool,
    pub normalised: bool,
    /// The pressure form changes the volume that pair laws see.
    pub by_sum: bool,
    pub walls: bool,
    /// Neighbours that a particle's list has room for.
    pub list_capacity: u32,
}

impl Program {
    /// The program for a world, on a device that binds at most `largest_binding` bytes.
    pub fn new(world: &World, largest_binding: u64) -> Result<Program, GpuError> {
        let d = &world.discretisation;
        let mut program = Program {
            common: String::new(),
            limits: String::new(),
            tables: Vec::new(),
            has_pressure: world.has_pressure(),
            verlet: world.clock.settings.integrator == IntegratorName::VelocityVerlet,
            normalised: d.normalised_density,
            by_sum: d.pressure_form == PressureForm::Sum,
            walls: !world.walls.is_empty(),
            list_capacity: list_capacity(world, largest_binding),
        };
        let laws = laws(world)?;
        program.constants(world);
        program.kernels(world);
        let rest_density = world.bodies.iter().map(|body| body.rest_density).collect::<Vec<f32>>();
        program.table("rest_density", &rest_density);
        program.common += include_str!("pair.wgsl");
        for law in &laws {
            program.law(law);
        }
        program.joints(&laws);
        if !program.tables.is_empty() {
            program.common += "@group(3) @binding(0) var<storage, read> tables: array<f32>;\n";
        }
        Ok(program)
    }

    /// The text of a kernel: what is common, and its own parts.
    pub fn text(&self, parts: &[&str]) -> String {
        parts.iter().fold(self.common.clone(), |text, part| text + part)
    }

    /// A kernel that sums over neighbours.
    pub fn sweeping(&self, parts: &[&str]) -> String {
        let walls = if self.walls {
            include_str!("sweep_walls.wgsl")
        } else {
            "fn sweep_walls(own: Own) -> Sum { return Sum(); }\n\
             @group(2) @binding(3) var<storage, read> wall_motion: array<vec4f>;\n\
             @group(2) @binding(4) var<storage, read> wall_face: array<vec4f>;\n\
             @group(2) @binding(5) var<storage, read> wall_pressure: array<f32>;\n"
        };
        self.text(&[
            include_str!("grid.wgsl"),
            include_str!("sweep.wgsl"),
            include_str!("lists.wgsl"),
            walls,
            &parts.concat(),
        ])
    }

    /// The kernel that chooses time steps.
    pub fn clock(&self) -> String {
        self.text(&[include_str!("clock_types.wgsl"), include_str!("clock.wgsl"), &self.limits])
    }

    fn constants(&mut self, world: &World) {
        let d = &world.discretisation;
        let dimensions = d.dimensions.count() as u32;
        let flat = d.dimensions == Dimensions::Two;
        let [x, y, z] = CELLS_IN_REACH;
        let reach = [x, y, if flat { 0 } else { z }];
        let period = world.periods.length;
        let (low, high) = container(&world.domain);
        let per_period = period.map(|length| if length > 0.0 { 1.0 / length } else { 0.0 });
        let mut constant = |name: &str, value: String| {
            writeln!(self.common, "const {name} = {value};").expect("strings can be written to");
        };
        constant("scan_group_size", format!("{SCAN_GROUP_SIZE}u"));
        constant("scan_rows", format!("{SCAN_ROWS}u"));
        constant("list_capacity", format!("{}u", self.list_capacity));
        constant("group_size", format!("{GROUP_SIZE}u"));
        constant("groups_in_row", format!("{GROUPS_IN_ROW}u"));
        constant("count", format!("{}u", world.particles.len()));
        constant("bodies", format!("{}u", world.bodies.len()));
        constant("flat", flat.to_string());
        constant("sides", number(dimensions as f32 - 1.0));
        constant("support", number(d.support));
        // Distances to cells are rounded.
        constant("farthest", number(d.support * 1.0001));
        constant("smoothing_length", number(d.smoothing_length()));
        constant("smallest", number(f32::MIN_POSITIVE));
        constant("largest", number(f32::MAX));
        constant("reach", format!("vec3i({}, {}, {})", reach[0], reach[1], reach[2]));
        let [x, y, z] = period.map(|length| length > 0.0);
        constant("periodic", format!("vec3<bool>({x}, {y}, {z})"));
        constant("period", vector(period));
        constant("per_period", vector(per_period));
        constant("box_low", vector(low));
        constant("box_high", vector(high));
        constant("normalised", self.normalised.to_string());
        constant("pressure_by_sum", self.by_sum.to_string());
        constant("verlet", self.verlet.to_string());
        constant("caught_beyond", number(CAUGHT_BEYOND * d.spacing));
        constant("wall_count", format!("{}u", world.walls.len()));
        constant("least_share", number(LEAST_SHARE));
        constant("wall_hold", number(1.0 - d.slip));
        constant("wall_closest", number(0.25 * d.spacing));
    }

    fn kernels(&mut self, world: &World) {
        let d = &world.discretisation;
        self.common += include_str!("kernels.wgsl");
        self.common += &scaled_kernel("density", &d.density);
        self.common += &scaled_kernel("pressure", &d.pressure);
        self.common += &scaled_kernel("viscosity", &d.viscosity);
        self.common += include_str!("../../behaviours/pressure.wgsl");
    }

    /// A property of bodies as a function: a constant where they agree, a look-up where they do not.
    fn table(&mut self, name: &str, values: &[f32]) {
        let first = values.first().copied().unwrap_or(0.0);
        let value = if values.iter().all(|&v| v == first) {
            number(first)
        } else {
            let place = self.tables.len();
            self.tables.extend_from_slice(values);
            format!("tables[{place}u + body]")
        };
        writeln!(self.common, "fn {name}(body: u32) -> f32 {{ return {value}; }}")
            .expect("strings can be written to");
    }

    fn law(&mut self, law: &JoinedLaw) {
        for (name, value) in &law.wgsl.constants {
            writeln!(self.common, "const {}_{name} = {};", law.prefix, number(*value))
                .expect("strings can be written to");
        }
        for (name, values) in &law.wgsl.tables {
            self.table(&format!("{}_{name}", law.prefix), values);
        }
        self.common += law.wgsl.text;
    }

    /// The functions that the loops call: sums over all laws in use.
    fn joints(&mut self, laws: &[JoinedLaw]) {
        let calls = |stage: &str, arguments: &str| -> Vec<String> {
            let used = laws.iter().filter(|law| law.wgsl.defines(&law.prefix, stage));
            used.map(|law| format!("{}_{stage}({arguments})", law.prefix)).collect()
        };
        let mut pair = calls("force", "own, other, x, r");
        let mut wall = calls("wall_force", "own, wall, x, r");
        if self.has_pressure {
            pair.insert(0, "pressure_force(own, other, x, r)".to_owned());
            wall.insert(0, "pressure_wall_force(own, wall, x, r)".to_owned());
        }
        let sum = |terms: &[String], zero: &str| {
            if terms.is_empty() { zero.to_owned() } else { terms.join(" + ") }
        };
        let mut function = |head: &str, value: String| {
            writeln!(self.common, "fn {head} {{ return {value}; }}").expect("strings can be written to");
        };
        let zero = "vec3f()";
        function("pair_force(own: Own, other: Other, x: vec3f, r: f32) -> vec3f", sum(&pair, zero));
        function("wall_force(own: Own, wall: Wall, x: vec3f, r: f32) -> vec3f", sum(&wall, zero));
        function(
            "acceleration_of(body: u32, velocity: vec3f) -> vec3f",
            sum(&calls("acceleration", "body, velocity"), zero),
        );
        let pressure = calls("pressure", "body, ratio");
        function("pressure_of(body: u32, ratio: f32) -> f32", sum(&pressure, "0.0"));
        writeln!(self.common, "const pair_laws = {};", !pair.is_empty()).expect("strings can be written to");

        self.limits += "fn offer_limits(limits: ptr<function, Limits>, speed: f32) {\n";
        for law in laws.iter().filter(|law| law.wgsl.defines(&law.prefix, "limit")) {
            // A law that offers nothing (a viscosity of zero) does not bind.
            if law.limit != Limit::Maximum {
                let line =
                    format!("    offer(limits, {}u, {}_limit(speed));\n", law.limit as u32, law.prefix);
                self.limits += &line;
            }
        }
        self.limits += "}\n";
    }
}

/// Room for half again the neighbours of a particle at rest; 0 where lists are not worth having.
fn list_capacity(world: &World, largest_binding: u64) -> u32 {
    let d = &world.discretisation;
    let reach = d.support / d.spacing;
    let at_rest = match d.dimensions {
        Dimensions::Two => std::f32::consts::PI * reach * reach,
        Dimensions::Three => 4.0 / 3.0 * std::f32::consts::PI * reach.powi(3),
    };
    let wanted = (1.5 * at_rest) as u32 + 12;
    let room = largest_binding / (4 * world.particles.len().max(1) as u64);
    let capacity = wanted.min(LONGEST_LISTS).min(room.min(u64::from(u32::MAX)) as u32);
    // Only the density sum makes lists; and lists that most particles overflow would be made in vain.
    if world.has_pressure() && capacity as f32 > 1.2 * at_rest { capacity } else { 0 }
}

struct JoinedLaw {
    /// Name of the behaviour, as WGSL allows it.
    prefix: String,
    wgsl: Wgsl,
    /// The limit it sets on the time step.
    limit: Limit,
}

/// The laws in use, as text; refuses what is not written for devices yet.
fn laws(world: &World) -> Result<Vec<JoinedLaw>, GpuError> {
    let lightest = world.bodies.iter().map(|body| body.rest_density).fold(f32::INFINITY, f32::min);
    let state = LimitState {
        has_fluid: true,
        discretisation: &world.discretisation,
        lightest,
        speed: 0.0,
        acceleration: 0.0,
        structure: &world.structure,
        memory_ease: 1.0,
    };
    let mut laws = Vec::new();
    for now in &world.behaviours {
        let name = now.behaviour.schema().name;
        if let Some(property) = now.changes() {
            return Err(GpuError::Unsupported {
                what: format!("`{name}.{property}` changes during the run, which is"),
                remedy: "give it one number",
            });
        }
        let Some(wgsl) = now.behaviour.wgsl(now, &state) else {
            let what = format!("the behaviour `{name}` is");
            let remedy = match name {
                "implicit-viscosity" => "write [body.behaviours.viscosity] instead",
                _ => "leave it out",
            };
            return Err(GpuError::Unsupported { what, remedy });
        };
        let mut limits = Limits::new(f32::INFINITY);
        now.behaviour.limit(now, &state, &mut limits);
        laws.push(JoinedLaw { prefix: name.replace('-', "_"), wgsl, limit: limits.binding });
    }
    Ok(laws)
}

/// A kernel under the name of its role, with its factors.
pub(super) fn scaled_kernel(role: &str, kernel: &Kernel) -> String {
    let shape = match kernel.name {
        KernelName::CubicSpline => "cubic_spline",
        KernelName::Poly6 => "poly6",
        KernelName::Spiky | KernelName::Desbrun => "spiky",
        KernelName::Viscosity => "viscous",
        KernelName::Wendland => "wendland",
    };
    let [per_support, value, slope, curvature] = kernel.factors().map(number);
    let tiny = number(kernel.support * 1e-6);
    format!(
        "fn {role}_w(r: f32) -> f32 {{ return {shape}_w(r * {per_support}) * {value}; }}\n\
         fn {role}_slope(r: f32) -> f32 {{ return {shape}_slope(r * {per_support}) * {slope}; }}\n\
         fn {role}_gradient_over_r(r: f32) -> f32 {{ return {role}_slope(r) / max(r, {tiny}); }}\n\
         fn {role}_laplacian(r: f32) -> f32 {{ return {shape}_laplacian(r * {per_support}) * {curvature}; }}\n"
    )
}

fn vector(v: [f32; 3]) -> String {
    let [x, y, z] = v.map(number);
    format!("vec3f({x}, {y}, {z})")
}

/// The box as the integrator needs it: open sides are infinitely far away.
fn container(domain: &Domain) -> ([f32; 3], [f32; 3]) {
    let closed = |side: Side| side != Side::Open;
    let low = [0, 1, 2].map(|a| if closed(domain.sides[a][0]) { domain.min[a] as f32 } else { f32::MIN });
    let high = [0, 1, 2].map(|a| if closed(domain.sides[a][1]) { domain.max[a] as f32 } else { f32::MAX });
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene;

    /// No device is needed for that.
    #[test]
    fn behaviours_that_remember_are_refused_by_name() {
        for (name, more) in [
            ("viscous-memory", "viscous-memory = {}"),
            ("yielding-springs", "yielding-springs = { shear_modulus = 10, history_modulus = 10 }"),
        ] {
            let text = format!(
                r#"
                sph.spacing = 0.1
                time.until = 1
                [[body]]
                name = "block"
                density = 1000
                shape.box = {{ min = [0, 0, 0], max = [1, 1, 1] }}
                [body.behaviours]
                tait = {{}}
                viscosity = {{ dynamic_viscosity = 1 }}
                {more}
                "#
            );
            let scene = scene::load("test", &text, &[]).unwrap_or_else(|problems| panic!("{problems}")).0;
            let Err(error) = laws(&World::new(&scene)) else { panic!("`{name}` was not refused") };
            let message = error.to_string();
            assert!(message.contains(name) && message.contains("leave it out"), "{message}");
            assert!(message.contains("run on the CPU"), "{message}");
        }
    }
}
