"""Writes golden.json: what MuJoCo makes of the arm of pkg/sim/manipulation without limits, whose own weight nothing
carries, and central differences of it.

Run with: python3 golden.py > golden.json   (numpy, mujoco 4)
"""
import json
import pathlib

import mujoco
import numpy as np

N, EPS = 7, 1e-6
PANDA = pathlib.Path(__file__).parents[3] / "sim/manipulation/panda.xml"


def accelerate(model, data, x):
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = x[:N], x[N:2 * N], x[2 * N:]
    mujoco.mj_forward(model, data)
    return data.qacc.copy()


def case(rng, payload, damping):
    model = mujoco.MjModel.from_xml_path(str(PANDA))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.body_gravcomp[:], model.dof_damping[:] = 0, damping
    if not payload:
        body = model.body("payload").id
        model.body_mass[body], model.body_inertia[body] = 0, 0
        mujoco.mj_setConst(model, mujoco.MjData(model))
    data = mujoco.MjData(model)
    x = np.concatenate([rng.uniform(-1.5, 1.5, N), rng.normal(0, 1, N), rng.normal(0, 15, N)])
    slope = np.empty((N, 3 * N))  # of accelerations, by angles, rates and torques
    for i in range(3 * N):
        step = np.zeros(3 * N)
        step[i] = EPS
        slope[:, i] = (accelerate(model, data, x + step) - accelerate(model, data, x - step)) / (2 * EPS)
    acceleration = accelerate(model, data, x)
    mass, lin, ang = np.zeros((N, N)), np.zeros((3, N)), np.zeros((3, N))
    mujoco.mj_fullM(model, data, mass)
    mujoco.mj_jacSite(model, data, lin, ang, 0)
    return {"payload": payload, "damping": damping, "q": x[:N].tolist(), "v": x[N:2 * N].tolist(),
            "tau": x[2 * N:].tolist(), "acceleration": acceleration.tolist(), "slope": slope.tolist(),
            "mass": mass.tolist(), "tool": data.site_xpos[0].tolist(), "turn": data.site_xmat[0].reshape(3, 3).tolist(),
            "jacobian": np.vstack([lin, ang]).tolist()}


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    cases = [case(rng, payload, damping) for payload in (False, True) for damping in (0.0, 0.8)]
    print(json.dumps({"mujoco": mujoco.__version__, "cases": cases}))
