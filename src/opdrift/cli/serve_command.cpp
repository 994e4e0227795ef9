#include <cstdint>
#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/http_listener.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/cli/result_server.hpp"

namespace opdrift::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift serve results/\n"
    "  opdrift serve . --port 8080\n"
    "\nLists the results (*.json) below DIR, opens them as pages and shows two or more beside\n"
    "each other: before and after a fix, steps, ranks. Only this machine can connect, and only\n"
    "result files below DIR are given out. Ctrl-C ends it.\n"
    "\nExit codes: 0 ended by Ctrl-C, 2 trouble.\n";

}  // namespace

int run_serve(std::span<const std::string> arguments) {
  CLI::App app("Shows the results below a folder in a browser.", "opdrift serve");
  std::string folder = ".";
  std::uint16_t port = 8317;
  app.footer(kFooter);
  app.add_option("DIR", folder, "folder with results")->capture_default_str();
  app.add_option("--port", port, "port on 127.0.0.1; 0: any free one")->capture_default_str();
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const Result<ResultServer> server = ResultServer::open(folder);
  if (!server) {
    return report_error(server.error());
  }
  const auto answer = [&](const HttpRequest& request) { return server->answer(request); };
  const auto ready = [](std::uint16_t taken) {
    write_output("serving on http://127.0.0.1:" + std::to_string(taken) + "/  (Ctrl-C ends it)\n");
  };
  const Status ended = listen_on_loopback(port, answer, ready, interrupt_flag());
  return ended ? kExitSame : report_error(ended.error());
}

}  // namespace opdrift::cli
