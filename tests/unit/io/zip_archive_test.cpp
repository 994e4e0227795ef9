#include "opdrift/io/archive/zip_archive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/archive/inflate.hpp"
#include "opdrift/io/archive/zip_writer.hpp"

namespace opdrift::io {
namespace {

using testing::bytes_of;
using testing::content_of;
using testing::corpus_file;
using ::testing::HasSubstr;
using testing::little_endian;
using testing::TempFolder;

/// Builds archives field by field, so that tests can make each of them lie.
struct Member {
  std::string name = "a.npy";
  std::string data = "hello";
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::optional<std::uint32_t> crc;
  std::optional<std::uint64_t> packed_bytes;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> local_offset;
  std::string extra;
  std::string local_name;
};

std::string deflate_raw(const std::string& text) {
  z_stream stream{};
  ::deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string packed(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

std::string sizes_and_name(const Member& member, bool local) {
  const std::uint32_t crc = member.crc.value_or(crc32_of(as_bytes(member.data)));
  const std::string& name = local && !member.local_name.empty() ? member.local_name : member.name;
  return little_endian(crc, 4) +
         little_endian(member.packed_bytes.value_or(member.data.size()), 4) +
         little_endian(member.bytes.value_or(member.data.size()), 4) +
         little_endian(name.size(), 2) + little_endian(local ? 0 : member.extra.size(), 2);
}

std::string end_record(std::size_t count, std::uint64_t size, std::uint64_t offset) {
  return std::string("PK\x05\x06", 4) + little_endian(0, 4) + little_endian(count, 2) +
         little_endian(count, 2) + little_endian(size, 4) + little_endian(offset, 4) +
         little_endian(0, 2);
}

std::string archive_of(const std::vector<Member>& members) {
  std::string file;
  std::string directory;
  for (const Member& member : members) {
    const std::string common =
        little_endian(member.flags, 2) + little_endian(member.method, 2) + little_endian(0, 4);
    const std::uint64_t offset = member.local_offset.value_or(file.size());
    file += std::string("PK\x03\x04", 4) + little_endian(20, 2) + common +
            sizes_and_name(member, true) +
            (member.local_name.empty() ? member.name : member.local_name) + member.data;
    directory += std::string("PK\x01\x02", 4) + little_endian(20, 4) + common +
                 sizes_and_name(member, false) + little_endian(0, 10) + little_endian(offset, 4) +
                 member.name + member.extra;
  }
  const std::size_t size = directory.size();
  const std::size_t offset = file.size();
  return file + directory + end_record(members.size(), size, offset);
}

Result<std::shared_ptr<const ZipArchive>> open_archive(const std::string& text,
                                                       const ZipLimits& limits = {}) {
  return ZipArchive::open(bytes_of(text), limits);
}

std::string load_text(const std::string& text, const ZipLimits& limits = {}) {
  const auto archive = open_archive(text, limits);
  if (!archive) {
    return "error: " + archive.error().to_string();
  }
  const Result<Bytes> bytes = (*archive)->load(0);
  return bytes ? std::string(as_text(bytes->span)) : "error: " + bytes.error().to_string();
}

ErrorCode code_of_first(const std::vector<Member>& members, const ZipLimits& limits = {}) {
  const auto archive = open_archive(archive_of(members), limits);
  return archive ? (*archive)->load(0).error().code : archive.error().code;
}

TEST(ZipArchive, StoredMemberIsMappedInPlace) {
  const Bytes file = bytes_of(archive_of({Member{}}));
  const auto archive = ZipArchive::open(file);
  ASSERT_TRUE(archive);
  const Result<Bytes> bytes = (*archive)->load(0);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(as_text(bytes->span), "hello");
  EXPECT_EQ(bytes->span.data(), file.span.data() + 30 + 5);
}

TEST(ZipArchive, DeflatedMemberIsUnpackedInMemoryAndThroughAFile) {
  std::string text;
  for (int i = 0; i < 100000; ++i) {
    text += std::to_string(i);
  }
  Member member{.data = deflate_raw(text), .method = 8, .crc = crc32_of(as_bytes(text))};
  member.bytes = text.size();
  const std::string archive = archive_of({member});
  EXPECT_EQ(load_text(archive), text);
  EXPECT_EQ(load_text(archive, {.in_memory_bytes = 1000}), text);
  EXPECT_EQ(as_text((*open_archive(archive))->head(0, 10)->span), text.substr(0, 10));
}

TEST(ZipArchive, ArchivesCutAnywhereAreRefused) {
  const std::string text = archive_of({Member{}, Member{.name = "b"}});
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(open_archive(text.substr(0, size))) << size;
  }
}

TEST(ZipArchive, CutArchiveSaysHowMuchIsThere) {
  const std::string text = archive_of({Member{}, Member{.name = "b.npy"}});
  const auto cut = open_archive(text.substr(0, 77));
  EXPECT_EQ(cut.error().code, ErrorCode::truncated);
  // Two members of 30 + 5 + 5 bytes.
  EXPECT_THAT(cut.error().message, HasSubstr("member 'b.npy' needs 80 bytes, the file has 77"));
}

TEST(ZipArchive, EveryFlippedByteIsFoundOrHarmless) {
  const std::string text = archive_of({Member{}});
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    const std::string loaded = load_text(damaged);
    EXPECT_TRUE(loaded == "hello" || loaded.starts_with("error: ")) << i << loaded;
  }
}

TEST(ZipArchive, WrongChecksumIsMalformedAndNamesTheMember) {
  EXPECT_THAT(load_text(archive_of({Member{.crc = 1}})),
              HasSubstr("member 'a.npy': wrong checksum"));
}

TEST(ZipArchive, LyingSizesAreRefused) {
  EXPECT_EQ(code_of_first({Member{.bytes = 6}}), ErrorCode::malformed);
  EXPECT_EQ(code_of_first({Member{.packed_bytes = 0xFFFFFFF0, .bytes = 0xFFFFFFF0}}),
            ErrorCode::malformed);
  EXPECT_EQ(code_of_first({Member{.local_offset = 0x7FFFFFFF}}), ErrorCode::malformed);
  EXPECT_EQ(code_of_first({Member{.local_offset = 3}}), ErrorCode::malformed);
  const std::string packed = deflate_raw("hello");
  const std::uint32_t crc = crc32_of(as_bytes("hello"));
  EXPECT_EQ(code_of_first({Member{.data = packed, .method = 8, .crc = crc, .bytes = 4}}),
            ErrorCode::malformed);
  EXPECT_EQ(code_of_first({Member{.data = packed, .method = 8, .crc = crc, .bytes = 6}}),
            ErrorCode::malformed);
  EXPECT_EQ(code_of_first({Member{.data = packed.substr(0, 3), .method = 8, .bytes = 5}}),
            ErrorCode::truncated);
}

TEST(ZipArchive, Zip64FieldIsReadAndItsLiesRefused) {
  const auto field = [](std::uint64_t bytes, std::uint64_t packed) {
    return little_endian(1, 2) + little_endian(16, 2) + little_endian(bytes, 8) +
           little_endian(packed, 8);
  };
  const Member big{.packed_bytes = 0xFFFFFFFF, .bytes = 0xFFFFFFFF};
  Member good = big;
  good.extra = field(5, 5);
  EXPECT_EQ(load_text(archive_of({good})), "hello");
  Member lying = big;
  lying.extra = field(std::uint64_t{1} << 60, std::uint64_t{1} << 60);
  EXPECT_EQ(code_of_first({lying}), ErrorCode::malformed);
  EXPECT_EQ(code_of_first({big}), ErrorCode::malformed);
  Member shorter = big;
  shorter.extra = little_endian(1, 2) + little_endian(8, 2) + little_endian(5, 8);
  EXPECT_EQ(code_of_first({shorter}), ErrorCode::truncated);
}

TEST(ZipArchive, OverlappingMembersAreRefused) {
  EXPECT_EQ(code_of_first({Member{}, Member{.name = "b", .local_offset = 0}}),
            ErrorCode::malformed);
}

TEST(ZipArchive, LocalNameThatDiffersIsRefused) {
  EXPECT_EQ(code_of_first({Member{.local_name = "b.npy"}}), ErrorCode::malformed);
}

TEST(ZipArchive, EncryptedAndOtherMethodsAreUnsupported) {
  EXPECT_EQ(code_of_first({Member{.flags = 1}}), ErrorCode::unsupported);
  EXPECT_EQ(code_of_first({Member{.method = 14}}), ErrorCode::unsupported);
}

// 10 million zeros deflate to about 10 kB: a ratio that is possible, so the limits decide.
TEST(ZipArchive, BombsAreRefusedBeforeUnpacking) {
  const std::string zeros(10'000'000, '\0');
  Member bomb{.data = deflate_raw(zeros), .method = 8, .crc = crc32_of(as_bytes(zeros))};
  bomb.bytes = zeros.size();
  EXPECT_EQ(load_text(archive_of({bomb})).size(), zeros.size());
  const ZipLimits by_ratio{.unquestioned_bytes = 1000, .max_ratio = 100};
  EXPECT_EQ(code_of_first({bomb}, by_ratio), ErrorCode::limit);
  EXPECT_EQ(code_of_first({bomb}, {.max_bytes = 1'000'000}), ErrorCode::limit);
  bomb.bytes = 4'000'000'000;  // more than deflate could have packed so small
  EXPECT_EQ(code_of_first({bomb}), ErrorCode::malformed);
}

TEST(ZipArchive, CommentBehindTheEndIsPassed) {
  std::string text = archive_of({Member{}});
  text[text.size() - 2] = 3;
  EXPECT_EQ(load_text(text + "PK!"), "hello");
}

TEST(ZipArchive, EmptyArchiveHasNoMembers) {
  const auto archive = open_archive(end_record(0, 0, 0));
  ASSERT_TRUE(archive);
  EXPECT_TRUE((*archive)->members().empty());
}

TEST(ZipWriter, ReadsBackInBothStylesAligned) {
  const TempFolder folder;
  for (const ZipStyle style : {ZipStyle::numpy, ZipStyle::torch}) {
    Result<ZipWriter> writer = ZipWriter::create(folder / "a.zip", style);
    ASSERT_TRUE(writer);
    for (const std::string name : {"a", "目录/张量.npy"}) {
      ASSERT_TRUE(writer->begin(name, 5) && writer->write("he") && writer->write("llo") &&
                  writer->end());
    }
    ASSERT_TRUE(writer->finish());
    const auto archive = ZipArchive::open(map_file(folder / "a.zip").value());
    ASSERT_TRUE(archive);
    ASSERT_EQ((*archive)->members().size(), 2U);
    EXPECT_EQ((*archive)->members()[1].name, "目录/张量.npy");
    for (std::size_t i = 0; i < 2; ++i) {
      const Result<Bytes> bytes = (*archive)->load(i);
      ASSERT_TRUE(bytes);
      EXPECT_EQ(as_text(bytes->span), "hello");
    }
    EXPECT_EQ(content_of(folder / "a.zip").find("hello") % 64, 0U);
  }
}

TEST(ZipWriter, MembersHaveTheAnnouncedSize) {
  const TempFolder folder;
  Result<ZipWriter> writer = ZipWriter::create(folder / "a.zip", ZipStyle::numpy);
  ASSERT_TRUE(writer && writer->begin("a", 2));
  EXPECT_EQ(writer->write("abc").error().code, ErrorCode::mismatch);
  ASSERT_TRUE(writer->write("a"));
  EXPECT_EQ(writer->end().error().code, ErrorCode::mismatch);
}

// 65,536 members do not fit the 16-bit count of the end record.
TEST(ZipWriter, ManyMembersNeedAZip64End) {
  const TempFolder folder;
  Result<ZipWriter> writer = ZipWriter::create(folder / "a.zip", ZipStyle::numpy);
  for (int i = 0; i < 65536; ++i) {
    ASSERT_TRUE(writer->begin(std::to_string(i), 0) && writer->end());
  }
  ASSERT_TRUE(writer->finish());
  const auto archive = ZipArchive::open(map_file(folder / "a.zip").value());
  ASSERT_TRUE(archive);
  EXPECT_EQ((*archive)->members().size(), 65536U);
  EXPECT_EQ((*archive)->members().back().name, "65535");
}

}  // namespace
}  // namespace opdrift::io
