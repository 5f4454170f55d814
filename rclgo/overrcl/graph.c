#include "rcl.h"

#include <rcutils/error_handling.h>

char * vnd_nodes(
  const rcl_node_t * node, rcutils_string_array_t * names, rcutils_string_array_t * namespaces,
  rcutils_string_array_t * enclaves)
{
  *names = rcutils_get_zero_initialized_string_array();
  *namespaces = rcutils_get_zero_initialized_string_array();
  *enclaves = rcutils_get_zero_initialized_string_array();
  rcl_ret_t rc = rcl_get_node_names_with_enclaves(node, rcl_get_default_allocator(), names, namespaces, enclaves);
  return rc == RCL_RET_OK ? NULL : vnd_error("rcl_get_node_names_with_enclaves", rc);
}

void vnd_strings_free(rcutils_string_array_t * a, rcutils_string_array_t * b, rcutils_string_array_t * c)
{
  rcutils_string_array_t * all[] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    if (rcutils_string_array_fini(all[i]) != RCUTILS_RET_OK) {
      rcutils_reset_error();
    }
  }
}

char * vnd_services(const rcl_node_t * node, rcl_names_and_types_t * services)
{
  *services = rcl_get_zero_initialized_names_and_types();
  rcl_allocator_t allocator = rcl_get_default_allocator();
  rcl_ret_t rc = rcl_get_service_names_and_types(node, &allocator, services);
  return rc == RCL_RET_OK ? NULL : vnd_error("rcl_get_service_names_and_types", rc);
}

void vnd_names_free(rcl_names_and_types_t * names)
{
  if (rcl_names_and_types_fini(names) != RCL_RET_OK) {
    rcutils_reset_error();
  }
}
