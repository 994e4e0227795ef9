#pragma once

#include <string>
#include <vector>

/// The file acl.json that switches dumps on.
namespace opdrift::diagnose::fixes {

struct DumpSwitch {
  std::vector<std::string> models;  ///< names as in the offline model
  std::string path = "dump";
};

/// {"dump":{"dump_list":[{"model_name":…}],"dump_path":…,"dump_mode":"all","dump_op_switch":"off"}}
std::string write_dump_switch(const DumpSwitch& dump);

/// {"dump":{"dump_path":…,"dump_debug":"on"}}: overflow records.
std::string write_overflow_switch(const std::string& path);

}  // namespace opdrift::diagnose::fixes
