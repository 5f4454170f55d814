"""Writes the bag beside it: a Panda of MuJoCo with 2 kg moves for three seconds, recorded by PyPI rosbags.

Joint states come at 100 Hz, joint 7 first and behind a finger, torques at 50 Hz beside what carries the links.
Run with: python3 make_bag.py ../../../sim/manipulation/panda.xml   (numpy, mujoco 4, rosbags 0.11)
"""
import pathlib
import sys

import mujoco
import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

N, STEP, BEGIN, LATE = 7, 0.001, 1_700_000_000_000_000_000, 300_000
HOME = np.array([0, -np.pi / 4, 0, -3 * np.pi / 4, 0, np.pi / 2, np.pi / 4])
HERE = pathlib.Path(__file__).parent


def weight(model, free, q):
    """Torques that carry the links alone, at angles q."""
    free.qpos[:], free.qvel[:] = q, 0
    mujoco.mj_forward(model, free)
    return free.qfrc_bias.copy()


def main(path):
    model, bare = (mujoco.MjModel.from_xml_path(path) for _ in range(2))
    body = model.body("payload").id
    model.body_mass[body], model.body_inertia[body] = 2, 1e-9  # a point
    bare.body_mass[body], bare.body_inertia[body] = 0, 0
    for m in (model, bare):
        m.body_gravcomp[:] = 0
        mujoco.mj_setConst(m, mujoco.MjData(m))
    data, free = mujoco.MjData(model), mujoco.MjData(bare)
    data.qpos[:] = HOME
    store = get_typestore(Stores.ROS2_HUMBLE)
    types = store.types
    out = HERE / "panda_bag"
    with Writer(out, version=9, storage_plugin=StoragePlugin.MCAP) as w:
        state = w.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=store)
        effort = w.add_connection("/joint_group_effort_controller/commands", "std_msgs/msg/Float64MultiArray",
                                  typestore=store)
        layout = types["std_msgs/msg/MultiArrayLayout"](dim=[], data_offset=0)
        tau = np.zeros(N)
        for k in range(3000):
            at = BEGIN + k * 1_000_000
            if k % 20 == 0:
                t = k * STEP
                goal = HOME + 0.3 * np.sin(2 * t + np.arange(N))
                tau = np.clip(30 * (goal - data.qpos) - 6 * data.qvel, -20, 20)
                m = types["std_msgs/msg/Float64MultiArray"](layout=layout, data=tau)
                w.write(effort, at + LATE, store.serialize_cdr(m, m.__msgtype__))
            if k % 10 == 0:
                stamp = types["builtin_interfaces/msg/Time"](sec=at // 10**9, nanosec=at % 10**9)
                header = types["std_msgs/msg/Header"](stamp=stamp, frame_id="")
                order = range(N - 1, -1, -1)
                names = ["panda_finger_joint1"] + [f"panda_joint{i + 1}" for i in order]
                m = types["sensor_msgs/msg/JointState"](
                    header=header, name=names, position=np.concatenate([[0.04], data.qpos[order]]),
                    velocity=np.concatenate([[0], data.qvel[order]]), effort=np.zeros(0))
                w.write(state, at + LATE, store.serialize_cdr(m, m.__msgtype__))
            data.qfrc_applied[:] = tau + weight(bare, free, data.qpos)
            mujoco.mj_step(model, data)


if __name__ == "__main__":
    main(sys.argv[1])
