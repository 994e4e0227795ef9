#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "opdrift/shell/input/line_reader.hpp"

namespace opdrift::shell {
namespace {

/// Standard input with this text, for as long as it lives.
class Input {
 public:
  explicit Input(const std::string& text) : before_(::dup(STDIN_FILENO)), file_(std::tmpfile()) {
    EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), file_), text.size());
    std::fflush(file_);
    ::lseek(::fileno(file_), 0, SEEK_SET);
    ::dup2(::fileno(file_), STDIN_FILENO);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
    std::fclose(file_);
  }

 private:
  int before_;
  std::FILE* file_;
};

std::vector<std::string> lines_of(LineReader& reader) {
  std::vector<std::string> lines;
  for (ReadLine line = reader.read("> "); line.state == ReadState::line; line = reader.read("> ")) {
    lines.push_back(line.text);
  }
  return lines;
}

TEST(PlainReader, TakesLinesAndALastOneWithoutEnd) {
  const Input input("ls\n\n  ni 激活/relu\r\nquit");
  const auto reader = make_plain_reader({});
  EXPECT_EQ(lines_of(*reader), (std::vector<std::string>{"ls", "", "  ni 激活/relu\r", "quit"}));
  EXPECT_EQ(reader->read("").state, ReadState::end);
}

TEST(PlainReader, ALineThatIsTooLongIsOneLine) {
  const Input input(std::string(3 * kMostLineBytes, 'a') + "\nls\n");
  const std::vector<std::string> lines = lines_of(*make_plain_reader({}));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].substr(0, 3), "aaa");
  EXPECT_EQ(lines[1], "ls");
}

TEST(PlainReader, ShowsItsPromptOnATerminalOnly) {
  const Input input("ls\nquit\n");
  LineReaderOptions options;
  options.editing = true;
  testing::internal::CaptureStdout();
  EXPECT_EQ(lines_of(*make_plain_reader(options)).size(), 2U);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "> > > ");
  const Input script("ls\n");
  testing::internal::CaptureStdout();
  lines_of(*make_plain_reader({}));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace opdrift::shell
