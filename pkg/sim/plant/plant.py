"""A vehicle of another simulator, at the other end of the socket 3: plant.py crazyflow|mujoco.

A request is eleven float64, little-endian: 0, position, quaternion (w, x, y, z) and velocity of a vehicle to be put
there; or 1, thrust over mass (m/s²), body rates (rad/s), wind (m/s² in the world), time (s). A reply is thirteen:
position, quaternion, velocity in the world, body rates. The first reply says that the vehicle is ready.
"""
import socket
import struct
import sys

import numpy as np


class Crazyflow:
    """A Crazyflie 2.1 with its brushed motors: physics, rate controller and mixer are those of crazyflow."""

    drone, step = "cf21B_500", 0.001

    def __init__(self):
        import jax
        import jax.numpy as jnp
        from crazyflow.control import Control
        from crazyflow.dynamics import Dynamics
        from crazyflow.sim import Sim
        from crazyflow.sim import functional

        rate = round(1 / self.step)
        self.sim = Sim(drone=self.drone, dynamics=Dynamics.first_principles, control=Control.body_rate, freq=rate,
                       body_rate_freq=rate // 2, force_torque_freq=rate // 2, device="cpu")
        self.sim.reset()
        controls = self.sim.data.controls
        rates = controls.body_rate  # its gains of attitude level the vehicle, as the firmware's Mellinger controller does
        none = {gain: jnp.zeros_like(rates.params[gain]) for gain in ("kR", "ki_m")}
        rates = rates.replace(params={**rates.params, **none})
        self.start = self.sim.data.replace(controls=controls.replace(body_rate=rates))
        mass = float(np.ravel(self.start.params.mass)[0])
        curve = np.ravel(self.start.params.rpm2thrust)[:3]  # N of a rotor: c0 + c1 n + c2 n²
        hover = max(np.roots([curve[2], curve[1], curve[0] - mass * 9.81 / 4]).real)
        self.mass, self.rotors = mass, np.full((1, 1, 4), hover, np.float32)
        run = self.sim._step

        def follow(data, numbers, steps):
            force = mass * numbers[None, None, 4:]
            data = functional.body_rate_control(data, jnp.array([[[numbers[1], numbers[2], numbers[3], mass * numbers[0]]]]))
            data = run(data.replace(states=data.states.replace(force=force)), n_steps=steps)
            s = data.states
            return data, jnp.concatenate([s.pos[0, 0], s.quat[0, 0], s.vel[0, 0], s.ang_vel[0, 0]])

        self.run = jax.jit(follow, static_argnames="steps")

    def reset(self, p, q, v):
        shape = lambda x: np.asarray(x, np.float32).reshape(1, 1, -1)
        self.data = self.start.replace(states=self.start.states.replace(
            pos=shape(p), quat=shape([*q[1:], q[0]]), vel=shape(v), rotor_vel=self.rotors))
        return [*p, *q, *v, 0, 0, 0]

    def follow(self, command, wind, h):
        numbers = np.asarray([*command, *wind], np.float32)
        self.data, s = self.run(self.data, numbers, steps=round(h / self.step))
        s = np.asarray(s, float)
        return [*s[:3], s[6], *s[3:6], *s[7:]]


class MuJoCo:
    """A quadrotor of 0.75 kg as an X of 24 cm, written here: boxes in MuJoCo's air, motors with 25 ms of lag, and a rate
    controller of proportional and integral gains."""

    model = """
    <mujoco>
      <option timestep="0.001" integrator="RK4" density="1.2" viscosity="1.8e-5"/>
      <worldbody>
        <geom type="plane" size="50 50 1"/>
        <body name="quad" pos="0 0 1">
          <freejoint/>
          <inertial pos="0 0 0" mass="0.75" diaginertia="0.0025 0.0021 0.0043"/>
          <geom type="box" size="0.05 0.04 0.025" mass="0"/>
          <geom type="box" size="0.17 0.014 0.008" euler="0 0 45" mass="0"/>
          <geom type="box" size="0.17 0.014 0.008" euler="0 0 -45" mass="0"/>
          <site name="r0" pos="0.085 -0.085 0"/>
          <site name="r1" pos="-0.085 0.085 0"/>
          <site name="r2" pos="0.085 0.085 0"/>
          <site name="r3" pos="-0.085 -0.085 0"/>
        </body>
      </worldbody>
      <actuator>
        <motor site="r0" gear="0 0 1 0 0 0.013"/>
        <motor site="r1" gear="0 0 1 0 0 0.013"/>
        <motor site="r2" gear="0 0 1 0 0 -0.013"/>
        <motor site="r3" gear="0 0 1 0 0 -0.013"/>
      </actuator>
    </mujoco>"""
    step, lag, full = 0.001, 0.025, 6.0  # s, s, N a motor
    gain, integral = np.array([22.0, 22.0, 8.0]), np.array([60.0, 60.0, 10.0])  # 1/s, 1/s²
    inertia, mass = np.array([0.0025, 0.0021, 0.0043]), 0.75

    def __init__(self):
        import mujoco

        self.mj = mujoco
        self.m = mujoco.MjModel.from_xml_string(self.model)
        self.d = mujoco.MjData(self.m)
        arms = np.array([[1, 1, 1, 1], [-1, 1, 1, -1], [-1, 1, -1, 1], [1, 1, -1, -1]], float)
        self.mix = np.linalg.inv(arms * [[1], [0.085], [0.085], [0.013]])  # thrust and torques to motors

    def reset(self, p, q, v):
        self.mj.mj_resetData(self.m, self.d)
        self.d.qpos[:], self.d.qvel[:3] = [*p, *q], v
        self.motors, self.sum = np.full(4, self.mass * 9.81 / 4), np.zeros(3)
        return self.state()

    def state(self):
        return [*self.d.qpos, *self.d.qvel]  # angular velocity of a free joint is in the body

    def follow(self, command, wind, h):
        thrust, rates = command[0] * self.mass, np.asarray(command[1:])
        self.d.xfrc_applied[1, :3] = np.asarray(wind) * self.mass
        for _ in range(round(h / self.step)):
            off = rates - self.d.qvel[3:]
            self.sum = np.clip(self.sum + off * self.step, -1, 1)
            asked = self.mix @ [thrust, *self.inertia * (self.gain * off + self.integral * self.sum)]
            self.motors += (np.clip(asked, 0.02, self.full) - self.motors) * (self.step / self.lag)
            self.d.ctrl[:] = self.motors
            self.mj.mj_step(self.m, self.d)
        return self.state()


def main():
    vehicle = {"crazyflow": Crazyflow, "mujoco": MuJoCo}[sys.argv[1]]()
    wire = socket.socket(fileno=3)
    wire.setblocking(True)
    wire.sendall(struct.pack("<13d", *[0.0] * 13))
    stream = wire.makefile("rb")
    while len(request := stream.read(88)) == 88:
        kind, *numbers = struct.unpack("<11d", request)
        if kind == 0:
            reply = vehicle.reset(numbers[:3], numbers[3:7], numbers[7:])
        else:
            reply = vehicle.follow(numbers[:4], numbers[4:7], numbers[7])
        wire.sendall(struct.pack("<13d", *reply))


main()
