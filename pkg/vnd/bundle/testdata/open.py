"""Opens a bundle with the safetensors package of PyPI and prints what it found, as JSON.

usage: open.py BUNDLE FOREIGN
FOREIGN is written: a file of safetensors' own making, which is no bundle.
"""
import json
import sys

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

bundle, foreign = sys.argv[1:]
with safe_open(bundle, framework="numpy") as f:
    tensors = {name: f.get_tensor(name) for name in f.keys()}
    json.dump(
        {
            "metadata": f.metadata(),
            "tensors": {
                name: {"dtype": str(x.dtype), "shape": list(x.shape), "hex": x.tobytes().hex()}
                for name, x in tensors.items()
            },
        },
        sys.stdout,
    )
save_file({"a": np.arange(3, dtype=np.float32)}, foreign, metadata={"format": "np"})
