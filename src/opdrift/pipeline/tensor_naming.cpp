#include "opdrift/pipeline/tensor_naming.hpp"

#include <array>
#include <limits>

#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/names.hpp"
#include "opdrift/io/framework_names.hpp"

namespace opdrift::pipeline {

namespace {

/// Digits that do not fit read as the largest number, so such a file still counts as the newest.
std::uint64_t time_of(std::string_view digits) {
  return parse_u64(digits).value_or(std::numeric_limits<std::uint64_t>::max());
}

bool ends_in_npy(std::string_view name) {
  return name.size() > 4 && name.substr(name.size() - 4) == ".npy";
}

FileNaming device_naming(const io::DumpName& dump) {
  FileNaming naming;
  naming.operator_name = std::string(dump.op_name);
  naming.operator_type = std::string(dump.op_type);
  naming.time = time_of(dump.time);
  return naming;
}

/// "name.index.time.npy", in any language
std::optional<FileNaming> framework_naming(std::string_view name) {
  const auto parsed = io::parse_framework_name(name);
  if (!ends_in_npy(name) || !parsed) {
    return std::nullopt;
  }
  FileNaming naming;
  naming.operator_name = parsed->op;
  naming.operator_type = parsed->op_type;
  naming.role = parsed->role;
  naming.index = parsed->index;
  naming.time = time_of(parsed->time);
  return naming;
}

/// "<base>.(input|output).<index>.<anything>": the base is a name of its own.
std::optional<FileNaming> converted_naming(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, io::TensorRole>, 2> kRoles = {
      {{".input.", io::TensorRole::input}, {".output.", io::TensorRole::output}}};
  for (const auto& [mark, role] : kRoles) {
    const std::size_t at = name.rfind(mark);
    if (at == std::string_view::npos || at == 0) {
      continue;
    }
    const std::string_view rest = name.substr(at + mark.size());
    const auto index = parse_u64(rest.substr(0, rest.find('.')));
    if (!index || rest.find('.') == std::string_view::npos) {
      continue;
    }
    FileNaming naming = naming_of(name.substr(0, at));
    naming.role = role;
    naming.index = static_cast<std::uint32_t>(*index);
    return naming;
  }
  return std::nullopt;
}

std::string_view stem_of(std::string_view name) {
  constexpr std::array<std::string_view, 9> kEndings = {
      ".npy", ".npz", ".bin", ".safetensors", ".pb", ".pt", ".pth", ".txt", ".h5"};
  for (const std::string_view ending : kEndings) {
    if (name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending) {
      return name.substr(0, name.size() - ending.size());
    }
  }
  return name;
}

}  // namespace

FileNaming naming_of(std::string_view name) {
  if (auto converted = converted_naming(name)) {
    return *converted;
  }
  if (auto framework = framework_naming(name)) {
    return *framework;
  }
  if (!ends_in_npy(name)) {
    if (const auto dump = io::parse_dump_name(name)) {
      return device_naming(*dump);
    }
  }
  FileNaming naming;
  naming.operator_name = std::string(stem_of(name));
  return naming;
}

bool promises_tensor(std::string_view name) {
  return stem_of(name) != name && !name.ends_with(".txt");
}

}  // namespace opdrift::pipeline
