// Loading the shared object at run time, and calls through its table.
#ifndef VND_LOAD_H
#define VND_LOAD_H

#include "shim/vnd_mujoco.h"

// Loads the shared object, once for each path; NULL with the linker's words in *error.
const struct vnd_mujoco *vnd_mujoco_load(const char *path, const char **error);

struct vnd_worlds *vnd_make(const struct vnd_mujoco *m, const char *xml, int n, int threads, char *error, int size);
void vnd_destroy(const struct vnd_mujoco *m, struct vnd_worlds *w);
struct vnd_columns vnd_positions(const struct vnd_mujoco *m, struct vnd_worlds *w);
struct vnd_columns vnd_velocities(const struct vnd_mujoco *m, struct vnd_worlds *w);
struct vnd_columns vnd_controls(const struct vnd_mujoco *m, struct vnd_worlds *w);
struct vnd_columns vnd_parameter(const struct vnd_mujoco *m, struct vnd_worlds *w, const char *field);
int vnd_body(const struct vnd_mujoco *m, struct vnd_worlds *w, const char *name);
int vnd_pair(const struct vnd_mujoco *m, struct vnd_worlds *w, const char *name);
int vnd_reset(const struct vnd_mujoco *m, struct vnd_worlds *w, const int *ids, int n, char *error, int size);
int vnd_step(const struct vnd_mujoco *m, struct vnd_worlds *w, int steps, char *error, int size);

#endif
