// The functions that package native calls: a DDS implementation behind a C interface. A
// participant and an endpoint are pointers that the implementation gave. Nothing here
// calls Go.
#ifndef VND_NATIVE_H
#define VND_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of this interface. An implementation that is loaded at run time says which
// one it was compiled with.
enum { VND_API_VERSION = 1 };

enum { VND_CLOSED = -1 }; // of wait

// Results of open_endpoint, write and take beside those of the implementation.
enum { VND_OK = 0, VND_TIMEOUT = -10000, VND_NO_RELATED };

// Duration for none.
#define VND_INFINITE INT64_MAX

// vnd_ready reports one endpoint; id 0 is the graph.
struct vnd_ready {
	uint64_t id;
	bool data, event;
};

// vnd_status mirrors dds.Status.
struct vnd_status {
	uint32_t matched, matched_total;
	uint32_t incompatible, incompatible_policy;
	uint32_t deadline_missed, liveliness_lost;
	uint32_t alive, not_alive;
	uint32_t samples_lost;
};

// vnd_qos mirrors dds.QoS; durations in ns. A depth of 0 is not known.
struct vnd_qos {
	int32_t reliable, transient_local, keep_all, manual_by_topic, ignore_local;
	int32_t depth;
	int64_t max_blocking, deadline, lifespan, lease;
};

// vnd_identity mirrors dds.Identity.
struct vnd_identity {
	uint8_t writer[16];
	int64_t sequence;
};

enum { VND_BATCH = 16 };

// vnd_sample is one taken sample. Its bytes are in the buffer given to take. Where they
// did not fit they are in held, until copy or drop. held is a pointer, as a number, since
// it is stored in memory of Go.
struct vnd_sample {
	uintptr_t held;
	int64_t source;
	uint32_t size, offset;
	uint8_t writer[16];
	int64_t sequence;
	struct vnd_identity related;
};

struct vnd_change {
	bool alive;
	uint8_t guid[16];
	// Borrowed until return_changes:
	const char *topic, *type;
	const void *user_data;
	size_t user_data_size;
	struct vnd_qos qos;
};

enum { VND_CHANGES = 32 };

struct vnd_api {
	const char *name; // of the implementation
	// Fills ready with at most max, and returns how many: 0 after timeout (in ns, none
	// when negative) or a wake, VND_CLOSED after stop.
	int (*wait)(void *participant, int64_t timeout, struct vnd_ready *ready, int max);
	void (*wake)(void *participant);
	// Ends all calls of wait, now and later.
	void (*stop)(void *participant);
	// Ends the participant, whose endpoints are closed, and frees it.
	void (*close)(void *participant);

	int (*open_endpoint)(void *participant, uint64_t id, bool writer, const char *topic, const char *type,
		const struct vnd_qos *qos, const void *user_data, size_t n, void **endpoint, uint8_t guid[16]);
	// Ends writes that wait for readers, now and later.
	void (*interrupt)(void *writer);
	// Ends the endpoint and frees it.
	void (*close_endpoint)(void *endpoint);
	// The text of a result below 0.
	const char *(*error)(int code);
	void (*status)(void *endpoint, struct vnd_status *status);
	// Fills guids with at most max of the matched endpoints, and returns how many there are.
	int (*matched)(void *endpoint, uint8_t (*guids)[16], int max);

	// The hot paths. related and sequence may be NULL.
	int (*write)(void *writer, const void *data, uint32_t size, int64_t stamp, const struct vnd_identity *related,
		int64_t *sequence);
	// Takes up to max (VND_BATCH) samples, oldest first; returns how many or an error. *more
	// says whether there may be others.
	int (*take)(void *reader, int max, struct vnd_sample *out, void *buffer, uint32_t capacity, bool *more);
	void (*copy)(uintptr_t held, void *to, uint32_t size);
	void (*drop)(uintptr_t held);

	// Takes up to VND_CHANGES changes of a kind of dds.Kind; returns how many or an error.
	// Where there are any, they must be given back.
	int (*take_changes)(void *participant, int kind, struct vnd_change *changes, void **loan);
	void (*return_changes)(void *participant, int kind, struct vnd_change *changes, int n, void **loan);
};

#endif
