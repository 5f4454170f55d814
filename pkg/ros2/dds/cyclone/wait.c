//go:build cgo && !nocyclone

// Listeners note which endpoints have something to report; one thread waits for them.

#include "glue.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

void vnd_waiter_init(struct vnd_waiter *w)
{
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->news, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void vnd_waiter_fini(struct vnd_waiter *w)
{
	pthread_cond_destroy(&w->news);
	pthread_mutex_destroy(&w->lock);
}

// unlock unlocks the waiter, then wakes the waiting thread if there are news. In the
// other order the thread would wake to wait for the lock.
static void unlock(struct vnd_waiter *w, bool news)
{
	bool signal = news && w->waiting;
	pthread_mutex_unlock(&w->lock);
	if (signal)
		pthread_cond_signal(&w->news);
}

// list appends an endpoint to those with something to report; the waiter is locked.
static void list(struct vnd_endpoint *e)
{
	struct vnd_waiter *w = e->waiter;
	if (e->listed)
		return;
	e->listed = true;
	e->next = NULL;
	if (w->last == NULL)
		w->first = e;
	else
		w->last->next = e;
	w->last = e;
}

static struct vnd_waiter *waiter_of(void *participant)
{
	return &((struct vnd_participant *)participant)->waiter;
}

void vnd_wake(void *participant)
{
	struct vnd_waiter *w = waiter_of(participant);
	pthread_mutex_lock(&w->lock);
	w->woken = true;
	unlock(w, true);
}

void vnd_stop(void *participant)
{
	struct vnd_waiter *w = waiter_of(participant);
	pthread_mutex_lock(&w->lock);
	w->closed = true;
	pthread_cond_broadcast(&w->news);
	pthread_mutex_unlock(&w->lock);
}

static struct timespec after(int64_t timeout)
{
	const int64_t second = 1000000000;
	struct timespec end;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += timeout / second;
	end.tv_nsec += timeout % second;
	if (end.tv_nsec >= second) {
		end.tv_nsec -= second;
		end.tv_sec++;
	}
	return end;
}

// await blocks until there may be something to collect; false when the time is
// over. The waiter is locked.
static bool await(struct vnd_waiter *w, int64_t timeout, const struct timespec *end)
{
	int over = timeout == 0 ? ETIMEDOUT : 0;
	w->waiting++;
	while (w->first == NULL && !w->graph && !w->woken && !w->closed && over != ETIMEDOUT) {
		if (timeout < 0)
			pthread_cond_wait(&w->news, &w->lock);
		else
			over = pthread_cond_timedwait(&w->news, &w->lock, end);
	}
	w->waiting--;
	return over != ETIMEDOUT;
}

// collect reports each listed endpoint once. One with samples moves to the end of the
// list, so that endpoints that do not fit are reported next time.
static int collect(struct vnd_waiter *w, struct vnd_ready *ready, int max)
{
	int n = 0;
	struct vnd_endpoint *stop = w->last;
	while (w->first != NULL && n < max) {
		struct vnd_endpoint *e = w->first;
		w->first = e->next;
		if (w->first == NULL)
			w->last = NULL;
		e->listed = false;
		if (e->data || e->event)
			ready[n++] = (struct vnd_ready){e->id, e->data, e->event};
		e->event = false;
		if (e->data)
			list(e);
		if (e == stop)
			break;
	}
	if (w->graph && n < max) {
		ready[n++] = (struct vnd_ready){0, false, true};
		w->graph = false;
	}
	return n;
}

int vnd_wait(void *participant, int64_t timeout, struct vnd_ready *ready, int max)
{
	struct vnd_waiter *w = waiter_of(participant);
	struct timespec end = {0};
	if (timeout > 0)
		end = after(timeout);
	pthread_mutex_lock(&w->lock);
	int n = 0;
	for (bool early = true; early && n == 0 && !w->woken && !w->closed;) {
		early = await(w, timeout, &end);
		n = collect(w, ready, max);
	}
	if (w->closed)
		n = VND_CLOSED;
	if (n == 0) // else all of ready may be closed by now, and the caller waits again
		w->woken = false;
	pthread_mutex_unlock(&w->lock);
	return n;
}

void vnd_endpoint_forget(struct vnd_endpoint *e)
{
	struct vnd_waiter *w = e->waiter;
	pthread_mutex_lock(&w->lock);
	struct vnd_endpoint *before = NULL;
	for (struct vnd_endpoint *x = w->first; x != NULL && x != e; x = x->next)
		before = x;
	if (e->listed) {
		if (before == NULL)
			w->first = e->next;
		else
			before->next = e->next;
		if (w->last == e)
			w->last = before;
		e->listed = false;
	}
	pthread_mutex_unlock(&w->lock);
}

void vnd_status(void *endpoint, struct vnd_status *status)
{
	struct vnd_endpoint *e = endpoint;
	pthread_mutex_lock(&e->waiter->lock);
	*status = e->status;
	e->event = false;
	pthread_mutex_unlock(&e->waiter->lock);
}

static void on_data(dds_entity_t reader, void *arg)
{
	(void)reader;
	struct vnd_endpoint *e = arg;
	pthread_mutex_lock(&e->waiter->lock);
	e->arrivals++;
	bool first = !e->data;
	if (first) {
		e->data = true;
		list(e);
	}
	unlock(e->waiter, first);
}

static struct vnd_endpoint *begin_event(void *arg)
{
	struct vnd_endpoint *e = arg;
	pthread_mutex_lock(&e->waiter->lock);
	return e;
}

static void end_event(struct vnd_endpoint *e)
{
	e->event = true;
	list(e);
	unlock(e->waiter, true);
}

// EVENT defines the listener of one status: what it notes of s.
#define EVENT(name, type, note) \
	static void name(dds_entity_t entity, const type s, void *arg) \
	{ \
		(void)entity; \
		struct vnd_endpoint *e = begin_event(arg); \
		note; \
		end_event(e); \
	}

EVENT(on_publication_matched, dds_publication_matched_status_t,
	(e->status.matched = s.current_count, e->status.matched_total = s.total_count))
EVENT(on_subscription_matched, dds_subscription_matched_status_t,
	(e->status.matched = s.current_count, e->status.matched_total = s.total_count))
EVENT(on_offered_incompatible, dds_offered_incompatible_qos_status_t,
	(e->status.incompatible = s.total_count, e->status.incompatible_policy = s.last_policy_id))
EVENT(on_requested_incompatible, dds_requested_incompatible_qos_status_t,
	(e->status.incompatible = s.total_count, e->status.incompatible_policy = s.last_policy_id))
EVENT(on_offered_deadline, dds_offered_deadline_missed_status_t, e->status.deadline_missed = s.total_count)
EVENT(on_requested_deadline, dds_requested_deadline_missed_status_t, e->status.deadline_missed = s.total_count)
EVENT(on_liveliness_lost, dds_liveliness_lost_status_t, e->status.liveliness_lost = s.total_count)
EVENT(on_liveliness_changed, dds_liveliness_changed_status_t,
	(e->status.alive = s.alive_count, e->status.not_alive = s.not_alive_count))
EVENT(on_sample_lost, dds_sample_lost_status_t, e->status.samples_lost = s.total_count)

dds_listener_t *vnd_endpoint_listener(struct vnd_endpoint *e)
{
	dds_listener_t *l = dds_create_listener(e);
	dds_lset_data_available(l, on_data);
	dds_lset_publication_matched(l, on_publication_matched);
	dds_lset_subscription_matched(l, on_subscription_matched);
	dds_lset_offered_incompatible_qos(l, on_offered_incompatible);
	dds_lset_requested_incompatible_qos(l, on_requested_incompatible);
	dds_lset_offered_deadline_missed(l, on_offered_deadline);
	dds_lset_requested_deadline_missed(l, on_requested_deadline);
	dds_lset_liveliness_lost(l, on_liveliness_lost);
	dds_lset_liveliness_changed(l, on_liveliness_changed);
	dds_lset_sample_lost(l, on_sample_lost);
	return l;
}

static void on_graph(dds_entity_t reader, void *arg)
{
	(void)reader;
	struct vnd_waiter *w = arg;
	pthread_mutex_lock(&w->lock);
	w->graph = true;
	unlock(w, true);
}

dds_listener_t *vnd_graph_listener(struct vnd_waiter *w)
{
	dds_listener_t *l = dds_create_listener(w);
	dds_lset_data_available(l, on_graph);
	return l;
}
