#pragma once

#include "opdrift/shell/registry.hpp"

/// One function per command, one file per function.
namespace opdrift::shell {

ShellCommand ac_command();
ShellCommand vc_command();
ShellCommand vcs_command();
ShellCommand ni_command();
ShellCommand ls_command();
ShellCommand pt_command();
ShellCommand cp_command();
ShellCommand dc_command();
ShellCommand pf_command();
ShellCommand la_command();
ShellCommand run_command();
ShellCommand train_command();
ShellCommand help_command();
ShellCommand quit_command();

}  // namespace opdrift::shell
