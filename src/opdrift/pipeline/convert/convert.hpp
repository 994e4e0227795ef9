#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/tensor/format.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Dump files to arrays that other tools read, one file per tensor. F = name of the dump, T = input
/// or output, k = index, D = dims, FORMAT as in tensor/format.hpp:
///
///   without a target format        with one (D joined by "x", in bin names by "_")
///   npy    F.T.k.npy               F.T.k.D.npy
///   bin    F.T.k.n.dtype.FORMAT.bin     F.T.k.D.dtype.FORMAT.bin      n = number of elements
///   msnpy  G.T.k.FORMAT.npy        G.T.k.FORMAT.npy
///   pt     F.T.k.pt                F.T.k.D.pt
///   blocks F.l1buffer.k.bin, F.space.k.bin     not written
///   debug  F.output.k.json         not written as such
///
/// G is F with its second part replaced by what follows the last "/" of the operator's name, when F
/// has exactly five parts. Names of 255 or more characters become 32 digits plus the extension and
/// a row of mapping.csv in the output folder (io/ascend/mapping.hpp). Files of operator-debug dumps
/// (`Opdebug.Node_OpDebug.`) give one JSON per output (io/ascend/debug.hpp).
namespace opdrift::pipeline {

enum class ConvertType : std::uint8_t { npy, bin, msnpy, pt };

std::optional<ConvertType> convert_type_by_name(std::string_view name);

enum class NoticeLevel : std::uint8_t { info, warning, error };

/// Told what happens, from worker threads.
using Notice = std::function<void(NoticeLevel, const std::string&)>;

struct ConvertOptions {
  std::string output_folder = ".";  ///< must exist
  ConvertType type = ConvertType::npy;
  std::optional<tensor::Format> format;  ///< bring every tensor into this format
  /// With a format: the logical shape of every tensor, in place of its original shape.
  std::optional<tensor::Shape> shape;
  /// With a format: convert this tensor only; its failure is the failure of the file.
  std::optional<std::uint32_t> only_input;
  std::optional<std::uint32_t> only_output;
  /// Refuse a whole file for the reasons the reference does (io::first_problem), and more than 32
  /// dims. Otherwise what cannot be written is reported per tensor.
  bool reference = false;
  std::size_t jobs = 0;     ///< files at a time; 0: one per processor
  std::size_t threads = 1;  ///< for one large tensor; 0: one per processor
  Notice notice;
  std::function<void(std::size_t, std::size_t)> progress;  ///< files done, files in all
  const CancelFlag* cancel = nullptr;
};

/// A tensor that was not written (or, with a format and msnpy, written unconverted).
struct TensorFailure {
  io::TensorRole role = io::TensorRole::output;
  std::uint32_t index = 0;
  Error error;
};

/// What became of one dump file.
struct FileConversion {
  std::string path;
  std::vector<std::string> written;     ///< names in the output folder
  std::vector<TensorFailure> failures;  ///< inputs first
  /// Why the conversion counts as failed. Tensors that could not be written without a target format
  /// do not make it so: `failures` alone lists them.
  std::optional<Error> error;
  bool in_debug_record = false;  ///< `error` is about the content of an overflow record
};

/// Converts one file. `real_name`, when given, decides in place of the file's own name whether it
/// holds overflow records (names that mapping.csv stands for).
FileConversion convert_file(const std::string& path, const ConvertOptions& options,
                            std::string_view real_name = {});

/// Converts many files on several threads. Results come in the order of `paths`.
std::vector<FileConversion> convert_files(const std::vector<std::string>& paths,
                                          const ConvertOptions& options);

/// Files directly in a folder that a conversion of the folder takes: all but mapping.csv, by name.
Result<std::vector<std::string>> files_to_convert(const std::string& folder);

inline constexpr std::string_view kFailedListName = "convert_failed_file_list.txt";

/// Appends one line per failed file to convert_failed_file_list.txt in `folder`: the path, and
/// `,input:k` / `,output:k` for each tensor that failed to convert to a format. Nothing failed:
/// nothing is written.
Status append_failed_list(const std::string& folder, const std::vector<FileConversion>& conversions,
                          bool with_tensors);

/// Opens a file as `convert` sees it: nano by its magic number, .npy by name or content, else a
/// device dump. Fails as those readers do; in reference mode also for npy element types the
/// reference refuses.
Result<io::FileDump> open_for_convert(const std::string& path, bool reference);

/// Writes every space block of a dump as text: `F.k.log`, NUL characters taken out. Returns the
/// names. Fails with not_found when the dump has no such block.
Result<std::vector<std::string>> save_space_logs(const std::string& path,
                                                 const std::string& output_folder);

/// What became of a text-header dump (io/ascend/atb.hpp).
struct AtbConversion {
  std::optional<std::string> written;  ///< name of the file; nothing when not converted
  std::string reason;                  ///< why not
};

/// Writes `<name without extension>.npy` or `.pt`. Fails with malformed when the head is not UTF-8
/// and as writing does; other unreadable files are reported as not converted.
Result<AtbConversion> convert_atb(const std::string& path, const std::string& output_folder,
                                  ConvertType type);

}  // namespace opdrift::pipeline
