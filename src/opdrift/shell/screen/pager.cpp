#include "opdrift/shell/screen/pager.hpp"

#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace opdrift::shell {

namespace {

constexpr std::string_view kQuestion = "-- more: blank, enter, q --";

/// Keys one by one, as long as it lives.
class KeyMode {
 public:
  KeyMode() : active_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (active_) {
      struct termios keys = before_;
      keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      keys.c_cc[VMIN] = 1;
      keys.c_cc[VTIME] = 0;
      ::tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
    }
  }
  KeyMode(const KeyMode&) = delete;
  KeyMode& operator=(const KeyMode&) = delete;
  ~KeyMode() {
    if (active_) {
      ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
    }
  }

 private:
  struct termios before_ {};
  bool active_;
};

void show(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

PageAnswer ask_for_page() {
  show(kQuestion);
  char key = 0;
  ssize_t count = 0;
  {
    const KeyMode keys;
    count = ::read(STDIN_FILENO, &key, 1);
  }
  show("\r" + std::string(kQuestion.size(), ' ') + "\r");
  if (count != 1 || key == 'q' || key == 'Q') {
    return PageAnswer::stop;
  }
  return key == '\n' || key == '\r' ? PageAnswer::line : PageAnswer::page;
}

}  // namespace opdrift::shell
