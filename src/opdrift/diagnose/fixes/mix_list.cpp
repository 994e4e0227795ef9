#include "opdrift/diagnose/fixes/mix_list.hpp"

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
namespace opdrift::diagnose::fixes {

namespace {

using Json = nlohmann::ordered_json;

struct ListRow {
  const char* name;
  MixListChange MixList::*change;
};
struct ChangeRow {
  const char* name;
  std::vector<std::string> MixListChange::*types;
};
constexpr ListRow kLists[] = {{"black-list", &MixList::black}, {"white-list", &MixList::white}};
constexpr ChangeRow kChanges[] = {{"to-add", &MixListChange::to_add},
                                  {"to-remove", &MixListChange::to_remove}};

Error malformed(const std::string& what) {
  return Error{ErrorCode::bad_json,
               "expected black-list and white-list with to-add and to-remove, "
               "each a list of types; found " +
                   what};
}

Status read_types(const Json& value, std::vector<std::string>& out) {
  if (!value.is_array()) {
    return malformed(value.type_name());
  }
  for (const Json& type : value) {
    if (!type.is_string()) {
      return malformed(type.type_name());
    }
    out.push_back(type.get<std::string>());
  }
  return Unit{};
}

}  // namespace

std::string write_mix_list(const MixList& list) {
  Json json = Json::object();
  for (const ListRow& row : kLists) {
    for (const ChangeRow& change : kChanges) {
      const auto& types = (list.*(row.change)).*(change.types);
      if (!types.empty()) {
        json[row.name][change.name] = types;
      }
    }
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<MixList> parse_mix_list(std::string_view text) {
  OPDRIFT_TRY(const Json json, parse_json<Json>(text));
  if (!json.is_object()) {
    return malformed("no JSON object");
  }
  MixList list;
  for (const ListRow& row : kLists) {
    const auto part = json.find(row.name);
    if (part == json.end()) {
      continue;
    }
    if (!part->is_object()) {
      return malformed(part->type_name());
    }
    for (const ChangeRow& change : kChanges) {
      const auto types = part->find(change.name);
      if (types != part->end()) {
        OPDRIFT_CHECK_OK(read_types(*types, (list.*(row.change)).*(change.types)));
      }
    }
  }
  return list;
}

}  // namespace opdrift::diagnose::fixes
