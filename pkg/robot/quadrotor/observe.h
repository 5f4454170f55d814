// What a policy sees of a step, see observe.go.

// observe walks robot by robot: it mostly copies.
static void observe(const quadrotor_view *o, ptrdiff_t rows, const float *restrict s, const float *restrict ref,
	const float *restrict seen,
	const float *restrict past, float *restrict x) {
	for (ptrdiff_t i = 0; i < rows; i++, s += o->state, ref += 3 * o->looks + 5, x += o->width) {
		float *restrict y = x;
		if (seen)
			memcpy(y, seen + i * o->place, o->place * sizeof(float));
		else
			for (ptrdiff_t k = 0; k < o->place; k += 3)
				for (int j = 0; j < 3; j++)
					y[k + j] = ref[k + j] - s[S_P + j];
		y += o->place;
		const float *restrict now = ref + 3 * o->looks;
		for (int j = 0; j < 3; j++) {
			y[j] = s[S_V + j];
			y[3 + j] = now[j] - s[S_V + j];
		}
		float w = s[S_Q], a = s[S_Q + 1], b = s[S_Q + 2], c = s[S_Q + 3], *restrict r = y + 6;
		r[0] = 1 - 2 * (b * b + c * c), r[1] = 2 * (a * b - w * c), r[2] = 2 * (a * c + w * b);
		r[3] = 2 * (a * b + w * c), r[4] = 1 - 2 * (a * a + c * c), r[5] = 2 * (b * c - w * a);
		r[6] = 2 * (a * c - w * b), r[7] = 2 * (b * c + w * a), r[8] = 1 - 2 * (a * a + b * b);
		y[15] = now[3], y[16] = now[4];
		y += 17;
		for (ptrdiff_t k = o->past - 1; k >= 0; k--, y += COMMAND)
			memcpy(y, past + (k * rows + i) * COMMAND, COMMAND * sizeof(float));
	}
}

static void observe_vjp(const quadrotor_view *o, ptrdiff_t rows, const float *restrict s, const float *restrict dx,
	float *restrict ds,
	float *restrict dseen, float *restrict dpast) {
	for (ptrdiff_t i = 0; i < rows; i++, s += o->state, dx += o->width, ds += o->state) {
		const float *restrict y = dx;
		if (dseen)
			for (ptrdiff_t k = 0; k < o->place; k++)
				dseen[i * o->place + k] += y[k];
		else
			for (ptrdiff_t k = 0; k < o->place; k += 3)
				for (int j = 0; j < 3; j++)
					ds[S_P + j] -= y[k + j];
		y += o->place;
		for (int j = 0; j < 3; j++)
			ds[S_V + j] += y[j] - y[3 + j];
		float w = s[S_Q], a = s[S_Q + 1], b = s[S_Q + 2], c = s[S_Q + 3];
		const float *restrict d = y + 6;
		ds[S_Q] += 2 * (c * (d[3] - d[1]) + b * (d[2] - d[6]) + a * (d[7] - d[5]));
		ds[S_Q + 1] += 2 * (b * (d[1] + d[3]) + c * (d[2] + d[6]) + w * (d[7] - d[5]) - 2 * a * (d[4] + d[8]));
		ds[S_Q + 2] += 2 * (a * (d[1] + d[3]) + c * (d[5] + d[7]) + w * (d[2] - d[6]) - 2 * b * (d[0] + d[8]));
		ds[S_Q + 3] += 2 * (a * (d[2] + d[6]) + b * (d[5] + d[7]) + w * (d[3] - d[1]) - 2 * c * (d[0] + d[4]));
		y += 17;
		for (ptrdiff_t k = o->past - 1; k >= 0; k--, y += COMMAND)
			for (int j = 0; j < COMMAND; j++)
				dpast[(k * rows + i) * COMMAND + j] += y[j];
	}
}
