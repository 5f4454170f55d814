"""usage: read.py F.mcap: what Rerun's own reader makes of a file, as JSON: for each entity the values of what it draws."""
import json
import sys

from rerun.chunk import McapReader

DRAWN = ("Transform3D:translation", "Transform3D:child_frame", "Points3D:positions", "InstancePoses3D:translations",
         "Scalars:scalars", "SeriesLines:names", "TextLog:text")

drawn = {}
for chunk in McapReader(sys.argv[1]).stream():
    batch = chunk.to_record_batch()
    for name, column in zip(batch.schema.names, batch.columns):
        if name in DRAWN:
            drawn.setdefault(chunk.entity_path, {}).setdefault(name, []).extend(column.to_pylist())
json.dump(drawn, sys.stdout)
