"""The independent peers of the bag formats: PyPI rosbags, mcap, mcap-ros2-support.

peer.py read BAG       prints as JSON what the peers find in a bag's folder
peer.py count FILE     prints how many messages an MCAP file has, having read
                       each of them with its CRCs checked
peer.py write FOLDER   writes bags in every format the peers can, and prints as
                       JSON what is in each
"""

import hashlib
import json
import sys
from pathlib import Path

from mcap.reader import NonSeekingReader, make_reader
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, IndexType
from mcap.writer import Writer as McapWriter
from mcap_ros2.decoder import DecoderFactory
from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag2 import CompressionFormat, CompressionMode, Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND


class Digest:
    """Counts messages by topic, and hashes topics, times and data in order."""

    def __init__(self):
        self.hash = hashlib.sha256()
        self.counts = {}

    def add(self, topic, time, data):
        self.hash.update(topic.encode() + b"\0")
        self.hash.update(time.to_bytes(8, "little"))
        self.hash.update(len(data).to_bytes(4, "little"))
        self.hash.update(data)
        self.counts[topic] = self.counts.get(topic, 0) + 1

    def result(self):
        return {"counts": self.counts, "digest": self.hash.hexdigest()}


def read_rosbags(path):
    digest = Digest()
    with Reader(path) as reader:
        for connection, time, data in reader.messages():
            digest.add(connection.topic, time, bytes(data))
        out = digest.result()
        out["messages"] = reader.message_count
        out["start"] = reader.start_time
        out["distro"] = reader.ros_distro
        out["topics"] = {
            c.topic: {
                "type": c.msgtype,
                "hash": c.digest,
                "definition": c.msgdef.data,
                "depths": [q.depth for q in c.ext.offered_qos_profiles],
            }
            for c in reader.connections
        }
    return out


def read_mcap(files):
    """Reads three ways, checking every CRC each time."""
    ways = {"indexed": Digest(), "stream": Digest(), "decoded": Digest()}
    library, crcs = "", 0
    for file in files:
        with file.open("rb") as f:
            for record in StreamReader(f, validate_crcs=True, emit_chunks=True).records:
                crcs += getattr(record, "uncompressed_crc", 0) != 0
                crcs += getattr(record, "data_section_crc", 0) != 0
                crcs += getattr(record, "summary_crc", 0) != 0
        with file.open("rb") as f:
            reader = make_reader(f, validate_crcs=True, decoder_factories=[DecoderFactory()])
            library = reader.get_header().library
            summary = reader.get_summary()
            assert summary is not None and summary.statistics is not None, file
            for _, channel, message in reader.iter_messages():
                ways["indexed"].add(channel.topic, message.log_time, message.data)
            for _, channel, message, decoded in reader.iter_decoded_messages():
                assert decoded is not None
                ways["decoded"].add(channel.topic, message.log_time, message.data)
        with file.open("rb") as f:
            for _, channel, message in NonSeekingReader(f, validate_crcs=True).iter_messages():
                ways["stream"].add(channel.topic, message.log_time, message.data)
    return {"library": library, "crcs": crcs, **{k: v.result() for k, v in ways.items()}}


def read(bag):
    out = {"rosbags": read_rosbags(bag)}
    files = sorted(bag.glob("*.mcap"))
    if files:
        out["mcap"] = read_mcap(files)
    return out


def samples():
    """Gives 400 messages on three topics, in the order of their times."""
    store = get_typestore(Stores.ROS2_HUMBLE)
    string = store.types["std_msgs/msg/String"]
    point = store.types["geometry_msgs/msg/Point"]
    for i in range(400):
        time = START + i * SECOND // 50
        if i % 3 == 2:
            topic, kind, message = "/point", "geometry_msgs/msg/Point", point(x=i, y=-i, z=0.5)
        else:
            topic = "/chat" if i % 3 else "/long"
            text = f"message {i} " + "x" * (2000 if topic == "/long" else i % 7)
            kind, message = "std_msgs/msg/String", string(data=text)
        yield topic, kind, time, bytes(store.serialize_cdr(message, kind))


QOS = Qos(
    QosHistory.KEEP_LAST, 7, QosReliability.BEST_EFFORT, QosDurability.VOLATILE,
    QosTime(9223372036, 854775807), QosTime(10, 0), QosLiveliness.AUTOMATIC,
    QosTime(9223372036, 854775807), False,
)


def write_rosbags(path, version, storage, mode):
    store = get_typestore(Stores.ROS2_HUMBLE)
    digest = Digest()
    writer = Writer(path, version=version, storage_plugin=storage)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connections = {}
        for topic, kind, time, data in samples():
            if topic not in connections:
                connections[topic] = writer.add_connection(
                    topic, kind, typestore=store, offered_qos_profiles=[QOS]
                )
            writer.write(connections[topic], time, data)
            digest.add(topic, time, data)
        writer.set_custom_data("note", "by rosbags")
    return digest.result()


def write_mcap(path, shuffled=False, **options):
    store = get_typestore(Stores.ROS2_HUMBLE)
    digest = Digest()
    path.mkdir()
    with (path / "bag_0.mcap").open("wb") as f:
        writer = McapWriter(f, chunk_size=20_000, **options)
        writer.start(profile="ros2", library="peer")
        writer.add_metadata("something", {"a": "b"})
        channels = {}
        messages = list(samples())
        for topic, _, time, data in messages:
            digest.add(topic, time, data)
        if shuffled:  # each 17 of them backwards: out of order within and across chunks
            messages = [m for i in range(0, len(messages), 17) for m in messages[i : i + 17][::-1]]
        for i, (topic, kind, time, data) in enumerate(messages):
            if topic not in channels:
                text, _ = store.generate_msgdef(kind, ros_version=2)
                schema = writer.register_schema(kind, "ros2msg", text.encode())
                channels[topic] = writer.register_channel(topic, "cdr", schema)
            writer.add_message(channels[topic], time, data, time - 5, i)
            if i == 200:
                writer.add_attachment(time, time, "photo", "image/png", b"\0" * 5000)
        writer.finish()
    return digest.result()


def write(folder):
    out = {}
    modes = [CompressionMode.NONE, CompressionMode.FILE, CompressionMode.MESSAGE]
    for version in 8, 9:
        for storage in StoragePlugin.SQLITE3, StoragePlugin.MCAP:
            for mode in modes + [CompressionMode.STORAGE] * (storage is StoragePlugin.MCAP):
                name = f"rosbags_v{version}_{storage.name}_{mode.name}".lower()
                out[name] = write_rosbags(folder / name, version, storage, mode)
    for compression in CompressionType:
        name = f"mcap_{compression.name}".lower()
        out[name] = write_mcap(folder / name, compression=compression, enable_data_crcs=True)
        out[name + "_shuffled"] = write_mcap(
            folder / (name + "_shuffled"), shuffled=True, compression=compression
        )
    bare = {
        "index_types": IndexType.NONE, "repeat_channels": False, "repeat_schemas": False,
        "use_statistics": False, "use_summary_offsets": False, "enable_crcs": False,
    }
    out["mcap_bare"] = write_mcap(folder / "mcap_bare", **bare)
    out["mcap_unchunked"] = write_mcap(folder / "mcap_unchunked", use_chunking=False)
    out["mcap_unchunked_bare"] = write_mcap(
        folder / "mcap_unchunked_bare", shuffled=True, use_chunking=False, **bare
    )
    out["mcap_without_message_index"] = write_mcap(
        folder / "mcap_without_message_index", index_types=IndexType.CHUNK
    )
    out["mcap_without_statistics"] = write_mcap(
        folder / "mcap_without_statistics", use_statistics=False
    )
    return out


def count(file):
    with file.open("rb") as f:
        return sum(1 for _ in make_reader(f, validate_crcs=True).iter_messages())


def main():
    todo, path = sys.argv[1], Path(sys.argv[2])
    if todo == "count":
        print(count(path))
        return
    print(json.dumps(read(path) if todo == "read" else write(path)))


if __name__ == "__main__":
    main()
