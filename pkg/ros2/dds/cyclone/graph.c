//go:build cgo && !nocyclone

// Participants and endpoints as the built-in topics report them.

#include "glue.h"

#include <stdlib.h>
#include <string.h>

// qos_of reads the QoS that a peer announced; the rest is DDS' defaults.
static struct vnd_qos qos_of(const dds_qos_t *q)
{
	struct vnd_qos v = {.depth = 1, .deadline = DDS_INFINITY, .lifespan = DDS_INFINITY, .lease = DDS_INFINITY};
	dds_reliability_kind_t reliability;
	if (dds_qget_reliability(q, &reliability, &v.max_blocking))
		v.reliable = reliability == DDS_RELIABILITY_RELIABLE;
	dds_durability_kind_t durability;
	if (dds_qget_durability(q, &durability))
		v.transient_local = durability != DDS_DURABILITY_VOLATILE;
	dds_history_kind_t history;
	if (dds_qget_history(q, &history, &v.depth))
		v.keep_all = history == DDS_HISTORY_KEEP_ALL;
	dds_liveliness_kind_t liveliness;
	if (dds_qget_liveliness(q, &liveliness, &v.lease))
		v.manual_by_topic = liveliness == DDS_LIVELINESS_MANUAL_BY_TOPIC;
	dds_qget_deadline(q, &v.deadline);
	dds_qget_lifespan(q, &v.lifespan);
	return v;
}

static void describe(struct vnd_change *c, const dds_qos_t *q)
{
	void *data = NULL;
	if (dds_qget_userdata(q, &data, &c->user_data_size))
		c->user_data = data;
	c->qos = qos_of(q);
}

static const char own_types[] = "org::eclipse::cyclonedds::builtin::";

int vnd_changes_take(void *participant, int kind, struct vnd_change *changes, void **samples)
{
	struct vnd_participant *p = participant;
	dds_sample_info_t infos[VND_CHANGES];
	memset(samples, 0, VND_CHANGES * sizeof *samples);
	int n = dds_take(p->builtin[kind], samples, infos, VND_CHANGES, VND_CHANGES);
	for (int i = 0; i < n; i++) {
		struct vnd_change *c = &changes[i];
		memset(c, 0, sizeof *c);
		c->alive = infos[i].valid_data && infos[i].instance_state == DDS_IST_ALIVE;
		if (kind == 0) {
			const dds_builtintopic_participant_t *s = samples[i];
			memcpy(c->guid, s->key.v, sizeof c->guid);
			if (c->alive)
				describe(c, s->qos);
			continue;
		}
		const dds_builtintopic_endpoint_t *s = samples[i];
		memcpy(c->guid, s->key.v, sizeof c->guid);
		// Readers of the built-in topics are in this process, and invisible to others.
		if (c->alive && strncmp(s->type_name, own_types, sizeof own_types - 1) == 0)
			c->alive = false;
		if (c->alive) {
			c->topic = s->topic_name;
			c->type = s->type_name;
			describe(c, s->qos);
		}
	}
	return n;
}

void vnd_changes_return(void *participant, int kind, struct vnd_change *changes, int n, void **samples)
{
	struct vnd_participant *p = participant;
	for (int i = 0; i < n; i++)
		dds_free((void *)changes[i].user_data);
	dds_return_loan(p->builtin[kind], samples, n);
}
