#include <filesystem>

#include "unit/shell/shell_testing.hpp"

#include "opdrift/shell/commands/torch_groups.hpp"

namespace opdrift::shell {
namespace {

using ::testing::HasSubstr;
using testing::TestShell;

TEST(TorchGroups, AreNamedByOrderOrPath) {
  EXPECT_EQ(parse_torch_group("7")->order, "7");
  EXPECT_EQ(parse_torch_group("/Add/7/input")->op, "Add");
  EXPECT_FALSE(parse_torch_group("conv/relu").has_value());
  EXPECT_FALSE(parse_torch_group("").has_value());
}

TEST(Ni, ShowsTheDumpsOfThePytorchAdapter) {
  TestShell shell;
  for (const char* side : {"pt/npu/a.h5", "pt/gpu/b.h5"}) {
    std::filesystem::copy_file(io::testing::corpus_file("hdf5/torch.h5"), shell.place(side));
  }
  for (const char* name : {"ni 7", "ni Add/7"}) {
    ASSERT_TRUE(shell.run(name)) << shell.err;
    EXPECT_THAT(shell.out, HasSubstr("NPU:"));
    EXPECT_THAT(shell.out, HasSubstr("GPU:"));
    EXPECT_THAT(shell.out, HasSubstr("Input:"));
    EXPECT_THAT(shell.out, HasSubstr("[Shape: (4,)] [Dtype: float32]"));
  }
  EXPECT_FALSE(shell.run("ni 8"));
  EXPECT_TRUE(shell.run("pt Add_7")) << shell.err;
}

}  // namespace
}  // namespace opdrift::shell
