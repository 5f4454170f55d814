"""The nodes of an arena, in the robot's namespace: policy_controller with its guard beside it, latent_encoder and
visualizer, and with a directory transition_recorder and background_learner, which record there and learn from it.
With estimator state_estimator makes the state: then set state_source of policy_controller to odometry."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = [
    ('namespace', 'quad', "the robot's namespace"),
    ('params_file', PathJoinSubstitution([FindPackageShare('vnd'), 'params', 'lab.yaml']), 'parameter file'),
    ('use_sim_time', 'false', 'follow /clock'),
    ('log_level', 'info', 'debug, info, warn, error or fatal'),
    ('autostart', 'true', 'configure and activate the controller'),
    ('guard_process', 'true', 'flight_guard is a process of its own, and alone commands the vehicle'),
    ('estimator', 'false', 'state_estimator makes the state, of an IMU and poses'),
    ('directory', '', 'record and learn in this folder; empty does neither'),
    ('rviz', 'false', 'start rviz2 with launch/vnd.rviz'),
    ('bag', '', 'record all topics to this folder, as MCAP; empty records none'),
]


def given(name):
    return IfCondition(PythonExpression(["'", LaunchConfiguration(name), "' != ''"]))


def node(executable, condition=None, respawn=False, **more):
    parameters = [LaunchConfiguration('params_file'), {'use_sim_time': LaunchConfiguration('use_sim_time'), **more}]
    return Node(
        package='vnd', executable=executable, name=executable, output='screen',
        namespace=LaunchConfiguration('namespace'), parameters=parameters,
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')], condition=condition,
        respawn=respawn,
    )


def generate_launch_description():
    return LaunchDescription([
        *[DeclareLaunchArgument(name, default_value=default, description=text) for name, default, text in ARGUMENTS],
        node('transition_recorder', given('directory'), directory=LaunchConfiguration('directory')),
        node('background_learner', given('directory'), directory=LaunchConfiguration('directory')),
        node('state_estimator', IfCondition(LaunchConfiguration('estimator')), respawn=True),
        node('flight_guard', IfCondition(LaunchConfiguration('guard_process')), respawn=True),
        node('policy_controller', autostart=LaunchConfiguration('autostart'),
             guard_process=LaunchConfiguration('guard_process')),
        node('latent_encoder'),
        node('visualizer'),
        Node(
            package='rviz2', executable='rviz2', namespace=LaunchConfiguration('namespace'),
            arguments=['-d', PathJoinSubstitution([FindPackageShare('vnd'), 'launch', 'vnd.rviz'])],
            condition=IfCondition(LaunchConfiguration('rviz')),
        ),
        ExecuteProcess(
            cmd=['ros2', 'bag', 'record', '--all', '--storage', 'mcap', '--output', LaunchConfiguration('bag')],
            condition=given('bag'),
        ),
    ])
