// The kernels of one instruction set and their table.
#include "kernels.h"
#include "vector.h"

#include "lanes.h"

#include "rotation.h"

#include "body.h"

#include "cost.h"

#include "observe.h"

const quadrotor_kernels ISA(quadrotor) = {
	ISA_NAME, body_step, body_step_vjp, body_inputs, body_inputs_vjp, cost, cost_vjp, observe, observe_vjp,
};

#if defined(__clang__) && !defined(ISA_BASE)
#pragma clang attribute pop
#endif
