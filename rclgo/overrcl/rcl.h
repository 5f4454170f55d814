// Functions that rclgo does not have: waiting for a changing set of entities, events, and
// requests and responses as CDR. A function that can fail returns an error text, which the
// caller frees, or NULL.
#pragma once

#include <rcl/rcl.h>
#include <rcl/event.h>
#include <rcl/graph.h>
#include <rmw/rmw.h>
#include <rosidl_runtime_c/message_type_support_struct.h>
#include <rosidl_runtime_c/service_type_support_struct.h>

// Kinds of entries in the wait set.
enum { vnd_guard, vnd_graph, vnd_subscription, vnd_service, vnd_client, vnd_event };

struct vnd_entry {
  int kind;
  int ready;  // out
  const void * handle;
};

// Guard conditions and wait sets, on the heap.
char * vnd_guard_new(rcl_context_t * context, rcl_guard_condition_t ** guard);
char * vnd_set_new(rcl_context_t * context, rcl_wait_set_t ** set);
void vnd_guard_free(rcl_guard_condition_t * guard);
void vnd_set_free(rcl_wait_set_t * set);
void vnd_wake(rcl_guard_condition_t * guard);

// Waits for any of n entries, timeout ns; for ever when negative.
char * vnd_wait(rcl_wait_set_t * set, struct vnd_entry * entries, size_t n, int64_t timeout);

// Messages.
struct vnd_message {
  rcutils_uint8_array_t bytes;
  int64_t source, received;
  int taken;
};
void vnd_message_init(struct vnd_message * m);
void vnd_message_fini(struct vnd_message * m);
char * vnd_publish(const rcl_publisher_t * publisher, const void * data, size_t size);
char * vnd_take(const rcl_subscription_t * subscription, struct vnd_message * m);

// Events of an endpoint: those of a publisher or a subscription that the middleware reports.
enum { vnd_deadline_missed, vnd_liveliness_lost, vnd_incompatible, vnd_liveliness_changed, vnd_lost };
enum { vnd_max_events = 4 };
struct vnd_event_source {
  rcl_event_t event;
  int kind;
  int of_publisher;
};
size_t vnd_publisher_events(const rcl_publisher_t * publisher, struct vnd_event_source events[vnd_max_events]);
size_t vnd_subscription_events(const rcl_subscription_t * subscription, struct vnd_event_source events[vnd_max_events]);
void vnd_events_fini(struct vnd_event_source * events, size_t n);

struct vnd_event_status {
  int64_t total;  // of the kind; of liveliness, publishers alive
  int64_t other;  // of liveliness, publishers not alive; of incompatible, the policy
};
// Returns 1 if there was an event.
int vnd_take_event(const struct vnd_event_source * event, struct vnd_event_status * out);

// Services. A vnd_message_type is the request or response type of one, from rosidl.
struct vnd_message_type {
  const rosidl_message_type_support_t * support;
  void * (*create)(void);
  void (*destroy)(void *);
};
struct vnd_exchange {
  struct vnd_message_type in, out;
  struct vnd_message message;  // taken
  int8_t client[16];
  int64_t sequence;
  int64_t sent;  // sequence number of the last request
};
char * vnd_take_request(const rcl_service_t * service, struct vnd_exchange * x);
char * vnd_take_response(const rcl_client_t * client, struct vnd_exchange * x);
char * vnd_respond(
  const rcl_service_t * service, const struct vnd_exchange * x, const int8_t client[16], int64_t sequence,
  const void * data, size_t size);
char * vnd_request(const rcl_client_t * client, struct vnd_exchange * x, const void * data, size_t size);
int vnd_available(const rcl_node_t * node, const rcl_client_t * client);

// Looks up the type support of pkg/part/name in the libraries of the package, which stay open.
char * vnd_find_message(
  const char * pkg, const char * part, const char * name, const rosidl_message_type_support_t ** support);
char * vnd_find_service(
  const char * pkg, const char * part, const char * name, const rosidl_service_type_support_t ** support,
  struct vnd_message_type * request, struct vnd_message_type * response);

// The graph. The caller frees the results, also after an error.
char * vnd_nodes(
  const rcl_node_t * node, rcutils_string_array_t * names, rcutils_string_array_t * namespaces,
  rcutils_string_array_t * enclaves);
void vnd_strings_free(rcutils_string_array_t * a, rcutils_string_array_t * b, rcutils_string_array_t * c);
char * vnd_services(const rcl_node_t * node, rcl_names_and_types_t * services);
void vnd_names_free(rcl_names_and_types_t * names);

// vnd_error is an error text with the reason that rcl gives.
char * vnd_error(const char * what, rcl_ret_t code);
void vnd_forget_error(void);
