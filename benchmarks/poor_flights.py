#!/usr/bin/env python3
"""Spoils flight CSVs as a poor motion capture would: poor_flights.py --faults noise,delay,holes IN OUT

noise: 3 mm and 20 mrad on each axis; velocities are of a causal line through 0.11 s of noisy positions.
delay: each state is the one of 60 ms before, under the stamp of now.
holes: 20 % of rows are lost one by one, and each 10 s all of 0.1 s, but for the first 21 rows.
Rows are 20 ms apart. The columns are those of a flight CSV (docs/guide/bags.md)."""
import argparse
import pathlib

import numpy as np

DT = 0.02
HEAD = "t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,thrust,wx,wy,wz"


def turned(q, noise):
    """Quaternions q (n, 4) turned in the body by rotation vectors (n, 3), rad."""
    angle = np.linalg.norm(noise, axis=1, keepdims=True)
    d = np.concatenate([np.cos(angle / 2), np.sinc(angle / 2 / np.pi) / 2 * noise], axis=1)
    w, v, dw, dv = q[:, :1], q[:, 1:], d[:, :1], d[:, 1:]
    return np.concatenate([w * dw - (v * dv).sum(1, keepdims=True), w * dv + dw * v + np.cross(v, dv)], axis=1)


def velocities(p, v, rows=6):
    """Slope of a line through each position and those before it; v where there are none."""
    out, k = v.copy(), np.arange(rows) - (rows - 1) / 2
    for i in range(rows - 1, len(p)):
        out[i] = k @ p[i - rows + 1:i + 1] / (k @ k) / DT
    return out


def spoil(x, faults, rng):
    state = x[:, 1:11]
    if "noise" in faults:
        state[:, :3] += rng.normal(0, 0.003, (len(x), 3))
        state[:, 3:7] = turned(state[:, 3:7], rng.normal(0, 0.02, (len(x), 3)))
        state[:, 7:] = velocities(state[:, :3], state[:, 7:])
    if "delay" in faults:
        late = 3
        state[late:] = state[:-late].copy()
        x = x[late:]
    if "holes" in faults:
        keep = rng.random(len(x)) > 0.2
        begins = rng.random(len(x)) < DT / 10
        for k in range(5):
            keep[k:][begins[:len(x) - k]] = False
        keep[:21] = True
        x = x[keep]
    return x


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--faults", required=True, help="of noise, delay, holes; commas between")
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("source", type=pathlib.Path)
    a.add_argument("out", type=pathlib.Path)
    a = a.parse_args()
    faults = a.faults.split(",")
    if set(faults) - {"noise", "delay", "holes"}:
        raise SystemExit(f"--faults {a.faults}: expected noise, delay, holes")
    files = sorted(a.source.glob("*.csv"))
    if not files:
        raise SystemExit(f"{a.source}: no CSV file in it, expected a folder of flights")
    if a.out.exists():
        raise SystemExit(f"{a.out}: is there already, expected a folder that is not")
    a.out.mkdir(parents=True)
    for i, file in enumerate(files):
        x = spoil(np.loadtxt(file, delimiter=",", skiprows=1), faults, np.random.default_rng([a.seed, i]))
        np.savetxt(a.out / file.name, x, "%.7g", ",", header=HEAD, comments="")


if __name__ == "__main__":
    main()
