#pragma once

#include <string>

#include "opdrift/base/parallel.hpp"
#include "opdrift/shell/graph/graph_store.hpp"
#include "opdrift/shell/screen/screen.hpp"
#include "opdrift/shell/workspace/workspace.hpp"

namespace opdrift::shell {

struct SessionSettings {
  /// A dump file belongs to an operator only when its path names the operator's graph; off, the
  /// folder does not matter.
  bool train = false;
  std::string graph_stage = "Build";  ///< of the graph dumps that are loaded
};

/// What commands work with. One thread at a time.
struct Session {
  Session(Workspace place, Screen& shown_on, SessionSettings given = {})
      : workspace(std::move(place)), screen(shown_on), settings(std::move(given)) {}

  Workspace workspace;
  Screen& screen;
  SessionSettings settings;
  GraphStore graphs;
  const CancelFlag* cancel = nullptr;  ///< of the command that runs
  bool leave = false;                  ///< set by `quit`

  /// True when the command should end early: Ctrl-C, or nobody reads on.
  bool stopping() const { return (cancel != nullptr && cancel->cancelled()) || screen.stopped(); }
};

}  // namespace opdrift::shell
