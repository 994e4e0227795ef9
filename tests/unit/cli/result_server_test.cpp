#include "opdrift/cli/result_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include "unit/pipeline/dump_testing.hpp"
#include <nlohmann/json.hpp>

#include "opdrift/cli/http_listener.hpp"
#include "opdrift/report/report.hpp"

namespace opdrift::cli {
namespace {

constexpr std::string_view kHere = "localhost:8317";

class Serve : public testing::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    verdict::RunResult result;
    result.target_path = "npu";
    result.tensors.emplace_back();
    result.tensors[0].operator_name = "conv";
    result.tensors[0].role = "output";
    write("root/run 1/result.json", report::render_json(result));
    write("root/结果.json", report::render_json(result));
    write("root/other.json", "{}");
    write("root/secret.txt", "secret");
    write("outside.json", report::render_json(result));
    std::filesystem::create_symlink(path("outside.json"), path("root/link.json"));
    std::filesystem::create_directory_symlink(path(""), path("root/up"));
  }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  HttpReply get(std::string_view target, std::string_view host = kHere) const {
    const auto server = ResultServer::open(path("root"));
    EXPECT_TRUE(server) << server.error().to_string();
    return server->answer({"GET", target, host});
  }
};

std::string data_of(const std::string& html) {
  const std::string open = "type=\"application/json\">";
  const std::size_t begin = html.find(open) + open.size();
  return html.substr(begin, html.find("</script>", begin) - begin);
}

TEST_F(Serve, TheListHoldsTheResultsAndNothingElse) {
  const HttpReply reply = get("/");
  EXPECT_EQ(reply.status, 200U);
  const auto page = nlohmann::json::parse(data_of(reply.body));
  EXPECT_EQ(page["kind"], "list");
  std::vector<std::string> paths;
  for (const auto& result : page["results"]) {
    paths.push_back(result["path"]);
  }
  EXPECT_EQ(paths, (std::vector<std::string>{"run 1/result.json", "结果.json"}));
  EXPECT_EQ(page["results"][0]["target"], "npu");
  EXPECT_EQ(page["results"][0]["outcome"], "fail");
}

TEST_F(Serve, ResultsOpenAsPagesAndAsTheyAre) {
  EXPECT_NE(get("/report/run%201/result.json").body.find("conv"), std::string::npos);
  EXPECT_NE(get("/report/%E7%BB%93%E6%9E%9C.json").body.find("conv"), std::string::npos);
  const HttpReply json = get("/json/run%201/result.json");
  EXPECT_EQ(json.type, "application/json");
  EXPECT_NE(json.body.find("opdrift-result/1"), std::string::npos);
  EXPECT_EQ(get("/report/other.json").status, 500U);
}

TEST_F(Serve, TwoResultsAreTwoRuns) {
  const HttpReply reply = get("/trends?r=run%201/result.json&r=%E7%BB%93%E6%9E%9C.json");
  EXPECT_EQ(reply.status, 200U);
  const auto page = nlohmann::json::parse(data_of(reply.body));
  EXPECT_EQ(page["kind"], "trends");
  EXPECT_EQ(page["runs"][0]["name"], "run 1/result.json");
  EXPECT_EQ(page["runs"][1]["name"], "结果.json");
  EXPECT_EQ(get("/trends").status, 400U);
  EXPECT_EQ(get("/trends?r=missing.json").status, 404U);
}

TEST_F(Serve, NothingOutsideTheFolderIsGivenOut) {
  for (const char* target :
       {"/json/../outside.json", "/json/%2e%2e/outside.json", "/json/..%2foutside.json",
        "/json/link.json", "/json/up/outside.json", "/json/secret.txt", "/json//etc/passwd",
        "/json/%2fetc%2fpasswd", "/json/other.json%00", "/json/%zz", "/json/", "/json/up",
        "/report/../outside.json", "/trends?r=../outside.json", "/nothing"}) {
    EXPECT_EQ(get(target).status, 404U) << target;
  }
}

TEST_F(Serve, OnlyRequestsToThisMachineAreAnswered) {
  EXPECT_EQ(get("/", "127.0.0.1:80").status, 200U);
  EXPECT_EQ(get("/", "[::1]:8317").status, 200U);
  EXPECT_EQ(get("/", "LOCALHOST").status, 200U);
  for (const char* host : {"", "evil.example", "localhost.evil.example:8317", "evil.example:8317",
                           "127.0.0.1.evil.example", "localhost:8317:1", "user@localhost"}) {
    EXPECT_EQ(get("/", host).status, 403U) << host;
  }
}

TEST_F(Serve, NothingCanBeChanged) {
  const auto server = ResultServer::open(path("root"));
  ASSERT_TRUE(server);
  EXPECT_EQ(server->answer({"POST", "/", kHere}).status, 405U);
  EXPECT_EQ(server->answer({"DELETE", "/json/other.json", kHere}).status, 405U);
}

TEST_F(Serve, AFolderThatIsNotThereIsAnError) {
  const auto server = ResultServer::open(path("missing"));
  ASSERT_FALSE(server);
  EXPECT_NE(server.error().to_string().find("missing"), std::string::npos);
}

/// Sends `request` to a port of this machine and returns all that comes back.
std::string exchange(std::uint16_t port, const std::string& request) {
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(client);
    return "not connected";
  }
  EXPECT_EQ(::send(client, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  std::string reply;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::recv(client, buffer.data(), buffer.size(), 0)) > 0;) {
    reply.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(client);
  return reply;
}

/// A listener in a thread of its own.
class Listening {
 public:
  explicit Listening(std::function<HttpReply(const HttpRequest&)> answer) {
    std::promise<std::uint16_t> ready;
    auto port = ready.get_future();
    thread_ = std::thread([this, answer = std::move(answer), ready = std::move(ready)]() mutable {
      ended_ = static_cast<bool>(listen_on_loopback(
          0, answer, [&](std::uint16_t taken) { ready.set_value(taken); }, cancel_));
    });
    port_ = port.get();
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() {
    cancel_.cancel();
    thread_.join();
    EXPECT_TRUE(ended_);
  }
  std::uint16_t port() const { return port_; }

 private:
  CancelFlag cancel_;
  std::atomic<bool> ended_{false};
  std::uint16_t port_ = 0;
  std::thread thread_;
};

HttpReply echo(const HttpRequest& request) {
  return {.body = std::string(request.method) + " " + std::string(request.target) + " " +
                  std::string(request.host)};
}

TEST(HttpListener, AnswersAndTellsBrowsersToKeepItToThemselves) {
  const Listening server(&echo);
  const std::string reply = exchange(
      server.port(), "GET /a?b HTTP/1.1\r\nHost: localhost:1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(reply.substr(0, 15), "HTTP/1.1 200 OK");
  EXPECT_NE(reply.find("\r\n\r\nGET /a?b localhost:1"), std::string::npos) << reply;
  EXPECT_NE(reply.find("Cache-Control: no-store"), std::string::npos);
  EXPECT_NE(reply.find("X-Frame-Options: DENY"), std::string::npos);
}

TEST(HttpListener, OneConnectionMayAskAgain) {
  const Listening server(&echo);
  const std::string reply =
      exchange(server.port(),
               "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\nConnection: "
               "close\r\n\r\n");
  EXPECT_NE(reply.find("GET /1 h"), std::string::npos);
  EXPECT_NE(reply.find("GET /2 h"), std::string::npos);
}

TEST(HttpListener, WhatIsNoRequestEndsTheConnection) {
  const Listening server(&echo);
  EXPECT_EQ(exchange(server.port(), "\x16\x03\x01 nonsense\r\n\r\n"), "");
  const std::string long_header = "GET / HTTP/1.1\r\nA: " + std::string(100'000, 'x') + "\r\n\r\n";
  EXPECT_EQ(exchange(server.port(), long_header).find("200 OK"), std::string::npos);
  EXPECT_EQ(exchange(server.port(), "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
                .find("200 OK"),
            std::string::npos);
  EXPECT_NE(exchange(server.port(), "GET /1 HTTP/1.0\r\nHost: h\r\n\r\n").find("GET /1 h"),
            std::string::npos);
}

TEST(HttpListener, ATakenPortIsNamed) {
  const Listening server(&echo);
  const CancelFlag cancel;
  const Status second = listen_on_loopback(
      server.port(), &echo, [](std::uint16_t) {}, cancel);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().to_string().find(std::to_string(server.port())), std::string::npos);
}

}  // namespace
}  // namespace opdrift::cli
