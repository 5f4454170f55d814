// What rclgo does not do: waiting for entities that come and go, events, and
// requests and responses as CDR. A function that can fail returns why, to be
// freed by the caller, or NULL.
#pragma once

#include <rcl/rcl.h>
#include <rcl/event.h>
#include <rcl/graph.h>
#include <rmw/rmw.h>
#include <rosidl_runtime_c/message_type_support_struct.h>
#include <rosidl_runtime_c/service_type_support_struct.h>

// What an entry of the wait set is.
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

// What happened to an endpoint: those of a publisher or a subscription that the
// middleware tells of.
enum { vnd_deadline_missed, vnd_liveliness_lost, vnd_incompatible, vnd_liveliness_changed, vnd_lost };
enum { vnd_most_events = 4 };
struct vnd_happening {
  rcl_event_t event;
  int kind;
  int of_publisher;
};
size_t vnd_publisher_events(const rcl_publisher_t * publisher, struct vnd_happening events[vnd_most_events]);
size_t vnd_subscription_events(const rcl_subscription_t * subscription, struct vnd_happening events[vnd_most_events]);
void vnd_events_fini(struct vnd_happening * events, size_t n);

struct vnd_news {
  int64_t total;  // of the kind; of liveliness, publishers alive
  int64_t other;  // of liveliness, publishers not alive; of incompatible, the policy
};
// Returns whether there was news.
int vnd_take_event(const struct vnd_happening * event, struct vnd_news * news);

// Services. A half is a service's request or response as rosidl made it.
struct vnd_half {
  const rosidl_message_type_support_t * support;
  void * (*create)(void);
  void (*destroy)(void *);
};
struct vnd_exchange {
  struct vnd_half in, out;
  struct vnd_message message;  // taken
  int8_t client[16];
  int64_t sequence;
  int64_t sent;  // number of the request sent last
};
char * vnd_take_request(const rcl_service_t * service, struct vnd_exchange * x);
char * vnd_take_response(const rcl_client_t * client, struct vnd_exchange * x);
char * vnd_respond(
  const rcl_service_t * service, const struct vnd_exchange * x, const int8_t client[16], int64_t sequence,
  const void * data, size_t size);
char * vnd_request(const rcl_client_t * client, struct vnd_exchange * x, const void * data, size_t size);
int vnd_available(const rcl_node_t * node, const rcl_client_t * client);

// Looks up what rosidl made of pkg/part/name in the libraries of the package.
char * vnd_find_service(
  const char * pkg, const char * part, const char * name, const rosidl_service_type_support_t ** support,
  struct vnd_half * request, struct vnd_half * response);

// The graph; what is found is to be freed, also after an error.
char * vnd_nodes(
  const rcl_node_t * node, rcutils_string_array_t * names, rcutils_string_array_t * namespaces,
  rcutils_string_array_t * enclaves);
void vnd_strings_free(rcutils_string_array_t * a, rcutils_string_array_t * b, rcutils_string_array_t * c);
char * vnd_services(const rcl_node_t * node, rcl_names_and_types_t * services);
void vnd_names_free(rcl_names_and_types_t * names);

// vnd_why says what failed.
char * vnd_why(const char * what, rcl_ret_t code);
void vnd_forget_error(void);
