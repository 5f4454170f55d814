// The C part of package cyclone. Nothing here calls Go.
#ifndef VND_CYCLONE_H
#define VND_CYCLONE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <pthread.h>

#include "native.h"

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
	struct vnd_participant *participant;
	struct vnd_waiter *waiter;
	bool writer;
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

void vnd_waiter_init(struct vnd_waiter *w);
void vnd_waiter_fini(struct vnd_waiter *w);
// As in struct vnd_api:
void vnd_wake(void *participant);
void vnd_stop(void *participant);
int vnd_wait(void *participant, int64_t timeout, struct vnd_ready *ready, int max);
void vnd_status(void *endpoint, struct vnd_status *status);
// A listener that reports to the endpoint's waiter.
dds_listener_t *vnd_endpoint_listener(struct vnd_endpoint *e);
// A listener of built-in topics.
dds_listener_t *vnd_graph_listener(struct vnd_waiter *w);
// Takes the endpoint off the waiter's list.
void vnd_endpoint_forget(struct vnd_endpoint *e);

// entity.c: participants and endpoints.

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
// Name and address of the i-th network interface in use; false when there is none.
bool vnd_interface(struct vnd_participant *p, int i, char *name, size_t n, uint8_t address[16], bool *ipv6);

// The functions for package native.
extern const struct vnd_api vnd_cyclone;

// sample.c: the hot paths, as in struct vnd_api.

int vnd_write(void *writer, const void *data, uint32_t size, int64_t stamp, const struct vnd_identity *related,
	int64_t *sequence);
int vnd_take(void *reader, int max, struct vnd_sample *out, void *buffer, uint32_t capacity, bool *more);
void vnd_blob_copy(uintptr_t blob, void *to, uint32_t size);
void vnd_blob_drop(uintptr_t blob);

// graph.c: changes of the graph, as in struct vnd_api.

int vnd_changes_take(void *participant, int kind, struct vnd_change *changes, void **samples);
void vnd_changes_return(void *participant, int kind, struct vnd_change *changes, int n, void **samples);

#endif
