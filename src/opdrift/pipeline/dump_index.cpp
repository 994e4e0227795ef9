#include "opdrift/pipeline/dump_index.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/dump_manifest.hpp"
#include "opdrift/io/registry.hpp"
#include "opdrift/pipeline/folder_walk.hpp"
#include "opdrift/pipeline/tensor_naming.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::LedgerEntry;
using verdict::LedgerState;
using verdict::RunSide;

/// Files of more tensors stay open between indexing and loading; smaller ones are opened again.
constexpr std::size_t kContainerFrom = 16;

constexpr std::string_view kRecordFormat = "statistics";
constexpr std::string_view kTableFormat = "statistics table";

/// What reading one file gave.
struct IndexedFile {
  std::vector<IndexedTensor> tensors;
  std::vector<LedgerEntry> ledger;
  std::string format;
};

/// Files that stand beside dumps and hold no tensor.
bool is_companion(std::string_view name) {
  constexpr std::array<std::string_view, 5> kEndings = {".json", ".csv", ".log", ".md", ".lock"};
  return name == "convert_failed_file_list.txt" ||
         std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
           return name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending;
         });
}

/// No reader takes the file: harmless for a stray file, a damaged tensor where the name promises
/// one.
LedgerState state_of(const Error& error, std::string_view name) {
  return error.code == ErrorCode::unsupported && !promises_tensor(name) ? LedgerState::ignored
                                                                        : LedgerState::unreadable;
}

class Indexer {
 public:
  Indexer(std::string path, RunSide side, const IndexOptions& options)
      : path_(std::move(path)), side_(side), options_(options) {}

  Result<DumpIndex> run() {
    OPDRIFT_TRY(walk_, walk_folder(path_));
    OPDRIFT_CHECK_OK(read_tables());
    std::vector<IndexedFile> files(walk_.files.size());
    parallel_for(files.size(), options_.jobs, [&](std::size_t i) { files[i] = index_file(i); });
    return gather(files);
  }

 private:
  /// mapping.csv and manifest.json of every folder that has one.
  Status read_tables() {
    for (const WalkedFile& file : walk_.files) {
      const std::string folder = file.path.substr(0, file.path.size() - file.name.size());
      if (file.name == io::kMappingFileName) {
        OPDRIFT_TRY(mappings_[file.step], io::read_name_mapping(folder));
      } else if (file.name == io::kManifestFileName) {
        auto manifest = io::read_dump_manifest(file.path);
        if (manifest) {
          manifests_[file.step] = std::move(*manifest);
        } else {
          index_.ledger.push_back(
              {side_, file.path, "", LedgerState::unreadable, manifest.error().to_string()});
        }
      }
    }
    return Unit{};
  }

  std::string real_name(const WalkedFile& file) const {
    const auto mapping = mappings_.find(file.step);
    if (mapping != mappings_.end()) {
      const std::string_view real = mapping->second.lookup(file.name);
      if (!real.empty()) {
        return std::string(real);
      }
    }
    return file.name;
  }

  IndexedFile index_file(std::size_t position) const {
    const WalkedFile& file = walk_.files[position];
    IndexedFile indexed;
    const bool table = file.name.ends_with(".json") || file.name.ends_with(".csv");
    if (table && is_stats_file(file.path)) {
      index_statistics(file, indexed);
      return indexed;
    }
    if (is_companion(file.name)) {
      indexed.ledger.push_back(
          {side_, file.path, "", LedgerState::ignored, "holds no tensor (table or log)"});
      return indexed;
    }
    auto opened = io::open_file(file.path);
    if (!opened) {
      indexed.ledger.push_back({side_, file.path, "", state_of(opened.error(), real_name(file)),
                                opened.error().message});
      return indexed;
    }
    indexed.format = std::string(opened->format);
    const bool container = opened->tensors.size() >= kContainerFrom;
    const auto dump = std::make_shared<const io::FileDump>(std::move(*opened));
    for (std::size_t i = 0; i < dump->tensors.size(); ++i) {
      add_tensor(file, *dump, i, indexed);
      if (container && !indexed.tensors.empty()) {
        indexed.tensors.back().container = dump;
      }
    }
    if (dump->tensors.empty()) {
      const bool odd = !dump->warnings.empty();
      indexed.ledger.push_back({side_, file.path, "",
                                odd ? LedgerState::unreadable : LedgerState::ignored,
                                odd ? dump->warnings.front() : "readable, but holds no tensor"});
    }
    return indexed;
  }

  /// Records of files that are gone, tables of dumps that were not kept.
  void index_statistics(const WalkedFile& file, IndexedFile& indexed) const {
    const auto ignore = [&](LedgerState state, std::string reason) {
      indexed.ledger.push_back({side_, file.path, "", state, std::move(reason)});
    };
    if (file.name.ends_with(kStatsSuffix) &&
        is_there(file.path.substr(0, file.path.size() - kStatsSuffix.size()))) {
      ignore(LedgerState::ignored, "statistics of a file that is here");
      return;
    }
    const auto record = read_stats_record(file.path);
    if (!record) {
      ignore(LedgerState::unreadable, record.error().to_string());
      return;
    }
    const bool table = record->name.empty();
    indexed.format = table ? kTableFormat : kRecordFormat;
    // The tensors of a record are named as if their file were here.
    const WalkedFile source{file.path, file.step, table ? file.name : record->name};
    io::FileDump dump;
    dump.op_name = record->op_name;
    for (const TensorRecord& tensor : record->tensors) {
      io::FileTensor described;
      described.role = tensor.role;
      described.index = tensor.index;
      described.name = tensor.name;
      described.desc.shape = tensor.shape;
      described.desc.dtype = tensor::dtype_by_name(tensor.dtype).value_or(tensor::DType::raw);
      dump.tensors.push_back(std::move(described));
    }
    for (std::size_t i = 0; i < dump.tensors.size(); ++i) {
      const std::size_t before = indexed.tensors.size();
      add_tensor(source, dump, i, indexed);
      if (indexed.tensors.size() > before) {
        IndexedTensor& added = indexed.tensors.back();
        added.summary = std::make_shared<const TensorSummary>(summary_of(record->tensors[i]));
        name_from_table(record->tensors[i], added);
      }
    }
  }

  static bool is_there(const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
  }

  static void name_from_table(const TensorRecord& record, IndexedTensor& tensor) {
    if (record.operator_name.empty()) {
      return;
    }
    tensor.name = {.operator_name = record.operator_name,
                   .tensor_name = record.name,
                   .step = record.step,
                   .output = record.role != io::TensorRole::input,
                   .index = record.index};
    tensor.operator_type.clear();
    tensor.order = 0;
  }

  /// A table beside the tensors it was made of would double them.
  void drop_tables_beside_tensors(std::vector<IndexedFile>& files) {
    const bool only_tables = std::all_of(files.begin(), files.end(), [](const IndexedFile& file) {
      return file.tensors.empty() || file.format == kTableFormat;
    });
    for (IndexedFile& file : files) {
      if (!only_tables && file.format == kTableFormat) {
        const std::string path = file.tensors.empty() ? path_ : file.tensors.front().path;
        file.tensors.clear();
        file.ledger.push_back(
            {side_, path, "", LedgerState::ignored, "a table of statistics beside tensors"});
      }
    }
  }

  void add_tensor(const WalkedFile& file, const io::FileDump& dump, std::size_t position,
                  IndexedFile& indexed) const {
    const io::FileTensor& file_tensor = dump.tensors[position];
    IndexedTensor tensor;
    tensor.path = file.path;
    tensor.position = position;
    tensor.size_bytes = file_tensor.size_bytes;
    tensor.desc = file_tensor.desc;
    tensor.problem = file_tensor.problem;
    tensor.name.step = file.step;
    name_tensor(file, dump, file_tensor, tensor);
    apply_manifest(file, tensor);
    if (file_tensor.role == io::TensorRole::buffer || file_tensor.role == io::TensorRole::space) {
      indexed.ledger.push_back({side_, file.path,
                                tensor.name.operator_name + ":" +
                                    std::string(io::to_string(file_tensor.role)) + ":" +
                                    std::to_string(file_tensor.index),
                                LedgerState::ignored, "device working memory"});
      return;
    }
    indexed.tensors.push_back(std::move(tensor));
  }

  void name_tensor(const WalkedFile& file, const io::FileDump& dump,
                   const io::FileTensor& file_tensor, IndexedTensor& tensor) const {
    const FileNaming naming = naming_of(real_name(file));
    tensor.operator_type = naming.operator_type;
    tensor.order = naming.time;
    tensor.name.operator_name = dump.op_name.empty() ? naming.operator_name : dump.op_name;
    tensor.name.output = naming.role.value_or(file_tensor.role) != io::TensorRole::input;
    tensor.name.index = naming.index.value_or(file_tensor.index);
    if (!file_tensor.name.empty()) {
      tensor.name.tensor_name = file_tensor.name;
      if (dump.op_name.empty()) {
        tensor.name.operator_name = file_tensor.name;
        tensor.name.index = 0;
      }
    }
  }

  void apply_manifest(const WalkedFile& file, IndexedTensor& tensor) const {
    const auto manifest = manifests_.find(file.step);
    if (manifest == manifests_.end()) {
      return;
    }
    const auto found = manifest->second.by_file.find(file.name);
    if (found == manifest->second.by_file.end()) {
      return;
    }
    const io::ManifestTensor& entry = found->second;
    tensor.name.operator_name = entry.operator_name;
    tensor.name.tensor_name = entry.tensor_name;
    tensor.name.index = entry.index;
    tensor.name.output = true;
    tensor.operator_type = entry.operator_type;
    tensor.order = entry.order;
    if (entry.dtype && tensor::info(*entry.dtype).bits == tensor::info(tensor.desc.dtype).bits) {
      tensor.desc.dtype = *entry.dtype;
    }
  }

  DumpIndex gather(std::vector<IndexedFile>& files) {
    index_.path = path_;
    drop_tables_beside_tensors(files);
    index_.kind = kind_of(files);
    for (const Error& problem : walk_.problems) {
      index_.ledger.push_back({side_, problem.path, "", LedgerState::ignored, problem.message});
    }
    for (IndexedFile& file : files) {
      std::move(file.tensors.begin(), file.tensors.end(), std::back_inserter(index_.tensors));
      std::move(file.ledger.begin(), file.ledger.end(), std::back_inserter(index_.ledger));
    }
    note_manifests();
    if (!options_.keep_superseded) {
      drop_superseded();
    }
    index_.has_order = std::any_of(index_.tensors.begin(), index_.tensors.end(),
                                   [](const IndexedTensor& tensor) { return tensor.order > 0; });
    rank_by_time();
    return std::move(index_);
  }

  void note_manifests() {
    for (const auto& [step, manifest] : manifests_) {
      if (!manifest.complete) {
        index_.notes.push_back("the dump was interrupted while it was made");
      }
      if (!manifest.outputs_equal) {
        index_.notes.push_back(
            "making all tensors visible changed the model's final outputs; see manifest.json");
      }
      std::map<std::string, std::size_t> left_out;
      for (const io::ManifestSkip& skip : manifest.skipped) {
        index_.ledger.push_back(
            {side_, path_, skip.tensor_name, LedgerState::ignored, "not dumped: " + skip.reason});
        ++left_out[skip.reason];
      }
      note_left_out(left_out);
    }
  }

  // What nobody compared must not look as if it agreed.
  void note_left_out(const std::map<std::string, std::size_t>& left_out) {
    for (const auto& [reason, count] : left_out) {
      const std::string note = std::to_string(count) + (count == 1 ? " tensor" : " tensors") +
                               " of the target not dumped, hence not compared: " + reason;
      const bool known =
          std::find(index_.notes.begin(), index_.notes.end(), note) != index_.notes.end();
      if (side_ == verdict::RunSide::target && !known) {
        index_.notes.push_back(note);
      }
    }
  }

  std::string kind_of(const std::vector<IndexedFile>& files) const {
    if (!manifests_.empty()) {
      return "opdrift dump";
    }
    std::map<std::string, std::size_t> counts;
    for (const IndexedFile& file : files) {
      if (!file.tensors.empty()) {
        ++counts[file.format];
      }
    }
    const auto most =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts.end() ? "no dump"
                                : most->first + (counts.size() > 1 ? " and others" : "");
  }

  /// Of several files with one operator's tensor the newest counts.
  void drop_superseded() {
    using Key = std::tuple<std::string, std::string, std::string, bool, std::uint32_t>;
    std::map<Key, std::size_t> newest;
    std::vector<bool> dropped(index_.tensors.size(), false);
    for (std::size_t i = 0; i < index_.tensors.size(); ++i) {
      const IndexedTensor& tensor = index_.tensors[i];
      if (tensor.order == 0 || manifests_.count(tensor.name.step) > 0) {
        continue;
      }
      const Key key{tensor.name.step, tensor.operator_type, tensor.name.operator_name,
                    tensor.name.output, tensor.name.index};
      const auto [found, added] = newest.try_emplace(key, i);
      if (added || index_.tensors[found->second].path == tensor.path) {
        continue;
      }
      const bool newer = tensor.order >= index_.tensors[found->second].order;
      const std::size_t old = newer ? std::exchange(found->second, i) : i;
      dropped[old] = true;
      index_.ledger.push_back({side_, index_.tensors[old].path, index_.tensors[old].label(),
                               LedgerState::superseded, "a newer file of this operator exists"});
    }
    std::vector<IndexedTensor> kept;
    for (std::size_t i = 0; i < index_.tensors.size(); ++i) {
      if (!dropped[i]) {
        kept.push_back(std::move(index_.tensors[i]));
      }
    }
    index_.tensors = std::move(kept);
  }

  /// Sorts by step, then time, and turns times into positions that count operators.
  void rank_by_time() {
    std::stable_sort(index_.tensors.begin(), index_.tensors.end(),
                     [](const IndexedTensor& a, const IndexedTensor& b) {
                       return std::tie(a.name.step, a.order) < std::tie(b.name.step, b.order);
                     });
    std::uint64_t rank = 0;
    std::uint64_t previous = 0;
    std::string previous_step;
    std::string previous_operator;
    bool first = true;
    for (IndexedTensor& tensor : index_.tensors) {
      const bool same = !first && tensor.order == previous && tensor.name.step == previous_step &&
                        tensor.name.operator_name == previous_operator;
      previous = tensor.order;
      previous_step = tensor.name.step;
      previous_operator = tensor.name.operator_name;
      rank += same || first ? 0 : 1;
      first = false;
      if (manifests_.count(tensor.name.step) == 0) {
        tensor.order = rank;
      }
    }
  }

  std::string path_;
  RunSide side_;
  IndexOptions options_;
  Walk walk_;
  std::unordered_map<std::string, io::NameMapping> mappings_;
  std::map<std::string, io::DumpManifest> manifests_;
  DumpIndex index_;
};

}  // namespace

std::string IndexedTensor::label() const {
  return name.operator_name + (name.output ? ":output:" : ":input:") + std::to_string(name.index);
}

Result<DumpIndex> index_dump(const std::string& path, RunSide side, const IndexOptions& options) {
  return Indexer(path, side, options).run();
}

Result<DumpIndex> index_dump(const std::string& path, RunSide side, std::size_t jobs) {
  return index_dump(path, side, IndexOptions{.jobs = jobs});
}

Result<tensor::Tensor> load(const IndexedTensor& indexed) {
  if (indexed.problem) {
    return *indexed.problem;
  }
  if (indexed.summary) {
    return Error{ErrorCode::not_found, "only statistics of this tensor were kept", indexed.path};
  }
  if (indexed.container) {
    OPDRIFT_TRY(tensor::Tensor tensor,
                io::load_tensor(indexed.container->tensors[indexed.position]));
    tensor.desc = indexed.desc;
    return tensor;
  }
  OPDRIFT_TRY(const io::FileDump dump, io::open_file(indexed.path));
  if (indexed.position >= dump.tensors.size()) {
    return Error{ErrorCode::truncated, "the file changed while it was being compared",
                 indexed.path};
  }
  OPDRIFT_TRY(tensor::Tensor tensor, io::load_tensor(dump.tensors[indexed.position]));
  if (tensor.desc.shape != indexed.desc.shape) {
    return Error{ErrorCode::mismatch, "the file changed while it was being compared", indexed.path};
  }
  tensor.desc = indexed.desc;
  return tensor;
}

}  // namespace opdrift::pipeline
