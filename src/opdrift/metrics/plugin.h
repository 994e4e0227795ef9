#ifndef OPDRIFT_METRICS_PLUGIN_H_
#define OPDRIFT_METRICS_PLUGIN_H_

/* Algorithms of your own, as a shared object for opdrift. Plain C.
 *
 * The object exports one function, opdrift_plugin_entry. For every pair of tensors opdrift calls
 *
 *   create, add, add, ..., finish, destroy
 *
 * from one thread; several pairs may be in work at the same time on other threads, each with its
 * own state. Functions must not throw, exit or write to standard output.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when a struct below changes its meaning; fields are only ever added at the end. */
#define OPDRIFT_PLUGIN_ABI 1u

/* What is compared. Pointers are valid until create returns. */
/* NOLINTBEGIN(readability-identifier-naming): names as C has them */
typedef struct opdrift_pair_info {
  uint64_t count;           /* numbers that will be added; complex elements are two numbers */
  const uint64_t* shape;    /* of the target, outermost first */
  size_t rank;              /* length of shape */
  const char* golden_dtype; /* "float32", "bfloat16", ... */
  const char* target_dtype;
  const char* options; /* "key=value,key=value" as given by the user, "" when not */
} opdrift_pair_info;

typedef struct opdrift_plugin {
  uint32_t abi;        /* OPDRIFT_PLUGIN_ABI */
  const char* name;    /* column title: letters, digits and _ */
  const char* summary; /* one line for listings */

  /* The state of one pair; NULL when there is no memory. */
  void* (*create)(const opdrift_pair_info* info);

  /* `count` consecutive numbers of both sides; the first has flat index `first`. Every number comes
   * exactly once; the runs of a tensor in a device layout come in no promised order. NaN and
   * infinities are passed on. Anything but 0 ends the pair as failed. */
  int (*add)(void* state, const double* golden, const double* target, size_t count, uint64_t first);

  /* Writes the value to print and, if there is something to say, one line of message; both are
   * UTF-8 ended by a zero byte within the given sizes (at least 256) and come in as empty texts.
   * Anything but 0 marks the value as failed; the message then tells why. */
  int (*finish)(void* state, char* value, size_t value_bytes, char* message, size_t message_bytes);

  /* Called exactly once for every state, also after a failure. */
  void (*destroy)(void* state);
} opdrift_plugin;
/* NOLINTEND(readability-identifier-naming) */

/* Exported by the shared object; the struct lives as long as the object is loaded. */
const opdrift_plugin* opdrift_plugin_entry(void);

#ifdef __cplusplus
}
#endif

#endif /* OPDRIFT_METRICS_PLUGIN_H_ */
