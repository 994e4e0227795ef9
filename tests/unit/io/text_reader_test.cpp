#include "opdrift/io/text_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "unit/io/io_testing.hpp"

namespace opdrift::io {
namespace {

using testing::elements_of;
using ::testing::HasSubstr;
using testing::TempFolder;
using testing::text_of;

TEST(TextReader, NumbersBetweenBlanksAndComments) {
  const TempFolder folder;
  const Result<FileDump> dump =
      open_text(folder.file("a.txt", "# head\n 1 -2.5e3\t+3\r\n.5#no 7\n1e400 -1e400 1e-400\n"));
  ASSERT_TRUE(dump);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(elements_of(dump->tensors[0]), text_of<double>({1, -2500, 3, 0.5, inf, -inf, 0}));
  EXPECT_EQ(dump->tensors[0].desc.shape, tensor::Shape{7});
  EXPECT_FALSE(dump->tensors[0].desc.has_shape);
}

TEST(TextReader, NotANumberAndInfinityAreNumbers) {
  const TempFolder folder;
  const std::string data =
      elements_of(open_text(folder.file("a.txt", "nan NaN -inf +inf Infinity"))->tensors[0]);
  ASSERT_EQ(data.size(), 40U);
  double first = 0;
  std::memcpy(&first, data.data(), 8);
  EXPECT_TRUE(std::isnan(first));
}

TEST(TextReader, OtherWordsAreNamedWithTheirLine) {
  const TempFolder folder;
  for (const char* word : {"abc", "1,2", "0x10", "1e", "--1", "+-1", "1.2.3", "\xFF", "+"}) {
    const Result<FileDump> dump = open_text(folder.file("a.txt", "1\n2 " + std::string(word)));
    ASSERT_FALSE(dump) << word;
    EXPECT_EQ(dump.error().code, ErrorCode::malformed) << word;
    EXPECT_EQ(dump.error().offset, 4U);
    EXPECT_THAT(dump.error().message, HasSubstr("line 2"));
  }
}

TEST(TextReader, EmptyFileHasNoElements) {
  const TempFolder folder;
  EXPECT_EQ(open_text(folder.file("a.txt", ""))->tensors[0].desc.shape, tensor::Shape{0});
}

}  // namespace
}  // namespace opdrift::io
