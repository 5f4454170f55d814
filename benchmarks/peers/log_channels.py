"""The channels of a vehicle's log as another reader has them, for tests of ours to be held against.

    python3 log_channels.py ulog LOG > LOG.json

Per topic and instance, its rows; per field, a SHA-256 of its values as little-endian doubles, with one NaN for all.
ulog needs PyPI's pyulog; numpy is needed by all.
"""
import hashlib
import json
import sys

import numpy as np


def digest(values):
    x = np.asarray(values).astype("<f8")
    x[np.isnan(x)] = np.nan
    return hashlib.sha256(x.tobytes()).hexdigest()


def ulog(path):
    from pyulog import ULog
    for d in ULog(path).data_list:
        fields = {k: v for k, v in d.data.items() if "_padding" not in k}
        yield f"{d.name} {d.multi_id}", fields


READERS = {"ulog": ulog}


def main():
    kind, path = sys.argv[1:]
    out = {}
    for name, fields in READERS[kind](path):
        rows = len(next(iter(fields.values())))
        if rows:
            out[name] = {"rows": rows, "fields": {k: digest(v) for k, v in fields.items()}}
    json.dump(out, sys.stdout, indent=0, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
