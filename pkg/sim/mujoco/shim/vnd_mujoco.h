// MuJoCo as the program takes it: a table of functions that the shared object libvnd_mujoco.so fills.
#ifndef VND_MUJOCO_H
#define VND_MUJOCO_H

#include <stddef.h>

#define VND_MUJOCO_VERSION 1

// Numbers of all worlds: those of world i are size many, from data + i·stride on.
struct vnd_columns {
	double *data;
	int size, stride;
};

// Worlds of one model, each with parameters of its own.
struct vnd_worlds;

struct vnd_mujoco {
	int version;        // VND_MUJOCO_VERSION
	const char *mujoco; // MuJoCo's own

	// Makes n worlds of a model in MJCF, stepped by so many threads; NULL with the reason in error.
	struct vnd_worlds *(*make)(const char *xml, int n, int threads, char *error, int size);
	void (*destroy)(struct vnd_worlds *);
	// Joints' positions, their velocities, and controls.
	struct vnd_columns (*positions)(struct vnd_worlds *);
	struct vnd_columns (*velocities)(struct vnd_worlds *);
	struct vnd_columns (*controls)(struct vnd_worlds *);
	// A field of the model, such as body_mass, with values of its own in each world; data is NULL if there is none of
	// real numbers.
	struct vnd_columns (*parameter)(struct vnd_worlds *, const char *field);
	// Number of the body or contact pair of that name, -1: none.
	int (*body)(struct vnd_worlds *, const char *name);
	int (*pair)(struct vnd_worlds *, const char *name);
	// These return the first world that failed, -1: none; error has the reason then.
	int (*reset)(struct vnd_worlds *, const int *ids, int n, char *error, int size); // after new parameters
	int (*step)(struct vnd_worlds *, int steps, char *error, int size);
};

#endif
