// The shared object libvnd_mujoco.so: MuJoCo's batches behind the table of vnd_mujoco.h.
#include "vnd_mujoco.h"

#include <mujoco/mjbatch.h>
#include <mujoco/mujoco.h>
#include <stdio.h>

static mjBatch *batch(struct vnd_worlds *w) { return (mjBatch *)w; }

// say copies a reason up to the end of its first line.
static void say(char *error, int size, const char *reason)
{
	int n = 0;
	for (; n + 1 < size && reason[n] != '\0' && reason[n] != '\n'; n++)
		error[n] = reason[n];
	error[n] = '\0';
}

static struct vnd_worlds *make(const char *xml, int n, int threads, char *error, int size)
{
	mjSpec *spec = mj_parseXMLString(xml, NULL, error, size);
	if (spec == NULL)
		return NULL;
	mjModel *model = mj_compile(spec, NULL);
	if (model == NULL)
		say(error, size, mjs_getError(spec));
	mj_deleteSpec(spec);
	if (model == NULL)
		return NULL;
	mjBatchConfig config = {.nthread = threads, .persistent = 1}; // bodies at rest sleep in these alone
	mjBatch *made = mjb_makeBatch(model, n, &config, error, size);
	mj_deleteModel(model);
	return (struct vnd_worlds *)made;
}

static void destroy(struct vnd_worlds *w) { mjb_deleteBatch(batch(w)); }

static struct vnd_columns component(struct vnd_worlds *w, int which)
{
	struct vnd_columns c = {.stride = mjb_nstate(batch(w))};
	c.data = mjb_stateComponent(batch(w), which, &c.size);
	return c;
}

static struct vnd_columns positions(struct vnd_worlds *w) { return component(w, mjSTATE_QPOS); }
static struct vnd_columns velocities(struct vnd_worlds *w) { return component(w, mjSTATE_QVEL); }
static struct vnd_columns controls(struct vnd_worlds *w) { return component(w, mjSTATE_CTRL); }

static struct vnd_columns parameter(struct vnd_worlds *w, const char *field)
{
	struct vnd_columns c = {0};
	int each = 0;
	void *data = mjb_expand(batch(w), field, &c.size, &each);
	if (data != NULL && each == sizeof(mjtNum))
		c.data = data;
	c.stride = c.size;
	return c;
}

static int body(struct vnd_worlds *w, const char *name) { return mj_name2id(mjb_model(batch(w)), mjOBJ_BODY, name); }
static int pair(struct vnd_worlds *w, const char *name) { return mj_name2id(mjb_model(batch(w)), mjOBJ_PAIR, name); }

// failed returns the first world whose last call failed, or the first of all where none is said to have.
static int failed(struct vnd_worlds *w, char *error, int size)
{
	for (int i = 0; i < mjb_nsim(batch(w)); i++)
		if (mjb_status(batch(w))[i] != 0) {
			say(error, size, mjb_error(batch(w), i));
			return i;
		}
	say(error, size, "no world has a reason");
	return 0;
}

static int reset(struct vnd_worlds *w, const int *ids, int n, char *error, int size)
{
	if (mjb_setConst(batch(w), ids, n) != 0 || mjb_reset(batch(w), ids, n, NULL, mjSTAGE_NONE) != 0)
		return failed(w, error, size);
	return -1;
}

static int step(struct vnd_worlds *w, int steps, char *error, int size)
{
	static const int diverged[] = {mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC};
	if (mjb_step(batch(w), NULL, 0, steps, mjSTAGE_NONE) != 0)
		return failed(w, error, size);
	const mjWarningStat *warnings = mjb_warning(batch(w));
	for (int i = 0; i < mjb_nsim(batch(w)); i++)
		for (size_t k = 0; k < sizeof diverged / sizeof *diverged; k++)
			if (warnings[i * mjNWARNING + diverged[k]].number > 0) {
				say(error, size, "positions, velocities or forces without bounds");
				return i;
			}
	return -1;
}

// quiet keeps a warning off the terminal, and out of a log file: step returns it.
static void quiet(const char *warning) { (void)warning; }

__attribute__((visibility("default"))) const struct vnd_mujoco *vnd_mujoco(void)
{
	static struct vnd_mujoco table = {VND_MUJOCO_VERSION, NULL, make, destroy, positions, velocities, controls,
		parameter, body, pair, reset, step};
	mju_user_warning = quiet;
	table.mujoco = mj_versionString();
	return &table;
}
