//! Liquids, and sand, by name: their density, viscosity and surface tension as measured, so that a scene need not look them up.
//!
//! All but cornstarch are Newtonian to good approximation, at 20 °C and 1 atm unless said otherwise. A material gives a body its
//! rest density and two behaviours, `incompressible` and `viscosity` (or `implicit-viscosity` where the liquid is thick, see
//! `scene/bodies.rs`), one that thickens also `yielding-springs`, and grains `sand` instead of a viscosity; what it knows also fills in `artificial-viscosity` and `cohesion` where a body asks for them.

use crate::scene::{Finish, Look};

/// A liquid and its measured properties.
#[derive(Debug)]
pub struct Material {
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Density ρ₀, kg/m³.
    pub density: f64,
    /// Dynamic viscosity μ, Pa·s.
    pub dynamic_viscosity: f64,
    /// Surface tension against air σ, N/m.
    pub surface_tension: f64,
    /// Of those that thicken when they are stirred.
    pub thickening: Option<Thickening>,
    /// Of those made of grains: coefficient of friction μ of layers that shear. They have neither viscosity nor surface tension.
    pub friction: Option<f64>,
    /// How it looks. Refractive indices are measured; colours are chosen to read well at the size of a table.
    pub look: Look,
}

/// Moduli of `yielding-springs`.
#[derive(Debug)]
pub struct Thickening {
    /// At rest, Pa.
    pub shear_modulus: f64,
    /// For each unit of strain remembered, Pa.
    pub history_modulus: f64,
}

impl Material {
    /// The number a material knows for a property of a behaviour, by the property's name.
    pub fn property(&self, name: &str) -> Option<f64> {
        match name {
            "dynamic_viscosity" if self.friction.is_none() => Some(self.dynamic_viscosity),
            "surface_tension" if self.friction.is_none() => Some(self.surface_tension),
            "friction" => self.friction,
            "shear_modulus" => self.thickening.as_ref().map(|springs| springs.shear_modulus),
            "history_modulus" => self.thickening.as_ref().map(|springs| springs.history_modulus),
            _ => None,
        }
    }
}

/// In the order they are listed to a user.
pub static MATERIALS: &[Material] = &[
    // CRC Handbook of Chemistry and Physics: 998.2 kg/m³, 1.0016 mPa·s, 72.8 mN/m.
    Material {
        name: "water",
        summary: "fresh water at 20 °C",
        density: 998.2,
        dynamic_viscosity: 1.0016e-3,
        surface_tension: 0.0728,
        thickening: None,
        friction: None,
        look: Look::clear([0.45, 0.82, 0.95], 0.3, 1.333),
    },
    // Salinity 35 g/kg. Density and viscosity: Sharqawy, Lienhard & Zubair 2010; surface tension: Nayar et al. 2014.
    Material {
        name: "seawater",
        summary: "sea water of 35 g salt per kg, at 20 °C",
        density: 1024.8,
        dynamic_viscosity: 1.08e-3,
        surface_tension: 0.0738,
        thickening: None,
        friction: None,
        look: Look::clear([0.35, 0.78, 0.85], 0.3, 1.339),
    },
    // About 17 % moisture. Viscosity: Yanniotis, Skaltsi & Karaburnioti 2006 (it doubles with every 2 % less water);
    // published surface tensions scatter between 0.05 and 0.06 N/m.
    Material {
        name: "honey",
        summary: "honey of 17 % moisture at 20 °C",
        density: 1420.0,
        dynamic_viscosity: 10.0,
        surface_tension: 0.055,
        thickening: None,
        friction: None,
        look: Look::clear([0.95, 0.62, 0.14], 0.045, 1.49),
    },
    // Viscosity: Fellows, Food Processing Technology (84 mPa·s); surface tension about 32 mN/m.
    Material {
        name: "olive-oil",
        summary: "olive oil at 20 °C",
        density: 911.0,
        dynamic_viscosity: 0.084,
        surface_tension: 0.032,
        thickening: None,
        friction: None,
        look: Look::clear([0.85, 0.80, 0.20], 0.05, 1.467),
    },
    // Anhydrous. Segur & Oberstar 1951: 1.41 Pa·s; CRC Handbook: 1261 kg/m³, 63.4 mN/m.
    Material {
        name: "glycerine",
        summary: "pure glycerine at 20 °C",
        density: 1261.0,
        dynamic_viscosity: 1.41,
        surface_tension: 0.0634,
        thickening: None,
        friction: None,
        look: Look::clear([0.93, 0.96, 0.97], 0.5, 1.473),
    },
    // Whole milk, 3.5 % fat. Walstra, Wouters & Geurts, Dairy Science and Technology.
    Material {
        name: "milk",
        summary: "whole milk at 20 °C",
        density: 1030.0,
        dynamic_viscosity: 2.0e-3,
        surface_tension: 0.050,
        thickening: None,
        friction: None,
        look: Look::wax([0.97, 0.96, 0.92], 2e-3),
    },
    // CRC Handbook: 13 546 kg/m³, 1.55 mPa·s, 486.5 mN/m.
    Material {
        name: "mercury",
        summary: "mercury at 20 °C",
        density: 13_546.0,
        dynamic_viscosity: 1.55e-3,
        surface_tension: 0.4865,
        thickening: None,
        friction: None,
        look: Look::opaque(Finish::Metal, [0.82, 0.83, 0.85], 0.05),
    },
    // CRC Handbook: 789.3 kg/m³, 1.20 mPa·s, 22.1 mN/m.
    Material {
        name: "ethanol",
        summary: "pure ethanol at 20 °C",
        density: 789.3,
        dynamic_viscosity: 1.20e-3,
        surface_tension: 0.0221,
        thickening: None,
        friction: None,
        look: Look::clear([0.95, 0.97, 0.98], 0.5, 1.361),
    },
    // Basaltic melt at about 1200 °C, without crystals or bubbles. Viscosity: 10 to 100 Pa·s, Spera 2000, in
    // Encyclopedia of Volcanoes; surface tension: Walker & Mullins 1981.
    Material {
        name: "lava",
        summary: "basaltic lava at 1200 °C",
        density: 2650.0,
        dynamic_viscosity: 100.0,
        surface_tension: 0.35,
        thickening: None,
        friction: None,
        look: Look::opaque(Finish::Glow, [1.0, 0.28, 0.05], 0.6),
    },
    // 55 % starch by weight (1590 kg/m³ dry). Flows like thick cream, about 1 Pa·s, up to some shear rate of 1/s to 10/s, and thickens above
    // it: Fall2008; BrownJaeger2012. No modulus is known: these let a bowling ball bounce and then sink.
    Material {
        name: "cornstarch",
        summary: "cornstarch in water, which thickens when stirred or struck",
        density: 1255.0,
        dynamic_viscosity: 1.0,
        surface_tension: 0.07,
        thickening: Some(Thickening { shear_modulus: 300.0, history_modulus: 2e5 }),
        friction: None,
        look: Look::wax([0.95, 0.93, 0.88], 3e-3),
    },
    // Dry quartz sand, poured: 1500 to 1700 kg/m³. Angles of repose are 30° to 34°; Lube2005 has 31°.
    Material {
        name: "sand",
        summary: "dry sand: `incompressible` and `sand`",
        density: 1600.0,
        dynamic_viscosity: 0.0,
        surface_tension: 0.0,
        thickening: None,
        friction: Some(0.6),
        look: Look::grains([0.76, 0.62, 0.42]),
    },
];

pub fn by_name(name: &str) -> Option<&'static Material> {
    MATERIALS.iter().find(|material| material.name == name)
}

pub fn names() -> Vec<&'static str> {
    MATERIALS.iter().map(|material| material.name).collect()
}
