//go:build cgo && !nocyclone

// Samples as bytes: a sertype whose serdata holds the bytes of the wire. It has no key
// and no type information, and reads the first four bytes only.

#include "glue.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dds/ddsi/ddsi_entity_index.h"
#include "dds/ddsi/ddsi_proxy_endpoint.h"
#include "dds/ddsi/q_protocol.h"
#include "dds/ddsi/q_radmin.h"

static const struct ddsi_serdata_ops serdata_ops;

struct vnd_blob *vnd_blob_new(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind, uint32_t size)
{
	uint32_t padded = (size + 3u) & ~3u;
	struct vnd_blob *b = malloc(sizeof *b + padded);
	if (b == NULL)
		return NULL;
	ddsi_serdata_init(&b->c, type, kind);
	b->c.hash = type->serdata_basehash;
	memset(b->writer, 0, sizeof b->writer);
	b->size = padded;
	memset(b->data + size, 0, padded - size);
	return b;
}

static bool eqkey(const struct ddsi_serdata *a, const struct ddsi_serdata *b)
{
	(void)a;
	(void)b;
	return true;
}

static uint32_t get_size(const struct ddsi_serdata *d)
{
	return ((const struct vnd_blob *)d)->size;
}

atomic_bool vnd_secured;

// settle converts the parts of a GUID from a signed or encrypted message to the host's
// byte order. The receiver may have converted them back, to check the signature. The
// writer exists while its sample is delivered; if it does not, the parts become zero.
static void settle(const struct ddsi_sertype *type, uint32_t parts[4])
{
	struct ddsi_domaingv *domain = ddsrt_atomic_ldvoidp(&type->gv);
	for (int order = 0; order < 4; order++) {
		uint32_t p[4];
		for (int i = 0; i < 4; i++)
			p[i] = (i < 3 ? order & 1 : order & 2) != 0 ? ntohl(parts[i]) : parts[i];
		ddsi_guid_t guid = {.prefix = {.u = {p[0], p[1], p[2]}}, .entityid = {.u = p[3]}};
		if (entidx_lookup_proxy_writer_guid(domain->entity_index, &guid) != NULL) {
			memcpy(parts, p, sizeof p);
			return;
		}
	}
	memset(parts, 0, 4 * sizeof *parts);
}

// writer_of reads the writer's GUID from the message of a fragment (RTPS 2.3, 9.4.4 and
// 9.4.5.3). A look-up would fail for a writer that is gone by now. The receiver has
// converted both parts to the host's byte order.
static void writer_of(const struct ddsi_sertype *type, const struct nn_rdata *fragment, uint8_t guid[16])
{
	const uint8_t *message = NN_RMSG_PAYLOAD(fragment->rmsg);
	const uint8_t *sub = message + NN_RDATA_SUBMSG_OFF(fragment);
	if (memcmp(message, "RTPS", 4) != 0 || (sub[0] != SMID_DATA && sub[0] != SMID_DATA_FRAG))
		return;
	uint32_t parts[4];
	memcpy(parts, message + 8, 12);
	memcpy(parts + 3, sub + 12, 4);
	if (vnd_secured)
		settle(type, parts);
	for (int i = 0; i < 4; i++)
		parts[i] = htonl(parts[i]);
	memcpy(guid, parts, sizeof parts);
}

// known reports whether a writer may use the encapsulation (see dds.CheckSample).
// Cyclone DDS checks a part of it.
static bool known(const uint8_t *data)
{
	return data[0] == 0 && data[1] <= 0x0b && data[1] != 4 && data[1] != 5;
}

static struct ddsi_serdata *from_ser(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
	const struct nn_rdata *fragments, size_t size)
{
	if (size < 4 || size > INT32_MAX)
		return NULL;
	struct vnd_blob *b = vnd_blob_new(type, kind, (uint32_t)size);
	if (b == NULL)
		return NULL;
	writer_of(type, fragments, b->writer);
	uint32_t end = 0; // fragments may overlap
	for (const struct nn_rdata *f = fragments; f != NULL; f = f->nextfrag) {
		if (f->maxp1 <= end)
			continue;
		if (f->min > end || f->maxp1 > size) {
			free(b);
			return NULL;
		}
		const uint8_t *payload = NN_RMSG_PAYLOADOFF(f->rmsg, NN_RDATA_PAYLOAD_OFF(f));
		memcpy(b->data + end, payload + (end - f->min), f->maxp1 - end);
		end = f->maxp1;
	}
	if (end != size || !known(b->data)) {
		free(b);
		return NULL;
	}
	return &b->c;
}

static struct ddsi_serdata *from_ser_iov(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
	ddsrt_msg_iovlen_t n, const ddsrt_iovec_t *iov, size_t size)
{
	if (size < 4 || size > INT32_MAX)
		return NULL;
	struct vnd_blob *b = vnd_blob_new(type, kind, (uint32_t)size);
	if (b == NULL)
		return NULL;
	size_t end = 0;
	for (ddsrt_msg_iovlen_t i = 0; i < n && end < size; i++) {
		size_t part = iov[i].iov_len < size - end ? iov[i].iov_len : size - end;
		memcpy(b->data + end, iov[i].iov_base, part);
		end += part;
	}
	if (end != size || !known(b->data)) {
		free(b);
		return NULL;
	}
	return &b->c;
}

// key creates the key of the only instance of a topic without key.
static struct vnd_blob *key(const struct ddsi_sertype *type)
{
	struct vnd_blob *b = vnd_blob_new(type, SDK_KEY, 4);
	if (b != NULL)
		memcpy(b->data, (uint8_t[]){0, 1, 0, 0}, 4);
	return b;
}

static struct ddsi_serdata *from_keyhash(const struct ddsi_sertype *type, const struct ddsi_keyhash *hash)
{
	(void)hash;
	struct vnd_blob *b = key(type);
	return b == NULL ? NULL : &b->c;
}

static struct ddsi_serdata *from_sample(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
	const void *sample)
{
	(void)sample;
	return kind == SDK_KEY ? from_keyhash(type, NULL) : NULL;
}

static void to_ser(const struct ddsi_serdata *d, size_t off, size_t size, void *to)
{
	memcpy(to, ((const struct vnd_blob *)d)->data + off, size);
}

static struct ddsi_serdata *to_ser_ref(const struct ddsi_serdata *d, size_t off, size_t size, ddsrt_iovec_t *ref)
{
	ref->iov_base = (void *)(((const struct vnd_blob *)d)->data + off);
	ref->iov_len = (ddsrt_iov_len_t)size;
	return ddsi_serdata_ref(d);
}

static void to_ser_unref(struct ddsi_serdata *d, const ddsrt_iovec_t *ref)
{
	(void)ref;
	ddsi_serdata_unref(d);
}

static bool to_sample(const struct ddsi_serdata *d, void *sample, void **buffer, void *limit)
{
	(void)d;
	(void)sample;
	(void)buffer;
	(void)limit;
	return false;
}

static struct ddsi_serdata *to_untyped(const struct ddsi_serdata *d)
{
	struct vnd_blob *b = key(d->type);
	if (b == NULL)
		return NULL;
	b->c.type = NULL; // it may outlive the type
	return &b->c;
}

static bool untyped_to_sample(const struct ddsi_sertype *type, const struct ddsi_serdata *d, void *sample,
	void **buffer, void *limit)
{
	(void)type;
	return to_sample(d, sample, buffer, limit);
}

static void serdata_free(struct ddsi_serdata *d)
{
	free(d);
}

static size_t print(const struct ddsi_sertype *type, const struct ddsi_serdata *d, char *to, size_t size)
{
	(void)type;
	return (size_t)snprintf(to, size, "%u bytes", ((const struct vnd_blob *)d)->size);
}

static void get_keyhash(const struct ddsi_serdata *d, struct ddsi_keyhash *to, bool force_md5)
{
	(void)d;
	(void)force_md5;
	memset(to, 0, sizeof *to);
}

static const struct ddsi_serdata_ops serdata_ops = {
	.eqkey = eqkey,
	.get_size = get_size,
	.from_ser = from_ser,
	.from_ser_iov = from_ser_iov,
	.from_keyhash = from_keyhash,
	.from_sample = from_sample,
	.to_ser = to_ser,
	.to_ser_ref = to_ser_ref,
	.to_ser_unref = to_ser_unref,
	.to_sample = to_sample,
	.to_untyped = to_untyped,
	.untyped_to_sample = untyped_to_sample,
	.free = serdata_free,
	.print = print,
	.get_keyhash = get_keyhash,
};

static void sertype_free(struct ddsi_sertype *t)
{
	ddsi_sertype_fini(t);
	free(t);
}

static bool sertype_equal(const struct ddsi_sertype *a, const struct ddsi_sertype *b)
{
	(void)a;
	(void)b;
	return true; // it is called for types of the same name only
}

static uint32_t sertype_hash(const struct ddsi_sertype *t)
{
	(void)t;
	return 0;
}

static void zero_samples(const struct ddsi_sertype *t, void *samples, size_t n)
{
	(void)t;
	(void)samples;
	(void)n;
}

static void realloc_samples(void **pointers, const struct ddsi_sertype *t, void *old, size_t before, size_t n)
{
	(void)t;
	(void)old;
	(void)before;
	for (size_t i = 0; i < n; i++)
		pointers[i] = NULL;
}

static void free_samples(const struct ddsi_sertype *t, void **pointers, size_t n, dds_free_op_t op)
{
	(void)t;
	(void)pointers;
	(void)n;
	(void)op;
}

static size_t get_serialized_size(const struct ddsi_sertype *t, const void *sample)
{
	(void)t;
	(void)sample;
	return SIZE_MAX; // its error
}

static bool serialize_into(const struct ddsi_sertype *t, const void *sample, void *to, size_t size)
{
	(void)t;
	(void)sample;
	(void)to;
	(void)size;
	return false;
}

// No type_id, type_map nor type_info: with type information a peer of 11.0 crashes one
// of 0.10, and ROS sends none.
static const struct ddsi_sertype_ops sertype_ops = {
	.version = ddsi_sertype_v0,
	.free = sertype_free,
	.zero_samples = zero_samples,
	.realloc_samples = realloc_samples,
	.free_samples = free_samples,
	.equal = sertype_equal,
	.hash = sertype_hash,
	.get_serialized_size = get_serialized_size,
	.serialize_into = serialize_into,
};

struct ddsi_sertype *vnd_sertype_new(const char *type_name)
{
	struct ddsi_sertype *t = calloc(1, sizeof *t);
	if (t == NULL)
		return NULL;
	ddsi_sertype_init_flags(t, type_name, &sertype_ops, &serdata_ops, DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY);
	t->allowed_data_representation = DDS_DATA_REPRESENTATION_FLAG_XCDR1;
	return t;
}
