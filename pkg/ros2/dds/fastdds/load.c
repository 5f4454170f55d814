//go:build cgo

#include "load.h"

#include <dlfcn.h>

const struct vnd_fast_library *vnd_load(const char *path, const char **error)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct vnd_fast_library *(*library)(void) = NULL;
	if (object != NULL)
		*(void **)&library = dlsym(object, "vnd_fastdds");
	if (library == NULL) {
		*error = dlerror();
		return NULL;
	}
	return library();
}

void *vnd_open(const struct vnd_fast_library *l, const struct vnd_fast_config *c, uint8_t guid[16], char *text,
	size_t n)
{
	return l->open(c, guid, text, n);
}
