// The C part of package cyclone. Nothing here calls Go.
#ifndef VND_CYCLONE_H
#define VND_CYCLONE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <pthread.h>

#include "dds/dds.h"
#include "dds/version.h"
#include "dds/ddsi/ddsi_domaingv.h"
#include "dds/ddsi/ddsi_serdata.h"
#include "dds/ddsi/ddsi_sertype.h"

// The blob serdata and the look-up of a message's writer use structs of this series
// of Cyclone DDS.
#if DDS_VERSION_MAJOR != 0 || DDS_VERSION_MINOR != 10
#error "package cyclone is written for Cyclone DDS 0.10: install that series, or build with -tags nocyclone"
#endif

// blob.c: samples of any type, as bytes.

// vnd_blob is one sample: encapsulation header and CDR, padded to 4 bytes.
struct vnd_blob {
	struct ddsi_serdata c;
	uint8_t writer[16]; // GUID in network order
	uint32_t size;      // padded
	uint8_t data[];
};

// True when a participant of this process uses DDS Security.
extern atomic_bool vnd_secured;

struct ddsi_sertype *vnd_sertype_new(const char *type_name);
struct vnd_blob *vnd_blob_new(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind, uint32_t size);

// wait.c: endpoints with something to report.

// vnd_status mirrors dds.Status.
struct vnd_status {
	uint32_t matched, matched_total;
	uint32_t incompatible, incompatible_policy;
	uint32_t deadline_missed, liveliness_lost;
	uint32_t alive, not_alive;
	uint32_t samples_lost;
};

// vnd_waiter collects the reports of one participant's entities for Wait. A waitset
// would do the same, but uses a clock that may be set back.
struct vnd_waiter {
	pthread_mutex_t lock;
	pthread_cond_t news;
	struct vnd_endpoint *first, *last; // with something to report
	bool graph, woken, closed;
	int waiting;
};

// vnd_endpoint is a writer or a reader.
struct vnd_endpoint {
	struct vnd_waiter *waiter;
	uint64_t id;
	dds_entity_t topic, entity;
	struct ddsi_sertype *type;
	uint8_t guid[16];

	// Guarded by the waiter's lock:
	struct vnd_endpoint *next;
	bool listed, data, event;
	uint64_t arrivals;
	struct vnd_status status;
};

// vnd_ready reports one endpoint; id 0 is the graph.
struct vnd_ready {
	uint64_t id;
	bool data, event;
};

enum { VND_CLOSED = -1 };

void vnd_waiter_init(struct vnd_waiter *w);
void vnd_waiter_fini(struct vnd_waiter *w);
void vnd_waiter_wake(struct vnd_waiter *w);
// Ends all calls of vnd_wait, now and later.
void vnd_waiter_close(struct vnd_waiter *w);
// Fills ready with at most max, and returns how many: 0 after timeout (in ns,
// none when negative) or a wake, VND_CLOSED after close.
int vnd_wait(struct vnd_waiter *w, int64_t timeout, struct vnd_ready *ready, int max);
// A listener that reports to the endpoint's waiter.
dds_listener_t *vnd_endpoint_listener(struct vnd_endpoint *e);
// A listener of built-in topics.
dds_listener_t *vnd_graph_listener(struct vnd_waiter *w);
void vnd_endpoint_status(struct vnd_endpoint *e, struct vnd_status *status);
// Takes the endpoint off the waiter's list.
void vnd_endpoint_forget(struct vnd_endpoint *e);

// entity.c: participants and endpoints.

// vnd_qos mirrors dds.QoS; durations in ns, DDS_INFINITY for none.
struct vnd_qos {
	int32_t reliable, transient_local, keep_all, manual_by_topic, ignore_local;
	int32_t depth;
	int64_t max_blocking, deadline, lifespan, lease;
};

struct vnd_participant {
	struct vnd_waiter waiter;
	dds_entity_t entity;
	dds_entity_t builtin[3]; // readers of participants, publications, subscriptions
	struct ddsi_domaingv *domain;
	uint8_t guid[16];
};

// The path of the library that is linked, or NULL.
const char *vnd_library(void);
// Opens a domain. Cyclone DDS' log goes to text, of size n.
dds_entity_t vnd_domain_open(uint32_t id, const char *config, char *text, size_t n);
// Opens a participant with properties, alternating lines of name and value, which it
// overwrites. Cyclone DDS' log goes to text, of size m.
int vnd_participant_open(struct vnd_participant *p, uint32_t domain, const void *user_data, size_t n,
	char *properties, char *text, size_t m);
void vnd_participant_close(struct vnd_participant *p);
// Name and address of the i-th network interface in use; false when there is none.
bool vnd_interface(struct vnd_participant *p, int i, char *name, size_t n, uint8_t address[16], bool *ipv6);

int vnd_endpoint_open(struct vnd_participant *p, struct vnd_endpoint *e, bool writer, const char *topic,
	const char *type, const struct vnd_qos *qos, const void *user_data, size_t n);
// Ends writes that wait for readers, now and later.
void vnd_writer_interrupt(struct vnd_participant *p, struct vnd_endpoint *e);
void vnd_endpoint_close(struct vnd_endpoint *e);
int vnd_matched(struct vnd_endpoint *e, bool writer, dds_instance_handle_t *handles, int max);
bool vnd_matched_guid(struct vnd_endpoint *e, bool writer, dds_instance_handle_t handle, uint8_t guid[16]);

// sample.c: the hot paths.

int vnd_write(struct vnd_endpoint *w, const void *data, uint32_t size, int64_t stamp);

enum { VND_BATCH = 16 };

// vnd_sample is one taken sample. Its bytes are in the buffer given to vnd_take. Where
// they did not fit they are in blob, until vnd_blob_copy or vnd_blob_drop. blob is a
// struct vnd_blob *, as a number, since it is stored in memory of Go.
struct vnd_sample {
	uintptr_t blob;
	int64_t source;
	uint32_t size, offset;
	uint8_t writer[16];
};

// Takes up to max (VND_BATCH) samples, oldest first; returns how many or an
// error. *more says whether there may be others.
int vnd_take(struct vnd_endpoint *r, int max, struct vnd_sample *out, void *buffer, uint32_t capacity, bool *more);
void vnd_blob_copy(uintptr_t blob, void *to, uint32_t size);
void vnd_blob_drop(uintptr_t blob);

// graph.c: changes of the graph.

struct vnd_change {
	bool alive;
	uint8_t guid[16];
	// Borrowed until vnd_changes_return:
	const char *topic, *type;
	const void *user_data;
	size_t user_data_size;
	struct vnd_qos qos;
};

enum { VND_CHANGES = 32 };

// Takes up to VND_CHANGES changes of a kind; samples must be given back.
int vnd_changes_take(struct vnd_participant *p, int kind, void **samples, struct vnd_change *changes);
void vnd_changes_return(struct vnd_participant *p, int kind, void **samples, struct vnd_change *changes, int n);

#endif
