//! How long a step may be, and what limits it. `docs/timestep.md` derives each limit.

/// What keeps a step short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The scene's fixed step.
    Fixed,
    /// The scene's longest step, or the end of the frame.
    Maximum,
    /// No particle crosses 0.4 ℓ in a step.
    Velocity,
    /// No particle is displaced by its acceleration by more than a fraction of ℓ.
    Acceleration,
    /// Sound crosses at most 0.4 ℓ.
    Sound,
    /// Momentum diffuses at most a fraction of ℓ.
    Viscosity,
    /// The stiffest bond between particles is resolved.
    Stiffness,
    /// The shortest capillary wave is resolved.
    Capillary,
    /// Drag does not turn a velocity around.
    Drag,
    /// A force field's changes are resolved.
    Forcing,
    /// The error of a step stays below the scene's tolerance.
    Tolerance,
}

impl Limit {
    pub const ALL: [Limit; 11] = [
        Limit::Fixed,
        Limit::Maximum,
        Limit::Velocity,
        Limit::Acceleration,
        Limit::Sound,
        Limit::Viscosity,
        Limit::Stiffness,
        Limit::Capillary,
        Limit::Drag,
        Limit::Forcing,
        Limit::Tolerance,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Limit::Fixed => "fixed",
            Limit::Maximum => "maximum",
            Limit::Velocity => "velocity",
            Limit::Acceleration => "acceleration",
            Limit::Sound => "sound",
            Limit::Viscosity => "viscosity",
            Limit::Stiffness => "stiffness",
            Limit::Capillary => "capillary",
            Limit::Drag => "drag",
            Limit::Forcing => "forcing",
            Limit::Tolerance => "tolerance",
        }
    }
}

/// The limits offered so far; the shortest binds.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// s.
    pub step: f32,
    pub binding: Limit,
}

impl Limits {
    pub fn new(maximum: f32) -> Limits {
        Limits { step: maximum, binding: Limit::Maximum }
    }

    pub fn offer(&mut self, limit: Limit, step: f32) {
        if step < self.step {
            *self = Limits { step, binding: limit };
        }
    }

    /// The limits that come from motion itself: 0.4 ℓ/|v| and 0.25 √(ℓ/|a|) [Bayraktar2010, Eqs. 5.27, 5.26].
    pub fn offer_motion(&mut self, smoothing_length: f32, speed: f32, acceleration: f32) {
        self.offer(Limit::Velocity, 0.4 * smoothing_length / speed.max(f32::MIN_POSITIVE));
        self.offer_acceleration(0.25, smoothing_length, acceleration);
    }

    /// A part of the time in which an acceleration from rest covers ℓ.
    pub fn offer_acceleration(&mut self, part: f32, smoothing_length: f32, acceleration: f32) {
        let smallest = f32::MIN_POSITIVE;
        self.offer(Limit::Acceleration, part * (smoothing_length / acceleration.max(smallest)).sqrt());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_binds() {
        let mut limits = Limits::new(1.0);
        limits.offer(Limit::Sound, 0.1);
        limits.offer(Limit::Viscosity, 0.2);
        assert_eq!((limits.step, limits.binding), (0.1, Limit::Sound));
        limits.offer_motion(0.01, 10.0, 0.0);
        assert_eq!((limits.step, limits.binding), (0.4 * 0.01 / 10.0, Limit::Velocity));
        limits.offer_motion(0.01, 0.0, 1e6);
        assert_eq!(limits.binding, Limit::Acceleration);
    }
}
