"""Peer benchmark: PyPI l2f, its vector environments in C++ with OpenMP: steps of 10 ms per second. Prints one line of JSON."""
import json
import sys
import time

import l2f
import numpy as np

N = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
vector = l2f.vector_selector[N]
device, rng, env = l2f.Device(), vector.VectorRng(), vector.VectorEnvironment()
params, state, after = vector.VectorParameters(), vector.VectorState(), vector.VectorState()
vector.initialize_rng(device, rng, 0)
vector.initialize_environment(device, env)
vector.sample_initial_parameters(device, env, params, rng)
vector.sample_initial_state(device, env, params, state, rng)
action, best = np.full((N, 4), 0.3, np.float32), 0.0
for _ in range(7):
    began = time.perf_counter()
    for _ in range(100):  # the two states take turns: nothing is copied
        vector.step(device, env, params, state, action, after, rng)
        vector.step(device, env, params, after, action, state, rng)
    best = max(best, 200 * N / (time.perf_counter() - began))
print(json.dumps(dict(peer="l2f", environments=N, steps_per_s=round(best))))
