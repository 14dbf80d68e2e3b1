"""Density errors of a state, the same for both programs.

`own` is what a program itself says: its density over the rest density, walls counted in. As the two have different walls,
`inside` is computed here, from positions alone, for particles farther than a support from the tank's sides: V Σ W with
the cubic spline, scaled to be 1 on the lattice at rest. Errors are compression only: max(δ − 1, 0), as a free surface is
thin by nature.

    density.py FOLDER SPACING SUPPORT X Y Z     looks at the states that our `flow` example left in FOLDER
"""

import json
import pathlib
import sys

import numpy as np


def cubic_spline(q):
    """The kernel's shape, 1 at q = 0 and 0 from q = 1 on."""
    return np.where(q < 0.5, 6 * q**3 - 6 * q**2 + 1, 2 * np.clip(1 - q, 0, None) ** 3)


def lattice_sum(spacing, support):
    """Σ W over the lattice at rest, in the units of `cubic_spline`."""
    reach = np.arange(-int(support / spacing) - 1, int(support / spacing) + 2) * spacing
    x, y, z = np.meshgrid(reach, reach, reach)
    return cubic_spline(np.sqrt(x * x + y * y + z * z) / support).sum()


def ratios(positions, spacing, support):
    """Density over rest density of each particle, of the fluid alone."""
    x = np.asarray(positions, dtype=np.float64)
    cells = np.floor((x - x.min(axis=0)) / support).astype(np.int64) + 1
    shape = cells.max(axis=0) + 2
    index = lambda c: (c[:, 0] * shape[1] + c[:, 1]) * shape[2] + c[:, 2]
    order = np.argsort(index(cells), kind="stable")
    x, cells = x[order], cells[order]
    keys = index(cells)
    sums = np.zeros(len(x))
    # Runs of three cells along z are contiguous.
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            base = keys + (dx * shape[1] + dy) * shape[2]
            start, end = np.searchsorted(keys, base - 1, "left"), np.searchsorted(keys, base + 1, "right")
            for part in np.array_split(np.arange(len(x)), max(1, len(x) // 20000)):
                count = end[part] - start[part]
                i = np.repeat(part, count)
                within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
                j = np.repeat(start[part], count) + within
                r = np.linalg.norm(x[i] - x[j], axis=1)
                sums += np.bincount(i, cubic_spline(r / support), minlength=len(x))
    result = np.empty(len(x))
    result[order] = sums / lattice_sum(spacing, support)
    return result


def look(time, positions, own, spacing, support, tank):
    """Errors of one state: mean, 99.9th percentile and maximum, of both kinds."""
    inside = ((positions > support) & (positions < np.asarray(tank) - support)).all(axis=1)
    row = {"time": round(float(time), 6)}
    for name, delta in ("own", np.asarray(own)), ("inside", ratios(positions, spacing, support)[inside]):
        error = np.maximum(delta - 1, 0)
        row["mean_error_" + name] = float("%.4g" % error.mean())
        row["p999_error_" + name] = float("%.4g" % np.quantile(error, 0.999))
        row["max_error_" + name] = float("%.4g" % error.max())
    return row


def summary(looks):
    """Means of the means, largest of the maxima, over all looks."""
    result = {}
    for name in "own", "inside":
        result["mean_density_error_" + name] = float("%.4g" % np.mean([l["mean_error_" + name] for l in looks]))
        result["p999_density_error_" + name] = float("%.4g" % np.mean([l["p999_error_" + name] for l in looks]))
        result["max_density_error_" + name] = max(l["max_error_" + name] for l in looks)
    return result


def main():
    folder, spacing, support, *tank = sys.argv[1:]
    looks = []
    for state in sorted(pathlib.Path(folder).glob("*.f32")):
        rows = np.fromfile(state, "<f4").reshape(-1, 4)  # x, y, z, own density over rest density
        looks.append(look(state.stem, rows[:, :3], rows[:, 3], float(spacing), float(support), [float(t) for t in tank]))
    print(json.dumps({**summary(looks), "looks": looks}))


if __name__ == "__main__":
    main()
