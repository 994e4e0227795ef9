#include "opdrift/io/numpy/npz_reader.hpp"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/archive/zip_archive.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_header.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"

namespace opdrift::io {

namespace {

constexpr std::string_view kNpySuffix = ".npy";
constexpr std::uint64_t kUsualHeadBytes = 4096;

Result<NpyHeader> header_of(const ZipArchive& archive, std::size_t index) {
  OPDRIFT_TRY(const Bytes head, archive.head(index, kUsualHeadBytes));
  Result<NpyHeader> header = parse_npy_header(head.span);
  if (header || header.error().code != ErrorCode::truncated || head.size() < kUsualHeadBytes) {
    return header;
  }
  OPDRIFT_TRY(const Bytes longer, archive.head(index, kNpyHeadBytes));
  return parse_npy_header(longer.span);
}

std::string tensor_name(std::string_view member_name) {
  if (member_name.ends_with(kNpySuffix)) {
    member_name.remove_suffix(kNpySuffix.size());
  }
  return is_utf8(member_name) ? std::string(member_name) : printable(member_name);
}

FileTensor read_member(const std::shared_ptr<const ZipArchive>& archive, std::size_t index,
                       const std::string& path, std::vector<std::string>& warnings) {
  const ZipMember& member = archive->members()[index];
  FileTensor array;
  const Result<NpyHeader> header = header_of(*archive, index);
  if (header) {
    const std::uint64_t data_bytes = member.bytes - header->data_offset;
    std::vector<std::string> notes;
    array = describe_npy(*header, data_bytes, std::nullopt, member.name, notes);
    for (const std::string& note : notes) {
      warnings.push_back("member '" + printable(member.name) + "': " + note);
    }
    array.loader = [archive, index, path, offset = header->data_offset,
                    size = array.size_bytes]() -> Result<Bytes> {
      OPDRIFT_TRY(const Bytes bytes, in_file(archive->load(index), path));
      return bytes.part(offset, size);
    };
  } else {
    array.problem = header.error();
    array.size_bytes = member.bytes;
  }
  if (array.problem) {
    array.problem->path = path;
  }
  array.name = tensor_name(member.name);
  return array;
}

/// Two members of one name: nobody can say which one is meant.
void mark_duplicates(FileDump& dump) {
  std::map<std::string_view, std::uint32_t> uses;
  for (const FileTensor& array : dump.tensors) {
    ++uses[array.name];
  }
  for (FileTensor& array : dump.tensors) {
    if (uses[array.name] > 1) {
      array.problem =
          Error{ErrorCode::ambiguous,
                "member '" + printable(array.name) + "' occurs more than once", dump.path};
    }
  }
}

}  // namespace

bool probe_npz(ByteSpan head, std::uint64_t /*file_size*/, std::string_view file_name) {
  if (!is_zip(head)) {
    return false;
  }
  return file_name.ends_with(".npz") || as_text(head).find(kNpySuffix) != std::string_view::npos;
}

Result<FileDump> open_npz(const std::string& path) {
  OPDRIFT_TRY(Bytes bytes, map_file(path));
  OPDRIFT_TRY(const std::shared_ptr<const ZipArchive> archive,
              in_file(ZipArchive::open(std::move(bytes)), path));
  FileDump dump;
  dump.path = path;
  dump.format = "npz";
  for (std::size_t i = 0; i < archive->members().size(); ++i) {
    const std::string& name = archive->members()[i].name;
    if (!name.ends_with(kNpySuffix)) {
      dump.warnings.push_back("member '" + printable(name) + "' is no array and is passed over");
      continue;
    }
    FileTensor array = read_member(archive, i, path, dump.warnings);
    array.index = static_cast<std::uint32_t>(dump.tensors.size());
    dump.tensors.push_back(std::move(array));
  }
  mark_duplicates(dump);
  return dump;
}

}  // namespace opdrift::io
