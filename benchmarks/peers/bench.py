"""vnd beside its peers, in turns on one machine: prints the table of benchmarks/speed.md and draws its roofline.

    make peers-bench                     # which builds and installs what it needs; nothing else should run meanwhile
    python bench.py --vnd bin/vnd --gemm build/gemm_bench --rounds 5 --plot benchmarks/plots/speed.svg
    python bench.py --held build/held.so # all as on a processor with AVX2 alone

Every round runs each program once. A figure is the median over rounds of the medians over epochs that the programs
give; a ratio is the median over rounds of the ratio within the round, so that a busy minute does not decide it. A peer
whose Python module is missing is left out and named. The share is FLOPs over time by the best library's sgemm, float32's also where vnd
multiplies in bfloat16.
"""
import argparse
import importlib.util
import json
import math
import os
import re
import statistics
import subprocess
import sys

POLICY_MFLOP, FIT_MFLOP = 1.046, 13.8  # per transition and per context, as counted in jax_bptt.py and jax_vnd.py
# Bytes that a transition or a context takes from and to memory: what the tapes hold, written once and read back twice.
POLICY_BYTES = 3 * 4 * (5 * 256 + 2 * 256 + 84)
FIT_BYTES = 3 * 4 * (20 * (2 * 128 + 6 * 128 + 128) + 9 * 256)

here = os.path.dirname(os.path.abspath(__file__))
ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--vnd", default="bin/vnd")
ap.add_argument("--gemm", default="build/gemm_bench", help="gemm_bench.c, built")
ap.add_argument("--rounds", type=int, default=5)
ap.add_argument("--epochs", type=int, default=7, help="timed epochs of each run")
ap.add_argument("--plot", help="where the roofline goes, an SVG")
ap.add_argument("--held", help="held.c, built: holds peers to AVX2, as settings do vnd and oneDNN; without --plot")
A = ap.parse_args()
HELD = {"LD_PRELOAD": os.path.abspath(A.held)} if A.held else {}
if A.held:
    os.environ.update(VND_KERNEL="onednn avx2", ONEDNN_MAX_CPU_ISA="AVX2")
    A.plot = None


def run(*command, env={}):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **env}).stdout


def vnd(what, *more):
    return json.loads(run(A.vnd, "bench", what, "--json", *more))


def peer(script, *more):
    out = json.loads(run(sys.executable, os.path.join(here, script), "--json", *more, env=HELD).strip().splitlines()[-1])
    return out.get("transitions_per_s") or out["contexts_per_s"]


def sgemm():
    """GFLOP/s of the best library and shape on two threads, its own or two with one each."""
    best = 0
    for threads in (1, 2):
        os.environ["OMP_NUM_THREADS"] = str(threads)
        for line in run(A.gemm, "dnnl", str(threads)).splitlines():
            if "2 app threads" in line:
                best = max(best, sum(map(float, re.search(r"median ([\d.]+)\+([\d.]+)", line).groups())))
            elif threads == 2:
                best = max(best, float(re.search(r"median ([\d.]+)", line)[1]))
    del os.environ["OMP_NUM_THREADS"]
    return best


e = str(A.epochs)
runs = {
    "policy": lambda: vnd("policy", "--epochs", str(A.epochs + 2))["per_s"],
    "vnd bench policy --float32": lambda: vnd("policy", "--float32", "--epochs", str(A.epochs + 2))["per_s"],
    "vnd bench policy --stopped": lambda: vnd("policy", "--stopped", "--epochs", str(A.epochs + 2))["per_s"],
    "policy, JAX plain": lambda: peer("jax_bptt.py", "--epochs", e),
    "policy, JAX 2 devices": lambda: peer("jax_bptt.py", "--devices", "2", "--epochs", e),
    "policy, JAX 2 devices remat": lambda: peer("jax_bptt.py", "--devices", "2", "--remat", "--epochs", e),
    "policy, PyTorch": lambda: peer("torch_bptt.py", "--epochs", e),
    "fit": lambda: vnd("fit", "--epochs", str(A.epochs + 2))["per_s"],
    "vnd bench fit --float32": lambda: vnd("fit", "--float32", "--epochs", str(A.epochs + 2))["per_s"],
    "fit, JAX plain": lambda: peer("jax_vnd.py", "--steps", e),
    "fit, JAX 2 devices remat": lambda: peer("jax_vnd.py", "--devices", "2", "--remat", "--steps", e),
    "fit, PyTorch": lambda: peer("torch_vnd.py", "--steps", e),
    "tick p50": lambda: vnd("tick")["p50_us"],
    "sgemm": sgemm,
}
for module, name in (("jax", "JAX"), ("torch", "PyTorch")):
    if importlib.util.find_spec(module) is None:
        print(f"{name} is not there: left out", file=sys.stderr)
        runs = {k: f for k, f in runs.items() if name not in k}
if A.held:  # vnd multiplies in float32 anyway
    runs = {k: f for k, f in runs.items() if "--float32" not in k}

seen = {k: [] for k in runs}
for r in range(A.rounds):
    for k, f in runs.items():
        seen[k].append(f())
        print(f"round {r + 1} of {A.rounds}: {k} {seen[k][-1]:.0f}", file=sys.stderr)
median = {k: statistics.median(v) for k, v in seen.items()}
load = os.getloadavg()[1]


def ratio(ours, theirs):
    best = [k for k in runs if k.startswith(theirs)]
    if not best:
        return "–"
    fastest = max(best, key=lambda k: median[k])
    return f"{statistics.median(a / b for a, b in zip(seen[ours], seen[fastest])):.2f} × {fastest.split(', ')[1]}"


def share(k, mflop):
    return f"{100 * statistics.median(mflop * a / 1e3 / g for a, g in zip(seen[k], seen['sgemm'])):.0f} %"


print(f"sgemm on two threads {median['sgemm']:.0f} GFLOP/s; {A.rounds} rounds; load average over 5 minutes {load:.1f}\n")
print("| figure | median | share of sgemm | beside the fastest peer |\n|---|---|---|---|")
for k, unit, mflop in (("policy", "transitions/s", POLICY_MFLOP), ("fit", "contexts/s", FIT_MFLOP)):
    for mine in (k, f"vnd bench {k} --float32"):
        if mine in runs:
            print(f"| `{mine if ' ' in mine else 'vnd bench ' + mine}` | {median[mine]:,.0f} {unit} | {share(mine, mflop)} | {ratio(mine, k + ', ')} |")
for k in runs:
    if k not in ("policy", "fit", "sgemm") and "--float32" not in k:
        print(f"| {k} | {median[k]:,.1f} | | |" if "tick" in k else f"| {k} | {median[k]:,.0f} | | |")


def roofline(path, peak, bandwidth, points):
    """Log-log: GFLOP/s by FLOP per byte of memory, under the roofs of memory and of the multiplier."""
    W, H, L, B = 560, 320, 60, 40
    x0, x1, y0, y1 = 0.0, 2.7, 1.0, math.log10(3.5 * peak)  # powers of ten
    X = lambda v: L + (W - L - 15) * (math.log10(v) - x0) / (x1 - x0)
    Y = lambda v: H - B - (H - B - 15) * (math.log10(v) - y0) / (y1 - y0)
    knee = peak / bandwidth
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {W} {H}" font-family="sans-serif" font-size="11">',
           f'<rect width="{W}" height="{H}" fill="white"/>']
    for v in (1, 10, 100):
        svg.append(f'<text x="{X(v):.0f}" y="{H - B + 15}" text-anchor="middle">{v}</text>')
    for v in (10, 20, 50, 100, 200, 500, 1000):
        if v < 3 * peak:
            svg.append(f'<line x1="{L}" x2="{W - 15}" y1="{Y(v):.1f}" y2="{Y(v):.1f}" stroke="#ddd"/>'
                       f'<text x="{L - 5}" y="{Y(v) + 4:.0f}" text-anchor="end">{v}</text>')
    low = max(10.0, bandwidth)
    svg.append(f'<polyline fill="none" stroke="black" stroke-width="1.5" points="{X(low / bandwidth):.1f},{Y(low):.1f} '
               f'{X(knee):.1f},{Y(peak):.1f} {W - 15},{Y(peak):.1f}"/>')
    svg.append(f'<text x="{W - 20}" y="{Y(peak) - 6:.0f}" text-anchor="end">sgemm, {peak:.0f} GFLOP/s</text>'
               f'<text x="{X(low / bandwidth) + 22:.0f}" y="{Y(low * 1.1):.0f}">memory, {bandwidth:.0f} GB/s</text>')
    svg.append(f'<line x1="{X(2 * knee):.1f}" x2="{W - 15}" y1="{Y(2 * peak):.1f}" y2="{Y(2 * peak):.1f}" stroke="black" stroke-dasharray="4"/>'
               f'<text x="{W - 20}" y="{Y(2 * peak) - 6:.0f}" text-anchor="end">bfloat16, twice that</text>')
    for name, intensity, v in points:
        left = "bfloat16" in name  # near the roof of sgemm, whose name is on the right
        at = f'x="{X(intensity) - 8:.0f}" y="{Y(v) - 6:.0f}" text-anchor="end"' if left else f'x="{X(intensity) + 8:.0f}" y="{Y(v) + (10 if "fit" in name else 2):.0f}"'
        svg.append(f'<circle cx="{X(intensity):.1f}" cy="{Y(v):.1f}" r="4" fill="#c00"/><text {at} fill="#c00">{name}, {v:.0f}</text>')
    svg.append(f'<text x="{(W + L) / 2}" y="{H - 8}" text-anchor="middle">FLOP per byte of the tapes</text>'
               f'<text x="14" y="{H / 2}" transform="rotate(-90 14 {H / 2})" text-anchor="middle">GFLOP/s, two threads</text></svg>')
    with open(path, "w") as f:
        f.write("\n".join(svg) + "\n")


if A.plot:
    bandwidth = float(re.search(r"best ([\d.]+)", run(A.gemm, "copy"))[1])
    points = [("vnd bench policy --float32", POLICY_MFLOP * 1e6 / POLICY_BYTES, POLICY_MFLOP * median["vnd bench policy --float32"] / 1e3),
              ("vnd bench policy, bfloat16", POLICY_MFLOP * 1e6 / POLICY_BYTES, POLICY_MFLOP * median["policy"] / 1e3),
              ("vnd bench fit --float32", FIT_MFLOP * 1e6 / FIT_BYTES, FIT_MFLOP * median["vnd bench fit --float32"] / 1e3),
              ("vnd bench fit, bfloat16", FIT_MFLOP * 1e6 / FIT_BYTES, FIT_MFLOP * median["fit"] / 1e3)]
    roofline(A.plot, median["sgemm"], bandwidth, points)
