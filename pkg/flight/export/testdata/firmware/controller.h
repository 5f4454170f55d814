/* What the example of docs/guide/export.md uses of a Crazyflie's firmware, declared as there. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t stabilizerStep_t;
typedef struct { float x, y, z; } vector_t;
typedef struct { float roll, pitch, yaw; } attitude_t;
typedef struct { float x, y, z, w; } quaternion_t;
typedef enum { modeDisable, modeAbs, modeVelocity } stab_mode_t;
typedef struct {
	attitude_t attitudeRate; /* deg/s */
	float thrust;            /* of 65535 */
	vector_t position;
	struct { stab_mode_t x, y, z, roll, pitch, yaw, quat; } mode;
} setpoint_t;
typedef struct { vector_t position, velocity; quaternion_t attitudeQuaternion; } state_t;
typedef struct { vector_t gyro; } sensorData_t;
typedef struct { int16_t roll, pitch, yaw; float thrust; } control_t;

#define RATE_DO_EXECUTE(rate, tick) ((tick) % (1000 / (rate)) == 0)

void controllerOutOfTreeInit(void);
bool controllerOutOfTreeTest(void);
void controllerOutOfTree(control_t *control, const setpoint_t *setpoint, const sensorData_t *sensors,
	const state_t *state, const stabilizerStep_t tick);
