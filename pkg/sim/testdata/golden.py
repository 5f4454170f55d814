"""Writes golden.json: flights of the quadrotor's equations of motion, integrated by scipy's DOP853.

Run with: python3 golden.py > golden.json   (numpy, scipy)

The equations are put up differently from package sim's: airframe and payload are two bodies whose six equations about
the body's origin are solved as one linear system, the attitude is a rotation matrix, and each rotor is a body that spins.
"""
import json

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

G, KF_FULL, FULL, LAG, ARM = 9.81, 3.5, 4700.0, 0.0245, 0.041
KF = KF_FULL / FULL**2
PLACES = np.array([[ARM, -ARM, 0], [-ARM, ARM, 0], [ARM, ARM, 0], [-ARM, -ARM, 0]])
SPIN = np.array([1.0, 1, -1, -1])


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def derivative(_, s, c):
    v, w, rot, speed = s[3:6], s[6:9], s[9:18].reshape(3, 3), s[18:]
    mass, payload, r = c["mass"], c["payload"], np.array(c["payload_at"])
    inertia = np.diag(c["inertia"])
    hover = np.sqrt(mass * G / (4 * KF))
    speed_dot = (np.array(c["target"]) - speed) / LAG
    u = rot.T @ (v - np.array(c["air"]))

    force, torque = np.zeros(3), np.zeros(3)
    for i in range(4):
        hurt = c["cut_rotor"] == i + 1
        thrust = KF * speed[i] ** 2
        reaction = c["kappa"] * thrust * (c["cut_torque"] if hurt else 1)
        f = np.array([0, 0, thrust * (c["cut_thrust"] if hurt else 1)])
        f -= speed[i] / (4 * hover) * np.array(c["rotor_drag"]) * (u + np.cross(w, PLACES[i]))
        spin = SPIN[i] * c["rotor_inertia"] * np.array([0, 0, speed[i]])
        spin_dot = SPIN[i] * c["rotor_inertia"] * np.array([0, 0, speed_dot[i]])
        force += f
        torque += np.cross(PLACES[i], f) - SPIN[i] * reaction * np.array([0, 0, 1])
        torque -= spin_dot + np.cross(w, spin)
    force -= np.array(c["body_drag"]) * np.linalg.norm(u) * u
    field = rot.T @ (np.array([0, 0, -G]) + np.array(c["wind"]))
    force += (mass + payload) * field
    torque += np.cross(r, payload * field)

    # Two bodies, accelerations of the origin in the body's frame: payload at r has a + alpha x r + w x (w x r).
    lhs = np.zeros((6, 6))
    lhs[:3, :3] = (mass + payload) * np.eye(3)
    lhs[:3, 3:] = -payload * hat(r)
    lhs[3:, :3] = payload * hat(r)
    lhs[3:, 3:] = inertia - payload * hat(r) @ hat(r)
    turning = payload * np.cross(w, np.cross(w, r))
    rhs = np.concatenate([force - turning, torque - np.cross(w, inertia @ w) - np.cross(r, turning)])
    x = np.linalg.solve(lhs, rhs)
    return np.concatenate([v, rot @ x[:3], x[3:], (rot @ hat(w)).ravel(), speed_dot])


def flight(name, seconds, **changes):
    c = dict(name=name, mass=0.192, inertia=[1.42e-4, 1.65e-4, 2.13e-4], kappa=0.008, rotor_inertia=7e-7,
             rotor_drag=[0, 0, 0], body_drag=[0, 0, 0], wind=[0, 0, 0], air=[0, 0, 0], payload=0, payload_at=[0, 0, 0],
             cut_rotor=0, cut_thrust=1, cut_torque=1, v=[0, 0, 0], w=[0, 0, 0], turned=[0, 0, 0],
             speed=[0, 0, 0, 0], target=[0, 0, 0, 0])
    c.update(changes)
    start = np.concatenate([np.zeros(3), c["v"], c["w"], Rotation.from_rotvec(c["turned"]).as_matrix().ravel(), c["speed"]])
    times = [seconds / 4, seconds / 2, seconds]
    sol = solve_ivp(derivative, (0, seconds), start, method="DOP853", rtol=3e-14, atol=1e-13, t_eval=times, args=(c,))
    c["rows"] = []
    for t, s in zip(sol.t, sol.y.T):
        q = Rotation.from_matrix(s[9:18].reshape(3, 3)).as_quat()
        c["rows"].append(dict(t=t, p=s[:3].tolist(), v=s[3:6].tolist(), w=s[6:9].tolist(),
                              q=[q[3], q[0], q[1], q[2]], speed=s[18:].tolist()))
    return c


FLIGHTS = [
    flight("torque-free tumble about the middle axis", 2.0, w=[0.02, 9, 0.01]),
    flight("tumble with a payload", 2.0, w=[3, -7, 2], payload=0.05, payload_at=[0.03, -0.02, -0.05], v=[1, -2, 0.5]),
    flight("two rotors are a gyroscope", 1.0, w=[4, 1, 0], speed=[4000, 4000, 0, 0], target=[4000, 4000, 0, 0]),
    flight("drag in wind and moving air", 1.0, v=[6, -3, 2], w=[1, 2, -3], turned=[0.3, -0.4, 1], wind=[2, -1, 0.5],
           air=[-3, 4, 1], rotor_drag=[0.048, 0.05, 0.03], body_drag=[0.0025, 0.003, 0.006],
           speed=[1700, 1800, 1750, 1720], target=[1740, 1730, 1725, 1745]),
    flight("all at once", 1.0, v=[1, 2, 0], w=[-1, 0.5, 2], turned=[-0.2, 0.1, -2], wind=[-3, 0, 0], air=[1, 1, 0],
           rotor_drag=[0.048, 0.05, 0.03], body_drag=[0.0025, 0.003, 0.006], payload=0.03, payload_at=[0.02, 0.01, -0.03],
           cut_rotor=3, cut_thrust=0.8, cut_torque=0.85, speed=[1700, 1700, 1900, 1700], target=[1850, 1860, 2040, 1800]),
]
print(json.dumps(FLIGHTS, indent=1))
