#define _GNU_SOURCE  // asprintf
#include "rcl.h"

#include <dlfcn.h>
#include <rcutils/error_handling.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char * no_memory(void) { return strdup("out of memory"); }

// write_cdr serializes a message. Some middlewares append the largest possible padding, and leave
// the bytes between fields as they were. So they write three times: to learn the length, over ones
// and over zeros. The message ends with the last byte that is the same both times.
static char * write_cdr(const void * message, const struct vnd_message_type * type, rcutils_uint8_array_t * bytes)
{
  rcl_ret_t rc = rmw_serialize(message, type->support, bytes);
  size_t size = bytes->buffer_length;
  uint8_t * ones = rc == RMW_RET_OK ? malloc(size + 1) : NULL;
  if (ones != NULL) {
    memset(bytes->buffer, 0xff, size);
    rc = rmw_serialize(message, type->support, bytes);
    memcpy(ones, bytes->buffer, size);
  }
  if (ones != NULL && rc == RMW_RET_OK) {
    memset(bytes->buffer, 0, size);
    rc = rmw_serialize(message, type->support, bytes);
    while (size > 0 && bytes->buffer[size - 1] != ones[size - 1]) {
      size--;
    }
    bytes->buffer_length = size;
  }
  free(ones);
  if (rc != RMW_RET_OK) {
    return vnd_error("rmw_serialize", rc);
  }
  return ones != NULL ? NULL : no_memory();
}

// take_over converts a message that rcl took to CDR.
static char * take_over(struct vnd_exchange * x, const rmw_service_info_t * info, const void * message)
{
  char * failed = write_cdr(message, &x->in, &x->message.bytes);
  if (failed != NULL) {
    return failed;
  }
  x->message.taken = 1;
  x->message.source = info->source_timestamp;
  x->message.received = info->received_timestamp;
  memcpy(x->client, info->request_id.writer_guid, sizeof(x->client));
  x->sequence = info->request_id.sequence_number;
  return NULL;
}

// A taker is rcl's function for requests or responses; entity is the service or the client.
typedef rcl_ret_t (* taker)(const void * entity, rmw_service_info_t * info, void * message);

// take leaves x->message.taken at 0 when rcl returns `nothing`.
static char * take(struct vnd_exchange * x, taker from, const void * entity, rcl_ret_t nothing, const char * call)
{
  x->message.taken = 0;
  void * message = x->in.create();
  if (message == NULL) {
    return no_memory();
  }
  rmw_service_info_t info;
  memset(&info, 0, sizeof(info));
  char * failed = NULL;
  rcl_ret_t rc = from(entity, &info, message);
  if (rc == RCL_RET_OK) {
    failed = take_over(x, &info, message);
  } else if (rc != nothing) {
    failed = vnd_error(call, rc);
  } else {
    rcutils_reset_error();
  }
  x->in.destroy(message);
  return failed;
}

static rcl_ret_t request(const void * service, rmw_service_info_t * info, void * message)
{
  return rcl_take_request_with_info(service, info, message);
}

static rcl_ret_t response(const void * client, rmw_service_info_t * info, void * message)
{
  return rcl_take_response_with_info(client, info, message);
}

char * vnd_take_request(const rcl_service_t * service, struct vnd_exchange * x)
{
  return take(x, request, service, RCL_RET_SERVICE_TAKE_FAILED, "rcl_take_request");
}

char * vnd_take_response(const rcl_client_t * client, struct vnd_exchange * x)
{
  return take(x, response, client, RCL_RET_CLIENT_TAKE_FAILED, "rcl_take_response");
}

// read_cdr deserializes a message.
static char * read_cdr(const struct vnd_message_type * type, const void * data, size_t size, void ** message)
{
  *message = type->create();
  if (*message == NULL) {
    return no_memory();
  }
  rcl_serialized_message_t m = rcutils_get_zero_initialized_uint8_array();
  m.buffer = (uint8_t *)data;
  m.buffer_length = m.buffer_capacity = size;
  m.allocator = rcutils_get_default_allocator();
  rcl_ret_t rc = rmw_deserialize(&m, type->support, *message);
  if (rc == RMW_RET_OK) {
    return NULL;
  }
  type->destroy(*message);
  return vnd_error("rmw_deserialize", rc);
}

char * vnd_respond(
  const rcl_service_t * service, const struct vnd_exchange * x, const int8_t client[16], int64_t sequence,
  const void * data, size_t size)
{
  void * message;
  char * failed = read_cdr(&x->out, data, size, &message);
  if (failed != NULL) {
    return failed;
  }
  rmw_request_id_t id;
  memcpy(id.writer_guid, client, sizeof(id.writer_guid));
  id.sequence_number = sequence;
  rcl_ret_t rc = rcl_send_response(service, &id, message);
  x->out.destroy(message);
  return rc == RCL_RET_OK ? NULL : vnd_error("rcl_send_response", rc);
}

char * vnd_request(const rcl_client_t * client, struct vnd_exchange * x, const void * data, size_t size)
{
  void * message;
  char * failed = read_cdr(&x->out, data, size, &message);
  if (failed != NULL) {
    return failed;
  }
  rcl_ret_t rc = rcl_send_request(client, message, &x->sent);
  x->out.destroy(message);
  return rc == RCL_RET_OK ? NULL : vnd_error("rcl_send_request", rc);
}

int vnd_available(const rcl_node_t * node, const rcl_client_t * client)
{
  bool there = false;
  if (rcl_service_server_is_available(node, client, &there) != RCL_RET_OK) {
    rcutils_reset_error();
    return 0;
  }
  return there;
}

// symbol looks up a symbol in a library that stays open as long as the process.
static char * symbol(void ** found, const char * library, const char * format, ...)
{
  char * name = NULL;
  va_list arguments;
  va_start(arguments, format);
  int size = vasprintf(&name, format, arguments);
  va_end(arguments);
  if (size < 0) {
    return no_memory();
  }
  void * handle = dlopen(library, RTLD_LAZY);
  *found = handle == NULL ? NULL : dlsym(handle, name);
  free(name);
  if (*found != NULL) {
    return NULL;
  }
  const char * reason = dlerror();
  return strdup(reason != NULL ? reason : library);
}

char * vnd_find_message(
  const char * pkg, const char * part, const char * name, const rosidl_message_type_support_t ** support)
{
  char * types = NULL;
  if (asprintf(&types, "lib%s__rosidl_typesupport_c.so", pkg) < 0) {
    return no_memory();
  }
  void * handle = NULL;
  char * failed = symbol(
    &handle, types, "rosidl_typesupport_c__get_message_type_support_handle__%s__%s__%s", pkg, part, name);
  if (failed == NULL) {
    *support = ((const rosidl_message_type_support_t * (*)(void))handle)();
  }
  free(types);
  return failed;
}

static char * find_message_type(
  const char * types, const char * structs, const char * pkg, const char * part, const char * name, const char * which,
  struct vnd_message_type * h)
{
  void * handle = NULL;
  char * failed = symbol(
    &handle, types, "rosidl_typesupport_c__get_message_type_support_handle__%s__%s__%s_%s", pkg, part, name, which);
  if (failed == NULL) {
    h->support = ((const rosidl_message_type_support_t * (*)(void))handle)();
    failed = symbol((void **)&h->create, structs, "%s__%s__%s_%s__create", pkg, part, name, which);
  }
  if (failed == NULL) {
    failed = symbol((void **)&h->destroy, structs, "%s__%s__%s_%s__destroy", pkg, part, name, which);
  }
  return failed;
}

char * vnd_find_service(
  const char * pkg, const char * part, const char * name, const rosidl_service_type_support_t ** support,
  struct vnd_message_type * request, struct vnd_message_type * response)
{
  char * types = NULL;
  char * structs = NULL;
  char * failed = NULL;
  if (asprintf(&types, "lib%s__rosidl_typesupport_c.so", pkg) < 0 ||
    asprintf(&structs, "lib%s__rosidl_generator_c.so", pkg) < 0)
  {
    return no_memory();
  }
  void * handle = NULL;
  failed = symbol(
    &handle, types, "rosidl_typesupport_c__get_service_type_support_handle__%s__%s__%s", pkg, part, name);
  if (failed == NULL) {
    *support = ((const rosidl_service_type_support_t * (*)(void))handle)();
    failed = find_message_type(types, structs, pkg, part, name, "Request", request);
  }
  if (failed == NULL) {
    failed = find_message_type(types, structs, pkg, part, name, "Response", response);
  }
  free(types);
  free(structs);
  return failed;
}
