"""A plain DDS program (PyPI cyclonedds) that speaks to ROS 2 nodes in the Cyclone mapping.

peer.py DOMAIN XML server | client N | nodes NAME… | announce NAME

Each role prints one JSON value on standard output, or "ready" first. It ends when
standard input does.
"""
import json
import sys
import threading
import time
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import final
from cyclonedds.idl.types import array, bounded_str, int64, sequence, uint8, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

PATIENCE = 30.0


@dataclass
@final
class Request(IdlStruct, typename="std_srvs::srv::dds_::SetBool_Request_"):
    guid: uint64
    seq: int64
    data: bool


@dataclass
@final
class Response(IdlStruct, typename="std_srvs::srv::dds_::SetBool_Response_"):
    guid: uint64
    seq: int64
    success: bool
    message: str


@dataclass
@final
class Gid(IdlStruct, typename="rmw_dds_common::msg::dds_::Gid_"):
    data: array[uint8, 24]


@dataclass
@final
class Node(IdlStruct, typename="rmw_dds_common::msg::dds_::NodeEntitiesInfo_"):
    node_namespace: bounded_str[256]
    node_name: bounded_str[256]
    reader_gid_seq: sequence[Gid]
    writer_gid_seq: sequence[Gid]


@dataclass
@final
class Info(IdlStruct, typename="rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"):
    gid: Gid
    node_entities_info_seq: sequence[Node]


def qos(*more, user_data=b""):
    return Qos(
        Policy.Reliability.Reliable(duration(seconds=1)),
        Policy.DataRepresentation(use_cdrv0_representation=True),
        *(more or (Policy.History.KeepLast(10),)),
        *([Policy.Userdata(user_data)] if user_data else []),
    )


def wait(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            sys.exit("peer: nothing came within %g s" % PATIENCE)
        time.sleep(0.002)


def say(value):
    print(value if isinstance(value, str) else json.dumps(value), flush=True)


def pair(p, write, read, user_data=b""):
    """A writer and a reader of one half of /drone1/arm each."""
    names = {Request: "rq/drone1/armRequest", Response: "rr/drone1/armReply"}
    w = DataWriter(p, Topic(p, names[write], write, qos=qos()), qos=qos(user_data=user_data))
    r = DataReader(p, Topic(p, names[read], read, qos=qos()), qos=qos(user_data=user_data))
    return w, r


def server(p, ended):
    w, r = pair(p, Response, Request)
    say("ready")
    while not ended.is_set():
        for q in r.take(10):
            if isinstance(q, Request):
                w.write(Response(q.guid, q.seq, True, "armed by python" if q.data else "disarmed by python"))
        time.sleep(0.002)


def client(p, ended, n):
    w, r = pair(p, Request, Response)
    wait(lambda: w.get_matched_subscriptions() and r.get_matched_publications())
    got, me = [], w.instance_handle & (1 << 64) - 1  # given as a signed number
    for seq in range(1, int(n) + 1):
        mine, asked = [], 0.0

        def answered():
            nonlocal asked
            if time.monotonic() - asked > 1:  # again: an answer is lost where the server does not know r yet
                w.write(Request(me, seq, seq % 2 == 1))
                asked = time.monotonic()
            mine.extend(a for a in r.take(10) if isinstance(a, Response) and (a.guid, a.seq) == (me, seq))
            return mine

        wait(answered)
        got.append([mine[0].seq, mine[0].success, mine[0].message])
    say(got)


def info_topic(p):
    return Topic(p, "ros_discovery_info", Info, qos=qos())


def nodes(p, ended, *names):
    """What the process says that has all of the nodes named."""
    r = DataReader(p, info_topic(p), qos=qos(Policy.History.KeepAll, Policy.Durability.TransientLocal))
    seen = {}

    def found():
        for m in r.take(100):
            if isinstance(m, Info):
                seen[bytes(m.gid.data).hex()] = [
                    [n.node_namespace, n.node_name, [bytes(g.data).hex() for g in n.reader_gid_seq],
                     [bytes(g.data).hex() for g in n.writer_gid_seq]] for n in m.node_entities_info_seq]
        return any(set(names) <= {n[1] for n in ns} for ns in seen.values())

    wait(found)
    say(seen)


def announce(p, ended, name):
    w = DataWriter(p, info_topic(p), qos=qos(Policy.History.KeepLast(1), Policy.Durability.TransientLocal))
    _, r = pair(p, Response, Request)
    gid = lambda e: Gid(list(e.guid.bytes) + [0] * 8)
    w.write(Info(gid(p), [Node("/python", name, [gid(r)], [])]))
    say(["%s" % p.guid.bytes.hex(), r.guid.bytes.hex()])
    ended.wait()


def main():
    number, xml, role, *args = sys.argv[1:]
    ended = threading.Event()
    domain = Domain(int(number), xml)
    p = DomainParticipant(int(number), qos=Qos(Policy.Userdata(b"enclave=/python;")) if role == "announce" else None)

    def watch():
        sys.stdin.read()
        ended.set()

    threading.Thread(target=watch, daemon=True).start()
    {"server": server, "client": client, "nodes": nodes, "announce": announce}[role](p, ended, *args)
    del p, domain


main()
