#include "opdrift/cli/convert_watch.hpp"

#include <chrono>
#include <string_view>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/pipeline/stats/watch_stats.hpp"

namespace opdrift::cli {

namespace {

using pipeline::WatchEvent;

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000.0));
}

void tell(std::string_view path, WatchEvent event, std::string_view reason) {
  const char* word = "";
  switch (event) {
    case WatchEvent::recorded: word = "recorded  "; break;
    case WatchEvent::deleted: word = "deleted   "; break;
    case WatchEvent::failed: word = "failed    "; break;
    case WatchEvent::resumed:
    case WatchEvent::ignored: return;
  }
  const std::string why = reason.empty() ? std::string() : ": " + printable(reason);
  write_output(word + printable(path) + why + "\n");
}

std::string summary_of(const pipeline::WatchOutcome& outcome) {
  std::string text = std::to_string(outcome.recorded) + " recorded, ";
  if (outcome.resumed > 0) {
    text += std::to_string(outcome.resumed) + " recorded before, ";
  }
  text += std::to_string(outcome.deleted) + " deleted, ";
  if (outcome.ignored > 0) {
    text += std::to_string(outcome.ignored) + " no tensor files, ";
  }
  return text + std::to_string(outcome.failed) + " failed\n";
}

}  // namespace

int watch_folder(const WatchRequest& request) {
  pipeline::WatchOptions options;
  options.folder = request.folder;
  options.output_folder = request.output;
  options.delete_source = request.delete_source;
  options.settle = milliseconds(request.settle_s);
  options.idle_limit = milliseconds(request.idle_s);
  options.cancel = &interrupt_flag();
  options.report = &tell;
  if (request.idle_s <= 0.0) {
    std::fprintf(stderr, "following %s; Ctrl-C ends\n", printable(request.folder).c_str());
  }
  const auto outcome = pipeline::watch_stats(options);
  if (!outcome) {
    return report_error(outcome.error());
  }
  const bool written = write_output(summary_of(*outcome));
  return written && outcome->failed == 0 ? kExitSame : kExitTrouble;
}

}  // namespace opdrift::cli
