// Compiled once per instruction set by foreach_target.h; each pass fills the namespace of its
// target. Choice among them: levels.cpp, through the table at the end.

#include "opdrift/metrics/kernels/vector_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "opdrift/metrics/kernels/vector_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "opdrift/metrics/kernels/classes-inl.h"
#include "opdrift/metrics/kernels/convert-inl.h"
#include "opdrift/metrics/kernels/kl-inl.h"
#include "opdrift/metrics/kernels/shape-inl.h"
#include "opdrift/metrics/kernels/sums-inl.h"
#include "opdrift/metrics/kernels/ulp-inl.h"
#include "opdrift/metrics/kernels/wide-inl.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

const KernelTable& table() {
  static constexpr KernelTable kTable = {
      &widen_f16,    &widen_bf16,   &sums,       &shape,           &ulp16<true>,
      &ulp16<false>, &ulp32,        &find_large, &centred_squares, &split_classes,
      &kl,           &all_finite64, &sums64,     &shape64,         &centred_squares64,
  };
  return kTable;
}

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace opdrift::metrics::kernels {

std::vector<Level> vector_levels() {
  std::vector<Level> levels;
  [[maybe_unused]] const auto add = [&](std::string_view name, std::int64_t target,
                                        const KernelTable& (*table)()) {
    if ((hwy::SupportedTargets() & target) != 0) {
      levels.push_back({name, &table()});
    }
  };
#if HWY_TARGETS & HWY_NEON
  add("neon", HWY_NEON, &N_NEON::table);
#endif
#if HWY_TARGETS & HWY_SSE4
  add("sse4", HWY_SSE4, &N_SSE4::table);
#endif
#if HWY_TARGETS & HWY_AVX2
  add("avx2", HWY_AVX2, &N_AVX2::table);
#endif
#if HWY_TARGETS & HWY_AVX3
  add("avx3", HWY_AVX3, &N_AVX3::table);
#endif
  return levels;
}

}  // namespace opdrift::metrics::kernels
#endif
