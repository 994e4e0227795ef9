#include "opdrift/diagnose/bisect/local_bisect.hpp"

#include <memory>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift::diagnose {

namespace {

class Bisector {
 public:
  Bisector(const LocalBisectOptions& options, LocalProbes& probes)
      : options_(options), probes_(probes), plan_(probes.plan()) {}

  Result<LocalBisectReport> run() {
    const std::vector<std::size_t> stops = plan_.stops(options_.direction);
    report_.operators = plan_.order().size();
    for (const std::size_t stop : stops) {
      report_.cuts.push_back(name_at(stop));
    }
    const bool suffix = options_.direction == Direction::suffix;
    OPDRIFT_TRY(report_.whole, probes_.probe(plan_.part(options_.direction,
                                                        suffix ? 0 : plan_.order().size() - 1)));
    if (report_.whole.outcome != Outcome::bad) {
      return std::move(report_);
    }
    OPDRIFT_TRY(SearchAnswer answer, search(stops, false));
    std::vector<std::size_t> left = plan_.between(options_.direction, stops, answer);
    if (options_.inside && left.size() > 1) {
      OPDRIFT_TRY(answer, search(left, true));
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(answer.last) + 1, left.end());
      left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(answer.first));
    }
    for (const std::size_t position : left) {
      report_.suspects.push_back(suspect(probes_.piece(), plan_.order()[position]));
    }
    return std::move(report_);
  }

 private:
  const std::string& name_at(std::size_t position) const {
    return probes_.piece().graph.name(plan_.order()[position]);
  }

  Result<SearchAnswer> search(const std::vector<std::size_t>& positions, bool inside) {
    OPDRIFT_TRY(const SearchRun found, run_search(options_.direction, positions.size(),
                                                  [&](std::size_t cut) -> Result<Outcome> {
                                                    return probe(positions[cut], inside);
                                                  }));
    for (const auto& [bad, good] : found.answer.contradictions) {
      report_.notes.push_back("not monotone: bad at '" + printable(name_at(positions[bad])) +
                              "' though good at '" + printable(name_at(positions[good])) + "'");
    }
    return found.answer;
  }

  Result<Outcome> probe(std::size_t position, bool inside) {
    OPDRIFT_TRY(const ProbeResult result, probes_.probe(plan_.part(options_.direction, position)));
    report_.steps.push_back({name_at(position), result, inside});
    if (options_.progress) {
      options_.progress(report_.steps.back());
    }
    return result.outcome;
  }

  const LocalBisectOptions& options_;
  LocalProbes& probes_;
  const CutPlan& plan_;
  LocalBisectReport report_;
};

}  // namespace

Suspect suspect(const engine::Workpiece& piece, std::size_t node) {
  return {piece.graph.name(node), piece.dump_names[node], piece.node(node).op_type};
}

Result<LocalBisectReport> bisect_locally(const LocalBisectOptions& options) {
  OPDRIFT_TRY(const std::unique_ptr<LocalProbes> probes, LocalProbes::create(options.local));
  return Bisector(options, *probes).run();
}

}  // namespace opdrift::diagnose
