#include "opdrift/shell/commands/compare_all.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "opdrift/base/text.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/metrics/registry.hpp"
#include "opdrift/pipeline/folder_walk.hpp"
#include "opdrift/pipeline/network/compare.hpp"
#include "opdrift/pipeline/network/report.hpp"
#include "opdrift/report/msaccucmp_csv.hpp"
#include "opdrift/shell/commands/summary.hpp"

namespace opdrift::shell {

namespace {

/// One comparison to make.
struct Job {
  std::string left;
  std::string right;
  std::string graph;
};

/// A folder of results of its own, and numbers for the tables in it.
class Results {
 public:
  static Result<Results> make(const Workspace& workspace) {
    std::string stamp = time_stamp();
    std::string folder = workspace.path("temp/vector_compare/" + stamp);
    // A second comparison within the second takes the next free number.
    for (std::uint64_t next = parse_u64(stamp).value_or(0); is_folder(folder);) {
      stamp = std::to_string(++next);
      folder = workspace.path("temp/vector_compare/" + stamp);
    }
    OPDRIFT_CHECK_OK(make_folder(folder));
    return Results(folder, stamp);
  }

  const std::string& folder() const { return folder_; }
  std::string next_path() {
    const std::string number = written_ == 0 ? stamp_ : stamp_ + std::to_string(written_);
    ++written_;
    return folder_ + "/result_" + number + ".csv";
  }

 private:
  Results(std::string folder, std::string stamp)
      : folder_(std::move(folder)), stamp_(std::move(stamp)) {}

  std::string folder_;
  std::string stamp_;
  std::size_t written_ = 0;
};

std::vector<std::string> reference_algorithms() {
  std::vector<std::string> names;
  for (const metrics::Algorithm& algorithm : metrics::all_algorithms()) {
    if (algorithm.reference_index >= 0) {
      names.emplace_back(algorithm.name);
    }
  }
  return names;
}

/// True when a comparison was made.
Result<bool> compare(Session& session, const Job& job, Results& results) {
  const auto has_files = [](const std::string& folder) {
    const auto walk = pipeline::walk_folder(folder);
    return walk.has_value() && !walk->files.empty();
  };
  for (const std::string& folder : {job.left, job.right}) {
    if (!has_files(folder)) {
      session.screen.warn(folder + ": expected dump files, found an empty folder");
      return false;
    }
  }
  pipeline::NetworkOptions options;
  options.target_path = job.left;
  options.golden_path = job.right;
  options.graph_json = job.graph;
  options.algorithms = reference_algorithms();
  options.cancel = session.cancel;
  session.screen.note("Compare " + job.left + " with " + job.right +
                      (job.graph.empty() ? "" : " by " + job.graph));
  OPDRIFT_TRY(const pipeline::NetworkResult result, pipeline::compare_network(options));
  for (const std::string& warning : result.warnings) {
    session.screen.warn(warning);
  }
  const pipeline::MsaccucmpTable table = pipeline::msaccucmp_table(result, {});
  const std::string path = results.next_path();
  OPDRIFT_CHECK_OK(io::write_file(path, report::render_msaccucmp(table.columns, table.rows)));
  session.screen.print(Line{{"Result: "}, {path, Tone::green}});
  if (result.interrupted) {
    return Error{ErrorCode::cancelled, "interrupted"};
  }
  return true;
}

/// Leaf folder for each sub-graph that has one.
std::vector<Job> graph_jobs(Session& session, const std::string& dump) {
  const std::vector<GeGraph>& graphs = session.graphs.of(
      kDebugIds[0], session.workspace, session.settings.graph_stage, session.screen);
  const std::vector<std::string> leaves = leaf_folders(dump);
  std::vector<Job> jobs;
  std::set<std::pair<std::string, std::string>> taken;
  for (const GeGraph& file : graphs) {
    for (const SubGraph& graph : file.graphs) {
      for (const std::string& name : {graph.name, graph.name + "_0"}) {
        const std::string leaf = leaf_below(leaves, dump, name);
        if (!leaf.empty() && taken.emplace(leaf, file.path).second) {
          jobs.push_back({leaf, session.workspace.golden(), file.path});
        }
        if (!leaf.empty()) {
          break;
        }
      }
    }
  }
  if (jobs.empty() && leaves.size() == 1 && !graphs.empty()) {
    jobs.push_back({leaves.front(), session.workspace.golden(), graphs.front().path});
  }
  return jobs;
}

/// The two runs on the device, folder by folder of the same name.
std::vector<Job> run_jobs(const std::string& second, const std::string& first) {
  const std::vector<std::string> left = leaf_folders(second);
  const std::vector<std::string> right = leaf_folders(first);
  std::vector<Job> jobs;
  if (left.size() == 1 && right.size() == 1) {
    return {{left.front(), right.front(), ""}};
  }
  for (const std::string& folder : left) {
    const std::string partner = first + folder.substr(second.size());
    if (std::find(right.begin(), right.end(), partner) != right.end()) {
      jobs.push_back({folder, partner, ""});
    }
  }
  return jobs;
}

Status compare_jobs(Session& session, const std::vector<Job>& jobs) {
  OPDRIFT_TRY(Results results, Results::make(session.workspace));
  std::size_t made = 0;
  std::optional<Error> last;
  for (const Job& job : jobs) {
    const Result<bool> done = compare(session, job, results);
    if (!done.has_value()) {
      if (done.error().code == ErrorCode::cancelled) {
        return done.error();
      }
      session.screen.warn(done.error());
      last = done.error();
    }
    made += done.has_value() && *done ? std::size_t{1} : std::size_t{0};
  }
  if (made == 0) {
    std::error_code ignored;
    std::filesystem::remove(results.folder(), ignored);
    return Error{ErrorCode::not_found, "nothing could be compared"};
  }
  SummaryRequest summary;
  summary.path = results.folder();
  summary.most = 1;
  return show_summary(session, summary);
}

void collect_leaves(const std::filesystem::path& folder, int depth,
                    std::vector<std::string>& leaves) {
  constexpr int kMaxDepth = 30;
  const std::vector<std::string> inner = folders_in(folder.string());
  if (inner.empty()) {
    leaves.push_back(folder.string());
  }
  for (const std::string& name : inner) {
    if (depth < kMaxDepth) {
      collect_leaves(folder / name, depth + 1, leaves);
    }
  }
}

}  // namespace

std::vector<std::string> leaf_folders(const std::string& root) {
  std::vector<std::string> leaves;
  collect_leaves(root, 0, leaves);
  return leaves;
}

std::string leaf_below(const std::vector<std::string>& leaves, const std::string& root,
                       const std::string& name) {
  const std::string part = "/" + name + "/";
  for (const std::string& leaf : leaves) {
    if ((leaf.substr(std::min(root.size(), leaf.size())) + "/").find(part) != std::string::npos) {
      return leaf;
    }
  }
  return {};
}

Status compare_folders(Session& session, const std::string& left, const std::string& right,
                       const std::string& graph) {
  for (const std::string& folder : {left, right}) {
    if (!is_folder(folder)) {
      return Error{ErrorCode::not_found, "expected a folder of dumps", folder};
    }
  }
  return compare_jobs(session, {{left, right, graph}});
}

Status compare_everything(Session& session) {
  const std::optional<std::string> first =
      newest_folder(session.workspace.debug(kDebugIds[0], "dump"));
  if (!first) {
    return Error{ErrorCode::not_found, "expected a dump in a folder named by its time",
                 session.workspace.debug(kDebugIds[0], "dump")};
  }
  session.screen.note("Newest dump: " + *first);
  std::vector<Job> jobs = graph_jobs(session, *first);
  if (jobs.empty()) {
    session.screen.warn(*first +
                        ": expected a folder named like a graph; give folders with -lt and -rt");
  }
  if (const auto second = newest_folder(session.workspace.debug(kDebugIds[1], "dump"))) {
    const std::vector<Job> more = run_jobs(*second, *first);
    jobs.insert(jobs.end(), more.begin(), more.end());
  }
  return compare_jobs(session, jobs);
}

}  // namespace opdrift::shell
