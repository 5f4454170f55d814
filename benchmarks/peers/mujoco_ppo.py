"""PPO on a pushed box with PyPI mujoco's rollout and a policy in JAX: environment steps per second, updates included.

    python mujoco_ppo.py --model pkg/sim/pushing/table.xml --threads 2

The sizes are those of BenchmarkPPO in pkg/sim/pushing: 256 worlds with a model each, 32 steps of 20 ms, 4 epochs of 4
minibatches, a policy of 64 x 4 that sees 30 rows and 5 actions. Here episodes begin anew after 400 steps alone.
"""
import argparse
import json
import os
import time

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--model", default="pkg/sim/pushing/table.xml")
ap.add_argument("--threads", type=int, default=2)
ap.add_argument("--iterations", type=int, default=3)
ap.add_argument("--push", action="store_true", help="the tool always goes for the box, whatever the policy says")
ap.add_argument("--worlds", type=int, default=256)
A = ap.parse_args()
if A.threads == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from mujoco import rollout

N, H, ROWS, PAST, ROW = A.worlds, 32, 30, 5, 5
O, V = ROWS * ROW + 2 * PAST, ROW + 5 + 2 * PAST + 2 + 6
rng = np.random.default_rng(1)
template = open(A.model).read()


def model():
    m = mujoco.MjModel.from_xml_string(template)
    m.body_mass[1], m.pair_friction[0, :2] = rng.uniform(0.2, 2), rng.uniform(0.2, 1.2)
    mujoco.mj_setConst(m, mujoco.MjData(m))
    return m


models, datas = [model() for _ in range(N)], [mujoco.MjData(models_) for models_ in [model() for _ in range(A.threads)]]
size = mujoco.mj_stateSize(models[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
state = np.zeros((N, size))


def begin(i):
    m = models[i]
    d = mujoco.MjData(m)
    turn, at, far = rng.uniform(-np.pi, np.pi), rng.uniform(-np.pi, np.pi), rng.uniform(0.12, 0.2)
    d.qpos[3], d.qpos[6] = np.cos(turn / 2), np.sin(turn / 2)
    d.qpos[7:9] = far * np.cos(at), far * np.sin(at)
    mujoco.mj_getState(m, d, state[i], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    at, far = rng.uniform(-np.pi, np.pi), rng.uniform(0.1, 0.3)
    goal[i] = far * np.cos(at), far * np.sin(at), turn + rng.uniform(-0.3, 0.3)
    age[i] = 0


goal, age = np.zeros((N, 3)), rng.integers(0, 200, N)
for i in range(N):
    begin(i)
age[:] = rng.integers(0, 200, N)
rows, past = np.zeros((N, ROWS, ROW), np.float32), np.zeros((N, PAST, 2), np.float32)


def inside(turn, xy):
    s, c = np.sin(turn), np.cos(turn)
    return np.stack([c * xy[:, 0] + s * xy[:, 1], c * xy[:, 1] - s * xy[:, 0]], 1)


def measure():
    q = state[:, 1:10]
    turn = 2 * np.arctan2(q[:, 6], q[:, 3])
    lack = (goal[:, 2] - turn + np.pi) % (2 * np.pi) - np.pi
    rows[:, 1:] = rows[:, :-1]
    rows[:, 0] = np.concatenate([inside(turn, q[:, 7:9] - q[:, :2]), inside(turn, goal[:, :2] - q[:, :2]), lack[:, None]], 1)
    rows[:, 0] += rng.normal(0, 0.001, (N, ROW))
    off = np.linalg.norm(goal[:, :2] - q[:, :2], axis=1)
    return turn, 8 / (1 + 22.5 * np.maximum(0, off - 0.005)) + 6 / (1 + 2.9 * np.maximum(0, np.abs(lack) - 0.2))


def observe():
    v = np.concatenate([rows[:, 0], state[:, 10:15], past.reshape(N, -1), age[:, None] / 400.0, np.zeros((N, V - 21))], 1)
    return np.concatenate([rows.reshape(N, -1), past.reshape(N, -1)], 1), v.astype(np.float32)


def init(key, sizes):
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(k, (i, o)) / np.sqrt(i), jnp.zeros(o)) for k, i, o in zip(keys, sizes, sizes[1:])]


def net(p, x):
    for w, b in p[:-1]:
        x = jax.nn.gelu(x @ w + b)
    return x @ p[-1][0] + p[-1][1]


params = {"policy": init(jax.random.key(1), [O, 64, 64, 64, 64, 2]), "critic": init(jax.random.key(2), [V, 64, 64, 1]),
          "std": jnp.full(2, np.log(0.6))}


def log_probability(p, x, u):
    off = (u - jnp.tanh(net(p["policy"], x))) * jnp.exp(-p["std"])
    return -0.5 * jnp.sum(off * off, -1) - jnp.sum(p["std"])


def loss(p, b):
    ratio = jnp.exp(log_probability(p, b["x"], b["u"]) - b["old"])
    clipped = jnp.clip(ratio, 0.8, 1.2) * b["gain"]
    worth = net(p["critic"], b["v"])[:, 0]
    return (-jnp.mean(jnp.minimum(ratio * b["gain"], clipped)) - 0.001 * jnp.sum(p["std"])
            + 0.5 * jnp.mean((worth - b["target"]) ** 2))


@jax.jit
def update(p, m, v, t, b):
    g = jax.grad(loss)(p, b)
    norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
    g = jax.tree.map(lambda x: x * jnp.minimum(1, 1 / (norm + 1e-8)), g)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
    step = lambda p, m, v: p - 6e-4 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return jax.tree.map(step, p, m, v), m, v


@jax.jit
def act(p, x, v, key):
    u = jnp.tanh(net(p["policy"], x)) + jnp.exp(p["std"]) * jax.random.normal(key, (N, 2))
    return u, log_probability(p, x, u), net(p["critic"], v)[:, 0]


pool = rollout.Rollout(nthread=A.threads)
m = v2 = jax.tree.map(jnp.zeros_like, params)
key, ticks, turn = jax.random.key(3), 0, measure()[0]
worth_before = measure()[1]


def iterate():
    global params, m, v2, key, ticks, state, turn, worth_before
    out = {k: [] for k in ("x", "v", "u", "old", "value", "reward", "end")}
    for _ in range(H):
        x, v = observe()
        key, now = jax.random.split(key)
        u, old, value = (np.asarray(a) for a in act(params, x, v, now))
        past[:, 1:] = past[:, :-1]
        past[:, 0] = np.clip(u, -1, 1)
        if A.push:
            past[:, 0] = -rows[:, 0, :2] / np.linalg.norm(rows[:, 0, :2], axis=1, keepdims=True)
        command = np.clip(0.4 * inside(-turn, past[:, 0]), -0.4, 0.4)
        states, _ = pool.rollout(models, datas, state, np.repeat(command[:, None], 20, 1))
        state = states[:, -1].copy()
        turn, worth = measure()
        reward, worth_before = 0.4 * (worth - worth_before), worth
        age[:] += 1
        end = age >= 400
        for k, a in (("x", x), ("v", v), ("u", u), ("old", old), ("value", value), ("reward", reward), ("end", end)):
            out[k].append(a)
        for i in np.flatnonzero(end):
            begin(i)
    value = np.stack(out["value"] + [np.asarray(act(params, *observe(), key)[2])])
    gain, gains = np.zeros(N), []
    for h in reversed(range(H)):
        on = 1 - out["end"][h]
        gain = out["reward"][h] + 0.99 * on * value[h + 1] - value[h] + 0.99 * 0.95 * on * gain
        gains.append(gain)
    gains = np.stack(gains[::-1])
    b = {k: np.concatenate(out[k]).astype(np.float32) for k in ("x", "v", "u", "old")}
    b["target"] = (gains + value[:-1]).reshape(-1).astype(np.float32)
    b["gain"] = ((gains - gains.mean()) / gains.std()).reshape(-1).astype(np.float32)
    for _ in range(4):
        for part in np.split(rng.permutation(N * H), 4):
            ticks += 1
            params, m, v2 = update(params, m, v2, ticks, {k: a[part] for k, a in b.items()})
    jax.block_until_ready(params)


iterate()  # compiles
wall, cpu = time.perf_counter(), time.process_time()
for _ in range(A.iterations):
    iterate()
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
steps = A.iterations * N * H
print(json.dumps({"steps_per_s": steps / wall, "cpu_us_per_step": 1e6 * cpu / steps}))
