#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/msprobe/run_log.hpp"

/// Folders of torchair dumps.
///
///   GE graph  dynamo_original_graph_<n>_rank_<R>_pid_<P>_ts_<T>.txt, up to five levels down
///   GE new    worldsize<W>_global_rank<R>/<14 digits>/<device>/<model>/<model id>/<token>/<file>
///   GE old    <14 digits>/<device>/<model>/<model id>/<token>/<file>
///   GE file   <type>.<name>.<task>.<stream>.<time>      the name may hold dots
///             <GE file>_min_max.npz                     reduced to smallest and largest values
///   FX new    worldsize<W>_global_rank<R>/<model>/<token>/<file>
///   FX old    [data_dump/]<token + 1>/gm_<time>_dump/<file>
///   FX file   <node>.(INPUT|OUTPUT).<index>.<time>[_min_max].npy
namespace opdrift::pipeline {

/// One operator of a GE dump.
struct GeFile {
  std::string path;
  std::string type;
  std::string name;
  std::string time;      ///< the part behind the last dot
  bool reduced = false;  ///< smallest and largest values only
};

struct GeToken {
  std::uint64_t id = 0;
  std::vector<GeFile> files;            ///< path order; one per operator name
  std::vector<std::string> superseded;  ///< paths of smaller files of the same operators
};

/// One node of an FX dump: paths by index.
struct FxNode {
  std::map<std::uint64_t, std::string> inputs;
  std::map<std::uint64_t, std::string> outputs;
};

struct FxToken {
  std::uint64_t id = 0;
  std::map<std::string, FxNode, std::less<>> nodes;
};

/// Tokens of one graph, in path order.
using GeGroup = std::vector<GeToken>;
using FxGroup = std::vector<FxToken>;

/// The rank a folder name tells: "worldsize2_global_rank1" -> 1.
std::optional<std::uint64_t> torchair_rank(const std::string& folder_name);

/// Rank folders of a root: rank -> path.
std::map<std::uint64_t, std::string> torchair_ranks(const std::string& root);

/// Graph files below a root, by their first number. `rank`: only those of this rank.
std::vector<std::string> graph_files(const std::string& root, std::optional<std::uint64_t> rank);

std::vector<GeGroup> scan_ge(const std::string& root, const RunLog& log);

/// `rank_folder`: the root is a rank's folder of the new layout.
std::vector<FxGroup> scan_fx(const std::string& root, bool rank_folder, const RunLog& log);

}  // namespace opdrift::pipeline
