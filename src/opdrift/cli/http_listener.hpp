#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/cli/result_server.hpp"

namespace opdrift::cli {

/// A small HTTP/1.1 server on the loopback address (127.0.0.1), for a person at this machine.
/// Requests have no body and at most 16 kB of headers; a client that says nothing for 30 seconds is
/// dropped. `port` 0 takes a free one. `ready` is called with the port before the first request.
/// Returns when `cancel` is set. Fails when the port is taken.
Status listen_on_loopback(std::uint16_t port,
                          const std::function<HttpReply(const HttpRequest&)>& answer,
                          const std::function<void(std::uint16_t)>& ready,
                          const CancelFlag& cancel);

}  // namespace opdrift::cli
