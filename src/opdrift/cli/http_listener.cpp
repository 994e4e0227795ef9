#include "opdrift/cli/http_listener.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace opdrift::cli {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Answer = std::function<HttpReply(const HttpRequest&)>;

constexpr auto kPatience = std::chrono::seconds(30);
constexpr auto kCancelPoll = std::chrono::milliseconds(100);
constexpr std::uint32_t kMostHeaderBytes = 16 * 1024;

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

/// One connection: reads a request, writes the reply, again while the client keeps it open.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, const Answer& answer) : stream_(std::move(socket)), answer_(answer) {}

  void read() {
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(std::uint64_t{0});
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code problem, std::size_t) {
                       if (!problem) {
                         self->reply();
                       }
                     });
  }

 private:
  void reply() {
    const auto& request = parser_->get();
    HttpReply reply = answer_({view_of(request.method_string()), view_of(request.target()),
                               view_of(request[http::field::host])});
    response_ = {};
    response_.version(request.version());
    response_.result(reply.status);
    response_.set(http::field::content_type, reply.type);
    // Results change, and nobody else shall read or embed them.
    response_.set(http::field::cache_control, "no-store");
    response_.set(http::field::x_frame_options, "DENY");
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set("Cross-Origin-Resource-Policy", "same-origin");
    response_.set("Referrer-Policy", "no-referrer");
    response_.keep_alive(request.keep_alive());
    response_.content_length(reply.body.size());
    if (request.method() != http::verb::head) {
      response_.body() = std::move(reply.body);
    }
    stream_.expires_after(kPatience);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](error_code problem, std::size_t) {
                        if (!problem && self->response_.keep_alive()) {
                          self->read();
                        } else {
                          self->close();
                        }
                      });
  }

  void close() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
  }

  beast::tcp_stream stream_;
  const Answer& answer_;
  beast::flat_buffer buffer_{kMostHeaderBytes * 2};
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
};

class Listener {
 public:
  Listener(const Answer& answer, const CancelFlag& cancel) : answer_(answer), cancel_(cancel) {}

  Result<std::uint16_t> open(std::uint16_t port) {
    const tcp::endpoint place(asio::ip::address_v4::loopback(), port);
    error_code problem;
    acceptor_.open(place.protocol(), problem);
    if (!problem) {
      acceptor_.set_option(asio::socket_base::reuse_address(true), problem);
    }
    if (!problem) {
      acceptor_.bind(place, problem);
    }
    if (!problem) {
      acceptor_.listen(asio::socket_base::max_listen_connections, problem);
    }
    if (problem) {
      return Error{
          ErrorCode::invalid_argument,
          "cannot listen on 127.0.0.1, port " + std::to_string(port) + ": " + problem.message()};
    }
    return acceptor_.local_endpoint(problem).port();
  }

  void run() {
    accept();
    watch();
    context_.run();
  }

 private:
  void accept() {
    accepting_ = true;
    acceptor_.async_accept([this](error_code problem, tcp::socket socket) {
      accepting_ = !problem;
      if (!problem) {
        std::make_shared<Session>(std::move(socket), answer_)->read();
        accept();
      }
    });
  }

  /// A signal handler may only set a flag, so the flag is looked at. After a failure (too many open
  /// files, say) accepting begins again.
  void watch() {
    timer_.expires_after(kCancelPoll);
    timer_.async_wait([this](error_code) {
      if (cancel_.cancelled()) {
        context_.stop();
        return;
      }
      if (!accepting_) {
        accept();
      }
      watch();
    });
  }

  const Answer& answer_;
  const CancelFlag& cancel_;
  bool accepting_ = false;
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer timer_{context_};
};

}  // namespace

Status listen_on_loopback(std::uint16_t port, const Answer& answer,
                          const std::function<void(std::uint16_t)>& ready,
                          const CancelFlag& cancel) {
  Listener listener(answer, cancel);
  OPDRIFT_TRY(const std::uint16_t taken, listener.open(port));
  ready(taken);
  listener.run();
  return Unit{};
}

}  // namespace opdrift::cli
