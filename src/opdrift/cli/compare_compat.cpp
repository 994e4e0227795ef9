#include "opdrift/cli/compare_compat.hpp"

#include <filesystem>
#include <system_error>

#include "opdrift/compat/msaccucmp.hpp"
#include "opdrift/compat/msprobe.hpp"
#include "opdrift/pipeline/msprobe/native_compare.hpp"

namespace opdrift::cli {

namespace {

using Words = std::vector<std::string>;

int run_as_msprobe(const CompatRequest& request, bool torchair) {
  Words words = {
      "compare", "--compat",     "--mode", torchair ? "torchair" : "auto", "-tp", request.target,
      "-gp",     request.golden, "--jobs", std::to_string(request.jobs)};
  if (!request.output.empty()) {
    words.insert(words.end(), {"-o", request.output});
  }
  return compat::run_msprobe(words);
}

int run_as_msaccucmp(const CompatRequest& request) {
  std::error_code error;
  const bool files = std::filesystem::is_regular_file(request.target, error) &&
                     std::filesystem::is_regular_file(request.golden, error);
  Words words = {files ? "file_compare" : "compare", "-m", request.target, "-g", request.golden};
  for (const std::string& graph : request.graphs) {
    words.insert(words.end(), {"-f", graph});
  }
  if (!request.output.empty()) {
    words.insert(words.end(), {"-out", request.output});
  }
  return compat::run_msaccucmp(words);
}

}  // namespace

int compare_as_reference(const CompatRequest& request) {
  switch (pipeline::msprobe_kind(request.target, request.golden)) {
    case pipeline::MsprobeKind::torchair: return run_as_msprobe(request, true);
    case pipeline::MsprobeKind::api_run: return run_as_msprobe(request, false);
    case pipeline::MsprobeKind::none: break;
  }
  return run_as_msaccucmp(request);
}

}  // namespace opdrift::cli
