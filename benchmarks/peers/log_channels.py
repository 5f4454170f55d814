"""The channels of a vehicle's log as another reader has them, for tests of ours to be held against.

    python3 log_channels.py ulog|blackbox|blackbox-tools|dataflash|usd|table LOG > LOG.json

Per topic and instance, its rows; per field, a SHA-256 of its values as little-endian doubles, with one NaN for all.
ulog needs PyPI's pyulog, blackbox PyPI's orangebox, blackbox-tools its blackbox_decode on PATH,
dataflash PyPI's pymavlink, usd cfusdlog.py of the Crazyflie's firmware on PYTHONPATH; numpy is needed by all.
"""
import csv
import glob
import hashlib
import json
import re
import subprocess
import sys
import tempfile

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


def blackbox(path):
    """Main frames of every log. orangebox fails at a file's end without an end of the log: a copy gets one."""
    from orangebox import Parser
    from orangebox.types import FrameType
    with tempfile.NamedTemporaryFile() as copy:
        with open(path, "rb") as f:
            copy.write(f.read() + b"E\xffEnd of log\x00")
        copy.flush()
        parser = Parser.load(copy.name)
        for index in range(1, parser.reader.log_count + 1):
            parser.set_log_index(index)
            names = [d.name for d in parser.reader.field_defs[FrameType.INTRA]]
            rows = [f.data[:len(names)] for f in parser.frames()]
            yield f"main {index - 1}", {n: [r[i] for r in rows] for i, n in enumerate(names)}


def blackbox_tools(path):
    """Main frames of every log. blackbox_decode counts iterations wrongly where "P interval" has no slash."""
    with tempfile.TemporaryDirectory() as out:
        raw = [f"--unit-{u}=raw" for u in ("rotation", "acceleration", "vbat", "amperage", "flags")]
        subprocess.run(["blackbox_decode", *raw, "--output-dir", out, path], check=True, capture_output=True)
        for name in sorted(glob.glob(out + "/*.[0-9][0-9].csv")):
            with open(name, encoding="ascii") as f:
                rows = list(csv.reader(f))
            names = [re.sub(r" \(.*\)", "", n.strip()) for n in rows[0]]
            main = [n for n in names[:len(names)] if n != "loopIteration" and "Flags" not in n]
            main = [n for n in main if n not in ("failsafePhase", "rxSignalReceived", "rxFlightChannelsValid")]
            main = [n for n in main if n not in ("energyCumulative", "GPS") and not n.startswith("GPS_")]
            index = int(name[-6:-4]) - 1
            yield f"main {index}", {n: [float(r[names.index(n)]) for r in rows[1:]] for n in main}


def dataflash(path):
    """All messages but those that describe others, by their instances."""
    from pymavlink.DFReader import DFReader_binary
    log = DFReader_binary(path)
    rows = {}
    while True:
        m = log.recv_msg()
        if m is None:
            break
        numbers = {n: v for n, v in m.to_dict().items() if isinstance(v, (int, float))}
        instance = m.fmt.instance_field
        name = f"{m.get_type()} {getattr(m, instance) if instance else 0}"
        for n, v in numbers.items():
            rows.setdefault(name, {}).setdefault(n, []).append(v)
    return rows.items()


def usd(path):
    import cfusdlog
    for name, fields in cfusdlog.decode(path).items():
        yield f"{name} 0", {k: v for k, v in fields.items() if k != "timestamp"}


def table(path):
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))
    yield "table 0", {n: [float(r[i]) for r in rows[1:]] for i, n in enumerate(rows[0])}


READERS = {"ulog": ulog, "blackbox": blackbox, "blackbox-tools": blackbox_tools, "dataflash": dataflash,
           "usd": usd, "table": table}


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
