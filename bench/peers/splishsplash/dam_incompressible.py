#!/usr/bin/env python3
"""The breaking dam in SPlisHSPlasH's DFSPH: the peer half of the incompressible benchmark.

The block, tank and walls of dam_break.py; divergence-free SPH with its own adaptive step. README.md says what
is set, and what is measured how. Prints one line of JSON on stdout. Needs the virtualenv that install.sh makes.
"""

import argparse
import importlib.metadata
import math
import os
import sys
import time

import dam_break as dam

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import density  # of bench/: both programs' states are looked at by the same code


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--until", type=float, default=1.0, help="simulated time, s")
    p.add_argument("--samples", type=int, default=10, help="moments at which density is looked at, evenly spaced")
    p.add_argument("--density-error", type=float, default=0.1, help="mean density error it may leave, percent")
    p.add_argument("--divergence-error", type=float, default=0.1, help="the same for the divergence solve, percent")
    p.add_argument("--maximum-step", type=float, default=0.005, help="longest step, s")
    p.add_argument("--threads", type=int, default=os.cpu_count(), help="OpenMP threads")
    p.add_argument("--viscosity", type=float, default=0.01, help="kinematic viscosity, m^2/s")
    p.add_argument("--radius", type=float, default=0.025, help="particle radius r, m: spacing 2r, support 4r")
    p.add_argument("--fluid", type=float, nargs=3, default=(2.3, 2.4, 2.3), metavar=("X", "Y", "Z"),
                   help="extents of the fluid block, m")
    p.add_argument("--tank", type=float, nargs=3, default=(8.0, 4.8, 2.36), metavar=("X", "Y", "Z"),
                   help="extents of the tank, m")
    p.add_argument("--steps", type=int, help="stop after so many steps, to try it out")
    p.add_argument("--verbose", action="store_true", help="let the peer's own log through, on stderr")
    a = p.parse_args()
    a.spacing, a.dt = 2 * a.radius, 0.001  # the first step, which its rule for the step then changes
    a.counts, a.first, a.last = dam.places(a.fluid, a.tank, a.spacing)
    return a


def run(a, workdir):
    import numpy as np
    import pysplishsplash as sph

    base = dam.simulator(sph, dam.scene(a, method=4, cfl=1), workdir)
    sim = sph.Simulation.getCurrent()
    fluid = sim.getFluidModel(0)
    n = fluid.numActiveParticles()
    field = lambda name: np.array(fluid.getFieldBuffer(name))[:n]
    clock = sph.TimeManager.getCurrent()

    # Without a GUI this version does not read these from the scene.
    def settings():
        solve, viscosity = sim.getTimeStep(), fluid.getViscosityBase()
        return [
            ("viscosity", viscosity, "Float", viscosity.VISCOSITY_COEFFICIENT, a.viscosity),
            ("viscosity of walls", viscosity, "Float", viscosity.VISCOSITY_COEFFICIENT_BOUNDARY, 0.0),
            ("density error", solve, "Float", solve.MAX_ERROR, a.density_error),
            ("divergence error", solve, "Float", solve.MAX_ERROR_V, a.divergence_error),
            ("divergence solve", solve, "Bool", solve.USE_DIVERGENCE_SOLVER, True),
            ("longest step", sim, "Float", sim.CFL_MAX_TIMESTEPSIZE, a.maximum_step),
            ("rule for the step", sim, "Int", sim.CFL_METHOD, 1),
        ]

    for _, owner, kind, key, value in settings():
        getattr(owner, "setValue" + kind)(key, value)
    dam.require("fluid particles", n, math.prod(a.counts))

    # The walls come into being at the start of a run, and only there: run to just past zero, one step.
    base.setValueFloat(base.STOP_AT, 1e-9)
    base.runSimulation()
    base.setValueFloat(base.STOP_AT, -1.0)
    for what, owner, kind, key, value in settings():
        dam.require(what, getattr(owner, "getValue" + kind)(key), value)
    if sim.getTimeStep().getMethodName() != "DFSPH":
        sys.exit(f"the peer steps by {sim.getTimeStep().getMethodName()}, not DFSPH")
    dam.require("support radius", sim.getSupportRadius(), 4 * a.radius)
    # Its default for this method: the same spline, read from a table.
    dam.require("kernel", sim.getKernel(), sim.ENUM_KERNEL_PRECOMPUTED_CUBIC)
    dam.require("kernel gradient", sim.getGradKernel(), sim.ENUM_GRADKERNEL_PRECOMPUTED_CUBIC)

    solve = sim.getTimeStep()
    first_time = clock.getTime()
    wall_s, steps, density_iterations, divergence_iterations, longest = 0.0, 0, 0, 0, 0.0
    looks = []
    for sample in range(1, a.samples + 1):
        end = a.until * sample / a.samples
        begin = time.perf_counter()
        while clock.getTime() < end and steps != a.steps:
            base.timeStepNoGUI()
            steps += 1
            density_iterations += solve.getValueUInt(solve.SOLVER_ITERATIONS)
            divergence_iterations += solve.getValueUInt(solve.SOLVER_ITERATIONS_V)
            longest = max(longest, clock.getTimeStepSize())
        wall_s += time.perf_counter() - begin
        x, own = field("position"), field("density") / dam.REST_DENSITY
        if not np.isfinite(x).all():
            sys.exit(f"not finite at {clock.getTime()} s")
        looks.append(density.look(clock.getTime(), x, own, a.spacing, 4 * a.radius, a.tank))
        if steps == a.steps:
            break

    escaped = int(((x < 0) | (x > np.array(a.tank))).any(axis=1).sum())
    if 1000 * escaped > n:
        sys.exit(f"{escaped} of {n} particles left the tank")
    simulated = clock.getTime() - first_time
    return {
        "peer": "SPlisHSPlasH, DFSPH",
        "version": importlib.metadata.version("pysplishsplash"),
        "threads": a.threads,
        "fluid_particles": n,
        "wall_particles": sim.getBoundaryModel(0).numberOfParticles(),
        "tolerance_density": a.density_error / 100,
        "tolerance_divergence": a.divergence_error / 100,
        "cfl_factor": sim.getValueFloat(sim.CFL_FACTOR),
        "minimum_iterations": solve.getValueUInt(solve.MIN_ITERATIONS),
        "simulated_s": round(simulated, 6),
        "wall_s": round(wall_s, 3),
        "wall_s_per_simulated_s": round(wall_s / simulated, 3),
        "steps": steps,
        "ms_per_step": round(1000 * wall_s / steps, 3),
        "mean_step_s": float("%.4g" % (simulated / steps)),
        "longest_step_s": float("%.4g" % longest),
        "iterations": {
            "density": round(density_iterations / steps, 2),
            "divergence": round(divergence_iterations / steps, 2),
        },
        "escaped": escaped,
        **density.summary(looks),
        "looks": looks,
    }


if __name__ == "__main__":
    dam.print_record(arguments(), run, __file__)
