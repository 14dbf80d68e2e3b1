#!/usr/bin/env python3
"""A cloth of 100,000 springs drapes over a ball: what a simulated second costs, and how far the cloth is stretched then.

    bench/cloth.py                     all programs, every setting of the sweep
    bench/cloth.py pypbd 10 1          one program, substeps of a frame (1/60 s), iterations of a substep
    bench/cloth.py littoral SCENE      ours

The cloth hangs on two corners, falls onto the ball, and is looked at after a second. A program that iterates less is
faster and leaves the springs longer: compare times at the same stretch.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEER = ROOT / "bench/peers/cloth"
PYTHON = ROOT / "target/peers/cloth/bin/python"
LITTORAL = ROOT / "target/release/littoral"

# The scene, in SI units.
COUNT = int(os.environ.get("CLOTH_COUNT", 130))  # particles along a side
SIDE = 1.0
MASS_PER_AREA = 0.2
STIFFNESS = {"stretch": 1e4, "shear": 1e3, "bend": 1e1}  # N/m, of each spring
BALL, RADIUS = (0.5, -0.3, 0.5), 0.25
THICKNESS = 0.002               # particles stay so far from the ball
FRICTION = 0.3
GRAVITY = 9.81
UNTIL, FRAMES = 1.0, 60

SWEEP = {
    "pypbd": [(5, 1), (10, 1), (20, 1), (40, 1), (10, 5), (10, 20)],
    "newton": [(10, 10), (20, 10), (40, 10)],
}


def grid():
    """Particles in the plane y = 0, row after row."""
    line = np.linspace(0, SIDE, COUNT)
    z, x = np.meshgrid(line, line, indexing="ij")
    return np.stack([x.ravel(), np.zeros(COUNT * COUNT), z.ravel()], axis=1)


def springs():
    """Pairs of particles that a spring joins, by kind: neighbours, diagonals, and next neighbours."""
    index = np.arange(COUNT * COUNT).reshape(COUNT, COUNT)

    def pairs(*shifts):
        found = []
        for down, right in shifts:
            first = index[: COUNT - down, max(0, -right) : COUNT - max(0, right)]
            second = index[down:, max(0, right) : COUNT - max(0, -right)]
            found.append(np.stack([first.ravel(), second.ravel()], axis=1))
        return np.concatenate(found)

    return {
        "stretch": pairs((0, 1), (1, 0)),
        "shear": pairs((1, 1), (1, -1)),
        "bend": pairs((0, 2), (2, 0)),
    }


def triangles():
    index = np.arange(COUNT * COUNT).reshape(COUNT, COUNT)
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[:-1, 1:], index[1:, :-1], index[1:, 1:]))
    return np.concatenate([np.stack([a, c, b], axis=1), np.stack([b, c, d], axis=1)])


PINNED = [0, COUNT - 1]
MASS = MASS_PER_AREA * SIDE * SIDE / COUNT**2


def measured(positions):
    """How far springs are from their lengths, as a part of them, and whether anything is in the ball."""
    positions = np.asarray(positions, dtype=float)
    start, row = grid(), {}
    for kind, pairs in springs().items():
        length = lambda p: np.linalg.norm(p[pairs[:, 0]] - p[pairs[:, 1]], axis=1)
        strain = length(positions) / length(start) - 1
        row[kind] = {"mean": float(np.abs(strain).mean()), "largest": float(strain.max()), "count": len(pairs)}
    corners = positions[triangles()]
    # Corners and middles of triangles: a triangle is far smaller than the ball.
    points = np.concatenate([positions, corners.mean(axis=1)])
    depth = RADIUS - np.linalg.norm(points - BALL, axis=1)
    row["deepest_mm"] = float(1000 * depth.max())
    row["in_ball"] = int((depth > 1e-3).sum())
    # On the ball, and not fallen past it: what lies over its top is above its middle.
    near = np.hypot(points[:, 0] - BALL[0], points[:, 2] - BALL[2]) < 0.5 * RADIUS
    row["passed"] = int((near & (points[:, 1] < BALL[1])).sum())
    row["finite"] = bool(np.isfinite(positions).all())
    return row


def timed(step, substeps):
    """All steps but the first: seconds on the clock, and of all threads together."""
    clock, threads = time.perf_counter(), time.process_time()
    for _ in range(round(UNTIL * FRAMES) * substeps - 1):
        step()
    return time.perf_counter() - clock, time.process_time() - threads


def pypbd(substeps, iterations):
    """XPBD on the same springs, coloured, on all threads (PositionBasedDynamics, double precision). No contact of the
    cloth with itself."""
    import pypbd as pbd

    sim = pbd.Simulation.getCurrent()
    sim.initDefault()
    model = sim.getModel()
    model.addTriangleModel(grid(), triangles().ravel().tolist(), [], [], testMesh=True)
    cloth = model.getTriangleModels()[0]
    particles = model.getParticles()
    for i in range(particles.getNumberOfParticles()):
        particles.setMass(i, 0.0 if i in PINNED else MASS)
    for kind, pairs in springs().items():
        for a, b in pairs.tolist():
            model.addDistanceConstraint_XPBD(a, b, STIFFNESS[kind])

    with tempfile.NamedTemporaryFile("w", suffix=".obj") as file:
        file.write(octahedron())
        file.flush()
        vertices, mesh = pbd.OBJLoader.loadObjToMesh(file.name, [1, 1, 1])
    ball = model.addRigidBody(1.0, vertices, mesh, list(BALL), np.identity(3), [1, 1, 1], testMesh=False)
    ball.setMass(0.0)
    ball.setFrictionCoeff(FRICTION)
    cloth.setFrictionCoeff(FRICTION)
    contact = pbd.DistanceFieldCollisionDetection()
    sim.getTimeStep().setCollisionDetection(model, contact)
    # Its tolerance is where contacts begin; the ball is as much larger as the cloth is thick.
    contact.setTolerance(THICKNESS)
    kinds = pbd.CollisionObject
    points = ball.getGeometry().getVertexDataLocal()
    contact.addCollisionSphere(0, kinds.RigidBodyCollisionObjectType, points, 0, points.size(), RADIUS + THICKNESS, False, False)
    contact.addCollisionObjectWithoutGeometry(0, kinds.TriangleModelCollisionObjectType, particles, 0, COUNT**2, True)

    step = sim.getTimeStep()
    # A step of its own for each substep: contacts are looked for in every one.
    step.setValueUInt(pbd.TimeStepController.NUM_SUB_STEPS, 1)
    step.setValueUInt(pbd.TimeStepController.MAX_ITERATIONS, iterations)
    pbd.TimeManager.getCurrent().setTimeStepSize(1 / (FRAMES * substeps))
    step.step(model)  # colours the springs
    seconds = timed(lambda: step.step(model), substeps)
    return seconds, np.array(particles.getVertices(), copy=True).reshape(-1, 3)[: COUNT**2]


def octahedron():
    """A stand-in for the ball, whose distance is known without triangles."""
    lines = [f"v {x} {y} {z}" for x, y, z in np.concatenate([RADIUS * np.eye(3), -RADIUS * np.eye(3)])]
    faces = [(1, 2, 3), (2, 4, 3), (4, 5, 3), (5, 1, 3), (2, 1, 6), (4, 2, 6), (5, 4, 6), (1, 5, 6)]
    return "\n".join(lines + [f"f {a} {b} {c}" for a, b, c in faces]) + "\n"


def newton(substeps, iterations):
    """XPBD on the same springs (Newton on Warp's CPU, one thread, single precision); particles push each other away."""
    import newton as nt
    import warp as wp

    wp.config.quiet = True
    wp.init()
    builder = nt.ModelBuilder(up_axis=nt.Axis.Y, gravity=(0.0, -GRAVITY, 0.0))
    radius = 0.45 * SIDE / (COUNT - 1)
    for i, p in enumerate(grid()):
        builder.add_particle(wp.vec3(*p), wp.vec3(0, 0, 0), 0.0 if i in PINNED else MASS, radius=radius)
    for kind, pairs in springs().items():
        for a, b in pairs.tolist():
            builder.add_spring(a, b, STIFFNESS[kind], 0.0, 0)
    # Particles are balls here: their surfaces meet at the cloth's thickness from the ball.
    shape = nt.ModelBuilder.ShapeConfig(mu=FRICTION)
    builder.add_shape_sphere(-1, xform=wp.transform(BALL, wp.quat_identity()), radius=RADIUS + THICKNESS - radius, cfg=shape)
    model = builder.finalize(device="cpu")
    model.soft_contact_mu = FRICTION
    solver = nt.solvers.SolverXPBD(model, iterations=iterations)
    now, then, control = model.state(), model.state(), model.control()
    pipeline = nt.CollisionPipeline(model)
    contacts = pipeline.contacts()
    dt = 1 / (FRAMES * substeps)

    def step():
        nonlocal now, then
        now.clear_forces()
        pipeline.collide(now, contacts)
        solver.step(now, then, control, contacts, dt)
        now, then = then, now

    step()  # compiles
    seconds = timed(step, substeps)
    return seconds, now.particle_q.numpy()


def littoral(scene):
    """Ours: wall time of stepping from the report, stretch from the last frame. The scene must hold the same cloth as its
    first body, row after row, pinned and draped alike."""
    import pyarrow as pa

    with tempfile.TemporaryDirectory(prefix="cloth-") as out:
        command = [LITTORAL, "run", scene, "--out", out, "--fresh"]
        subprocess.run([str(part) for part in command], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        report = json.loads((pathlib.Path(out) / "run.json").read_text())
        frames = sorted((pathlib.Path(out) / "frames").glob("*.arrow"))
        with pa.memory_map(str(frames[-1])) as file:
            table = pa.ipc.open_file(file).read_all()
        # Rows are in the order of ids, which is that of the sheet.
        body = np.asarray(table["body"])
        positions = np.array(table["position"].to_pylist())[body == 0]
        if len(positions) != COUNT**2:
            sys.exit(f"{scene}: the first body has {len(positions)} particles, not {COUNT**2}")
        wall = report["wall_time"]
        return (wall["total"] - wall["output"], None), positions, {"steps": report["steps"]}


def row(name, *setting):
    if name == "littoral":
        seconds, positions, more = littoral(*setting)
    else:
        run = {"pypbd": pypbd, "newton": newton}[name]
        (seconds, positions), more = run(*setting), {"substeps": setting[0], "iterations": setting[1]}
    clock, threads = seconds
    times = {"seconds_per_second": clock / UNTIL, "thread_seconds": threads and threads / UNTIL}
    return {"program": name, **more, **times, **measured(positions)}


def show(row):
    setting = f"{row['substeps']:3} × {row['iterations']:3}" if "substeps" in row else f"{row['steps']} steps"
    threads = f" ({row['thread_seconds']:.1f} s of threads)" if row["thread_seconds"] else ""
    print(
        f"{row['program']:9} {setting:10} {row['seconds_per_second']:8.2f} s a second{threads}, stretch "
        f"mean {100 * row['stretch']['mean']:.2f} % largest {100 * row['stretch']['largest']:.1f} %, "
        f"deepest {row['deepest_mm']:.1f} mm, {row['in_ball']} in the ball, {row['passed']} through it"
        + ("" if row["finite"] else ", NOT FINITE"),
        flush=True,
    )


def main():
    arguments = sys.argv[1:]
    if arguments:
        name, setting = arguments[0], arguments[1:]
        print(json.dumps(row(name, *(setting if name == "littoral" else map(int, setting)))))
        return
    subprocess.run([PEER / "install.sh"], check=True)
    joined = {kind: len(pairs) for kind, pairs in springs().items()}
    print(f"{COUNT} × {COUNT} particles, {sum(joined.values())} springs {joined}, N/m {STIFFNESS}")
    print(f"{SIDE} m × {SIDE} m of {MASS_PER_AREA} kg/m², ball of {RADIUS} m at {BALL}, thickness {THICKNESS} m, friction {FRICTION}")
    print(f"{os.cpu_count()} cores; substeps of 1/{FRAMES} s × iterations of each")
    for name, settings in SWEEP.items():
        for setting in settings:
            # A process for each: these libraries keep global state.
            command = [PYTHON, __file__, name, *setting]
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{name} {setting}: {done.stderr}")
            show(json.loads(done.stdout.strip().splitlines()[-1]))
    subprocess.run(["cargo", "build", "--quiet", "--release"], check=True, cwd=ROOT)
    command = [PYTHON, __file__, "littoral", ROOT / "bench/scenes/cloth.toml"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"littoral: {done.stderr}")
    show(json.loads(done.stdout.strip().splitlines()[-1]))


if __name__ == "__main__":
    main()
