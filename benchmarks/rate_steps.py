"""A picture of body rates commanded and flown, by autopilot.

    VND_RATE_STEPS=$PWD/build/steps.csv go test -run TestRateSteps ./pkg/node/quadsim
    python3 benchmarks/rate_steps.py --plot benchmarks/plots/rate_steps.svg build/steps.csv

Rows of a table: autopilot, axis, ms since the command, commanded and flown rad/s.
"""
import argparse
import collections
import csv

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--plot", required=True, help="where the picture goes, an SVG")
ap.add_argument("tables", nargs="+")
A = ap.parse_args()

COLOURS = ["#1b6ca8", "#d1495b", "#3a8f5c", "#8a5fb0", "#c98a1b"]
WIDTH, HEIGHT, LEFT, TOP, GAP, SHOWN, MOST = 250, 220, 46, 44, 24, 300, 4.0  # px; ms; rad/s

steps = collections.defaultdict(lambda: collections.defaultdict(list))
for table in A.tables:
    with open(table, newline="") as f:
        for autopilot, axis, ms, commanded, flown in csv.reader(f):
            steps[axis][autopilot].append((int(ms), float(commanded), float(flown)))
colour = dict(zip(dict.fromkeys(name for each in steps.values() for name in each), COLOURS))


def line(points, stroke, more=""):
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke="{stroke}" {more}/>'


def text(x, y, words, more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" {more}>{words}</text>'


svg = []
for k, (axis, flown_by) in enumerate(steps.items()):
    left = LEFT + k * (WIDTH + GAP)
    at = lambda ms, rate: (left + ms / SHOWN * WIDTH, TOP + HEIGHT * (1 - rate / MOST))
    svg.append(text(left, TOP - 8, f"{axis} rate, rad/s"))
    for rate in range(5):
        svg.append(line([at(0, rate), at(SHOWN, rate)], "#ddd"))
        svg.append(text(at(0, rate)[0] - 6, at(0, rate)[1] + 4, rate, 'text-anchor="end"') if k == 0 else "")
    for ms in range(0, SHOWN + 1, 100):
        svg.append(text(at(ms, 0)[0], TOP + HEIGHT + 18, ms, 'text-anchor="middle"'))
    commanded = next(iter(flown_by.values()))[0][1]
    svg.append(line([at(0, 0), at(0, commanded), at(SHOWN, commanded)], "#444", 'stroke-dasharray="5 4"'))
    for autopilot, rows in flown_by.items():
        svg.append(line([at(ms + 1, flown) for ms, _, flown in rows if ms < SHOWN], colour[autopilot], 'stroke-width="1.8"'))
x = LEFT
for name, c in [("commanded", "#444"), *colour.items()]:
    svg.append(line([(x, TOP + HEIGHT + 38), (x + 24, TOP + HEIGHT + 38)], c, 'stroke-width="1.8"'))
    svg.append(text(x + 30, TOP + HEIGHT + 42, name))
    x += 60 + 8 * len(name)
svg.append(text(LEFT + 3 * WIDTH + 2 * GAP, TOP + HEIGHT + 60, "ms since the command", 'text-anchor="end"'))
w, h = LEFT + 3 * WIDTH + 2 * GAP + 12, TOP + HEIGHT + 74
with open(A.plot, "w", encoding="utf-8") as f:
    f.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" '
            f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>\n'
            + "\n".join(s for s in svg if s) + "\n</svg>\n")
