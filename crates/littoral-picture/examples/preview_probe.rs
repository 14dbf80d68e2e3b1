//! Draws a breaking dam of made-up particles and says how long a frame takes.
//!
//! `cargo run --release -p littoral-picture --example preview_probe -- [particles] [folder]`

use std::time::Instant;

use glam::Vec3;
use littoral_picture::colour::Map;
use littoral_picture::film::FilmWriter;
use littoral_picture::image::Image;
use littoral_picture::legend::{Bar, Corner, Legend, draw_caption, draw_legend, time};
use littoral_picture::preview::{Balls, GroundGrid, Lens, Segment, Settings, Shading, View, preview};
use littoral_picture::scale::Range;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(100_000, |text| text.parse().expect("a number of particles"));
    let folder = arguments.next().unwrap_or_else(|| ".".into());

    let (water, radius) = breaking_dam(count);
    let speeds = Range::new(0.0, 3.2);
    let colours: Vec<Vec3> = water.iter().map(|centre| Map::Viridis.at(speed_at(*centre), speeds)).collect();
    let balls = [Balls { centres: &water, radii: &[radius], colours: &colours }];
    let (low, high) = (Vec3::ZERO, Vec3::new(3.0, 1.6, 1.2));
    let lines = box_edges(low, high, 1.5, Vec3::splat(0.08));
    let settings = Settings::default();
    let aspect = settings.width as f32 / settings.height as f32;
    let view = view_of_box(low, high, Vec3::new(0.45, 0.5, 1.0), 0.6, aspect);
    let ground = GroundGrid::new(0.0, 0.25);

    // Time on the clock depends on who else is at work; time on the processor hardly does.
    let mut image = Image::new(1, 1, [0; 3]);
    let mut times = Vec::new();
    let before = processor_seconds();
    for _ in 0..5 {
        let start = Instant::now();
        image = preview(&view, &balls, &lines, Some(&ground), &settings);
        times.push(start.elapsed().as_secs_f64());
    }
    let processor = (processor_seconds() - before) / times.len() as f64;
    times.sort_by(f64::total_cmp);
    let size = format!("{} × {}", image.width, image.height);
    println!("{} particles, {size}: best {:.3} s, median {:.3} s", water.len(), times[0], times[2]);
    println!("on all threads together {processor:.3} s a frame");
    let legend = Legend { map: Map::Viridis, range: speeds, name: "speed", unit: "m/s" };
    draw_legend(&mut image, &legend, Bar::Vertical, Corner::BottomRight);
    draw_caption(&mut image, "Dam break", &time(0.62, 30.0), Corner::TopLeft);
    std::fs::write(format!("{folder}/preview_{count}.png"), image.to_png()).expect("the folder exists");

    // Two seconds of film, the camera moving around; a poster of its first frame.
    let small = Settings { width: 640, height: 360, ..Settings::default() };
    let mut film = FilmWriter::create(format!("{folder}/film_{count}.mp4"), 640, 360, 24.0).expect("a film");
    for frame in 0..48 {
        let angle = 0.3 + 0.012 * frame as f32;
        let view = view_of_box(low, high, Vec3::new(angle.sin(), 0.45, angle.cos()), 0.6, aspect);
        let mut image = preview(&view, &balls, &lines, Some(&ground), &small);
        draw_legend(&mut image, &legend, Bar::Horizontal, Corner::BottomRight);
        draw_caption(&mut image, "", &time(f64::from(frame) / 24.0, 24.0), Corner::TopLeft);
        film.push(&image).expect("a frame");
        if frame == 0 {
            let poster = image.to_small_png(150_000).expect("a poster");
            println!("poster: {} bytes", poster.len());
            std::fs::write(format!("{folder}/poster_{count}.png"), poster).expect("the folder exists");
            std::fs::write(format!("{folder}/poster_full_{count}.png"), image.to_png())
                .expect("the folder exists");
        }
    }
    film.finish().expect("a film");

    // The same in two dimensions.
    let slice: Vec<Vec3> =
        water.iter().filter(|c| (c.z - 0.6).abs() < radius).map(|c| c.with_z(0.0)).collect();
    let colours: Vec<Vec3> = slice.iter().map(|centre| Map::Viridis.at(speed_at(*centre), speeds)).collect();
    let balls = [Balls { centres: &slice, radii: &[radius], colours: &colours }];
    let middle = Vec3::new(1.5, 0.8, 0.0);
    let view = View {
        at: middle + Vec3::Z,
        look_at: middle,
        up: Vec3::Y,
        lens: Lens::Orthographic { height: 1.08 * f32::max(1.6, 3.0 / aspect) },
    };
    let settings = Settings { shading: Shading::Flat, sky: [Vec3::splat(0.93); 2], ..settings };
    let flat =
        preview(&view, &balls, &box_edges(low, high.with_z(0.0), 1.5, Vec3::splat(0.08)), None, &settings);
    std::fs::write(format!("{folder}/flat_{count}.png"), flat.to_png()).expect("the folder exists");
}

/// Sees a box whole, from a direction (pointing from the box to the camera), in a picture of this width / height.
fn view_of_box(low: Vec3, high: Vec3, direction: Vec3, field_of_view: f32, aspect: f32) -> View {
    let middle = 0.5 * (low + high);
    let direction = direction.normalize();
    let mut view = View {
        at: middle + direction,
        look_at: middle,
        up: Vec3::Y,
        lens: Lens::Perspective { field_of_view },
    };
    // Far enough that each corner lies within the angle of view, with a margin.
    let right = view.up.cross(direction).normalize();
    let up = direction.cross(right);
    let tangent = 0.92 * (0.5 * field_of_view).tan();
    let distance = corners(low, high).map(|corner| {
        let offset = corner - middle;
        let sideways = (offset.dot(right).abs() / aspect).max(offset.dot(up).abs());
        sideways / tangent + offset.dot(direction)
    });
    let distance = distance.into_iter().fold(1e-6, f32::max);
    view.at = middle + direction * distance;
    view
}

/// The twelve edges of a box.
fn box_edges(low: Vec3, high: Vec3, width: f32, colour: Vec3) -> Vec<Segment> {
    let corners = corners(low, high);
    let pairs =
        (0..8).flat_map(|from| [1, 2, 4].map(|bit| (from, from | bit))).filter(|(from, to)| from != to);
    pairs.map(|(from, to)| Segment { a: corners[from], b: corners[to], width, colour }).collect()
}

fn corners(low: Vec3, high: Vec3) -> [Vec3; 8] {
    std::array::from_fn(|k| {
        let pick = |bit: usize, low: f32, high: f32| if k & bit == 0 { low } else { high };
        Vec3::new(pick(1, low.x, high.x), pick(2, low.y, high.y), pick(4, low.z, high.z))
    })
}

/// What all threads of this process have used so far, s; 0 where Linux does not tell.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>()
        / 100.0
}

/// Particles in a grid under a surface that has half fallen, with some spray; and their radius, m.
fn breaking_dam(count: usize) -> (Vec<Vec3>, f32) {
    let volume: f64 = 1.2 * (0..300).map(|i| 0.01 * f64::from(surface(i as f32 * 0.01))).sum::<f64>();
    let spacing = (volume / count as f64).cbrt() as f32;
    let mut noise = 1u32;
    let mut random = move || {
        noise = noise.wrapping_mul(1664525).wrapping_add(1013904223);
        (noise >> 8) as f32 / (1 << 24) as f32
    };
    let cells = |length: f32| (length / spacing) as usize;
    let mut centres = Vec::new();
    for i in 0..cells(3.0) {
        for j in 0..cells(1.5) {
            for k in 0..cells(1.2) {
                let corner = Vec3::new(i as f32, j as f32, k as f32);
                let centre =
                    (corner + 0.5 + 0.35 * (Vec3::new(random(), random(), random()) - 0.5)) * spacing;
                if centre.y < surface(centre.x) + 0.03 * (9.0 * centre.z + 5.0 * centre.x).sin() {
                    centres.push(centre);
                }
            }
        }
    }
    for _ in 0..count / 200 {
        let x = 2.0 + random();
        centres.push(Vec3::new(x, surface(x) + 0.5 * random() * random() * (x - 1.8), 1.2 * random()));
    }
    (centres, 0.5 * spacing)
}

fn surface(x: f32) -> f32 {
    let column = 1.0 / (1.0 + (4.0 * (x - 0.7)).exp());
    let jet = 0.9 * ((x - 3.0) * 6.0).exp();
    0.12 + column + jet
}

fn speed_at(centre: Vec3) -> f32 {
    3.1 * (centre.x / 3.0).powf(1.3) * (1.0 - 0.4 * centre.y) + 0.5 * centre.y.max(0.0)
}
