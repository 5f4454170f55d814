// Loading the shared object at run time.
#ifndef VND_LOAD_H
#define VND_LOAD_H

#include "shim/vnd_fastdds.h"

// Loads the shared object, once for each path; NULL with the linker's words in *error.
const struct vnd_fast_library *vnd_load(const char *path, const char **error);
void *vnd_open(const struct vnd_fast_library *l, const struct vnd_fast_config *c, uint8_t guid[16], char *text,
	size_t n);

#endif
