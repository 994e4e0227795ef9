#include "opdrift/diagnose/evidence/boundary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/classify/aipp_keys.hpp"
#include "opdrift/diagnose/classify/tensors.hpp"
#include "opdrift/diagnose/evidence/cosines.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/pipeline/align_pair.hpp"

namespace opdrift::diagnose::evidence {

namespace {

using pipeline::DumpIndex;
using pipeline::IndexedTensor;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void keep_worse(double cosine, std::optional<double>& worst) {
  if (!worst || std::isnan(cosine) || cosine < *worst) {
    worst = cosine;
  }
}

// A rounded or resampled input is closer than this, a scaled one is not.
constexpr double kClose = 1e-2;

/// One pair of tensors: how alike they are, and what the classifier says.
struct Likeness {
  double cosine = kNan;
  bool close = false;
  std::optional<classify::InputClass> found;
};

/// NaN where they cannot be compared.
Likeness likeness_between(const tensor::Tensor& golden, const tensor::Tensor& target) {
  Likeness like;
  const auto pair = pipeline::align_pair(golden, target);
  if (!pair) {
    return like;
  }
  if (const auto measured = metrics::measure(pair->golden, pair->target)) {
    like.cosine = cosine_of(*measured);
    like.close = measured->class_mismatches == 0 &&
                 (measured->max_abs.value == 0.0 || measured->relative_l2() <= kClose);
  }
  return like;
}

Likeness compare_tensors(const IndexedTensor& golden, const IndexedTensor& device) {
  Likeness like;
  const auto g = pipeline::load(golden);
  const auto d = pipeline::load(device);
  if (g && d) {
    like = likeness_between(*g, *d);
    if (auto found = classify::classify_tensors(*g, *d)) {
      like.found = std::move(*found);
    }
  }
  return like;
}

bool begins_with(const std::string& text, std::string_view start) {
  return to_lower(text).substr(0, start.size()) == start;
}

std::string finding_text(const std::string& name, const classify::InputClass& found) {
  return name + ": " + found.finding +
         (found.closest.empty() ? "" : " (closest: " + found.closest + ")");
}

const IndexedTensor* find_tensor(const DumpIndex& dump, const std::string& label) {
  const auto found = std::find_if(dump.tensors.begin(), dump.tensors.end(),
                                  [&](const IndexedTensor& one) { return one.label() == label; });
  return found == dump.tensors.end() ? nullptr : &*found;
}

bool is_golden_input(const IndexedTensor& tensor) {
  return tensor.operator_type == "Input" || tensor.operator_type == "Data" ||
         begins_with(tensor.name.operator_name, "input");
}

Result<fixes::AippOp> read_config(const std::string& path) {
  if (path.empty()) {
    return fixes::AippOp{};
  }
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  Result<std::vector<fixes::AippOp>> operators = fixes::parse_aipp(as_text(bytes.span));
  if (!operators) {
    operators.error().path = path;
    return operators.error();
  }
  return operators->empty() ? fixes::AippOp{} : operators->front();
}

void add_aipp_pair(const IndexedTensor& golden, const IndexedTensor& device,
                   const fixes::AippOp& config, AippEvidence& evidence) {
  const Likeness like = compare_tensors(golden, device);
  keep_worse(like.cosine, evidence.cosine);
  evidence.close = evidence.close && like.close;
  if (!like.found || like.found->equal()) {
    return;
  }
  const std::string keys = classify::change_text(classify::aipp_change(*like.found, config));
  evidence.findings.push_back(finding_text(device.name.operator_name, *like.found) +
                              (keys.empty() ? "" : "; AIPP: " + keys));
}

}  // namespace

Result<flow::BoundaryFacts> compare_boundary(const std::string& online,
                                             const std::string& offline) {
  OPDRIFT_TRY(const DumpIndex golden, pipeline::index_dump(online, verdict::RunSide::golden, 0));
  OPDRIFT_TRY(const DumpIndex device, pipeline::index_dump(offline, verdict::RunSide::target, 0));
  flow::BoundaryFacts facts;
  for (const IndexedTensor& tensor : golden.tensors) {
    const bool input = begins_with(tensor.name.operator_name, "input");
    if (!input && !begins_with(tensor.name.operator_name, "output")) {
      continue;
    }
    const IndexedTensor* const partner = find_tensor(device, tensor.label());
    const Likeness like = partner != nullptr ? compare_tensors(tensor, *partner) : Likeness{};
    keep_worse(like.cosine, input ? facts.input_cosine : facts.output_cosine);
    if (input) {
      facts.input_close = facts.input_close.value_or(true) && like.close;
    }
    if (input && like.found && !like.found->equal()) {
      facts.findings.push_back(finding_text(tensor.name.operator_name, *like.found));
    } else if (partner == nullptr) {
      facts.findings.push_back(tensor.name.operator_name + ": missing in " + offline);
    }
  }
  if (!facts.input_cosine) {
    return Error{ErrorCode::not_found, "expected files input_* and output_*, found no input",
                 online};
  }
  return facts;
}

Result<AippEvidence> compare_aipp(const DumpIndex& device, const DumpIndex& golden,
                                  const std::string& config) {
  OPDRIFT_TRY(const fixes::AippOp present, read_config(config));
  AippEvidence evidence;
  if (!config.empty()) {
    evidence.findings = fixes::check_aipp(present, {});
  }
  std::vector<const IndexedTensor*> made;
  std::vector<const IndexedTensor*> wanted;
  for (const IndexedTensor& tensor : device.tensors) {
    if (tensor.name.output && to_lower(tensor.operator_type) == "aipp") {
      made.push_back(&tensor);
    }
  }
  for (const IndexedTensor& tensor : golden.tensors) {
    if (is_golden_input(tensor)) {
      wanted.push_back(&tensor);
    }
  }
  if (made.size() != wanted.size()) {
    return evidence;
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    add_aipp_pair(*wanted[i], *made[i], present, evidence);
  }
  return evidence;
}

}  // namespace opdrift::diagnose::evidence
