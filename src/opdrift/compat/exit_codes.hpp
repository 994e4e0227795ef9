#pragma once

#include "opdrift/base/result.hpp"

/// Exit statuses of the reference tool. 2 is also what its argument parser exits with.
namespace opdrift::compat {

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitUnknown = 1;
inline constexpr int kExitNoDumpFile = 2;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInvalidPath = 3;
inline constexpr int kExitParseDump = 4;
inline constexpr int kExitAllocation = 5;
inline constexpr int kExitInvalidParameter = 6;
inline constexpr int kExitOpenFile = 7;
inline constexpr int kExitInvalidDumpData = 11;
inline constexpr int kExitOutOfBounds = 12;
inline constexpr int kExitJsonFile = 13;
inline constexpr int kExitAmbiguous = 17;
inline constexpr int kExitDumpName = 18;
inline constexpr int kExitWriteFile = 19;
inline constexpr int kExitDumpTypes = 20;
inline constexpr int kExitDataType = 21;
inline constexpr int kExitFormat = 22;
inline constexpr int kExitShape = 23;
inline constexpr int kExitConversion = 26;
inline constexpr int kExitNzShape = 34;
inline constexpr int kExitOverflowType = 35;
inline constexpr int kExitOverflowStatus = 36;
inline constexpr int kExitTaskType = 37;
inline constexpr int kExitFileSize = 39;
inline constexpr int kExitDataShape = 40;
inline constexpr int kExitSliceData = 41;
inline constexpr int kExitSliceLists = 42;
inline constexpr int kExitTooLarge = 43;
inline constexpr int kExitNano = 47;

/// The exit status for a failure. A command whose reference answers differently for one of its
/// steps (convert reports a bad FRACTAL_NZ target as 6) overrides it there.
int exit_code(ErrorCode code);

}  // namespace opdrift::compat
