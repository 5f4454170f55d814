// The kernels of one instruction set and their table.
#include "kernels.h"
#include "vector.h"

#include "lanes.h"

#include "dynamics.h"

const arm_kernels ISA(arm) = {ISA_NAME, step, step_vjp};

#if defined(__clang__) && !defined(ISA_BASE)
#pragma clang attribute pop
#endif
