#pragma once

#include <csignal>
#include <memory>

#include "opdrift/base/parallel.hpp"

namespace opdrift::shell {

/// Ctrl-C while the shell runs: it sets a flag that commands look at, and breaks off reading. The
/// third one in a row ends the process. One at a time; the earlier handling comes back with its
/// end.
class Interrupts {
 public:
  Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

  /// A fresh flag, for the next line or command. The earlier one must not be used any more.
  const CancelFlag& renew();
  bool raised() const { return flag_->cancelled(); }

 private:
  std::unique_ptr<CancelFlag> flag_;
  struct sigaction before_ {};
};

}  // namespace opdrift::shell
