"""Writes golden.json: rotations as scipy.spatial.transform sees them.

Run with: python3 golden.py > golden.json   (numpy, scipy)
"""
import json

import numpy as np
from scipy.spatial.transform import Rotation

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
        }
    )
print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")
