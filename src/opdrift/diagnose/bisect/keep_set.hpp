#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/bisect/local_bisect.hpp"

/// Which operators have to stay in f32 so that a network of reduced precision passes.
///
///   ddmin  K = everything, n = 2; while |K| > 1:
///          K in n parts of nearly equal size
///          a part passes            K = that part, n = 2
///          K without a part passes  K = that, n = max(n - 1, 2)
///          else                     n = 2 n, or the end when n is |K| already
///          (A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002)
///
/// The result passes, and leaving out any single member does not; a smaller set elsewhere is not
/// ruled out.
namespace opdrift::diagnose {

/// Tests a set, ascending positions: true when it passes.
using SetTest = std::function<Result<bool>(const std::vector<std::size_t>&)>;

struct MinimalSet {
  std::vector<std::size_t> members;
  std::size_t tests = 0;
  bool minimal = true;  ///< false when `max_tests` ended the search
};

/// Shrinks {0 ... count-1}, which is taken to pass, while the empty set is taken not to.
Result<MinimalSet> minimise_set(std::size_t count, const SetTest& passes, std::size_t max_tests);

struct KeepOptions {
  LocalOptions local;  ///< `target` is the setup of reduced precision
  std::size_t max_tests = 500;
  std::string output_folder;  ///< for the files; "" writes none
  std::function<void(std::size_t kept, const ProbeResult&)> progress;
};

struct KeepReport {
  ProbeResult none;  ///< with nothing kept; good: nothing has to be
  ProbeResult all;   ///< with everything kept; not good: precision is not what is wrong
  std::size_t operators = 0;
  std::vector<Suspect> kept;
  std::size_t tests = 0;
  bool minimal = true;
  std::vector<std::string> files;  ///< keep_dtype.cfg and customize_dtypes.cfg
};

/// Searches and writes, for atc,
///
///   keep_dtype.cfg       one operator name a line
///   customize_dtypes.cfg name::InputDtype:<types>,OutputDtype:<types> a line, types in order
///
/// Fails as LocalProbes does and with write_failed.
Result<KeepReport> find_kept(const KeepOptions& options);

}  // namespace opdrift::diagnose
