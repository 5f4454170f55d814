#include "rcl.h"

#include <rcutils/error_handling.h>
#include <rmw/events_statuses/events_statuses.h>
#include <string.h>

size_t vnd_publisher_events(const rcl_publisher_t * publisher, struct vnd_event_source events[vnd_max_events])
{
  static const struct { int kind; rcl_publisher_event_type_t type; } all[] = {
    {vnd_incompatible, RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS},
    {vnd_deadline_missed, RCL_PUBLISHER_OFFERED_DEADLINE_MISSED},
    {vnd_liveliness_lost, RCL_PUBLISHER_LIVELINESS_LOST}};
  size_t n = 0;
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    events[n] = (struct vnd_event_source){rcl_get_zero_initialized_event(), all[i].kind, 1};
    if (rcl_publisher_event_init(&events[n].event, publisher, all[i].type) == RCL_RET_OK) {
      n++;
    } else {
      rcutils_reset_error();
    }
  }
  return n;
}

size_t vnd_subscription_events(const rcl_subscription_t * subscription, struct vnd_event_source events[vnd_max_events])
{
  static const struct { int kind; rcl_subscription_event_type_t type; } all[] = {
    {vnd_incompatible, RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS},
    {vnd_deadline_missed, RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED},
    {vnd_liveliness_changed, RCL_SUBSCRIPTION_LIVELINESS_CHANGED},
    {vnd_lost, RCL_SUBSCRIPTION_MESSAGE_LOST}};
  size_t n = 0;
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    events[n] = (struct vnd_event_source){rcl_get_zero_initialized_event(), all[i].kind, 0};
    if (rcl_subscription_event_init(&events[n].event, subscription, all[i].type) == RCL_RET_OK) {
      n++;
    } else {
      rcutils_reset_error();
    }
  }
  return n;
}

void vnd_events_fini(struct vnd_event_source * events, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (rcl_event_fini(&events[i].event) != RCL_RET_OK) {
      rcutils_reset_error();
    }
  }
}

int vnd_take_event(const struct vnd_event_source * event, struct vnd_event_status * out)
{
  union {
    rmw_offered_deadline_missed_status_t offered;
    rmw_requested_deadline_missed_status_t requested;
    rmw_liveliness_lost_status_t dead;
    rmw_liveliness_changed_status_t lively;
    rmw_qos_incompatible_event_status_t refused;
    rmw_message_lost_status_t lost;
  } status;
  memset(&status, 0, sizeof(status));
  if (rcl_take_event(&event->event, &status) != RCL_RET_OK) {
    rcutils_reset_error();
    return 0;
  }
  out->other = 0;
  switch (event->kind) {
    case vnd_deadline_missed:
      out->total = event->of_publisher ? status.offered.total_count : status.requested.total_count;
      break;
    case vnd_liveliness_lost:
      out->total = status.dead.total_count;
      break;
    case vnd_liveliness_changed:
      out->total = status.lively.alive_count;
      out->other = status.lively.not_alive_count;
      break;
    case vnd_incompatible:
      out->total = status.refused.total_count;
      out->other = status.refused.last_policy_kind;
      break;
    default:
      out->total = (int64_t)status.lost.total_count;
  }
  return 1;
}
