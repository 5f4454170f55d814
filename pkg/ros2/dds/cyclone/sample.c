//go:build cgo && !nocyclone

// Writing and taking samples.

#include "glue.h"

#include <stdlib.h>
#include <string.h>

// vnd_write sends one sample, padded to a multiple of four bytes (RTPS). The number of
// added bytes is in the last two bits of the options (XTypes 1.3, 7.6.3.1.2), as
// Cyclone DDS' own writers have it. ROS' readers ignore it. Without padding the
// caller's bits stay.
int vnd_write(void *writer, const void *data, uint32_t size, int64_t stamp, const struct vnd_identity *related,
	int64_t *sequence)
{
	struct vnd_endpoint *w = writer;
	if (related != NULL || sequence != NULL)
		return VND_NO_RELATED;
	struct vnd_blob *b = vnd_blob_new(w->type, SDK_DATA, size);
	if (b == NULL)
		return DDS_RETCODE_OUT_OF_RESOURCES;
	memcpy(b->data, data, size);
	if (b->size != size)
		b->data[3] = (uint8_t)((b->data[3] & ~3u) | (b->size - size));
	memcpy(b->writer, w->guid, sizeof b->writer);
	b->c.timestamp.v = stamp != 0 ? stamp : dds_time();
	int rc = dds_forwardcdr(w->entity, &b->c); // it owns our reference now
	return rc == DDS_RETCODE_TIMEOUT ? VND_TIMEOUT : rc;
}

// padding is how many bytes the writer added at the end.
static uint32_t padding(const struct vnd_blob *b)
{
	uint32_t n = b->data[3] & 3u;
	return b->size - 4 < n ? 0 : n;
}

void vnd_blob_copy(uintptr_t blob, void *to, uint32_t size)
{
	const struct vnd_blob *b = (const struct vnd_blob *)blob;
	memcpy(to, b->data, size);
	if (size != b->size)
		((uint8_t *)to)[3] &= (uint8_t)~3u;
	vnd_blob_drop(blob);
}

void vnd_blob_drop(uintptr_t blob)
{
	ddsi_serdata_unref(&((struct vnd_blob *)blob)->c);
}

// settle notes whether a take left samples, so that Wait reports them.
static void settle(struct vnd_endpoint *r, uint64_t arrivals, bool exhausted)
{
	if (!exhausted) {
		struct ddsi_serdata *next;
		dds_sample_info_t info;
		int n = dds_readcdr(r->entity, &next, 1, &info, DDS_ANY_STATE);
		if (n > 0)
			ddsi_serdata_unref(next);
		exhausted = n <= 0;
	}
	pthread_mutex_lock(&r->waiter->lock);
	if (exhausted && r->arrivals == arrivals)
		r->data = false;
	pthread_mutex_unlock(&r->waiter->lock);
}

int vnd_take(void *reader, int max, struct vnd_sample *out, void *buffer, uint32_t capacity, bool *more)
{
	struct vnd_endpoint *r = reader;
	struct ddsi_serdata *taken[VND_BATCH];
	dds_sample_info_t infos[VND_BATCH];
	if (max > VND_BATCH)
		max = VND_BATCH;
	pthread_mutex_lock(&r->waiter->lock);
	uint64_t arrivals = r->arrivals;
	pthread_mutex_unlock(&r->waiter->lock);
	int n = dds_takecdr(r->entity, taken, (uint32_t)max, infos, DDS_ANY_STATE);
	*more = n == max;
	settle(r, arrivals, n < max);
	if (n < 0)
		return n;
	int valid = 0;
	uint32_t used = 0;
	for (int i = 0; i < n; i++) {
		if (!infos[i].valid_data) { // a writer went away
			ddsi_serdata_unref(taken[i]);
			continue;
		}
		struct vnd_sample *s = &out[valid++];
		struct vnd_blob *b = (struct vnd_blob *)taken[i];
		*s = (struct vnd_sample){
			.held = (uintptr_t)b, .source = infos[i].source_timestamp, .size = b->size - padding(b)};
		memcpy(s->writer, b->writer, sizeof s->writer);
		if (s->size <= capacity - used) {
			s->offset = used;
			used += s->size;
			vnd_blob_copy(s->held, (uint8_t *)buffer + s->offset, s->size);
			s->held = 0;
		}
	}
	return valid;
}
