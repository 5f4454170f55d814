"""A recorded flight, played to the encoder, the visualizer and, with a directory, the recorder and the learner, on the bag's clock."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PythonExpression
from launch_ros.actions import Node

ARGUMENTS = [
    ('bag', None, 'folder of the bag'),
    ('namespace', 'quad', "the robot's namespace, in the bag too"),
    ('storage', 'mcap', 'of the bag: mcap or sqlite3'),
    ('rate', '1.0', 'times as fast as it was flown'),
    ('bundle_file', '', 'bundle that flew, for its latents'),
    ('directory', '', 'record and learn in this folder; empty does neither'),
]


def node(executable, condition=None, **more):
    return Node(
        package='vnd', executable=executable, name=executable, output='screen', namespace=LaunchConfiguration('namespace'),
        parameters=[{'use_sim_time': True, **more}], condition=condition,
    )


def generate_launch_description():
    directory = LaunchConfiguration('directory')
    learns = IfCondition(PythonExpression(["'", directory, "' != ''"]))
    return LaunchDescription([
        *[DeclareLaunchArgument(name, default_value=default, description=text) for name, default, text in ARGUMENTS],
        node('transition_recorder', learns, directory=directory),
        node('background_learner', learns, directory=directory),
        node('visualizer'),
        node('latent_encoder', bundle_file=LaunchConfiguration('bundle_file')),
        ExecuteProcess(cmd=[  # steps alone: latents come from the encoder
            'ros2', 'bag', 'play', '--clock', '100', '-s', LaunchConfiguration('storage'), '--rate', LaunchConfiguration('rate'),
            LaunchConfiguration('bag'), '--topics', ['/', LaunchConfiguration('namespace'), '/step'],
        ], output='screen'),
    ])
