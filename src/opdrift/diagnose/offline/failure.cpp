#include "opdrift/diagnose/offline/failure.hpp"

namespace opdrift::diagnose::offline {

namespace {

ErrorCode code_of(Number number) {
  switch (number) {
    case Number::bad_path: return ErrorCode::not_found;
    case Number::bad_combination: return ErrorCode::bad_combination;
    case Number::json_parse: return ErrorCode::bad_json;
    case Number::write_file: return ErrorCode::write_failed;
    case Number::open_file: return ErrorCode::io;
    case Number::bin_size:
    case Number::bad_data: return ErrorCode::mismatch;
    case Number::bad_key:
    case Number::tensor_type: return ErrorCode::unsupported_dtype;
    case Number::no_dump_file: return ErrorCode::not_found;
    case Number::not_supported:
    case Number::model_type: return ErrorCode::unsupported;
    case Number::permission: return ErrorCode::permission;
    case Number::out_of_bounds: return ErrorCode::out_of_range;
    default: return ErrorCode::invalid_argument;
  }
}

}  // namespace

Number number_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found:
    case ErrorCode::wrong_kind: return Number::bad_path;
    case ErrorCode::permission: return Number::permission;
    case ErrorCode::io: return Number::open_file;
    case ErrorCode::write_failed: return Number::write_file;
    case ErrorCode::bad_json: return Number::json_parse;
    case ErrorCode::unsupported: return Number::not_supported;
    case ErrorCode::unsupported_dtype: return Number::tensor_type;
    case ErrorCode::bad_combination: return Number::bad_combination;
    case ErrorCode::bad_name: return Number::no_dump_file;
    case ErrorCode::out_of_range: return Number::out_of_bounds;
    case ErrorCode::invalid_argument:
    case ErrorCode::cancelled:
    case ErrorCode::internal: return Number::bad_parameter;
    default: return Number::bad_data;
  }
}

Failure failed(Number number, std::string message, std::string path) {
  return {number, Error{code_of(number), std::move(message), std::move(path)}};
}

}  // namespace opdrift::diagnose::offline
