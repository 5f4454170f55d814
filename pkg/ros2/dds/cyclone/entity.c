//go:build cgo && !nocyclone

// Domains, participants and endpoints.

#define _GNU_SOURCE // dladdr
#include "glue.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dds/ddsi/ddsi_entity.h"
#include "dds/ddsi/q_hbcontrol.h"
// after these two:
#include "dds/ddsi/ddsi_endpoint.h"
#include "dds/ddsi/q_bswap.h"
#include "dds/ddsi/q_thread.h"

const char *vnd_library(void)
{
	static char path[PATH_MAX];
	Dl_info info;
	if (dladdr((void *)dds_create_participant, &info) == 0 || realpath(info.dli_fname, path) == NULL)
		return NULL;
	return path;
}

// log_text collects Cyclone DDS' log.
struct log_text {
	char *text;
	size_t size, used;
};

// note may be called by several threads at once.
static void note(void *arg, const dds_log_data_t *line)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct log_text *s = arg;
	pthread_mutex_lock(&lock);
	size_t n = line->size < s->size - 1 - s->used ? line->size : s->size - 1 - s->used;
	memcpy(s->text + s->used, line->message, n);
	s->used += n;
	s->text[s->used] = 0;
	pthread_mutex_unlock(&lock);
}

// bounded writes at most lines_most lines a second to the standard error: a stranger who sends malformed packets has
// Cyclone DDS write one for each.
static void bounded(void *arg, const dds_log_data_t *line)
{
	enum { lines_most = 20 };
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static time_t second;
	static unsigned lines;
	(void)arg;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&lock);
	if (now.tv_sec != second) {
		if (lines > lines_most)
			fprintf(stderr, "%u more lines of Cyclone DDS in that second are left out\n", lines - lines_most);
		second = now.tv_sec;
		lines = 0;
	}
	if (lines++ < lines_most) {
		fwrite(line->message - line->hdrsize, 1, line->size + line->hdrsize, stderr);
		fputc('\n', stderr);
	}
	pthread_mutex_unlock(&lock);
}

dds_entity_t vnd_domain_open(uint32_t id, const char *config, char *text, size_t n)
{
	struct log_text s = {text, n, 0};
	text[0] = 0;
	dds_set_log_sink(note, &s);
	dds_entity_t domain = dds_create_domain(id, config);
	dds_set_log_sink(bounded, NULL);
	return domain;
}

// end deletes the participant.
static void end(struct vnd_participant *p)
{
	vnd_stop(p);
	dds_delete(p->entity);
	vnd_waiter_fini(&p->waiter);
}

static void close_participant(void *participant)
{
	end(participant);
	free(participant);
}

int vnd_participant_open(struct vnd_participant *p, uint32_t domain, const void *user_data, size_t n,
	char *properties, char *text, size_t m)
{
	static const dds_entity_t topics[3] = {
		DDS_BUILTIN_TOPIC_DCPSPARTICIPANT, DDS_BUILTIN_TOPIC_DCPSPUBLICATION, DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION};
	dds_qos_t *q = dds_create_qos();
	dds_qset_userdata(q, user_data, n);
	if (*properties != 0)
		vnd_secured = true;
	char *rest;
	for (char *name = strtok_r(properties, "\n", &rest); name != NULL; name = strtok_r(NULL, "\n", &rest))
		dds_qset_prop(q, name, strtok_r(NULL, "\n", &rest));
	struct log_text s = {text, m, 0};
	text[0] = 0;
	dds_set_log_sink(note, &s);
	p->entity = dds_create_participant(domain, q, NULL);
	dds_set_log_sink(bounded, NULL);
	dds_delete_qos(q);
	if (p->entity < 0)
		return p->entity;
	vnd_waiter_init(&p->waiter);
	dds_guid_t guid;
	int rc = dds_get_guid(p->entity, &guid);
	memcpy(p->guid, guid.v, sizeof p->guid);
	dds_listener_t *l = vnd_graph_listener(&p->waiter);
	for (int i = 0; i < 3 && rc >= 0; i++)
		rc = p->builtin[i] = dds_create_reader(p->entity, topics[i], NULL, l);
	dds_delete_listener(l);
	struct ddsi_serdata *self = NULL;
	dds_sample_info_t info;
	if (rc >= 0 && (rc = dds_readcdr(p->builtin[0], &self, 1, &info, DDS_ANY_STATE)) == 1) {
		p->domain = ddsrt_atomic_ldvoidp(&self->type->gv);
		ddsi_serdata_unref(self);
		return DDS_RETCODE_OK;
	}
	end(p);
	return rc < 0 ? rc : DDS_RETCODE_ERROR;
}

bool vnd_interface(struct vnd_participant *p, int i, char *name, size_t n, uint8_t address[16], bool *ipv6)
{
	if (i >= p->domain->n_interfaces)
		return false;
	const struct nn_interface *f = &p->domain->interfaces[i];
	strncpy(name, f->name, n - 1);
	name[n - 1] = 0;
	memcpy(address, f->loc.address, 16);
	*ipv6 = f->loc.kind == NN_LOCATOR_KIND_UDPv6 || f->loc.kind == NN_LOCATOR_KIND_TCPv6;
	return true;
}

// qos_of creates the QoS that ROS' own middleware sends. The rest stays at DDS'
// defaults.
static dds_qos_t *qos_of(const struct vnd_qos *v, bool writer, const void *user_data, size_t n)
{
	dds_qos_t *q = dds_create_qos();
	dds_history_kind_t history = v->keep_all ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST;
	dds_qset_reliability(q, v->reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, v->max_blocking);
	dds_qset_durability(q, v->transient_local ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE);
	dds_qset_history(q, history, v->depth);
	dds_qset_deadline(q, v->deadline);
	dds_qset_liveliness(q, v->manual_by_topic ? DDS_LIVELINESS_MANUAL_BY_TOPIC : DDS_LIVELINESS_AUTOMATIC, v->lease);
	dds_qset_data_representation(q, 1, (dds_data_representation_id_t[]){DDS_DATA_REPRESENTATION_XCDR1});
	dds_qset_userdata(q, user_data, n);
	if (v->ignore_local)
		dds_qset_ignorelocal(q, DDS_IGNORELOCAL_PARTICIPANT);
	if (writer) {
		dds_qset_lifespan(q, v->lifespan);
		dds_qset_writer_data_lifecycle(q, false);
		if (v->transient_local)
			dds_qset_durability_service(q, 0, history, v->depth, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED,
				DDS_LENGTH_UNLIMITED);
	}
	return q;
}

// close_endpoint waits for running listeners: nothing uses e afterwards.
static void close_endpoint(void *endpoint)
{
	struct vnd_endpoint *e = endpoint;
	if (e->entity > 0)
		dds_delete(e->entity);
	vnd_endpoint_forget(e);
	dds_delete(e->topic);
	ddsi_sertype_unref(e->type);
	free(e);
}

static int open_endpoint(void *participant, uint64_t id, bool writer, const char *topic, const char *type,
	const struct vnd_qos *v, const void *user_data, size_t n, void **endpoint, uint8_t guid[16])
{
	struct vnd_participant *p = participant;
	struct vnd_endpoint *e = calloc(1, sizeof *e);
	struct ddsi_sertype *t = e == NULL ? NULL : vnd_sertype_new(type);
	if (t == NULL) {
		free(e);
		return DDS_RETCODE_OUT_OF_RESOURCES;
	}
	e->participant = p;
	e->waiter = &p->waiter;
	e->writer = writer;
	e->id = id;
	e->topic = dds_create_topic_sertype(p->entity, topic, &t, NULL, NULL, NULL);
	if (e->topic < 0) {
		int rc = e->topic;
		ddsi_sertype_unref(t);
		free(e);
		return rc;
	}
	e->type = ddsi_sertype_ref(t); // the one in use, which may be an older one
	dds_qos_t *q = qos_of(v, writer, user_data, n);
	dds_listener_t *l = vnd_endpoint_listener(e);
	e->entity = writer ? dds_create_writer(p->entity, e->topic, q, l) : dds_create_reader(p->entity, e->topic, q, l);
	dds_delete_listener(l);
	dds_delete_qos(q);
	dds_guid_t g;
	int rc = e->entity < 0 ? e->entity : dds_get_guid(e->entity, &g);
	if (rc < 0) {
		close_endpoint(e);
		return rc;
	}
	memcpy(e->guid, g.v, sizeof e->guid);
	memcpy(guid, g.v, sizeof e->guid);
	*endpoint = e;
	return VND_OK;
}

static void interrupt(void *writer)
{
	struct vnd_endpoint *e = writer;
	ddsi_guid_t guid;
	memcpy(&guid, e->guid, sizeof guid);
	guid = nn_ntoh_guid(guid);
	struct thread_state *self = lookup_thread_state();
	thread_state_awake(self, e->participant->domain);
	ddsi_unblock_throttled_writer(e->participant->domain, &guid);
	thread_state_asleep(self);
}

static bool guid_of_match(struct vnd_endpoint *e, dds_instance_handle_t handle, uint8_t guid[16])
{
	dds_builtintopic_endpoint_t *m = e->writer ? dds_get_matched_subscription_data(e->entity, handle)
	                                           : dds_get_matched_publication_data(e->entity, handle);
	if (m == NULL)
		return false; // it has just gone
	memcpy(guid, m->key.v, 16);
	dds_builtintopic_free_endpoint(m);
	return true;
}

// matched returns a larger number than max when there are more than max.
static int matched(void *endpoint, uint8_t (*guids)[16], int max)
{
	struct vnd_endpoint *e = endpoint;
	dds_instance_handle_t *handles = malloc((size_t)max * sizeof *handles);
	if (handles == NULL)
		return 0;
	int n = e->writer ? dds_get_matched_subscriptions(e->entity, handles, (size_t)max)
	                  : dds_get_matched_publications(e->entity, handles, (size_t)max);
	int found = 0;
	for (int i = 0; i < n && n <= max; i++)
		found += guid_of_match(e, handles[i], guids[found]);
	free(handles);
	return n > max ? n : found;
}

static const char *error(int code)
{
	return code == VND_NO_RELATED ? "a writer sends no identity of another sample" : dds_strretcode(code);
}

const struct vnd_api vnd_cyclone = {
	.name = "Cyclone DDS",
	.wait = vnd_wait,
	.wake = vnd_wake,
	.stop = vnd_stop,
	.close = close_participant,
	.open_endpoint = open_endpoint,
	.interrupt = interrupt,
	.close_endpoint = close_endpoint,
	.error = error,
	.status = vnd_status,
	.matched = matched,
	.write = vnd_write,
	.take = vnd_take,
	.copy = vnd_blob_copy,
	.drop = vnd_blob_drop,
	.take_changes = vnd_changes_take,
	.return_changes = vnd_changes_return,
};
