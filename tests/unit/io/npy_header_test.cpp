#include "opdrift/io/numpy/npy_header.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/numpy/python_literal.hpp"
#include "opdrift/tensor/dtype.hpp"

namespace opdrift::io {
namespace {

using testing::little_endian;

std::string npy(std::string_view dict) {
  return std::string("\x93NUMPY\x01\x00", 8) + little_endian(dict.size(), 2) + std::string(dict);
}

Result<NpyHeader> parse(std::string_view dict) {
  const std::string text = npy(dict);
  return parse_npy_header(as_bytes(text));
}

ErrorCode code_of(std::string_view dict) {
  return parse(dict).error().code;
}

// The texts are those numpy 1.24.2 writes: numpy.lib.format.write_array_header_1_0.
TEST(NpyHeader, IsWhatNumpyWrites) {
  EXPECT_EQ(format_npy_header("<f4", false, {3, 4}),
            npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }" +
                std::string(58, ' ') + "\n"));
  EXPECT_EQ(format_npy_header("<i8", true, {2, 3}),
            npy("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }" +
                std::string(59, ' ') + "\n"));
  EXPECT_EQ(format_npy_header("|b1", false, {7}),
            npy("{'descr': '|b1', 'fortran_order': False, 'shape': (7,), }" + std::string(60, ' ') +
                "\n"));
  EXPECT_EQ(
      format_npy_header("<f8", false, {}),
      npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }" + std::string(62, ' ') + "\n"));
}

// NumPy keeps room for the first extent to grow to 21 digits, which decides the length near a
// multiple of 64, and adds 64 blanks rather than none. Lengths by numpy 1.24.2.
TEST(NpyHeader, LengthsAreThoseOfNumpy) {
  tensor::Shape shape;
  std::vector<std::size_t> lengths;
  for (int rank = 0; rank <= 32; ++rank) {
    lengths.push_back(format_npy_header("<f4", false, shape).size());
    shape.push_back(1);
  }
  std::vector<std::size_t> numpy(15, 128);
  numpy.resize(33, 192);
  EXPECT_EQ(lengths, numpy);
}

TEST(NpyHeader, ReadsBackWhatItWrites) {
  const tensor::Shape shape = {5, 0, 18446744073709551U};
  const std::string text = format_npy_header("<c16", true, shape);
  const Result<NpyHeader> header = parse_npy_header(as_bytes(text));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->shape, shape);
  EXPECT_TRUE(header->fortran_order);
  EXPECT_EQ(header->data_offset, text.size());
  EXPECT_EQ(npy_dtype(*header).value(), tensor::DType::c128);
}

TEST(NpyHeader, HeaderBeyond64KiBBecomesVersion2) {
  const tensor::Shape shape(64, 1);
  EXPECT_EQ(format_npy_header("<f4", false, shape)[6], 1);
  const std::string descr(70000, 'x');
  const std::string text = format_npy_header(descr, false, {});
  EXPECT_EQ(text[6], 2);
  EXPECT_EQ(text.size() % 64, 0U);
  EXPECT_TRUE(parse_npy_header(as_bytes(text)));
}

TEST(NpyHeader, KeysMayComeInAnyOrderAndQuotes) {
  const Result<NpyHeader> header =
      parse("{ \"shape\": ( 3L, 4L ), 'fortran_order': False,\n 'descr': u'>i2' }");
  ASSERT_TRUE(header);
  EXPECT_EQ(header->shape, (tensor::Shape{3, 4}));
  EXPECT_TRUE(header->big_endian);
  EXPECT_EQ(npy_dtype(*header).value(), tensor::DType::i16);
}

TEST(NpyHeader, TruncatedAtEveryByteIsAnError) {
  const std::string text = format_npy_header("<f4", false, {3, 4});
  for (std::size_t size = 0; size < text.size(); ++size) {
    const Result<NpyHeader> header = parse_npy_header(as_bytes(text.substr(0, size)));
    ASSERT_FALSE(header) << size;
    EXPECT_TRUE(header.error().code == ErrorCode::truncated ||
                (size < 6 && header.error().code == ErrorCode::malformed))
        << size;
  }
}

TEST(NpyHeader, LengthBeyondTheFileIsRefusedBeforeAllocation) {
  const std::string lying = std::string("\x93NUMPY\x02\x00", 8) + little_endian(0xFFFFFFFF, 4);
  EXPECT_EQ(parse_npy_header(as_bytes(lying)).error().code, ErrorCode::limit);
  const std::string longer = std::string("\x93NUMPY\x02\x00", 8) + little_endian(1000, 4) + "{}";
  EXPECT_EQ(parse_npy_header(as_bytes(longer)).error().code, ErrorCode::truncated);
}

TEST(NpyHeader, VersionFourIsUnsupported) {
  const std::string text = std::string("\x93NUMPY\x04\x00", 8) + little_endian(2, 4) + "{}";
  const Result<NpyHeader> header = parse_npy_header(as_bytes(text));
  EXPECT_EQ(header.error().code, ErrorCode::unsupported);
  EXPECT_EQ(header.error().offset, 6U);
}

TEST(NpyHeader, BadDictionariesAreNamedByTheirSin) {
  EXPECT_EQ(code_of("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"),
            ErrorCode::bad_shape);
  EXPECT_EQ(code_of("{'descr': '<f4', 'fortran_order': False, 'shape': 3, }"),
            ErrorCode::malformed);
  EXPECT_EQ(code_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,), }"),
            ErrorCode::malformed);
  EXPECT_EQ(code_of("{'descr': '<f4', 'fortran_order': 1, 'shape': (), }"), ErrorCode::malformed);
  EXPECT_EQ(code_of("{'descr': '<f4', 'shape': (), }"), ErrorCode::malformed);
  EXPECT_EQ(code_of("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': ()}"),
            ErrorCode::malformed);
  EXPECT_EQ(code_of("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}"),
            ErrorCode::malformed);
  EXPECT_EQ(code_of("{'descr': 7, 'fortran_order': False, 'shape': ()}"), ErrorCode::malformed);
  EXPECT_EQ(code_of("__import__('os').system('true')"), ErrorCode::malformed);
  // 2^62 * 16 elements
  EXPECT_EQ(code_of("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 16)}"),
            ErrorCode::bad_shape);
  EXPECT_EQ(code_of("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
            ErrorCode::malformed);
}

TEST(NpyHeader, ErrorOffsetCountsFromTheBeginOfTheFile) {
  EXPECT_EQ(parse("{'descr' '<f4'}").error().offset, 10U + 9U);
}

TEST(NpyHeader, ObjectsTextDatesAndStructuresAreNoNumbers) {
  for (const char* descr : {"'|O'", "'<U3'", "'|S5'", "'<M8[ns]'", "[('a', '<f4')]", "'<f16'",
                            "'<f3'", "''", "'<'", "'nonsense'"}) {
    const Result<NpyHeader> header =
        parse("{'descr': " + std::string(descr) + ", 'fortran_order': False, 'shape': (2,), }");
    ASSERT_TRUE(header) << descr;
    EXPECT_EQ(npy_dtype(*header).error().code, ErrorCode::unsupported_dtype) << descr;
  }
}

TEST(PythonLiteral, NestingAndNumberOfValuesAreLimited) {
  EXPECT_EQ(parse_python_literal(std::string(1000, '[')).error().code, ErrorCode::limit);
  std::string many = "[";
  for (int i = 0; i < 20000; ++i) {
    many += "0,";
  }
  EXPECT_EQ(parse_python_literal(many + "]").error().code, ErrorCode::limit);
}

TEST(PythonLiteral, OneInParenthesesIsNoTuple) {
  EXPECT_EQ(parse_python_literal("(3)")->kind, PythonLiteral::Kind::integer);
  EXPECT_EQ(parse_python_literal("(3,)")->kind, PythonLiteral::Kind::tuple);
}

TEST(PythonLiteral, EscapesAreTurnedIntoCharacters) {
  EXPECT_EQ(parse_python_literal(R"('\x3cf4\'\n')")->text, "<f4'\n");
  EXPECT_FALSE(parse_python_literal(R"('\u1234')"));
  EXPECT_FALSE(parse_python_literal("'open"));
}

}  // namespace
}  // namespace opdrift::io
