"""The demo's flight: a simulated quadrotor in an arena with fans, and around it the nodes of a real one, which learn in flight."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def params(*path):
    return PathJoinSubstitution([FindPackageShare('vnd'), 'params', *path])


ARGUMENTS = [
    ('namespace', 'quad', "the robot's namespace"),
    ('directory', 'vnd_demo', 'folder to record and learn in'),
    ('world', params('worlds', 'arena.yaml'), 'winds and faults, and when they come'),
    ('task', 'track', 'hover, track or features'),
    ('learn', 'hover,track', 'tasks to learn: hover,track or features'),
]


def node(executable, **more):
    return Node(
        package='vnd', executable=executable, name=executable, output='screen', namespace=LaunchConfiguration('namespace'),
        parameters=[params('lab.yaml'), params('demo', 'flight.yaml'), more],
    )


def generate_launch_description():
    directory = LaunchConfiguration('directory')
    return LaunchDescription([
        *[DeclareLaunchArgument(name, default_value=default, description=text) for name, default, text in ARGUMENTS],
        node('transition_recorder', directory=directory),
        node('background_learner', directory=directory, task=LaunchConfiguration('learn')),
        node('visualizer'),
        node('latent_encoder'),
        node('policy_controller', autostart=True, task=LaunchConfiguration('task')),
        node('quad_sim', world=LaunchConfiguration('world')),
    ])
