//go:build cgo

#include "load.h"

#include <dlfcn.h>

const struct vnd_mujoco *vnd_mujoco_load(const char *path, const char **error)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct vnd_mujoco *(*table)(void) = NULL;
	if (object != NULL)
		*(void **)&table = dlsym(object, "vnd_mujoco");
	if (table == NULL) {
		*error = dlerror();
		return NULL;
	}
	return table();
}

struct vnd_worlds *vnd_make(const struct vnd_mujoco *m, const char *xml, int n, int threads, char *error, int size)
{
	return m->make(xml, n, threads, error, size);
}

void vnd_destroy(const struct vnd_mujoco *m, struct vnd_worlds *w) { m->destroy(w); }

struct vnd_columns vnd_positions(const struct vnd_mujoco *m, struct vnd_worlds *w) { return m->positions(w); }

struct vnd_columns vnd_velocities(const struct vnd_mujoco *m, struct vnd_worlds *w) { return m->velocities(w); }

struct vnd_columns vnd_controls(const struct vnd_mujoco *m, struct vnd_worlds *w) { return m->controls(w); }

struct vnd_columns vnd_parameter(const struct vnd_mujoco *m, struct vnd_worlds *w, const char *field)
{
	return m->parameter(w, field);
}

int vnd_body(const struct vnd_mujoco *m, struct vnd_worlds *w, const char *name) { return m->body(w, name); }

int vnd_pair(const struct vnd_mujoco *m, struct vnd_worlds *w, const char *name) { return m->pair(w, name); }

int vnd_reset(const struct vnd_mujoco *m, struct vnd_worlds *w, const int *ids, int n, char *error, int size)
{
	return m->reset(w, ids, n, error, size);
}

int vnd_step(const struct vnd_mujoco *m, struct vnd_worlds *w, int steps, char *error, int size)
{
	return m->step(w, steps, error, size);
}
