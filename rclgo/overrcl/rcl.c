#define _GNU_SOURCE  // asprintf
#include "rcl.h"

#include <rcutils/error_handling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// vnd_error returns an error text and resets rcl's error, which belongs to the thread.
char * vnd_error(const char * what, rcl_ret_t code)
{
  char * text = NULL;
  const char * reason = rcutils_error_is_set() ? rcutils_get_error_string().str : "no reason given";
  if (asprintf(&text, "%s: %s (code %d)", what, reason, (int)code) < 0) {
    text = strdup("out of memory");
  }
  rcutils_reset_error();
  return text;
}

void vnd_forget_error(void) { rcutils_reset_error(); }

char * vnd_guard_new(rcl_context_t * context, rcl_guard_condition_t ** guard)
{
  *guard = malloc(sizeof(**guard));
  **guard = rcl_get_zero_initialized_guard_condition();
  rcl_ret_t rc = rcl_guard_condition_init(*guard, context, rcl_guard_condition_get_default_options());
  return rc == RCL_RET_OK ? NULL : vnd_error("rcl_guard_condition_init", rc);
}

void vnd_guard_free(rcl_guard_condition_t * guard)
{
  if (rcl_guard_condition_fini(guard) != RCL_RET_OK) {
    rcutils_reset_error();
  }
  free(guard);
}

void vnd_wake(rcl_guard_condition_t * guard)
{
  if (rcl_trigger_guard_condition(guard) != RCL_RET_OK) {
    rcutils_reset_error();
  }
}

char * vnd_set_new(rcl_context_t * context, rcl_wait_set_t ** set)
{
  *set = malloc(sizeof(**set));
  **set = rcl_get_zero_initialized_wait_set();
  rcl_ret_t rc = rcl_wait_set_init(*set, 0, 1, 0, 0, 0, 0, context, rcl_get_default_allocator());
  return rc == RCL_RET_OK ? NULL : vnd_error("rcl_wait_set_init", rc);
}

void vnd_set_free(rcl_wait_set_t * set)
{
  if (rcl_wait_set_fini(set) != RCL_RET_OK) {
    rcutils_reset_error();
  }
  free(set);
}

static rcl_ret_t add(rcl_wait_set_t * set, const struct vnd_entry * e)
{
  switch (e->kind) {
    case vnd_subscription: return rcl_wait_set_add_subscription(set, e->handle, NULL);
    case vnd_service: return rcl_wait_set_add_service(set, e->handle, NULL);
    case vnd_client: return rcl_wait_set_add_client(set, e->handle, NULL);
    case vnd_event: return rcl_wait_set_add_event(set, e->handle, NULL);
    default: return rcl_wait_set_add_guard_condition(set, e->handle, NULL);
  }
}

// fill resizes the wait set and adds the entries.
static char * fill(rcl_wait_set_t * set, const struct vnd_entry * entries, size_t n)
{
  size_t of[vnd_event + 1] = {0};
  for (size_t i = 0; i < n; i++) {
    of[entries[i].kind]++;
  }
  size_t guards = of[vnd_guard] + of[vnd_graph];
  rcl_ret_t rc = RCL_RET_OK;
  if (set->size_of_subscriptions != of[vnd_subscription] || set->size_of_guard_conditions != guards ||
    set->size_of_clients != of[vnd_client] || set->size_of_services != of[vnd_service] ||
    set->size_of_events != of[vnd_event])
  {
    rc = rcl_wait_set_resize(
      set, of[vnd_subscription], guards, 0, of[vnd_client], of[vnd_service], of[vnd_event]);
  }
  if (rc == RCL_RET_OK) {
    rc = rcl_wait_set_clear(set);
  }
  for (size_t i = 0; i < n && rc == RCL_RET_OK; i++) {
    rc = add(set, &entries[i]);
  }
  return rc == RCL_RET_OK ? NULL : vnd_error("filling the wait set", rc);
}

// mark copies which entries are ready. In a wait set, those of a kind have the order in which
// they were added.
static void mark(const rcl_wait_set_t * set, struct vnd_entry * entries, size_t n)
{
  size_t subscriptions = 0, guards = 0, services = 0, clients = 0, events = 0;
  for (size_t i = 0; i < n; i++) {
    const void * left;
    switch (entries[i].kind) {
      case vnd_subscription: left = set->subscriptions[subscriptions++]; break;
      case vnd_service: left = set->services[services++]; break;
      case vnd_client: left = set->clients[clients++]; break;
      case vnd_event: left = set->events[events++]; break;
      default: left = set->guard_conditions[guards++];
    }
    entries[i].ready = left != NULL;
  }
}

char * vnd_wait(rcl_wait_set_t * set, struct vnd_entry * entries, size_t n, int64_t timeout)
{
  char * failed = fill(set, entries, n);
  if (failed != NULL) {
    return failed;
  }
  rcl_ret_t rc = rcl_wait(set, timeout);
  if (rc != RCL_RET_OK && rc != RCL_RET_TIMEOUT) {
    return vnd_error("rcl_wait", rc);
  }
  mark(set, entries, n);
  return NULL;
}

void vnd_message_init(struct vnd_message * m)
{
  memset(m, 0, sizeof(*m));
  m->bytes = rcutils_get_zero_initialized_uint8_array();
  m->bytes.allocator = rcutils_get_default_allocator();
}

void vnd_message_fini(struct vnd_message * m)
{
  if (rcutils_uint8_array_fini(&m->bytes) != RCUTILS_RET_OK) {
    rcutils_reset_error();
  }
}

// view is a message that refers to bytes, for reading.
static rcl_serialized_message_t view(const void * data, size_t size)
{
  rcl_serialized_message_t m = rcutils_get_zero_initialized_uint8_array();
  m.buffer = (uint8_t *)data;
  m.buffer_length = m.buffer_capacity = size;
  m.allocator = rcutils_get_default_allocator();
  return m;
}

char * vnd_publish(const rcl_publisher_t * publisher, const void * data, size_t size)
{
  rcl_serialized_message_t m = view(data, size);
  rcl_ret_t rc = rcl_publish_serialized_message(publisher, &m, NULL);
  return rc == RCL_RET_OK ? NULL : vnd_error("rcl_publish_serialized_message", rc);
}

char * vnd_take(const rcl_subscription_t * subscription, struct vnd_message * m)
{
  rmw_message_info_t info = rmw_get_zero_initialized_message_info();
  rcl_ret_t rc = rcl_take_serialized_message(subscription, &m->bytes, &info, NULL);
  m->taken = rc == RCL_RET_OK;
  m->source = info.source_timestamp;
  m->received = info.received_timestamp;
  if (rc == RCL_RET_SUBSCRIPTION_TAKE_FAILED) {
    rcutils_reset_error();
    return NULL;
  }
  return m->taken ? NULL : vnd_error("rcl_take_serialized_message", rc);
}
