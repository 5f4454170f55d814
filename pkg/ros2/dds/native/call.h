// Calls of the functions of a table, for Go, which cannot call a pointer.
#ifndef VND_CALL_H
#define VND_CALL_H

#include "native.h"

static inline int call_wait(const struct vnd_api *a, void *p, int64_t timeout, struct vnd_ready *ready, int max)
{
	return a->wait(p, timeout, ready, max);
}

static inline void call_wake(const struct vnd_api *a, void *p) { a->wake(p); }
static inline void call_stop(const struct vnd_api *a, void *p) { a->stop(p); }
static inline void call_close(const struct vnd_api *a, void *p) { a->close(p); }

static inline int call_open_endpoint(const struct vnd_api *a, void *p, uint64_t id, bool writer, const char *topic,
	const char *type, const struct vnd_qos *qos, const void *user_data, size_t n, void **endpoint, uint8_t *guid)
{
	return a->open_endpoint(p, id, writer, topic, type, qos, user_data, n, endpoint, guid);
}

static inline void call_interrupt(const struct vnd_api *a, void *writer) { a->interrupt(writer); }
static inline void call_close_endpoint(const struct vnd_api *a, void *endpoint) { a->close_endpoint(endpoint); }
static inline const char *call_error(const struct vnd_api *a, int code) { return a->error(code); }

static inline void call_status(const struct vnd_api *a, void *endpoint, struct vnd_status *s)
{
	a->status(endpoint, s);
}

static inline int call_matched(const struct vnd_api *a, void *endpoint, uint8_t (*guids)[16], int max)
{
	return a->matched(endpoint, guids, max);
}

static inline int call_write(const struct vnd_api *a, void *writer, const void *data, uint32_t size, int64_t stamp)
{
	return a->write(writer, data, size, stamp, NULL, NULL);
}

static inline int call_write_related(const struct vnd_api *a, void *writer, const void *data, uint32_t size,
	const struct vnd_identity *related, int64_t *sequence)
{
	return a->write(writer, data, size, 0, related, sequence);
}

static inline int call_take(const struct vnd_api *a, void *reader, int max, struct vnd_sample *out, void *buffer,
	uint32_t capacity, bool *more)
{
	return a->take(reader, max, out, buffer, capacity, more);
}

static inline void call_copy(const struct vnd_api *a, uintptr_t held, void *to, uint32_t size)
{
	a->copy(held, to, size);
}

static inline void call_drop(const struct vnd_api *a, uintptr_t held) { a->drop(held); }

static inline int call_take_changes(const struct vnd_api *a, void *p, int kind, struct vnd_change *changes, void **loan)
{
	return a->take_changes(p, kind, changes, loan);
}

static inline void call_return_changes(const struct vnd_api *a, void *p, int kind, struct vnd_change *changes, int n,
	void **loan)
{
	a->return_changes(p, kind, changes, n, loan);
}

#endif
