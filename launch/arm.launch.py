"""An arm: arm_controller, with sim the simulated Panda arm_sim, whose payload nobody is told of, and with a directory
background_learner, which learns from what the arm does."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import Command, LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = [
    ('namespace', '', "the arm's namespace; empty is that of ros2_control's topics"),
    ('params_file', PathJoinSubstitution([FindPackageShare('vnd'), 'params', 'arm_controller.yaml']), 'parameter file'),
    ('use_sim_time', 'false', 'follow /clock'),
    ('log_level', 'info', 'debug, info, warn, error or fatal'),
    ('autostart', 'true', 'configure and activate the controller'),
    ('bundle_file', '', 'bundle whose policy follows references; empty: computed torque does'),
    ('directory', '', 'learn, with bundles in this folder; empty does not'),
    ('sim', 'true', 'start arm_sim'),
    ('payload', '1.0', 'mass on the flange of arm_sim, kg'),
    ('simulator', '', 'of arm_sim: mujoco, which make simulators installs; empty: ours'),
    ('rviz', 'false', 'start rviz2 with launch/arm.rviz, and robot_state_publisher with launch/panda.urdf'),
]


def node(executable, condition=None, **more):
    return Node(
        package='vnd', executable=executable, name=executable, output='screen',
        namespace=LaunchConfiguration('namespace'), parameters=[LaunchConfiguration('params_file'), more],
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')], condition=condition,
    )


def share(name):
    return PathJoinSubstitution([FindPackageShare('vnd'), 'launch', name])


def string(name):
    return ParameterValue(LaunchConfiguration(name), value_type=str)


def generate_launch_description():
    return LaunchDescription([
        *[DeclareLaunchArgument(name, default_value=default, description=text) for name, default, text in ARGUMENTS],
        node('arm_sim', IfCondition(LaunchConfiguration('sim')),
             payload=ParameterValue(LaunchConfiguration('payload'), value_type=float), simulator=string('simulator')),
        node('arm_controller', use_sim_time=LaunchConfiguration('use_sim_time'),
             autostart=LaunchConfiguration('autostart'), bundle_file=string('bundle_file')),
        node('background_learner', IfCondition(PythonExpression(["'", LaunchConfiguration('directory'), "' != ''"])),
             use_sim_time=LaunchConfiguration('use_sim_time'), robot='arm', directory=string('directory'),
             bundle_file=string('bundle_file')),
        Node(
            package='robot_state_publisher', executable='robot_state_publisher',
            namespace=LaunchConfiguration('namespace'), condition=IfCondition(LaunchConfiguration('rviz')),
            parameters=[{
                'robot_description': ParameterValue(Command(['cat ', share('panda.urdf')]), value_type=str),
                'use_sim_time': LaunchConfiguration('use_sim_time'),
            }],
        ),
        Node(
            package='rviz2', executable='rviz2', namespace=LaunchConfiguration('namespace'),
            arguments=['-d', share('arm.rviz')], condition=IfCondition(LaunchConfiguration('rviz')),
        ),
    ])
