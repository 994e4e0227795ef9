#include "opdrift/shell/input/interrupt.hpp"

#include <atomic>

namespace opdrift::shell {

namespace {

constexpr int kPatience = 3;

std::atomic<CancelFlag*> current{nullptr};
std::atomic<int> presses{0};

extern "C" void on_shell_interrupt(int number) {
  if (presses.fetch_add(1) + 1 >= kPatience) {
    std::signal(number, SIG_DFL);
    std::raise(number);
    return;
  }
  if (CancelFlag* flag = current.load()) {
    flag->cancel();
  }
}

}  // namespace

Interrupts::Interrupts() : flag_(std::make_unique<CancelFlag>()) {
  current.store(flag_.get());
  presses.store(0);
  struct sigaction action {};
  action.sa_handler = &on_shell_interrupt;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &before_);  // without SA_RESTART, so that reading is broken off
}

Interrupts::~Interrupts() {
  ::sigaction(SIGINT, &before_, nullptr);
  current.store(nullptr);
}

const CancelFlag& Interrupts::renew() {
  auto fresh = std::make_unique<CancelFlag>();
  current.store(fresh.get());
  presses.store(0);
  flag_ = std::move(fresh);
  return *flag_;
}

}  // namespace opdrift::shell
