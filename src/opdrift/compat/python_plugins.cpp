#include "opdrift/compat/python_plugins.hpp"

#include <string_view>

#include "opdrift/io/dump_folder.hpp"

namespace opdrift::compat {

namespace {

struct PluginKind {
  std::string_view folder;
  std::string_view native;  ///< what opdrift has in its place
};

constexpr PluginKind kKinds[] = {
    {"algorithm", "opdrift compare --plugin FILE.so, as in examples/plugin"},
    {"format_convert", "opdrift convert --layout-plugin FILE.so, as in examples/layout_plugin"},
};

}  // namespace

Status refuse_python_plugins(const std::string& folder) {
  for (const PluginKind& kind : kKinds) {
    const std::string place = folder + "/" + std::string(kind.folder);
    const auto files = io::list_files(place);
    if (!files) {
      continue;
    }
    for (const std::string& name : *files) {
      if (name.ends_with(".py") || name.ends_with(".pyc")) {
        return Error{ErrorCode::invalid_argument,
                     "Python plug-ins are not run; the native form is " + std::string(kind.native),
                     place + "/" + name};
      }
    }
  }
  return Unit{};
}

}  // namespace opdrift::compat
