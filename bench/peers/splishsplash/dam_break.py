#!/usr/bin/env python3
"""The breaking dam in SPlisHSPlasH: the peer half of the dam benchmark.

Weakly compressible (Tait) pressure, fixed step, standard viscosity, walls of boundary particles.
README.md states the geometry and every equation, so that our half can run the same physics.
Prints one line of JSON on stdout. Needs the virtualenv that install.sh makes.
"""

import argparse
import glob
import importlib.metadata
import importlib.util
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time

REST_DENSITY = 1000.0  # kg/m^3
GRAVITY = (0.0, -9.81, 0.0)  # m/s^2
# First layer of fluid to wall, in spacings: where the walls bring that layer to rest density. At one
# spacing they bring it to 1.064 times that, and the block bursts instead of falling.
GAP = 1.1
LAUNCHED = "LITTORAL_PEER_LAUNCHED"  # set in the environment of the process that imports the peer


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--radius", type=float, default=0.025, help="particle radius r, m: spacing 2r, support 4r")
    p.add_argument("--dt", type=float, default=0.0004, help="fixed time step, s")
    p.add_argument("--steps", type=int, default=100, help="timed steps")
    p.add_argument("--warmup", type=int, default=20, help="steps before the clock starts, at least 1")
    p.add_argument("--threads", type=int, default=os.cpu_count(), help="OpenMP threads")
    p.add_argument("--fluid", type=float, nargs=3, default=(2.3, 2.4, 2.3), metavar=("X", "Y", "Z"),
                   help="extents of the fluid block, m")
    p.add_argument("--tank", type=float, nargs=3, default=(8.0, 4.8, 2.36), metavar=("X", "Y", "Z"),
                   help="extents of the tank, m")
    p.add_argument("--stiffness", type=float, default=100000.0, help="B of the Tait law, Pa")
    p.add_argument("--exponent", type=float, default=7.0, help="gamma of the Tait law")
    p.add_argument("--viscosity", type=float, default=0.05, help="kinematic viscosity, m^2/s")
    p.add_argument("--dump", metavar="DIR", help="write initial positions and wall volumes there (see README.md)")
    p.add_argument("--verbose", action="store_true", help="let the peer's own log through, on stderr")
    a = p.parse_args()
    if a.warmup < 1 or a.steps < 1 or a.threads < 1:
        p.error("--warmup, --steps and --threads are at least 1")
    a.spacing = 2 * a.radius
    a.counts, a.first, a.last = places(a.fluid, a.tank, a.spacing)
    return a


# ---- Launching: threads and the OpenGL clash have to be settled before the import ----


def import_survives(env):
    """Whether a fresh interpreter outlives `import pysplishsplash` in this environment."""
    no_core = lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    child = subprocess.run([sys.executable, "-c", "import pysplishsplash"], env=env, preexec_fn=no_core,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return child.returncode == 0


def launch(threads, script):
    """Replaces this process by one with the environment the peer needs."""
    spec = importlib.util.find_spec("pysplishsplash")
    if spec is None:
        sys.exit("this Python has no pysplishsplash; run install.sh and use its bin/python")
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_DYNAMIC="false", OPENBLAS_NUM_THREADS="1")
    env[LAUNCHED] = "1"
    if not import_survives(env):
        # A system libGLX pulls in its own libGLdispatch beside the one bundled with the wheel; the two
        # crash together. Loading the bundled one first leaves only that one.
        bundled = glob.glob(os.path.join(os.path.dirname(spec.origin), "pysplishsplash.libs", "libGLdispatch*"))
        env["LD_PRELOAD"] = " ".join(filter(None, bundled + [os.environ.get("LD_PRELOAD")]))
        if not bundled or not import_survives(env):
            sys.exit("`import pysplishsplash` crashes, with its own libGLdispatch too")
    os.execve(sys.executable, [sys.executable, os.path.abspath(script)] + sys.argv[1:], env)


# ---- The scene ----


def places(fluid, tank, spacing):
    """Particles along each axis of the block, and the coordinates of its first and last; stops if it does not fit."""
    counts = [round(x / spacing) for x in fluid]
    if min(counts) < 2:
        sys.exit("--fluid is thinner than two particles along an axis; the peer would drop the block")
    if any((n - 1 + 2 * GAP) * spacing > t * (1 + 1e-6) for n, t in zip(counts, tank)):
        sys.exit("--fluid does not fit: along each axis the tank has to be 1.2 spacings longer than the block")
    first = [GAP * spacing] * 3
    return counts, first, [f + (n - 1) * spacing for f, n in zip(first, counts)]


def unit_box():
    """A closed box of edge 1 about the origin, as OBJ text: two triangles a face, normals outwards."""
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    quads = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    lines = ["v %g %g %g" % c for c in corners]
    for a, b, c, d in quads:
        lines += ["f %d %d %d" % (a, b, c), "f %d %d %d" % (a, c, d)]
    return "\n".join(lines) + "\n"


def scene(a, method=0, cfl=0):
    """The peer's scene file. Its numbers for named choices: method 0 WCSPH, 4 DFSPH, boundary 0 Akinci 2012,
    time step 0 fixed, 1 by the fastest particle, viscosity 1 standard, block 0 cubic lattice."""
    return {
        "Configuration": {
            "particleRadius": a.radius,
            "simulationMethod": method,
            "boundaryHandlingMethod": 0,
            "cflMethod": cfl,
            "timeStepSize": a.dt,
            "gravitation": GRAVITY,
        },
        "Materials": [{"id": "Fluid", "density0": REST_DENSITY, "viscosityMethod": 1, "surfaceTensionMethod": 0}],
        "RigidBodies": [{
            "geometryFile": "box.obj",
            "translation": [t / 2 for t in a.tank],
            "scale": list(a.tank),
            "isDynamic": False,
            "isWall": True,
        }],
        # The peer leaves a whole spacing free inside the box it is given, on each side.
        "FluidBlocks": [{
            "id": "Fluid",
            "denseMode": 0,
            "start": [x - a.spacing for x in a.first],
            "end": [x + a.spacing for x in a.last],
        }],
    }


def require(what, got, want):
    if not math.isclose(got, want, rel_tol=1e-5, abs_tol=1e-9):
        sys.exit(f"the peer has {what} {got}, not {want}: this is not the documented scene")


# ---- The run ----


def simulator(sph, scene, workdir):
    """The peer with a scene in place, without a window."""
    with open(os.path.join(workdir, "box.obj"), "w") as f:
        f.write(unit_box())
    scene_file = os.path.join(workdir, "dam.json")
    with open(scene_file, "w") as f:
        json.dump(scene, f)
    base = sph.Exec.SimulatorBase()
    base.init(sceneFile=scene_file, useGui=False, useCache=False, initialPause=False,
              outputDir=os.path.join(workdir, "out"))
    base.initSimulation()
    return base


def run(a, workdir):
    import numpy as np
    import pysplishsplash as sph

    base = simulator(sph, scene(a), workdir)
    sim = sph.Simulation.getCurrent()
    fluid = sim.getFluidModel(0)
    n = fluid.numActiveParticles()
    # The buffers have room for emitted particles behind the live ones.
    field = lambda name: np.array(fluid.getFieldBuffer(name))[:n]

    # Without a GUI this version reads neither the Tait constants nor the viscosity from the scene.
    pressure, viscosity = sim.getTimeStep(), fluid.getViscosityBase()
    pressure.setValueFloat(pressure.STIFFNESS, a.stiffness)
    pressure.setValueFloat(pressure.EXPONENT, a.exponent)
    viscosity.setValueFloat(viscosity.VISCOSITY_COEFFICIENT, a.viscosity)
    viscosity.setValueFloat(viscosity.VISCOSITY_COEFFICIENT_BOUNDARY, 0.0)

    start = field("position").copy()
    require("fluid particles", n, math.prod(a.counts))
    for axis in range(3):
        require("first layer", float(start[:, axis].min()), a.first[axis])
        require("last layer", float(start[:, axis].max()), a.last[axis])

    # The walls come into being at the start of a run, and only there: run to just past zero, one step.
    base.setValueFloat(base.STOP_AT, 1e-9)
    base.runSimulation()
    base.setValueFloat(base.STOP_AT, -1.0)
    walls = sim.getBoundaryModel(0)
    wall_count = walls.numberOfParticles()

    clock = sph.TimeManager.getCurrent()
    pressure, viscosity = sim.getTimeStep(), fluid.getViscosityBase()
    require("time after one step", clock.getTime(), a.dt)
    require("support radius", sim.getSupportRadius(), 4 * a.radius)
    require("rest density", fluid.getDensity0(), REST_DENSITY)
    require("particle mass", fluid.getMass(0), REST_DENSITY * a.spacing**3)
    require("stiffness", pressure.getValueFloat(pressure.STIFFNESS), a.stiffness)
    require("exponent", pressure.getValueFloat(pressure.EXPONENT), a.exponent)
    require("viscosity", viscosity.getValueFloat(viscosity.VISCOSITY_COEFFICIENT), a.viscosity)
    require("kernel", sim.getKernel(), sim.ENUM_KERNEL_CUBIC)
    require("kernel gradient", sim.getGradKernel(), sim.ENUM_GRADKERNEL_CUBIC)
    require("surface tension", fluid.getSurfaceTensionMethod(), 0)
    if viscosity.getMethodName() != "Standard viscosity" or "Akinci" not in type(walls).__name__:
        sys.exit("dam_break.py: the peer chose another viscosity or boundary than the documented one")

    if a.dump:
        os.makedirs(a.dump, exist_ok=True)
        x = np.array([walls.getPosition(i) for i in range(wall_count)])
        v = np.array([walls.getVolume(i) for i in range(wall_count)])
        for name, data in ("fluid", start), ("walls", x), ("wall_volumes", v):
            data.astype("<f4").tofile(os.path.join(a.dump, name + ".f32"))

    def search_ms():
        timers = sph.Utilities.Timing.m_averageTimes.values()
        return next((t.totalTime for t in timers if t.name == "neighborhood_search"), None)

    for _ in range(a.warmup - 1):
        base.timeStepNoGUI()
    search_before = search_ms()
    begin = time.perf_counter()
    for _ in range(a.steps):
        base.timeStepNoGUI()
    wall_s = time.perf_counter() - begin
    search_after = search_ms()
    require("step after the run", clock.getTimeStepSize(), a.dt)

    # What the last step saw: neighbours and densities at its start, positions and velocities at its end.
    near_fluid = sum(sim.numberOfNeighbors(0, 0, i) for i in range(n)) / n
    near_wall = sum(sim.numberOfNeighbors(0, 1, i) for i in range(n)) / n
    x, speed, density = field("position"), np.linalg.norm(field("velocity"), axis=1), field("density")
    if not (np.isfinite(x).all() and np.isfinite(speed).all()):
        sys.exit(f"dam_break.py: not finite after {a.warmup + a.steps} steps of {a.dt} s")
    escaped = int(((x < 0) | (x > np.array(a.tank))).any(axis=1).sum())
    if 1000 * escaped > n:
        sys.exit(f"dam_break.py: {escaped} of {n} particles left the tank in {a.warmup + a.steps} steps of {a.dt} s")
    return {
        "peer": "SPlisHSPlasH",
        "version": importlib.metadata.version("pysplishsplash"),
        "threads": a.threads,
        "fluid_particles": n,
        "wall_particles": wall_count,
        "dt": a.dt,
        "warmup": a.warmup,
        "steps": a.steps,
        "ms_per_step": round(1000 * wall_s / a.steps, 3),
        "ms_neighbour_search": None if search_after is None else round((search_after - search_before) / a.steps, 3),
        "mean_neighbours": round(near_fluid + near_wall, 3),
        "mean_fluid_neighbours": round(near_fluid, 3),
        "mean_wall_neighbours": round(near_wall, 3),
        "max_speed": round(float(speed.max()), 4),
        "mean_density_error": float("%.4g" % np.maximum(density / REST_DENSITY - 1, 0).mean()),
        "max_density_error": float("%.4g" % max(density.max() / REST_DENSITY - 1, 0)),
        "escaped": escaped,
        "spacing": a.spacing,
        "support": 4 * a.radius,
        "tank": list(a.tank),
        "block_min": [round(x - a.radius, 9) for x in a.first],
        "block_max": [round(x + a.radius, 9) for x in a.last],
        "stiffness": a.stiffness,
        "exponent": a.exponent,
        "sound_speed": round(math.sqrt(a.stiffness * a.exponent / REST_DENSITY), 3),
        "viscosity": a.viscosity,
    }


def print_record(a, run, script):
    """Runs the peer in a process fit for it, and prints what comes back."""
    if LAUNCHED not in os.environ:
        launch(a.threads, script)
    # The peer logs to stdout: keep that for our one line.
    out = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(2 if a.verbose else quiet, 1)
    with tempfile.TemporaryDirectory(prefix="dam-") as workdir:
        record = run(a, workdir)
    out.write(json.dumps(record) + "\n")
    out.flush()
    # The peer's globals are torn down in an order that does not matter to us: leave without it.
    os._exit(0)


if __name__ == "__main__":
    print_record(arguments(), run, __file__)
