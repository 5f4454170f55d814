// What the shared object of Fast DDS offers. Its one symbol is vnd_fastdds.
#ifndef VND_FASTDDS_H
#define VND_FASTDDS_H

#include "native.h"

struct vnd_fast_config {
	uint32_t domain;
	bool localhost; // only the loopback
	bool alone;     // only participants of this process
	bool profile;   // the transports are those of the user's XML profile
	bool unicast;   // no multicast: peers alone
	const char *peers;      // addresses to look at, a line each
	const char *properties; // name and value in turns, a line each
	const void *user_data;
	size_t user_data_size;
};

struct vnd_fast_library {
	int version;         // VND_API_VERSION
	const char *fastdds; // version of Fast DDS
	const struct vnd_api *api;
	// Opens a participant; NULL with Fast DDS' log in text, of size n.
	void *(*open)(const struct vnd_fast_config *config, uint8_t guid[16], char *text, size_t n);
};

#ifdef __cplusplus
extern "C" __attribute__((visibility("default")))
#endif
const struct vnd_fast_library *vnd_fastdds(void);

#endif
