#pragma once

static inline float degrees(float radians) { return 57.29577951f * radians; }
