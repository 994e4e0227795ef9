#include "opdrift/compat/exit_codes.hpp"

namespace opdrift::compat {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return kExitInvalidParameter;
    case ErrorCode::not_found:
    case ErrorCode::permission:
    case ErrorCode::wrong_kind: return kExitInvalidPath;
    case ErrorCode::io: return kExitOpenFile;
    case ErrorCode::write_failed: return kExitWriteFile;
    case ErrorCode::truncated:
    case ErrorCode::malformed: return kExitInvalidDumpData;
    case ErrorCode::bad_header: return kExitFileSize;
    case ErrorCode::bad_nano: return kExitNano;
    case ErrorCode::bad_json: return kExitJsonFile;
    case ErrorCode::bad_name: return kExitDumpName;
    case ErrorCode::bad_task_type: return kExitTaskType;
    case ErrorCode::bad_slice: return kExitSliceData;
    case ErrorCode::slice_mismatch: return kExitSliceLists;
    case ErrorCode::unsupported_dtype: return kExitDataType;
    case ErrorCode::unsupported_format: return kExitFormat;
    case ErrorCode::conversion_failed: return kExitConversion;
    case ErrorCode::bad_nz_shape: return kExitNzShape;
    case ErrorCode::bad_shape:
    case ErrorCode::mismatch: return kExitShape;
    case ErrorCode::data_mismatch: return kExitDataShape;
    case ErrorCode::out_of_range: return kExitOutOfBounds;
    case ErrorCode::ambiguous: return kExitAmbiguous;
    case ErrorCode::bad_combination: return kExitDumpTypes;
    case ErrorCode::limit: return kExitTooLarge;
    case ErrorCode::out_of_memory: return kExitAllocation;
    case ErrorCode::unsupported:
    case ErrorCode::cancelled:
    case ErrorCode::internal: return kExitUnknown;
  }
  return kExitUnknown;
}

}  // namespace opdrift::compat
