#include "opdrift/diagnose/fixes/dump_switch.hpp"

#include <nlohmann/json.hpp>

namespace opdrift::diagnose::fixes {

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& dump) {
  return Json{{"dump", dump}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string write_dump_switch(const DumpSwitch& dump) {
  Json list = Json::array();
  for (const std::string& model : dump.models) {
    list.push_back(Json{{"model_name", model}});
  }
  return text_of(Json{{"dump_list", list},
                      {"dump_path", dump.path},
                      {"dump_mode", "all"},
                      {"dump_op_switch", "off"}});
}

std::string write_overflow_switch(const std::string& path) {
  return text_of(Json{{"dump_path", path}, {"dump_debug", "on"}});
}

}  // namespace opdrift::diagnose::fixes
