#include "opdrift/pipeline/network/ledger.hpp"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "opdrift/base/parallel.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::LedgerEntry;
using verdict::LedgerState;
using verdict::RunSide;

LedgerState state_of(RowState state) {
  switch (state) {
    case RowState::planned: return LedgerState::skipped;
    case RowState::compared: return LedgerState::compared;
    case RowState::equal: return LedgerState::equal;
    case RowState::unmatched: return LedgerState::unmatched;
    case RowState::unreadable:
    case RowState::misfit: return LedgerState::unreadable;
  }
  return LedgerState::ignored;
}

/// Of two things that happened to one tensor, the one that says more about it.
int weight(LedgerState state) {
  switch (state) {
    case LedgerState::compared: return 6;
    case LedgerState::equal: return 5;
    case LedgerState::unreadable: return 4;
    case LedgerState::skipped: return 3;
    case LedgerState::unmatched: return 2;
    default: return 1;
  }
}

/// The entries of one side, one per file and tensor.
class Book {
 public:
  Book(RunSide side, const DumpSide& dumps) : side_(side), dumps_(dumps) {}

  void add(const std::string& path, const std::string& tensor, LedgerState state,
           const std::string& reason) {
    const auto [place, added] = places_.try_emplace(path + '\n' + tensor, entries_.size());
    if (added) {
      entries_.push_back({side_, path, tensor, state, reason});
      paths_.insert(path);
      return;
    }
    LedgerEntry& entry = entries_[place->second];
    if (weight(state) > weight(entry.state)) {
      entry.state = state;
      entry.reason = reason;
    }
  }

  bool knows(const std::string& path) const { return paths_.contains(path); }

  /// Files that no row and no tensor stands for.
  std::vector<LedgerEntry> finish(const std::string& reason_for_rest) {
    for (const io::FolderEntry& entry : dumps_.folder().entries) {
      const bool sliced = entry.mode != io::SliceMode::normal;
      for (std::size_t f = 0; f < entry.files.size(); ++f) {
        const bool last = f + 1 == entry.files.size();
        if (!sliced && !last) {
          add(entry.files[f].path, "", LedgerState::superseded, "a later file of this operator");
        } else if (!sliced && !knows(entry.files[f].path)) {
          add(entry.files[f].path, "", LedgerState::unmatched, reason_for_rest);
        } else if (sliced && !knows(entry.files[f].path)) {
          add(entry.files[f].path, "", LedgerState::ignored, "one slice of " + entry.op_key);
        }
      }
    }
    for (const io::IgnoredFile& file : dumps_.folder().ignored) {
      add(dumps_.folder().path + "/" + file.name, "", LedgerState::ignored, file.reason);
    }
    return std::move(entries_);
  }

 private:
  RunSide side_;
  const DumpSide& dumps_;
  std::vector<LedgerEntry> entries_;
  std::unordered_map<std::string, std::size_t> places_;  // by path and tensor
  std::unordered_set<std::string> paths_;
};

void add_target(const NetworkRow& row, Book& target) {
  if (!row.whole_operator) {
    target.add(row.target.path, row.label(), state_of(row.state), row.reason);
  }
}

void add_golden(const NetworkRow& row, Book& golden) {
  if (row.golden.path.empty()) {
    return;
  }
  if (row.whole_operator) {
    golden.add(row.golden.path, "", state_of(row.state), row.reason);
  } else if (!row.golden_tensor.empty()) {
    golden.add(row.golden.path, row.golden_tensor, state_of(row.state), row.reason);
  }
}

}  // namespace

std::vector<LedgerEntry> network_ledger(const NetworkPlan& plan, const NetworkInputs& inputs,
                                        std::size_t jobs) {
  Book target(RunSide::target, *inputs.target);
  Book golden(RunSide::golden, *inputs.golden);
  const auto fill = [&](std::size_t side) {
    for (const NetworkRow& row : plan.rows) {
      if (side == 0) {
        add_target(row, target);
      } else {
        add_golden(row, golden);
      }
    }
  };
  parallel_for(2, jobs, fill);
  for (const UncomparedTensor& tensor : plan.uncompared) {
    const std::string& path = inputs.target->path_of(tensor.entry);
    const bool whole = tensor.label.empty();
    target.add(path, tensor.label, whole ? LedgerState::unmatched : LedgerState::ignored,
               tensor.reason);
  }
  std::vector<LedgerEntry> ledger = target.finish(
      inputs.by_graph ? (inputs.groups.empty() ? "the graph json does not know this operator"
                                               : "outside the selection or unknown to the graph")
                      : "not compared");
  std::vector<LedgerEntry> rest = golden.finish("no target tensor refers to it");
  std::move(rest.begin(), rest.end(), std::back_inserter(ledger));
  return ledger;
}

}  // namespace opdrift::pipeline
