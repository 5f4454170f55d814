"""Base policies on twenty rate loops, and behind a link that is late.

    make build && python3 benchmarks/boards.py --out build/boards

Rate loops: gains of 0.6 to 1.4 of the default, integrals of 58 to 585 1/s² (their zero at 1.5 to 15 rad/s), motors
slower by 0 to 15 ms. Mean errors of one flight each, mm; X is a crash.
"""
import argparse
import json
import pathlib
import random
import subprocess

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--vnd", default="bin/vnd", help="the program")
ap.add_argument("--out", required=True, type=pathlib.Path, help="folder for worlds and policies")
ap.add_argument("--seeds", default=3, type=int)
A = ap.parse_args()

BEFORE = ["-p", "epochs:=300", "-p", "nominal.max_lag:=0.06", "-p", "nominal.max_delay:=1.0", "-p",
          "nominal.margins.gain:=0.0", "-p", "nominal.margins.overshoot:=0.0"]


def boards():
    """Writes the worlds, and returns their paths."""
    rng = random.Random(7)
    for k in range(20):
        integral, gain, slower = 58.5 * 10 ** rng.uniform(0, 1), rng.uniform(0.6, 1.4), rng.uniform(0, 0.015)
        p, i = 40 * gain, integral * gain
        world = A.out / f"board{k:02}.yaml"
        world.write_text(f"world:\n  ros__parameters:\n    rate_loop:\n      gain: [{p}, {p}, {0.3 * p}]\n"
                         f"      integral: [{i}, {i}, {0.3 * i}]\n    motor:\n      lag: {0.0245 + slower}\n")
        yield world


def late(seconds):
    """Writes the world of a link that is so late, and returns its path."""
    world = A.out / f"late{round(1000 * seconds)}.yaml"
    world.write_text(f"world:\n  ros__parameters:\n    link:\n      delay: {seconds}\n")
    return world


def error(bundle, task, world):
    text = subprocess.run([A.vnd, "eval", "--json", "--task", task, "--bundle", bundle, "--world", world], check=True,
                          capture_output=True, text=True).stdout
    row = json.loads(text)["rows"][0]
    return float("inf") if row["crashes"] else 1000 * row["mean_m"]


def show(values):
    return " ".join("X" if v == float("inf") else f"{v:.1f}" for v in values)


def main():
    A.out.mkdir(parents=True, exist_ok=True)
    twenty, calm = list(boards()), late(0.01)
    for name, params in ("without margins", BEFORE), ("with margins", []):
        bundles = []
        for seed in range(1, A.seeds + 1):
            bundles.append(A.out / f"{name.replace(' ', '-')}-{seed}.vnd")
            subprocess.run([A.vnd, "train", "--task", "hover,track", "--seed", str(seed), "--out", bundles[-1], *params],
                           check=True, capture_output=True)
        for task in "hover", "track":
            cells = [show(error(b, task, calm) for b in bundles)]
            cells.append(show(max(error(b, task, w) for w in twenty) for b in bundles))
            cells += [show(error(b, task, late(s)) for b in bundles) for s in (0.03, 0.05, 0.07)]
            print(f"| {name}, {task} |", " | ".join(cells), "|", flush=True)


main()
