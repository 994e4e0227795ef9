#ifndef OPDRIFT_TENSOR_LAYOUT_PLUGIN_H_
#define OPDRIFT_TENSOR_LAYOUT_PLUGIN_H_

/* Conversions between tensor layouts of your own, as a shared object for `opdrift convert`. Plain
 * C.
 *
 * The object exports one function, opdrift_layout_plugin_entry. For every tensor that is stored in
 * `from` and wanted in `to`, opdrift calls result_shape, then convert. The conversion takes the
 * place of opdrift's own between the same two layouts. Calls may come from several threads at a
 * time. Functions must not throw, exit or write to standard output.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when a struct below changes its meaning; fields are only ever added at the end. */
#define OPDRIFT_LAYOUT_PLUGIN_ABI 1u

/* Room for the extents of a result. */
#define OPDRIFT_LAYOUT_MAX_RANK 16u

/* The tensor at hand. Pointers are valid during the call. */
/* NOLINTBEGIN(readability-identifier-naming): names as C has them */
typedef struct opdrift_layout_info {
  const char* dtype;             /* "float16", "int8", ... */
  size_t element_bytes;          /* size of one element; types of less than a byte never come */
  const uint64_t* stored_shape;  /* of the data, outermost first, in layout `from` */
  size_t stored_rank;            /* length of stored_shape */
  const uint64_t* logical_shape; /* without padding, as recorded or as given by the user */
  size_t logical_rank;           /* length of logical_shape; 0 when it is not known */
  int32_t groups;                /* group count of a convolution, below 2: none */
} opdrift_layout_info;

typedef struct opdrift_layout_plugin {
  uint32_t abi;        /* OPDRIFT_LAYOUT_PLUGIN_ABI */
  const char* from;    /* layouts by the names opdrift and msaccucmp use: "NC1HWC0", "NCHW", ... */
  const char* to;      /* another one */
  const char* summary; /* one line for people */

  /* Writes the extents of the result, padding included, and returns how many there are, at most
   * OPDRIFT_LAYOUT_MAX_RANK. A negative number refuses the tensor; `message` (at least 256 bytes,
   * an empty text at first, UTF-8 ended by a zero byte) then tells why. */
  int (*result_shape)(const opdrift_layout_info* info, uint64_t* shape, char* message,
                      size_t message_bytes);

  /* Fills `result`, row-major, from `stored`, row-major. `result` comes zero filled and has
   * the elements that result_shape asked for. Anything but 0 fails; `message` tells why. */
  int (*convert)(const opdrift_layout_info* info, const void* stored, void* result, char* message,
                 size_t message_bytes);
} opdrift_layout_plugin;
/* NOLINTEND(readability-identifier-naming) */

/* Exported by the shared object; the struct lives as long as the object is loaded. */
const opdrift_layout_plugin* opdrift_layout_plugin_entry(void);

#ifdef __cplusplus
}
#endif

#endif /* OPDRIFT_TENSOR_LAYOUT_PLUGIN_H_ */
