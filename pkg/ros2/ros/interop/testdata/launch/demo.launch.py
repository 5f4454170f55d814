from launch import LaunchDescription
from launch_ros.actions import Node


def generate_launch_description():
    return LaunchDescription([Node(
        package="demo_pkg", executable="talker", name="ctrl", namespace="drone1", output="screen",
        parameters=[{"gain": 3.5, "ids": [4, 5], "name": "x"}],
        remappings=[("cmd", "/mocap/cmd")],
        arguments=["--flag"], ros_arguments=["--log-level", "debug"],
    )])
