#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/base/temporary_folder.hpp"

/// One operator with everything that shows what is wrong with it, as a folder or a zip of it:
///
///   repro.json       what it is and where it came from (docs/check-op.md)
///   README.txt       the same for people, and the command to run it again
///   operator.onnx    the operator alone, values named as in the network, weights included
///   golden/          a dump: the operator's inputs and outputs in the trusted run
///   target/          a dump: the same in the suspected run
///
/// Nothing else belongs in it. Bundles come from other people's mails: names that lead elsewhere,
/// links, members twice and sizes beyond the limits are refused before anything is written.
namespace opdrift::diagnose {

inline constexpr const char* kBundleDescription = "repro.json";
inline constexpr const char* kBundleReadme = "README.txt";
inline constexpr const char* kBundleModel = "operator.onnx";

/// True for a name that a bundle may have: one of the files, or a file in one of the two folders.
bool is_bundle_name(std::string_view name);

/// A bundle as a folder.
class OpenBundle {
 public:
  /// Unpacks a zip into a temporary folder that goes away with the object. Fails with not_found,
  /// wrong_kind (neither folder nor zip), malformed (names, links, missing parts), limit (more than
  /// 10,000 files or 8 GiB) and what unpacking may fail with.
  static Result<OpenBundle> open(const std::string& path);

  const std::string& folder() const { return folder_; }
  std::string file(std::string_view name) const { return folder_ + "/" + std::string(name); }

 private:
  OpenBundle() = default;

  std::string folder_;
  std::optional<TemporaryFolder> unpacked_;
};

/// Packs the files of a bundle's folder into a zip, which appears whole or not at all.
Status pack_bundle(const std::string& folder, const std::string& zip_path);

}  // namespace opdrift::diagnose
