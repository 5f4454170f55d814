"""Reads a bundle with nothing of vnd: it is one safetensors file with metadata.

pip install safetensors numpy
python3 examples/python_bundle/read.py BUNDLE
"""

import json
import sys

from safetensors import safe_open

with safe_open(sys.argv[1], framework="numpy") as bundle:
    meta = bundle.metadata()
    print(f"{meta['format']} version {meta['format_version']}: {meta['id']}")
    print(f"robot {meta['robot']}, task {meta['task']}, Δt {meta['dt']} s")
    print("dimensions", json.loads(meta["dimensions"]))
    total = 0
    for name in sorted(bundle.keys()):
        tensor = bundle.get_tensor(name)
        total += tensor.size
    print(f"{len(list(bundle.keys()))} tensors, {total} numbers")
