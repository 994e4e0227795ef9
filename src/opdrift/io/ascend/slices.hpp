#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/ascend/names.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Operators that an Ascend device executed in slices: every slice is a dump file of its own. The
/// value of the first attribute of such a file is a JSON object:
///
///   threadMode           true or 1: automatic slicing; false or 0: manual
///   slice_instance_num   number of slices
///   outputCutList        per output, the number of pieces per axis; not 1 means cut there
///   input_tensor_slice, output_tensor_slice
///                        [thread][tensor][axis] = {"lower": l, "higher": h}
///
/// Values that count as false ({} null 0 "" []) mean that nothing is sliced.
namespace opdrift::io {

/// Shapes of the slices of one side, by thread and tensor.
using SliceShapes = std::vector<std::vector<tensor::Shape>>;

struct SliceInfo {
  bool automatic = false;
  std::uint64_t slice_count = 0;
  std::vector<std::vector<std::int64_t>> output_cuts;
  std::optional<SliceShapes> inputs;  ///< nothing when the list is missing
  std::optional<SliceShapes> outputs;
};

/// What the first attribute of a dump says; nothing when there is no attribute or it counts as
/// false. Fails with malformed (not JSON) or slice_mismatch (no threadMode, lists of another form).
Result<std::optional<SliceInfo>> slice_info(const FileDump& dump);

/// Gives the tensors of an automatically sliced dump the shapes of its thread, which is the part
/// before the last dot of `path`. Other dumps are left alone. A tensor whose elements do not fill
/// its slice gets a `problem` (data_mismatch). Fails with not_found (no thread number in the path)
/// or slice_mismatch (no such thread, other number of shapes than tensors).
Status apply_slice_shapes(FileDump& dump, const std::string& path);

/// All slices of one operator as one dump.
struct MergedDump {
  FileDump dump;         ///< `path` is the first file's, its name cut to four parts and ".*"
  bool complete = true;  ///< false: another number of files than the slices announced
  std::vector<std::string> warnings;
};

/// Joins the files of one operator, in the order of FolderEntry::files: every output along its
/// first cut axis, outputs without one and all inputs from the first file. One file is passed
/// through; without any cut axis the newest file alone counts. Joined outputs are built when they
/// are loaded. Fails with slice_mismatch (no usable slice information, axes that do not exist),
/// mismatch (different numbers of outputs), data_mismatch (data that do not fill a slice, slices
/// that do not fit together) or the problem of an undecodable output.
Result<MergedDump> merge_slices(std::vector<FileDump> files, SliceMode mode);

}  // namespace opdrift::io
