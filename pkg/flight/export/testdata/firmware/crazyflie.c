/* Reads states, and writes what the example hands to the firmware's loop of body rates, with the network's command. */
#include <stdio.h>

#include "controller_pid.h"
#include "vnd_net.h"

static setpoint_t handed;

void controllerPidInit(void) {}
bool controllerPidTest(void) { return true; }
void controllerPid(control_t *control, const setpoint_t *setpoint, const sensorData_t *sensors, const state_t *state,
	const stabilizerStep_t tick)
{
	(void)control, (void)sensors, (void)state, (void)tick;
	handed = *setpoint;
}

int main(void)
{
	float q[4];
	while (fread(q, sizeof q, 1, stdin) == 1) {
		setpoint_t at = {.position = {0.1f, -0.2f, 1.3f}};
		state_t s = {.position = {0, 0, 1}, .velocity = {0.3f, 0.2f, -0.1f},
			.attitudeQuaternion = {.w = q[0], .x = q[1], .y = q[2], .z = q[3]}};
		sensorData_t none = {{0, 0, 0}};
		control_t out;
		controllerOutOfTreeInit();
		controllerOutOfTree(&out, &at, &none, &s, 0);
		vnd_net_state same = {{0, 0, 1}, {q[0], q[1], q[2], q[3]}, {0.3f, 0.2f, -0.1f}};
		vnd_net_reference r = {.heading = {1, 0}};
		for (int k = 0; k < VND_NET_PREVIEW; k++)
			r.position[k][0] = 0.1f, r.position[k][1] = -0.2f, r.position[k][2] = 1.3f;
		float zeros[VND_NET_LATENT + 1] = {0}, command[4];
		vnd_net_reset();
		vnd_net_step(&same, &r, zeros, command);
		float y[8] = {handed.thrust, handed.attitudeRate.roll, handed.attitudeRate.pitch, handed.attitudeRate.yaw,
			command[0], command[1], command[2], command[3]};
		fwrite(y, sizeof y, 1, stdout);
		if (handed.mode.roll != modeVelocity || handed.mode.pitch != modeVelocity || handed.mode.yaw != modeVelocity)
			return 1;
	}
	return controllerOutOfTreeTest() ? 0 : 1;
}
