// What the example of docs/guide/export.md uses of PX4, and around it a program: it reads attitudes in NED and FRD, and
// writes the state that the network gets, its command and what is published.
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "vnd_net.h"

#define M_SQRT1_2_F 0.70710678f

namespace matrix {
struct Quatf {
	float q[4];
	Quatf(float w, float x, float y, float z) : q{w, x, y, z} {}
	explicit Quatf(const float *p) : q{p[0], p[1], p[2], p[3]} {}
	float operator()(int i) const { return q[i]; }
	Quatf operator*(const Quatf &b) const {
		const float *a = q, *c = b.q;
		return {a[0] * c[0] - a[1] * c[1] - a[2] * c[2] - a[3] * c[3],
			a[0] * c[1] + a[1] * c[0] + a[2] * c[3] - a[3] * c[2],
			a[0] * c[2] - a[1] * c[3] + a[2] * c[0] + a[3] * c[1],
			a[0] * c[3] + a[1] * c[2] - a[2] * c[1] + a[3] * c[0]};
	}
};
} // namespace matrix

struct vehicle_rates_setpoint_s {
	uint64_t timestamp;
	float roll, pitch, yaw, thrust_body[3];
};
static vehicle_rates_setpoint_s published;
static struct {
	void publish(const vehicle_rates_setpoint_s &m) { published = m; }
} rates_setpoint_pub;
static uint64_t hrt_absolute_time() { return 7; }

int main() {
	struct { float q[4]; } attitude;
	const struct { float x, y, z, vx, vy, vz; } local{0.1f, 0.2f, -1.3f, 0.4f, 0.5f, 0.6f};
	const float hover_throttle = 0.37f;
	vnd_net_reference reference{};
	const float latent[VND_NET_LATENT + 1]{};
	float command[4];
	while (std::fread(&attitude, sizeof attitude, 1, stdin) == 1) {
		vnd_net_reset();
#include "example.inc"
		const float y[] = {s.position[0], s.position[1], s.position[2], s.quaternion[0], s.quaternion[1],
			s.quaternion[2], s.quaternion[3], s.velocity[0], s.velocity[1], s.velocity[2], command[0], command[1],
			command[2], command[3], published.roll, published.pitch, published.yaw, published.thrust_body[2]};
		std::fwrite(y, sizeof y, 1, stdout);
	}
	return published.timestamp == 7 ? 0 : 1;
}
