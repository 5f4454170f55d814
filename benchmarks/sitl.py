"""The base policy on Betaflight's firmware: twenty boards, and a link that is late, from the start or in mid-flight.

    make betaflight build && python3 benchmarks/sitl.py --out build/sitl

Boards: I of roll and pitch 3 to 30, P and D 0.6 to 1.4 of the default, motors slower by 0 to 15 ms, thrust over output
from linear to square, which thrust_curve has. Mean errors of one flight each, mm; X is a crash. Swing: roll and pitch rates of the worst board, root mean square, rad/s.
"""
import argparse
import json
import pathlib
import random
import subprocess

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--vnd", default="bin/vnd", help="the program")
ap.add_argument("--out", required=True, type=pathlib.Path, help="folder for worlds and policies")
ap.add_argument("--bundle", type=pathlib.Path, help="policy for both tasks; else one is trained")
ap.add_argument("--boards", default=20, type=int)
A = ap.parse_args()


def world(name, parameters):
    """Writes a world, and returns its path."""
    path = A.out / f"{name}.yaml"
    path.write_text(f"world:\n  ros__parameters:\n{parameters}")
    return path


def boards():
    """Writes the worlds, and returns each with the firmware's settings."""
    rng = random.Random(11)
    curves = [k / max(1, A.boards - 1) for k in range(A.boards)]
    random.Random(12).shuffle(curves)
    for k, curve in enumerate(curves):
        i, gain, slower = round(3 * 10 ** rng.uniform(0, 1)), rng.uniform(0.6, 1.4), rng.uniform(0, 0.015)
        p, d = round(45 * gain), round(30 * gain)  # the defaults are 45 and 30
        settings = [f"{n}_{axis}={v}" for axis in ("roll", "pitch") for n, v in (("p", p), ("i", i), ("d", d))]
        settings += [f"p_yaw={p}", f"i_yaw={i}"]
        yield world(f"board{k:02}", f"    motor:\n      lag: {0.0245 + slower}\n      curve: {curve}\n"), settings


def errors(task, where, settings=(), settle=4, seconds=12):
    """Errors of the policy and of the geometric law, mm, and the policy's swing, rad/s."""
    line = [A.vnd, "eval", "--json", "--firmware", "betaflight", "--task", task, "--bundle", A.bundle, "--world", where]
    line += ["--settle", str(settle), "--seconds", str(seconds)]
    for s in settings:
        line += ["--set", s]
    row = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)["rows"][0]
    inf = float("inf")
    return (inf if row["crashes"] else 1000 * row["mean_m"], inf if row["law_crashes"] else 1000 * row["law_mean_m"],
            row["swing_rad_s"])


def show(v):
    return "X" if v == float("inf") else f"{v:.2g}" if v < 1 else f"{v:.1f}"


def main():
    A.out.mkdir(parents=True, exist_ok=True)
    if not A.bundle:
        A.bundle = A.out / "base.vnd"
        subprocess.run([A.vnd, "train", "--task", "hover,track", "--out", A.bundle], check=True, capture_output=True)
    calm, late = world("calm", "    link:\n      delay: 0.01\n"), world("late", "    link:\n      delay: 0.07\n")
    later = world("later", "    conditions:\n      name: [before, late]\n      link_delay: [0.0, 0.06]\n"
                  "    schedule:\n      condition: [before, late]\n      start: [0.0, 6.0]\n")
    print("| task | calm | boards, median | worst | swing | 60 ms later | law so | from 6 s on | law so |\n" +
          9 * "|---" + "|")
    for task in "hover", "track":
        rows = [errors(task, *b) for b in boards()]
        of = sorted(r[0] for r in rows)
        cells = [errors(task, calm)[0], of[len(of) // 2], of[-1], max(r[2] for r in rows), *errors(task, late)[:2],
                 *errors(task, later, settle=7, seconds=19)[:2]]
        print(f"| {task} |", " | ".join(map(show, cells)), "|", flush=True)


main()
