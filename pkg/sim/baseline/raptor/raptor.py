"""RAPTOR at the other end of the socket 3.

A request is 23 float64, little-endian: 1 where a flight begins, else 0; position and, row by row, attitude of the
robot, its velocity, its body rates, its last action. A reply is an action: of the motors front right, rear right, rear
left and front left, from -1 to 1. The first reply says that the policy is ready.
"""
import socket
import struct

import numpy as np
from foundation_policy import Raptor

policy = Raptor()
wire = socket.socket(fileno=3)
wire.setblocking(True)
wire.sendall(bytes(32))
stream = wire.makefile("rb")
while len(request := stream.read(8 * 23)) == 8 * 23:
    begins, *seen = struct.unpack("<23d", request)
    if begins:
        policy.reset()
    wire.sendall(struct.pack("<4d", *policy.evaluate_step(np.array([seen]))[0]))
