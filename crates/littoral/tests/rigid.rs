//! Rigid bodies of particles: they keep their shape, momentum and angular momentum; they rest, slide, roll, collide, stack, hang and float.

use glam::{DVec3, Vec3, Vec4};
use littoral::checkpoint::Checkpoint;
use littoral::columns::{BODY, MASS, POSITION, REFERENCE, VELOCITY};
use littoral::scene::{self, Scene};
use littoral::world::World;

fn load(text: &str) -> Scene {
    scene::load("rigid", text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain())).0
}

fn world(text: &str) -> World {
    World::new(&load(text))
}

/// A row of a body: mass, place at rest, place, velocity.
type Row = (f64, DVec3, DVec3, DVec3);

fn rows(world: &World, body: u32) -> Vec<Row> {
    let particles = &world.particles;
    let column = |key| particles.get(key);
    let own = (0..particles.len()).filter(|&i| particles.get(&BODY)[i] == body);
    let vector = |rows: &[Vec4], i: usize| rows[i].truncate().as_dvec3();
    own.map(|i| {
        let mass = f64::from(particles.get(&MASS)[i]);
        (mass, vector(column(&REFERENCE), i), vector(column(&POSITION), i), vector(column(&VELOCITY), i))
    })
    .collect()
}

fn total(rows: &[Row], of: impl Fn(&Row) -> DVec3) -> DVec3 {
    rows.iter().map(of).sum()
}

fn mass(rows: &[Row]) -> f64 {
    rows.iter().map(|row| row.0).sum()
}

fn centre(rows: &[Row]) -> DVec3 {
    total(rows, |row| row.2 * row.0) / mass(rows)
}

fn momentum(rows: &[Row]) -> DVec3 {
    total(rows, |row| row.3 * row.0)
}

/// About the origin.
fn spin(rows: &[Row]) -> DVec3 {
    total(rows, |row| row.2.cross(row.3) * row.0)
}

fn energy(rows: &[Row]) -> f64 {
    rows.iter().map(|row| 0.5 * row.0 * row.3.length_squared()).sum()
}

/// How far the distance of any two particles is from that at rest, m.
fn distortion(rows: &[Row]) -> f64 {
    let pairs = rows.iter().flat_map(|a| rows.iter().step_by(7).map(move |b| (a, b)));
    pairs.map(|(a, b)| (a.2.distance(b.2) - a.1.distance(b.1)).abs()).fold(0.0, f64::max)
}

/// Turns a whole body by hand, rad/s about its middle.
fn give_spin(world: &mut World, body: u32, turning: Vec3) {
    let middle = centre(&rows(world, body)).as_vec3();
    world.particles.update(&VELOCITY, |velocity, particles| {
        let places = particles.get(&POSITION).iter().zip(particles.get(&BODY));
        for (v, (x, _)) in velocity.iter_mut().zip(places).filter(|(_, (_, b))| **b == body) {
            *v += turning.cross(x.truncate() - middle).extend(0.0);
        }
    });
}

/// Tossed with any velocities, the block has their momentum and angular momentum from the first step on.
#[test]
fn any_motion_becomes_one_with_its_momentum() {
    for dimensions in [2, 3] {
        let mut world = world(&format!(
            "dimensions = {dimensions}\nworld.gravity = [0, 0, 0]\nsph.spacing = 0.1\ntime.until = 1\n[[body]]\nname = \"block\"\n\
             density = 500\nshape.box = {{ min = [0, 0, 0], max = [0.6, 0.4, {}] }}\nbehaviours.rigid = {{}}",
            if dimensions == 2 { 0.0 } else { 0.3 }
        ));
        let flat = if dimensions == 2 { 0.0 } else { 1.0 };
        world.particles.update(&VELOCITY, |velocity, particles| {
            for (v, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
                *v = Vec4::new(
                    libm::sinf(17.0 * x.y),
                    libm::cosf(11.0 * x.x),
                    flat * libm::sinf(23.0 * x.x * x.y),
                    0.0,
                );
            }
        });
        let before = rows(&world, 0);
        for _ in 0..50 {
            world.step(2e-3).expect("a step");
        }
        let after = rows(&world, 0);
        let size: f64 = before.iter().map(|row| row.0 * row.3.length()).sum();
        // Velocities are rounded to 10⁻⁷ in each of the steps.
        assert!((momentum(&after) - momentum(&before)).length() < 1e-6 * size);
        assert!((spin(&after) - spin(&before)).length() < 1e-6 * size, "{} {}", spin(&after), spin(&before));
        assert!(distortion(&after) < 1e-6, "{}", distortion(&after));
        assert!(energy(&after) < energy(&before));
        assert!(dimensions == 3 || after.iter().all(|row| row.2.z == 0.0 && row.3.z == 0.0));
    }
}

/// A book spun about its middle axis flips over and over; a rod spins too.
#[test]
fn a_tumbling_block_keeps_its_energy() {
    let mut world = world(
        "world.gravity = [0, 0, 0]\nsph.spacing = 0.05\ntime.until = 10\n[[body]]\nname = \"book\"\n\
         shape.box = { min = [0, 0, 0], max = [0.3, 0.2, 0.1] }\nbehaviours.rigid = {}\n\
         [[body]]\nname = \"rod\"\nthickness = 0.02\ndensity = 1000\nshape.line = { from = [5, 0, 0], to = [6, 0, 0] }\nbehaviours.rigid = {}",
    );
    give_spin(&mut world, 0, Vec3::new(0.1, 10.0, 0.0));
    give_spin(&mut world, 1, Vec3::new(0.0, 2.0, 1.0));
    let before = [rows(&world, 0), rows(&world, 1)];
    let side = |rows: &[Row]| (rows[0].2 - rows[1].2).normalize();
    let (start, mut turned) = (side(&before[0]), 0.0f64);
    world
        .advance_with(4.0, |world| turned = turned.max(1.0 - side(&rows(world, 0)).dot(start)))
        .expect("a run");
    let after = [rows(&world, 0), rows(&world, 1)];
    assert!(turned > 1.9, "it has not flipped: {turned}");
    for (before, after) in before.iter().zip(&after) {
        // Some thousand steps, each of which rounds velocities to 10⁻⁷.
        let [was, is] = [energy(before), energy(after)];
        assert!((is / was - 1.0).abs() < 1e-4, "{was} J became {is} J");
        let [was, is] = [spin(before), spin(after)];
        assert!((is - was).length() < 1e-4 * was.length(), "{was} became {is}");
        assert!(distortion(after) < 1e-6);
    }
}

/// On the floor, and one upon the other, flat: after they have landed, nothing moves.
#[test]
fn a_stack_rests() {
    for (dimensions, z) in [(2, [0.0; 5]), (3, [1.0, 0.3, 0.7, 0.35, 0.65])] {
        let mut world = world(&format!(
            "dimensions = {dimensions}\nworld.box = {{ min = [0, 0, 0], max = [1, 1, {}] }}\nsph.spacing = 0.05\ntime.until = 10\n\
             [[body]]\nname = \"lower\"\nshape.box = {{ min = [0.3, 0.02, {}], max = [0.7, 0.22, {}] }}\nbehaviours.rigid = {{}}\n\
             [[body]]\nname = \"upper\"\ndensity = 3000\nshape.box = {{ min = [0.35, 0.25, {}], max = [0.65, 0.45, {}] }}\n\
             behaviours.rigid = {{}}",
            z[0], z[1], z[2], z[3], z[4]
        ));
        world.advance_to(1.5).expect("a run");
        let first = [centre(&rows(&world, 0)), centre(&rows(&world, 1))];
        world.advance_to(3.0).expect("a run");
        for body in [0, 1] {
            let rows = rows(&world, body);
            let moved = centre(&rows).distance(first[body as usize]);
            assert!(moved < 1e-4, "{dimensions}-D: {body} has moved by {moved} m in 1.5 s");
            assert!(distortion(&rows) < 1e-6);
        }
        // A tenth of a spacing is what contacts leave.
        assert!((first[0].y - 0.1).abs() < 5e-3 && (first[1].y - 0.3).abs() < 7e-3, "{first:?}");
    }
}

/// Two blocks meet in empty space, off centre: momenta stay, and energy does not grow. (Friction acts on the middles of the balls that touch, a ball
/// apart, and takes angular momentum with it: that is looked at without.)
#[test]
fn collisions_keep_momenta_and_do_not_gain_energy() {
    for friction in [0.0, 0.5] {
        let mut world = world(&format!(
            "world.gravity = [0, 0, 0]\nsph.spacing = 0.05\ntime.until = 10\n\
             [[body]]\nname = \"left\"\nshape.box = {{ min = [0, 0, 0], max = [0.3, 0.3, 0.3] }}\nvelocity = [1, 0, 0]\n\
             behaviours.rigid = {{}}\nbehaviours.contact.friction = {friction}\n\
             [[body]]\nname = \"right\"\ndensity = 200\nshape.box = {{ min = [0.5, 0.15, 0.1], max = [0.8, 0.5, 0.3] }}\n\
             velocity = [-1, 0, 0]\nbehaviours.rigid = {{}}\nbehaviours.contact.friction = {friction}"
        ));
        let both = |world: &World| [rows(world, 0), rows(world, 1)].concat();
        let before = both(&world);
        let mut last = energy(&before);
        world
            .advance_with(1.0, |world| {
                let now = energy(&both(world));
                // What the sweeps leave of a blow, the next step remembers.
                let most = last + 2e-3 * energy(&before);
                assert!(now < most, "{last} J became {now} J at {} s", world.clock.time);
                last = now;
            })
            .expect("a run");
        let after = both(&world);
        assert!(last < 0.95 * energy(&before), "they have not met");
        assert!((momentum(&after) - momentum(&before)).length() < 1e-4 * momentum(&before).length());
        let size: f64 = before.iter().map(|row| row.0 * row.2.cross(row.3).length()).sum();
        let gained = (spin(&after) - spin(&before)).length();
        assert!(friction > 0.0 || gained < 1e-4 * size, "{gained} of {size}");
        // The lighter one is thrown back.
        assert!(momentum(&rows(&world, 1)).x > 0.0);
    }
}

/// On a slope of 20°: with friction above tan 20° a block rests, with less it slides with g (sin − μ cos), and a disc rolls with ⅔ g sin.
#[test]
fn a_slope_is_slid_and_rolled_down() {
    let angle = 20f64.to_radians();
    let (x, y) = (9.81 * angle.sin(), -9.81 * angle.cos());
    let way = |shape: &str, spacing: f64, friction: f64| {
        // The slope is the floor, and the weight is turned.
        let mut world = world(&format!(
            "dimensions = 2\nworld.box = {{ min = [-1, 0], max = [9, 3], open = [\"+x\", \"+y\"] }}\nworld.gravity = [{x}, {y}]\n\
             sph.spacing = {spacing}\ntime.until = 10\n[[body]]\nname = \"it\"\nshape.{shape}\nbehaviours.rigid = {{}}\nbehaviours.contact.friction = {friction}"
        ));
        world.advance_to(0.2).expect("a run");
        let [start, speed] = [centre(&rows(&world, 0)), momentum(&rows(&world, 0)) / mass(&rows(&world, 0))];
        world.advance_to(0.7).expect("a run");
        // What it has gone beyond its first speed.
        centre(&rows(&world, 0)).x - start.x - 0.5 * speed.x
    };
    let block = "box = { min = [0, 0], max = [0.2, 0.1] }";
    assert!(way(block, 0.02, 0.5).abs() < 1e-3, "{}", way(block, 0.02, 0.5));
    let expected = 0.125 * 9.81 * (angle.sin() - 0.2 * angle.cos());
    let slid = way(block, 0.02, 0.2);
    assert!((slid / expected - 1.0).abs() < 0.05, "{slid} of {expected}");
    // Of lattice points in a circle: a polygon, which loses speed whenever it comes down on the next of its sides.
    let disc = "sphere = { centre = [0, 0.3], radius = 0.3 }";
    let expected = 0.125 * 9.81 * angle.sin() * 2.0 / 3.0;
    let rolled = way(disc, 0.01, 0.8);
    assert!((rolled / expected - 1.0).abs() < 0.2, "{rolled} of {expected}");
}

/// A bar that hangs by its end swings as a compound pendulum, T = 2π √(I/mgl).
#[test]
fn a_pinned_bar_swings() {
    let mut world = world(
        "dimensions = 2\nsph.spacing = 0.05\ntime.until = 10\n[[body]]\nname = \"bar\"\n\
         shape.box = { min = [0, 0], max = [0.1, 1] }\nbehaviours.rigid = {}\nvelocity = [0.1, 0]\n\
         [[pin]]\nnearest = [[0.025, 0.975, 0]]",
    );
    let (pin, bar) = (DVec3::new(0.025, 0.975, 0.0), rows(&world, 0));
    let arm = centre(&bar).distance(pin);
    let inertia: f64 = bar.iter().map(|row| row.0 * row.2.distance_squared(pin)).sum();
    let period = std::f64::consts::TAU * (inertia / (mass(&bar) * 9.81 * arm)).sqrt();
    // It hangs a little askew, from where it swings; it passes its lowest place twice a period.
    let mut passed = Vec::new();
    let mut before: Option<f64> = None;
    world
        .advance_with(4.0, |world| {
            let rows = rows(world, 0);
            let held = rows.iter().map(|row| (row.1.distance(pin), row.2.distance(pin)));
            let held = held.min_by(|a, b| a.0.total_cmp(&b.0)).expect("a bar").1;
            assert!(held < 1e-4, "the pin has slipped by {held} m");
            let side = (centre(&rows) - pin).x;
            if before.is_some_and(|before| before * side < 0.0) {
                passed.push(world.clock.time);
            }
            before = Some(side);
        })
        .expect("a run");
    let measured = (passed[4] - passed[0]) / 2.0;
    assert!((measured / period - 1.0).abs() < 0.01, "{measured} s, {period} s");
}

/// A block on sand comes to rest on it.
#[test]
fn a_block_rests_on_sand() {
    let mut world = world(
        "dimensions = 2\nworld.box = { min = [0, 0], max = [0.6, 0.6], open = [\"+y\"] }\nsph.spacing = 0.01\ntime.until = 2\n\
         [[body]]\nname = \"sand\"\nmaterial = \"sand\"\nshape.box = { min = [0, 0], max = [0.6, 0.15] }\n\
         [[body]]\nname = \"block\"\ndensity = 2000\nshape.box = { min = [0.25, 0.25], max = [0.35, 0.33] }\nbehaviours.rigid = {}",
    );
    world.advance_to(0.8).expect("a run");
    let rows = rows(&world, 1);
    let (at, speed) = (centre(&rows), momentum(&rows).length() / mass(&rows));
    assert!(at.y > 0.15 && at.y < 0.2, "it is at {} m", at.y);
    assert!(speed < 0.02, "{speed} m/s");
}

/// A block that is half rigid and half nothing: a motion of its particles against each other dies out, and momentum stays.
#[test]
fn half_a_weight_goes_half_the_way() {
    let run = |weight: f64| {
        let mut world = world(&format!(
            "world.gravity = [0, 0, 0]\nsph.spacing = 0.1\ntime.until = 1\n[[body]]\nname = \"block\"\n\
             shape.box = {{ min = [0, 0, 0], max = [0.3, 0.3, 0.3] }}\nbehaviours.rigid.weight = {weight}\nbehaviours.contact.weight = 0"
        ));
        world.particles.update(&VELOCITY, |velocity, particles| {
            velocity
                .iter_mut()
                .zip(particles.get(&POSITION))
                .for_each(|(v, x)| v.x = 1.0 + 0.1 * (x.x - 0.15));
        });
        world.step(1e-3).expect("a step");
        let rows = rows(&world, 0);
        let velocity = momentum(&rows) / mass(&rows);
        let spread = rows.iter().map(|row| row.3.distance(velocity)).fold(0.0, f64::max);
        (velocity.x, spread)
    };
    let spreads: Vec<f64> = [1e-3, 0.25, 0.5, 0.75, 0.999, 1.0]
        .map(|weight| {
            let (velocity, spread) = run(weight);
            assert!((velocity - 1.0).abs() < 1e-6, "{velocity}");
            spread
        })
        .to_vec();
    assert!(spreads.windows(2).all(|pair| pair[1] < pair[0]), "{spreads:?}");
    assert!((spreads[0] / 0.01 - 1.0).abs() < 0.01 && spreads[5] < 1e-6 && spreads[4] < 1e-4, "{spreads:?}");
    // Once before the contacts and once after positions have moved.
    assert!((spreads[2] / 0.01 - 0.25).abs() < 0.01, "{spreads:?}");
}

/// Two parts of one body that do not touch at rest are two bodies.
#[test]
fn parts_that_do_not_touch_move_on_their_own() {
    let mut world = world(
        "world.box = { min = [0, 0, 0], max = [2, 2, 1], open = [\"+y\"] }\nsph.spacing = 0.1\ntime.until = 2\n\
         [[body]]\nname = \"pair\"\nbehaviours.rigid = {}\n\
         shape.union.of = [{ box = { min = [0.2, 0, 0.3], max = [0.6, 0.4, 0.7] } }, { box = { min = [1.2, 0.8, 0.3], max = [1.6, 1.2, 0.7] } }]",
    );
    world.advance_to(1.0).expect("a run");
    assert_eq!(world.structure.rigid.pieces.len(), 2);
    let high = rows(&world, 0).into_iter().filter(|row| row.1.x > 1.0).map(|row| row.2.y);
    assert!(high.fold(f64::MAX, f64::min) < 0.06, "the upper part has not come down on its own");
}

/// The same bytes for any number of threads, and after a checkpoint; with water, over the edge of a periodic box.
#[test]
fn threads_and_checkpoints_do_not_matter() {
    let scene = load(
        "dimensions = 2\nworld.box = { min = [0, 0], max = [0.6, 0.5], periodic = [\"x\"], open = [\"+y\"] }\nsph.spacing = 0.02\ntime.until = 1\n\
         [[body]]\nname = \"water\"\nmaterial = \"water\"\nshape.box = { min = [0, 0], max = [0.6, 0.2] }\n\
         [[body]]\nname = \"block\"\ndensity = 500\nshape.box = { min = [0.44, 0.22], max = [0.58, 0.32] }\nvelocity = [1, 0]\nbehaviours.rigid = {}",
    );
    let run = |threads: usize, saves: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let mut world = World::new(&scene);
            world.advance_to(0.2).expect("a run");
            world.forget_neighbours();
            if saves {
                let saved = Checkpoint::of(&scene, &world, 0);
                world = World::new(&scene);
                world.restore(saved).expect("the same scene");
            }
            world.advance_to(0.3).expect("a run");
            let columns = [&POSITION, &VELOCITY].map(|column| world.particles.get(column).to_vec());
            (columns, rows(&world, 1))
        })
    };
    let (whole, block) = run(1, false);
    assert_eq!(whole, run(1, true).0);
    assert_eq!(whole, run(3, false).0);
    // It has come out at the other side, in part or as a whole, and not been torn.
    let there = block.iter().filter(|row| row.2.x < 0.3).count();
    assert!(there > 0, "it has not reached the edge");
    let whole = |row: &Row| (row.0, row.1, if row.2.x < 0.3 { row.2 + DVec3::X * 0.6 } else { row.2 }, row.3);
    let block: Vec<Row> = block.iter().map(whole).collect();
    assert!(distortion(&block) < 1e-6, "{}", distortion(&block));
}
