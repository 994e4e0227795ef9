#include "opdrift/pipeline/overflow/overflow_record.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
namespace opdrift::pipeline {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kFields = {"task_id", "stream_id", "context_id",
                                                     "thread_id"};
constexpr std::array<std::string_view, 4> kAccelerators = {"AIC", "AIV", "AICPU", "SDMA"};
constexpr std::array<std::string_view, 3> kUnits = {"DHA Atomic Add", "L2 Atomic Add", "AI Core"};

Error bad_json(const std::string& what) {
  return Error{ErrorCode::bad_json, "overflow record: expected " + what};
}

Status read_status(const Json& object, io::DebugUnit& unit) {
  const auto status = object.find("status");
  if (status == object.end()) {
    return bad_json("a status");
  }
  const Json numbers = status->is_array() ? *status : Json::array({*status});
  for (const Json& number : numbers) {
    if (!number.is_number_unsigned()) {
      return bad_json("a whole number as status");
    }
    unit.status.push_back(number.get<std::uint64_t>());
  }
  return Unit{};
}

Result<io::DebugUnit> read_unit(std::string_view name, const Json& object) {
  io::DebugUnit unit;
  unit.name = name;
  if (!object.is_object()) {
    return bad_json("an object per unit");
  }
  for (const std::string_view field : kFields) {
    const auto found = object.find(std::string(field));
    if (found != object.end() && found->is_number_unsigned()) {
      unit.fields.push_back({field, found->get<std::uint64_t>(), false});
    }
  }
  OPDRIFT_CHECK_OK(read_status(object, unit));
  return unit;
}

Result<io::DebugRecord> read_tagged(const Json& list) {
  io::DebugRecord record;
  record.tagged = true;
  if (!list.is_object() || !list.contains("acc_type") || !list.contains("data")) {
    return bad_json("acc_list with acc_type and data");
  }
  for (const std::string_view name : kAccelerators) {
    if (list["acc_type"] == std::string(name)) {
      OPDRIFT_TRY(io::DebugUnit unit, read_unit(name, list["data"]));
      record.units.push_back(std::move(unit));
      return record;
    }
  }
  return bad_json("acc_type to be AIC, AIV, AICPU or SDMA");
}

}  // namespace

Result<io::DebugRecord> parse_debug_json(std::string_view text) {
  OPDRIFT_TRY(const Json json, parse_json<Json>(text));
  if (!json.is_object()) {
    return bad_json("a JSON object");
  }
  if (json.contains("acc_list")) {
    return read_tagged(json["acc_list"]);
  }
  io::DebugRecord record;
  for (const auto& [key, object] : json.items()) {
    for (const std::string_view name : kUnits) {
      if (key == name) {
        OPDRIFT_TRY(io::DebugUnit unit, read_unit(name, object));
        record.units.push_back(std::move(unit));
      }
    }
  }
  return record;
}

}  // namespace opdrift::pipeline
