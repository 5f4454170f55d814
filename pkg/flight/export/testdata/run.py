"""Runs models of ONNX with onnxruntime: one JSON object with model and inputs a line, one with its outputs back."""

import json
import sys

import numpy as np
import onnxruntime

for line in sys.stdin:
    job = json.loads(line)
    session = onnxruntime.InferenceSession(job["model"], providers=["CPUExecutionProvider"])
    feeds = {name: np.array(x["data"], dtype=np.float32).reshape(x["shape"]) for name, x in job["inputs"].items()}
    outputs = [o.name for o in session.get_outputs()]
    values = session.run(outputs, feeds)
    print(json.dumps({
        "names": [i.name for i in session.get_inputs()] + outputs,
        "metadata": session.get_modelmeta().custom_metadata_map,
        "outputs": {name: [float(v) for v in value.ravel()] for name, value in zip(outputs, values)},
    }), flush=True)
