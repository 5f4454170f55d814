"""Fits vnd and its control to flights, scores both on other flights, and prints the tables of benchmarks/open-loop.md.

    make build && python3 benchmarks/open_loop.py --train DIR --test DIR --out build/open_loop

What is in --out already is not done again. Errors do not depend on how busy the machine is; times do.
"""
import argparse
import datetime
import json
import os
import statistics
import subprocess

CHANNELS = (("position_m", "position, mm", 1000, 0), ("velocity_m_s", "velocity, mm/s", 1000, 0), ("attitude_deg", "attitude, °", 1, 2))
PEERS = ("prior", "recent_mean", "lin+recent_mean", "prior*", "recent_mean*", "ridge*")
MODELS = ("vnd --no-latent", "vnd")
RATIOS = [(c, i, p) for c in ("position_m", "velocity_m_s") for i in (1, 2)
          for p in ("prior", "recent_mean", "lin+recent_mean", "recent_mean*", "ridge*", "vnd --no-latent")]

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--train", required=True, nargs="+", help="flights to fit: files or folders")
ap.add_argument("--test", required=True, nargs="+", help="flights to score")
ap.add_argument("--out", required=True, help="folder of bundles and scores")
ap.add_argument("--seeds", default="1,2,3")
ap.add_argument("--vnd", default="bin/vnd")
A = ap.parse_args()


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def scores(seed):
    """Errors of every predictor: {name: {channel: [0.2 s, 0.5 s, 1 s]}}."""
    bundles = {m: os.path.join(A.out, seed + m.removeprefix("vnd").strip() + ".vnd") for m in MODELS}
    for model, path in bundles.items():
        if not os.path.exists(path):  # the bound on minutes would make the result depend on the machine
            run(A.vnd, "fit", "--seed", seed, *model.split()[1:], "-p", "train.minutes:=600.0", "--out", path, *A.train)
    kept = os.path.join(A.out, seed + ".json")
    if not os.path.exists(kept):
        flags = [x for p in bundles.values() for x in ("--bundle", p)] + [x for d in A.train for x in ("--dev", d)]
        text = run(A.vnd, "score", "--json", *flags, *A.test)
        with open(kept, "w") as f:
            f.write(text)
    with open(kept) as f:
        total = json.load(f)["total"]
    return {p: total[p] for p in PEERS} | {m: total[os.path.basename(p).removesuffix(".vnd")] for m, p in bundles.items()}


def kernel():
    return next(f["detail"] for f in json.loads(run(A.vnd, "doctor", "--json"))["findings"] if f["name"] == "kernel")


os.makedirs(A.out, exist_ok=True)
seeds = [scores(s) for s in A.seeds.split(",")]
commit = run("git", "rev-parse", "--short", "HEAD").strip()
print(f"Seeds {A.seeds}; commit `{commit}`; kernel {kernel()}; {datetime.date.today()}.\n")
print("| predictor | " + " | ".join(title for _, title, _, _ in CHANNELS) + " |\n|---|" + "---|" * len(CHANNELS))
for name in PEERS + MODELS:
    cells = [" ".join(f"{scale * statistics.median(s[name][c][i] for s in seeds):.{digits}f}" for i in range(3)) for c, _, scale, digits in CHANNELS]
    print(f"| {name} | " + " | ".join(cells) + " |")
print("\n| vnd ÷ | median | each seed |\n|---|---|---|")
for c, i, peer in RATIOS:
    each = [s["vnd"][c][i] / s[peer][c][i] for s in seeds]
    print(f"| {c.split('_')[0]} at {(0.2, 0.5, 1)[i]} s ÷ {peer} | {statistics.median(each):.3f} | {' '.join(f'{x:.3f}' for x in each)} |")
