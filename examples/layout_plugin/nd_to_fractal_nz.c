/* A layout conversion of one's own for opdrift: matrices of whole-byte elements into the
 * fractals of a matrix unit.
 *
 *   ND (..., rows, columns)  ->  FRACTAL_NZ (..., columns/C0, rows/16, 16, C0), zero filled
 *
 * with C0 = 32 for one-byte elements, else 16. Element (row, column) goes to
 * (column / C0, row / 16, row % 16, column % C0).
 */

#include <stdio.h>
#include <string.h>

#include "opdrift/tensor/layout_plugin.h"

enum { rows_of_fractal = 16 };

static uint64_t columns_of_fractal(const opdrift_layout_info* info) {
  return info->element_bytes == 1 ? 32 : 16;
}

static uint64_t divide_up(uint64_t value, uint64_t step) {
  return value / step + (value % step != 0);
}

static int result_shape(const opdrift_layout_info* info, uint64_t* shape, char* message,
                        size_t message_bytes) {
  const size_t rank = info->stored_rank;
  if (rank < 2 || rank + 2 > OPDRIFT_LAYOUT_MAX_RANK) {
    snprintf(message, message_bytes, "expected 2 to 14 dims, found %zu", rank);
    return -1;
  }
  memcpy(shape, info->stored_shape, (rank - 2) * sizeof(*shape));
  shape[rank - 2] = divide_up(info->stored_shape[rank - 1], columns_of_fractal(info));
  shape[rank - 1] = divide_up(info->stored_shape[rank - 2], rows_of_fractal);
  shape[rank] = rows_of_fractal;
  shape[rank + 1] = columns_of_fractal(info);
  return (int)rank + 2;
}

static int convert(const opdrift_layout_info* info, const void* stored, void* result, char* message,
                   size_t message_bytes) {
  const size_t bytes = info->element_bytes;
  const uint64_t rows = info->stored_shape[info->stored_rank - 2];
  const uint64_t columns = info->stored_shape[info->stored_rank - 1];
  const uint64_t width = columns_of_fractal(info);
  const uint64_t panel = divide_up(rows, rows_of_fractal) * rows_of_fractal * width;
  const uint64_t matrix = divide_up(columns, width) * panel;
  const unsigned char* from = stored;
  unsigned char* to = result;
  uint64_t matrices = 1;
  (void)message;
  (void)message_bytes;
  for (size_t i = 0; i + 2 < info->stored_rank; ++i) {
    matrices *= info->stored_shape[i];
  }
  for (uint64_t m = 0; m < matrices; ++m) {
    for (uint64_t row = 0; row < rows; ++row) {
      for (uint64_t column = 0; column < columns; ++column) {
        const uint64_t place = m * matrix + column / width * panel + row * width + column % width;
        memcpy(to + place * bytes, from + ((m * rows + row) * columns + column) * bytes, bytes);
      }
    }
  }
  return 0;
}

const opdrift_layout_plugin* opdrift_layout_plugin_entry(void) {
  static const opdrift_layout_plugin plugin = {
      OPDRIFT_LAYOUT_PLUGIN_ABI, "ND", "FRACTAL_NZ", "matrices into fractals of 16 rows",
      result_shape,              convert,
  };
  return &plugin;
}
