#include "opdrift/pipeline/network/report.hpp"

#include <algorithm>

namespace opdrift::pipeline {

namespace {

using tensor::DType;

bool was_compared(const NetworkRow& row) {
  return row.state == RowState::compared || row.state == RowState::equal;
}

std::string address_text(std::uint64_t address) {
  return address == 0 ? std::string(report::kNoValue) : std::to_string(address);
}

std::string or_none(const std::string& text) {
  return text.empty() ? std::string(report::kNoValue) : text;
}

void fill_values(const NetworkRow& row, report::MsaccucmpRow& cells) {
  for (const AlgorithmValue& value : row.values) {
    cells.values.push_back(value.text);
    if (!value.message.empty()) {
      cells.reason += (cells.reason.empty() ? "" : ",") + value.message;
    }
  }
  if (row.overflow) {
    cells.overflow = *row.overflow ? "YES" : "NO";
  }
}

report::MsaccucmpRow cells_of(const NetworkRow& row, const NetworkResult& result,
                              const MsaccucmpTableOptions& options) {
  report::MsaccucmpRow cells;
  cells.index = row.index;
  cells.sequence = row.sequence;
  cells.op_type = or_none(row.operator_type);
  cells.target = row.target_names;
  cells.golden = row.golden_names;
  cells.reason = row.reason;
  cells.lacks_overflow = options.reference && row.halves_failed;
  if (row.whole_operator) {
    return cells;
  }
  cells.tensor = row.label();
  cells.target_address = address_text(row.target.desc.address);
  cells.golden_address = address_text(result.by_graph ? 0 : row.golden.desc.address);
  const bool compared = was_compared(row);
  cells.shape = bracketed(compared && result.by_graph ? row.compared_shape : row.target.desc.shape);
  if (compared) {
    cells.target_dtype =
        result.by_graph ? type_after_reading(row.target.desc) : type_of_header(row.target.desc);
    cells.golden_dtype =
        result.by_graph ? type_after_reading(row.golden.desc) : type_of_header(row.golden.desc);
    fill_values(row, cells);
  }
  return cells;
}

}  // namespace

std::string bracketed(const tensor::Shape& shape) {
  return "[" + tensor::to_string(shape) + "]";
}

std::string type_after_reading(const tensor::TensorDesc& desc) {
  if (std::find(desc.shape.begin(), desc.shape.end(), 0U) != desc.shape.end()) {
    return "float64";
  }
  switch (desc.dtype) {
    case DType::bf16: return "float32";
    case DType::e5m2:
    case DType::e4m3fn:
    case DType::hif8: return "float64";
    case DType::undefined: return "int8";
    case DType::resource: return "int64";
    case DType::u1: return "uint8";
    default: return std::string(tensor::name_of(desc.dtype));
  }
}

std::string type_of_header(const tensor::TensorDesc& desc) {
  switch (desc.dtype) {
    case DType::undefined: return "int8";
    case DType::resource: return "int64";
    case DType::hif8: return "hifloat8";
    case DType::string:
    case DType::raw: return std::string(report::kNoValue);
    default: return std::string(tensor::name_of(desc.dtype));
  }
}

MsaccucmpTable msaccucmp_table(const NetworkResult& result, const MsaccucmpTableOptions& options) {
  MsaccucmpTable table;
  table.columns.sequence = options.sequence;
  table.columns.target_address = !result.target_has_npy;
  table.columns.golden_address = !result.golden_has_npy;
  table.columns.overflow = options.overflow && !result.target_has_npy;
  table.columns.algorithms = result.algorithms;
  table.rows.reserve(result.rows.size());
  for (const NetworkRow& row : result.rows) {
    table.rows.push_back(cells_of(row, result, options));
  }
  return table;
}

std::vector<report::MsaccucmpMapping> msaccucmp_mapping(const NetworkResult& result) {
  std::vector<report::MsaccucmpMapping> rows;
  rows.reserve(result.rows.size());
  for (const NetworkRow& row : result.rows) {
    report::MsaccucmpMapping mapping;
    mapping.index = row.index;
    mapping.sequence = row.sequence;
    mapping.op_type = or_none(row.operator_type);
    mapping.target = row.target_names;
    mapping.golden = row.golden_names;
    mapping.tensor = or_none(row.label());
    mapping.target_path = or_none(row.target.path);
    mapping.golden_path = or_none(row.golden.path);
    rows.push_back(std::move(mapping));
  }
  return rows;
}

}  // namespace opdrift::pipeline
