/* An algorithm of one's own for opdrift: the mean of |log2(|target| / |golden|)| over elements where
 * both are finite and not zero. It tells how many binades the sizes are apart, whatever the signs.
 *
 * Option `limit=X`: values above X get a message.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opdrift/metrics/plugin.h"

struct state {
  double sum;
  uint64_t used;
  double limit;
};

static void* create(const opdrift_pair_info* info) {
  struct state* state = calloc(1, sizeof(*state));
  if (state != NULL) {
    const char* limit = strstr(info->options, "limit=");
    state->limit = limit == NULL ? HUGE_VAL : strtod(limit + strlen("limit="), NULL);
  }
  return state;
}

static int add(void* opaque, const double* golden, const double* target, size_t count,
               uint64_t first) {
  struct state* state = opaque;
  (void)first;
  for (size_t i = 0; i < count; ++i) {
    if (isfinite(golden[i]) && isfinite(target[i]) && golden[i] != 0.0 && target[i] != 0.0) {
      state->sum += fabs(log2(fabs(target[i])) - log2(fabs(golden[i])));
      ++state->used;
    }
  }
  return 0;
}

static int finish(void* opaque, char* value, size_t value_bytes, char* message,
                  size_t message_bytes) {
  const struct state* state = opaque;
  if (state->used == 0) {
    snprintf(message, message_bytes, "no element is finite and not zero on both sides");
    return 1;
  }
  const double mean = state->sum / (double)state->used;
  snprintf(value, value_bytes, "%.6f", mean);
  if (!(mean <= state->limit)) {
    snprintf(message, message_bytes, "above the limit of %g", state->limit);
  }
  return 0;
}

static void destroy(void* opaque) {
  free(opaque);
}

const opdrift_plugin* opdrift_plugin_entry(void) {
  static const opdrift_plugin plugin = {
      OPDRIFT_PLUGIN_ABI, "MeanLogRatio", "mean |log2(|target| / |golden|)|",
      create,             add,            finish,
      destroy,
  };
  return &plugin;
}
