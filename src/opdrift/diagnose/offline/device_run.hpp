#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/diagnose/offline/failure.hpp"
#include "opdrift/diagnose/offline/shape_range.hpp"
#include "opdrift/graph/graph.hpp"

/// What only a machine with the device, or its compiler, can do. Where the programs are installed
/// they are run; elsewhere their commands go to a script, and the comparison goes on when it is
/// started again after somebody ran that:
///
///   dumps    python3 -m ais_bench, else msame     <folder>.acl.json switches dumping on
///   models   atc
///
/// Logs are kept beside what a program makes, as `<...>.log`.
namespace opdrift::diagnose::offline {

/// A run of an offline model that leaves dumps and outputs below `folder`.
struct DeviceStep {
  std::string title;                     ///< "dumps of the target model"
  std::string model;                     ///< path
  std::vector<std::string> model_names;  ///< for the list of models to dump
  std::string folder;
  std::vector<std::string> inputs;   ///< bin files
  std::vector<std::string> dynamic;  ///< further words, see dynamic_words
  std::string device = "0";
  bool dump = true;  ///< false: net outputs only
};

/// A model to be built.
struct BuildStep {
  std::string title;
  std::vector<std::string> words;  ///< atc and its options
  std::string folder;              ///< the one .om below it is the result

  /// What --output makes of it.
  std::string model() const;
};

/// How building and running one of many parts went.
struct Trial {
  std::string found;    ///< the dumps or outputs; "" while it waits, and when it failed
  std::string problem;  ///< why there will be none; "" otherwise
};

/// Words that tell a model with changing shapes which one to run:
///
///   batch   --dymBatch N        N: what `shapes` puts at every -1 of the model's --input_shape
///   image   --dymHW h,w         dims  --dymDims shapes      shape  --dymShape shapes
///   and     --outputSize n,n    bytes per output, 90000000 each unless given
///
/// Nothing for a fixed model. Fails with bad_parameter when shapes are missing, give more than one
/// batch, or the count of sizes is not that of the outputs.
Outcome<std::vector<std::string>> dynamic_words(const graph::Graph& model,
                                                const std::string& shapes,
                                                const std::string& output_sizes);

/// The compiler: `<tool kit>/bin/atc`, `<tool kit>/compiler/bin/atc`, else the one in PATH.
std::string atc_program(const std::string& tool_kit);

/// Runs steps, or remembers them for the script.
class DeviceSession {
 public:
  using Log = std::function<void(const std::string&)>;

  /// `folder` is where the script goes; paths below it are written relative to it.
  DeviceSession(std::string folder, const CancelFlag* cancel, Log log)
      : folder_(std::move(folder)), cancel_(cancel), log_(std::move(log)) {}

  /// The folder with the dumps (without `dump`: with the outputs), made now if need be; "" when it
  /// has to wait. Fails with program (it ended badly) or no_dump_file (it left none).
  Outcome<std::string> dumps(const DeviceStep& step);

  /// The path of the model; "" when it has to wait. Fails with atc_failed.
  Outcome<std::string> model(const BuildStep& step);

  /// Builds a model and runs it, `run.model` being the result. That it fails is no error of the
  /// whole: in the script each trial has its own, `<folder of the build>/run.sh`, and goes on.
  Outcome<Trial> trial(const BuildStep& build, DeviceStep run);

  bool waiting() const { return !script_.empty(); }

  /// Writes `<folder>/run_on_device.sh`; `again` is the command to repeat afterwards.
  Done write_script(const std::string& again) const;

 private:
  std::string relative(const std::string& path) const;
  std::vector<std::string> run_words(const DeviceStep& step, bool msame, bool script) const;
  void remember(const DeviceStep& step);
  Done remember_trial(const BuildStep& build, const std::string& commands);
  Done run(const std::vector<std::string>& words, const std::string& log_path, Number number) const;

  std::string folder_;
  const CancelFlag* cancel_;
  Log log_;
  std::string script_;
};

}  // namespace opdrift::diagnose::offline
