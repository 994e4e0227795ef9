#include "opdrift/shell/registry.hpp"

#include <filesystem>
#include <set>

#include "unit/shell/shell_testing.hpp"

#include "opdrift/shell/input/completion.hpp"

namespace opdrift::shell {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TestShell;

TEST(Shell, NeverRunsALineThatIsNoCommand) {
  TestShell shell;
  const std::string proof = shell.place("proof");
  for (const std::string& line : {"touch " + proof, "!touch " + proof, "run touch " + proof,
                                  "vcs; touch " + proof, "$(touch " + proof + ")"}) {
    shell.run(line);
    EXPECT_FALSE(std::filesystem::exists(proof)) << line;
  }
  EXPECT_FALSE(shell.run("nonsense"));
  EXPECT_THAT(shell.err, HasSubstr("unknown command 'nonsense'"));
}

TEST(Shell, PassesOverBlankLinesAndRemarks) {
  TestShell shell;
  EXPECT_TRUE(shell.run("   "));
  EXPECT_TRUE(shell.run("# vcs"));
  EXPECT_EQ(shell.out + shell.err, "");
}

TEST(Shell, ExplainsEveryCommandWithinTheWidth) {
  TestShell shell(40);
  for (const ShellCommand& command : shell_commands()) {
    EXPECT_TRUE(shell.run("help " + std::string(command.name)));
    EXPECT_THAT(shell.out, HasSubstr("usage: " + std::string(command.name)));
    EXPECT_TRUE(command.raw || shell.run(std::string(command.name) + " -h"));
  }
  EXPECT_TRUE(shell.run("help"));
}

TEST(Shell, ShowsTheUsageForABadOption) {
  TestShell shell;
  EXPECT_FALSE(shell.run("vcs -z"));
  EXPECT_THAT(shell.err, HasSubstr("unknown option '-z'"));
  EXPECT_THAT(shell.out, HasSubstr("usage: vcs [-f PATH]"));
}

TEST(Shell, TellsHowToMakeDumpsInPlaceOfTraining) {
  TestShell shell;
  EXPECT_TRUE(shell.run("train -d npu -a dump"));
  EXPECT_THAT(shell.out, HasSubstr("npu_device_dump_config"));
  EXPECT_TRUE(shell.run("quit"));
  EXPECT_TRUE(shell.session.leave);
}

TEST(Completion, KnowsCommandsOptionsAndOperators) {
  TestShell shell;
  shell.file("npu/debug_0/graph/ge_proto_1_Build.txt.json", testing::small_graph());
  EXPECT_THAT(complete_line(shell.session, "vc").words, ElementsAre("vc", "vcs"));
  EXPECT_THAT(complete_line(shell.session, "ni -").words, Contains("-g"));
  EXPECT_THAT(complete_line(shell.session, "ni con").words, ElementsAre("conv/1"));
  EXPECT_THAT(complete_line(shell.session, "ni -n 激").words, ElementsAre("激活/relu"));
  EXPECT_THAT(complete_line(shell.session, "ni conv/1 -g n").words, ElementsAre("net"));
  EXPECT_THAT(complete_line(shell.session, "ls -t Re").words, ElementsAre("Relu"));
  EXPECT_EQ(complete_line(shell.session, "ni con").from, 3U);
}

TEST(Completion, KnowsFilesAndFolders) {
  TestShell shell;
  shell.file("d/a.npy", "");
  EXPECT_THAT(complete_line(shell.session, "dc " + shell.place("d/")).words,
              ElementsAre(shell.place("d/a.npy")));
  EXPECT_THAT(complete_line(shell.session, "vcs -f " + shell.place("fus")).words,
              ElementsAre(shell.place("fusion/")));
}

TEST(Screen, StopsAtTheEndOfAPageAndWhenTheReaderHadEnough) {
  std::string out;
  int asked = 0;
  ScreenOptions options;
  options.paper = {10, true};
  options.out = [&out](std::string_view text) {
    out += text;
    return true;
  };
  options.ask = [&asked] { return ++asked == 1 ? PageAnswer::page : PageAnswer::stop; };
  Screen screen(std::move(options));
  screen.begin(10, 4);
  for (int k = 0; k < 9; ++k) {
    screen.print(text_line(std::to_string(k)));
  }
  EXPECT_EQ(out, "0\n1\n2\n3\n4\n5\n");
  EXPECT_TRUE(screen.stopped());
}

}  // namespace
}  // namespace opdrift::shell
