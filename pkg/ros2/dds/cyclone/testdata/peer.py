"""An independent DDS peer (PyPI cyclonedds): sends every PoseStamped back with its
position moved by (1, 2, 3), every String in reverse, until its input ends. Its types
carry XTypes type information. Usage: peer.py DOMAIN CONFIGURATION"""
import dataclasses
import sys
import threading
import time

from cyclonedds import idl, qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import types
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic


@dataclasses.dataclass
class Time(idl.IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: types.int32
    nanosec: types.uint32


@dataclasses.dataclass
class Header(idl.IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str


@dataclasses.dataclass
class Point(idl.IdlStruct, typename="geometry_msgs::msg::dds_::Point_"):
    x: types.float64
    y: types.float64
    z: types.float64


@dataclasses.dataclass
class Quaternion(idl.IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: types.float64
    y: types.float64
    z: types.float64
    w: types.float64


@dataclasses.dataclass
class Pose(idl.IdlStruct, typename="geometry_msgs::msg::dds_::Pose_"):
    position: Point
    orientation: Quaternion


@dataclasses.dataclass
class PoseStamped(idl.IdlStruct, typename="geometry_msgs::msg::dds_::PoseStamped_"):
    header: Header
    pose: Pose


@dataclasses.dataclass
class String(idl.IdlStruct, typename="std_msgs::msg::dds_::String_"):
    data: str


def move(m):
    p = m.pose.position
    p.x, p.y, p.z = p.x + 1, p.y + 2, p.z + 3
    return m


def reverse(m):
    return String(m.data[::-1])


def main():
    # The one that stays referenced: a domain ends with its object.
    domain = Domain(int(sys.argv[1]), sys.argv[2])
    participant = DomainParticipant(int(sys.argv[1]))
    like_ros = qos.Qos(
        qos.Policy.Reliability.Reliable(10_000_000_000),
        qos.Policy.History.KeepAll,
        qos.Policy.DataRepresentation(use_cdrv0_representation=True, use_xcdrv2_representation=False),
    )
    pairs = []
    for name, kind, answer in (("pose", PoseStamped, move), ("string", String, reverse)):
        reader = DataReader(participant, Topic(participant, f"rt/to_{name}", kind), qos=like_ros)
        writer = DataWriter(participant, Topic(participant, f"rt/from_{name}", kind), qos=like_ros)
        pairs.append((reader, writer, answer))
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    print("ready", flush=True)
    while not ended.is_set():
        for reader, writer, answer in pairs:
            for sample in reader.take(100):
                if sample.sample_info.valid_data:
                    writer.write(answer(sample))
        time.sleep(0.001)
    del domain


main()
