#include "opdrift/base/result.hpp"

#include "opdrift/base/text.hpp"

namespace opdrift {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::permission: return "permission";
    case ErrorCode::wrong_kind: return "wrong_kind";
    case ErrorCode::io: return "io";
    case ErrorCode::write_failed: return "write_failed";
    case ErrorCode::truncated: return "truncated";
    case ErrorCode::malformed: return "malformed";
    case ErrorCode::bad_header: return "bad_header";
    case ErrorCode::bad_nano: return "bad_nano";
    case ErrorCode::bad_json: return "bad_json";
    case ErrorCode::bad_name: return "bad_name";
    case ErrorCode::bad_task_type: return "bad_task_type";
    case ErrorCode::bad_slice: return "bad_slice";
    case ErrorCode::slice_mismatch: return "slice_mismatch";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::unsupported_dtype: return "unsupported_dtype";
    case ErrorCode::unsupported_format: return "unsupported_format";
    case ErrorCode::conversion_failed: return "conversion_failed";
    case ErrorCode::bad_nz_shape: return "bad_nz_shape";
    case ErrorCode::bad_shape: return "bad_shape";
    case ErrorCode::mismatch: return "mismatch";
    case ErrorCode::data_mismatch: return "data_mismatch";
    case ErrorCode::out_of_range: return "out_of_range";
    case ErrorCode::ambiguous: return "ambiguous";
    case ErrorCode::bad_combination: return "bad_combination";
    case ErrorCode::limit: return "limit";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

std::string Error::to_string() const {
  std::string line;
  if (!path.empty()) {
    line += printable(path) + ": ";
  }
  if (offset) {
    line += "offset " + std::to_string(*offset) + ": ";
  }
  return line + printable(message);
}

}  // namespace opdrift
