"""Nodes of rclpy for the tests, one role a process: peer.py talker | clock | sleeper."""
import sys

import rclpy
from builtin_interfaces.msg import Time
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String
from std_srvs.srv import SetBool


class Talker(Node):
    def __init__(self):
        super().__init__("talker", namespace="/drone1")
        self.declare_parameter("gain", 1.5)
        self.declare_parameter("ids", [1, 2, 3])
        self.out = self.create_publisher(String, "chatter", 10)
        self.create_service(SetBool, "arm", self.arm)
        self.count = 0
        self.create_timer(0.1, self.tick)

    def arm(self, request, response):
        response.success, response.message = request.data, "armed by rclpy"
        self.get_logger().warning("armed")
        return response

    def tick(self):
        self.count += 1
        self.out.publish(String(data="n%d" % self.count))


class ClockSource(Node):
    """Simulated time at ten times the real one, from 100 s on, which jumps back once to 50 s at 101 s."""

    def __init__(self):
        super().__init__("clock")
        self.out = self.create_publisher(Clock, "/clock", 10)
        self.now, self.jumped = 100.0, False
        self.create_timer(0.01, self.tick)

    def tick(self):
        if self.out.get_subscription_count() == 0:
            return
        self.now += 0.1
        if self.now > 101 and not self.jumped:
            self.now, self.jumped = 50.0, True
        self.out.publish(Clock(clock=Time(sec=int(self.now), nanosec=int(self.now % 1 * 1e9))))


class Sleeper(Node):
    """Says each second of simulated time what time it is."""

    def __init__(self):
        super().__init__("sleeper", parameter_overrides=[Parameter("use_sim_time", value=True)])
        self.out = self.create_publisher(String, "time", 10)
        self.create_timer(1.0, self.tick)

    def tick(self):
        self.out.publish(String(data="%d" % (self.get_clock().now().nanoseconds // 10**9)))


rclpy.init()
node = {"talker": Talker, "clock": ClockSource, "sleeper": Sleeper}[sys.argv[1]]()
try:
    rclpy.spin(node)
except (KeyboardInterrupt, ExternalShutdownException):  # from Kilted on, the second
    pass
except Exception:  # what Ctrl-C meets amid a wait
    if rclpy.ok():
        raise
