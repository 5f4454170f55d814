"""Writes golden.json: rotations as scipy.spatial.transform and scipy.linalg.expm see them.

Run with: python3 golden.py > golden.json   (numpy, scipy)
"""
import json

import numpy as np
from scipy.linalg import expm
from scipy.spatial.transform import Rotation


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def left_jacobian(phi):
    """Jl = integral of exp(s [phi]x) over s in 0..1, read off one block exponential."""
    block = np.zeros((6, 6))
    block[:3, :3] = hat(phi)
    block[:3, 3:] = np.eye(3)
    return expm(block)[:3, 3:]


rng = np.random.default_rng(7)
phis = [np.zeros(3)]
for size in (1e-12, 1e-8, 1e-4, 0.0999, 0.1001, 1.0, 2.0, np.pi - 1e-3, np.pi - 1e-9):
    for _ in range(3):
        d = rng.normal(size=3)
        phis.append(size * d / np.linalg.norm(d))

rows = []
for phi in phis:
    r = Rotation.from_rotvec(phi)
    x, y, z, w = r.as_quat()
    yaw, pitch, roll = r.as_euler("ZYX")
    rows.append(
        {
            "phi": phi.tolist(),
            "quat_wxyz": [w, x, y, z],
            "matrix": r.as_matrix().tolist(),
            "roll_pitch_yaw": [roll, pitch, yaw],
            "jl": left_jacobian(phi).tolist(),
        }
    )
print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")
