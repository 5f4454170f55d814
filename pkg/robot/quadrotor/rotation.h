// Vectors, quaternions and rotations of VL robots, with their gradients.

typedef struct {
	vec x, y, z;
} triple;

// quaternion: gradients with respect to one live in R⁴.
typedef struct {
	vec w, x, y, z;
} quaternion;

INLINE triple triple_at(const vec *x) { return (triple){x[0], x[1], x[2]}; }
INLINE quaternion quaternion_at(const vec *x) { return (quaternion){x[0], x[1], x[2], x[3]}; }

INLINE void triple_add(vec *x, triple d) {
	x[0] += d.x;
	x[1] += d.y;
	x[2] += d.z;
}

INLINE void quaternion_add(vec *x, quaternion d) {
	x[0] += d.w;
	x[1] += d.x;
	x[2] += d.y;
	x[3] += d.z;
}

INLINE quaternion conjugate(quaternion a) { return (quaternion){a.w, -a.x, -a.y, -a.z}; }

INLINE quaternion times(quaternion a, quaternion b) {
	return (quaternion){
		a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
		a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
		a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
		a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
	};
}

INLINE triple z_axis(quaternion a) {
	return (triple){2.0f * (a.x * a.z + a.w * a.y), 2.0f * (a.y * a.z - a.w * a.x),
		1.0f - 2.0f * (a.x * a.x + a.y * a.y)};
}

INLINE void z_axis_vjp(quaternion a, triple d, quaternion *da) {
	da->w += 2.0f * (d.x * a.y - d.y * a.x);
	da->x += 2.0f * (d.x * a.z - d.y * a.w) - 4.0f * d.z * a.x;
	da->y += 2.0f * (d.x * a.w + d.y * a.z) - 4.0f * d.z * a.y;
	da->z += 2.0f * (d.x * a.x + d.y * a.y);
}

// rotation writes R(a) [9], row by row.
INLINE void rotation(quaternion a, vec *r) {
	vec w = a.w, x = a.x, y = a.y, z = a.z;
	r[0] = 1.0f - 2.0f * (y * y + z * z), r[1] = 2.0f * (x * y - w * z), r[2] = 2.0f * (x * z + w * y);
	r[3] = 2.0f * (x * y + w * z), r[4] = 1.0f - 2.0f * (x * x + z * z), r[5] = 2.0f * (y * z - w * x);
	r[6] = 2.0f * (x * z - w * y), r[7] = 2.0f * (y * z + w * x), r[8] = 1.0f - 2.0f * (x * x + y * y);
}

INLINE void rotation_vjp(quaternion a, const vec *d, quaternion *da) {
	vec w = a.w, x = a.x, y = a.y, z = a.z;
	da->w += 2.0f * (z * (d[3] - d[1]) + y * (d[2] - d[6]) + x * (d[7] - d[5]));
	da->x += 2.0f * (y * (d[1] + d[3]) + z * (d[2] + d[6]) + w * (d[7] - d[5]) - 2.0f * x * (d[4] + d[8]));
	da->y += 2.0f * (x * (d[1] + d[3]) + z * (d[5] + d[7]) + w * (d[2] - d[6]) - 2.0f * y * (d[0] + d[8]));
	da->z += 2.0f * (x * (d[2] + d[6]) + y * (d[5] + d[7]) + w * (d[3] - d[1]) - 2.0f * z * (d[0] + d[4]));
}

INLINE triple to_world(const vec *r, triple u) {
	return (triple){r[0] * u.x + r[1] * u.y + r[2] * u.z, r[3] * u.x + r[4] * u.y + r[5] * u.z,
		r[6] * u.x + r[7] * u.y + r[8] * u.z};
}

INLINE triple to_body(const vec *r, triple u) {
	return (triple){r[0] * u.x + r[3] * u.y + r[6] * u.z, r[1] * u.x + r[4] * u.y + r[7] * u.z,
		r[2] * u.x + r[5] * u.y + r[8] * u.z};
}

// outer adds the products of u and v to d [9].
INLINE void outer(triple u, triple v, vec *d) {
	d[0] += u.x * v.x, d[1] += u.x * v.y, d[2] += u.x * v.z;
	d[3] += u.y * v.x, d[4] += u.y * v.y, d[5] += u.y * v.z;
	d[6] += u.z * v.x, d[7] += u.z * v.y, d[8] += u.z * v.z;
}

// half_turn is cos(θ/2), sin(θ/2)/θ and the derivative of the latter over θ.
typedef struct {
	vec c, s, k;
} half_turn;

// wide_turns computes the lanes that the series does not reach, which no robot meets between two steps.
static __attribute__((noinline)) void wide_turns(const float *t, float *c, float *s, float *k) {
	for (int i = 0; i < VL; i++)
		if (!(t[i] < 0.25f)) {
			double th = sqrt(t[i]), sine = sin(th / 2), cosine = cos(th / 2);
			c[i] = (float)cosine;
			s[i] = (float)(sine / th);
			k[i] = (float)((cosine / 2 - sine / th) / (th * th));
		}
}

// half_turn_of takes t = θ²: by series below 0.25 rad².
INLINE half_turn half_turn_of(vec t) {
	half_turn h = {
		1.0f - t * (1.0f / 8) * (1.0f - t * (1.0f / 48) * (1.0f - t * (1.0f / 120) * (1.0f - t * (1.0f / 224)))),
		0.5f - t * (1.0f / 48) * (1.0f - t * (1.0f / 80) * (1.0f - t * (1.0f / 168))),
		-1.0f / 24 + t * (1.0f / 960) * (1.0f - t * (1.0f / 112) * (1.0f - t * (1.0f / 216))),
	};
	if (any(~(t < 0.25f))) { // a NaN too
		vec at[4] = {t, h.c, h.s, h.k};
		wide_turns((const float *)at, (float *)(at + 1), (float *)(at + 2), (float *)(at + 3));
		h = (half_turn){at[1], at[2], at[3]};
	}
	return h;
}

// turning is the quaternion of a rotation vector, with what its way back needs.
typedef struct {
	triple v;
	half_turn half;
	quaternion q;
} turning;

INLINE turning turn(triple v) {
	turning t = {.v = v, .half = half_turn_of(v.x * v.x + v.y * v.y + v.z * v.z)};
	t.q = (quaternion){t.half.c, t.half.s * v.x, t.half.s * v.y, t.half.s * v.z};
	return t;
}

// turn_vjp: dw/dv = −s/2 v, d(s v)/dv = s I + k v vᵀ.
INLINE triple turn_vjp(const turning *t, quaternion d) {
	triple v = t->v;
	vec s = t->half.s, f = -0.5f * s * d.w + t->half.k * (v.x * d.x + v.y * d.y + v.z * d.z);
	return (triple){s * d.x + f * v.x, s * d.y + f * v.y, s * d.z + f * v.z};
}
