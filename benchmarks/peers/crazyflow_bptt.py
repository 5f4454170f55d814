"""Peer benchmark: PyPI crazyflow, its own simulator in JAX, differentiated through whole rollouts.

    python crazyflow_bptt.py simulate|forward|gradient [--worlds N --devices D --unroll U --remat --dynamics D --freq HZ]
    python crazyflow_bptt.py hover [--seed S]   # trains a policy by the gradient, and says when it hovers within 5 cm

A step is a control step of 20 ms: the policy (two layers of --hidden units, GELU) sees position, velocity, attitude and
body rates and commands attitude and thrust, or body rates and thrust with first_principles. --freq is the simulator's:
at 50 it takes one step of its own in each, at its default of 500 ten. simulate: steps of the simulator alone under a constant command. forward: with the policy, without gradient.
gradient: the rollout's cost differentiated to the policy's weights, and one Adam step. Compilation is reported, not counted.
"""
import argparse
import json
import os
import time

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("what", choices=["simulate", "forward", "gradient", "hover"])
ap.add_argument("--worlds", type=int, default=256)
ap.add_argument("--horizon", type=int, default=75)
ap.add_argument("--hidden", type=int, default=128)
ap.add_argument("--freq", type=int, default=50)
ap.add_argument("--dynamics", default="so_rpy", choices=["so_rpy", "so_rpy_rotor", "so_rpy_rotor_drag", "first_principles"])
ap.add_argument("--devices", type=int, default=1)
ap.add_argument("--threads", type=int, default=2)
ap.add_argument("--unroll", type=int, default=1)
ap.add_argument("--remat", action="store_true")
ap.add_argument("--epochs", type=int, default=7)
ap.add_argument("--rate", type=float, default=0.007)
ap.add_argument("--updates", type=int, default=1000, help="of hover, at most")
ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--json", action="store_true", help="the output is always one JSON line")
A = ap.parse_args()
flags = []
if A.devices > 1:
    flags.append(f"--xla_force_host_platform_device_count={A.devices}")
if A.threads == 1:
    flags.append("--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", "")] + flags)
os.environ["JAX_PLATFORMS"] = "cpu"

import crazyflow.sim.functional as F
import jax
import jax.numpy as jnp
import numpy as np
from crazyflow.control import Control
from crazyflow.sim import Sim
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P

DT, OBS = 0.02, 18
N, SUB = A.worlds, round(A.freq * DT)
LOCAL = N // A.devices
rates = A.dynamics == "first_principles"
sim = Sim(n_worlds=LOCAL, dynamics=A.dynamics, control=Control.body_rate if rates else Control.attitude, freq=A.freq,
          attitude_freq=A.freq, body_rate_freq=A.freq, force_torque_freq=A.freq)
pipeline, control = tuple(sim.step_pipeline.values()), F.body_rate_control if rates else F.attitude_control
template = sim.data
weight = float(np.ravel(sim.data.params.mass)[0]) * 9.81
TARGET = jnp.array([0.0, 0.0, 1.0])


def rotation(q):  # xyzw
    x, y, z, w = jnp.moveaxis(q, -1, 0)
    return jnp.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                      2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                      2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], -1)


def observe(d):
    s = d.states
    return jnp.concatenate([x[:, 0] for x in (s.pos - TARGET, s.vel, rotation(s.quat), s.ang_vel)], -1)


def act(policy, obs):
    h = obs
    for W, b in policy[:-1]:
        h = jax.nn.gelu(h @ W + b)
    u = jnp.tanh(h @ policy[-1][0] + policy[-1][1])
    return jnp.concatenate([u[:, :3] * (6.0 if rates else 0.7), weight * (1 + 0.7 * u[:, 3:])], -1)


def begin(key):
    """Initial states within a metre of the target, at up to half a metre a second, tilted by up to some 30 degrees."""
    k = jax.random.split(key, 4)
    draw = lambda key, n, spread: jax.random.uniform(key, (LOCAL, 1, n), minval=-spread, maxval=spread)
    q = jnp.concatenate([draw(k[2], 3, 0.25), jnp.ones((LOCAL, 1, 1))], -1)
    return template.replace(states=template.states.replace(
        pos=TARGET + draw(k[0], 3, 0.8), vel=draw(k[1], 3, 0.5), ang_vel=draw(k[3], 3, 0.5),
        quat=q / jnp.linalg.norm(q, axis=-1, keepdims=True)))


def step(policy, d):
    a = act(policy, observe(d)) if A.what != "simulate" else jnp.tile(jnp.array([0.01, 0, 0, weight]), (LOCAL, 1))
    d = control(d, a[:, None])
    for _ in range(SUB) if SUB <= 2 else ():
        for f in pipeline:
            d = f(d)
    if SUB > 2:
        def physics(d, _):
            for f in pipeline:
                d = f(d)
            return d, None
        d = lax.scan(physics, d, length=SUB)[0]
    return d, a


def huber(e):
    e = jnp.abs(e)
    return jnp.where(e < 1, 0.5 * e * e, e - 0.5)


def cost(policy, key):
    def one(d, _):
        d, a = step(policy, d)
        s = d.states
        return d, (huber(s.pos - TARGET).sum() + 0.1 * huber(s.vel).sum() + 0.01 * huber(s.ang_vel).sum()
                   + 0.01 * huber(a[:, 3] / weight - 1).sum() + 0.01 * huber(a[:, :3]).sum())
    if A.remat:
        one = jax.checkpoint(one, prevent_cse=False)
    return lax.scan(one, begin(key), length=A.horizon, unroll=A.unroll)[1].sum() / (N * A.horizon)


def split(f, reduce):
    """f of a policy and a key, on every device with a key of its own."""
    if A.devices == 1:
        return f
    mesh = Mesh(np.array(jax.devices()), ("d",))
    local = lambda policy, key: reduce(f(policy, jax.random.fold_in(key, lax.axis_index("d"))))
    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P()), out_specs=P(), check_vma=False)


def adam(p, g, m, v, t, rate):
    tm = jax.tree.map
    norm = jnp.sqrt(sum((x * x).sum() for x in jax.tree.leaves(g)))
    g = tm(lambda x: x * jnp.minimum(1, 0.3 / (norm + 1e-12)), g)
    m, v = tm(lambda m, g: 0.9 * m + 0.1 * g, m, g), tm(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
    return tm(lambda p, m, v: p - rate * (m / (1 - 0.9 ** t)) / (jnp.sqrt(v / (1 - 0.999 ** t)) + 1e-8), p, m, v), m, v


def new_policy():
    rng, sizes = np.random.default_rng(A.seed), [OBS, A.hidden, A.hidden, 4]
    layers = [(jnp.asarray(rng.normal(size=(i, o)) / np.sqrt(i), jnp.float32), jnp.zeros(o)) for i, o in zip(sizes, sizes[1:])]
    layers[-1] = (layers[-1][0] * 0.1, layers[-1][1])
    return layers


psum = lambda x: jax.tree.map(lambda y: lax.psum(y, "d"), x)
gradients = split(jax.value_and_grad(cost), psum)


@jax.jit
def update(policy, m, v, t, key, rate):
    c, g = gradients(policy, key)
    return *adam(policy, g, m, v, t, rate), c


@jax.jit
def forward(policy, key):
    def run(policy, key):
        d = lax.scan(lambda d, _: (step(policy, d)[0], None), begin(key), length=A.horizon, unroll=A.unroll)[0]
        return d.states.pos.sum()
    return split(run, lambda x: lax.psum(x, "d"))(policy, key)


@jax.jit
def hovering(policy, key):
    """Median over flights of 5 s of the mean distance from the target over the last second."""
    def one(d, _):
        d = step(policy, d)[0]
        return d, jnp.linalg.norm(d.states.pos[:, 0] - TARGET, axis=-1)
    far = lax.scan(one, begin(key), length=250)[1][-50:].mean(0)
    return jnp.median(far), far.max()


def timed(f):
    began = time.perf_counter()
    out = jax.block_until_ready(f())
    return time.perf_counter() - began, out


policy = new_policy()
m = v = jax.tree.map(jnp.zeros_like, policy)
key = jax.random.key(A.seed)
out = dict(peer="crazyflow", what=A.what, dynamics=A.dynamics, freq=A.freq, worlds=N, horizon=A.horizon, hidden=A.hidden,
           devices=A.devices, threads=A.threads, unroll=A.unroll, remat=A.remat, jax=jax.__version__)
if A.what in ("simulate", "forward"):
    times = [timed(lambda: forward(policy, key))[0] for _ in range(A.epochs + 2)]
    out.update(compile_s=round(times[0], 2), steps_per_s=round(N * A.horizon / np.median(times[2:])))
elif A.what == "gradient":
    times = []
    for e in range(A.epochs + 2):
        s, (policy, m, v, c) = timed(lambda: update(policy, m, v, e + 1.0, jax.random.fold_in(key, e), A.rate))
        times.append(s)
    out.update(compile_s=round(times[0], 2), steps_per_s=round(N * A.horizon / np.median(times[2:])), cost=float(c))
else:
    first = timed(lambda: update(policy, m, v, 1.0, key, 0.0))[0]
    seconds, curve, at = 0.0, [], None
    for e in range(A.updates):
        rate = A.rate * min(1, (e + 1) / (0.05 * A.updates)) * 0.5 * (1 + np.cos(np.pi * e / A.updates))
        s, (policy, m, v, c) = timed(lambda: update(policy, m, v, e + 1.0, jax.random.fold_in(key, e), rate))
        seconds += s
        if (e + 1) % max(1, A.updates // 20) == 0:
            median, worst = (float(x) for x in hovering(policy, jax.random.key(99)))
            curve.append([e + 1, round(seconds, 3), round(median, 4), round(worst, 4)])
            if at is None and median < 0.05:
                at = round(seconds, 3)
    out.update(compile_s=round(first, 2), seconds=round(seconds, 3), hover_at_s=at, curve=curve)
print(json.dumps(out))
