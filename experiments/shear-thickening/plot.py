"""Draws the curves of `shear-thickening stiffness`: plot.py stiffness.csv stiffness.png (needs pillow)."""
import collections
import csv
import sys

from PIL import Image, ImageDraw

COLOURS = {"all": "#1f3a6b", "128ms": "#2a9d8f", "64ms": "#e9a23b", "32ms": "#c8553d"}
WIDTH, HEIGHT, MARGIN = 300, 200, 42

curves = collections.defaultdict(list)
for row in csv.DictReader(open(sys.argv[1])):
    key = (row["worked_s"], row["order"], row["memory"])
    curves[key].append((float(row["time_s"]), float(row["stiffness_pa"])))

image = Image.new("RGB", (3 * WIDTH, 2 * HEIGHT), "white")
draw = ImageDraw.Draw(image)
for down, worked in enumerate(["0.02", "0.5"]):
    for across, order in enumerate(["0.2", "0.5", "0.8"]):
        left, top = across * WIDTH + MARGIN, down * HEIGHT + 26
        right, bottom = (across + 1) * WIDTH - 12, (down + 1) * HEIGHT - 26
        shown = {memory: curves[worked, order, memory] for memory in COLOURS}
        until = 0.25 if worked == "0.02" else 1.0
        most = max(y for curve in shown.values() for _, y in curve)
        place = lambda x, y: (left + x / until * (right - left), bottom - y / most * (bottom - top))
        draw.line([(left, top), (left, bottom), (right, bottom)], fill="#888888")
        draw.text((left, top - 20), f"q = {order}, worked for {worked} s", fill="black")
        draw.text((left - 38, top - 4), f"{most / 1000:.1f} kPa", fill="black")
        draw.text((right - 30, bottom + 6), f"{until:g} s", fill="black")
        for memory, curve in shown.items():
            points = [place(x, y) for x, y in curve if x <= until]
            draw.line(points, fill=COLOURS[memory], width=2)
for row, (memory, colour) in enumerate(COLOURS.items()):
    words = "fading, T = 0.5 s" if memory == "all" else f"window of {memory[:-2]} ms"
    draw.text((3 * WIDTH - 125, 40 + 14 * row), words, fill=colour)
image.save(sys.argv[2])
