#include "opdrift/engine/library_search.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "unit/io/io_testing.hpp"

#include "opdrift/engine/onnxruntime.hpp"

namespace opdrift::engine {
namespace {

using io::testing::TempFolder;

TEST(LibrarySearch, AGivenFileIsTheOnlyCandidate) {
  const auto candidates = library_candidates("/some/libonnxruntime.so.1.17");
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_EQ(candidates[0].path, "/some/libonnxruntime.so.1.17");
  EXPECT_TRUE(candidates[0].required);
}

TEST(LibrarySearch, AGivenFolderIsSearchedForTheLastVersion) {
  const TempFolder folder;
  (void)folder.file("libonnxruntime.so.1.17.0", "");
  (void)folder.file("libonnxruntime.so.1.18.0", "");
  (void)folder.file("libonnxruntime_providers_shared.so", "");
  const auto candidates = library_candidates(folder.path());
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_EQ(candidates[0].path, folder / "libonnxruntime.so.1.18.0");
}

TEST(LibrarySearch, WithoutAWishTheSystemLoaderIsAsked) {
  ::unsetenv("OPDRIFT_ONNXRUNTIME");
  bool asked = false;
  for (const LibraryCandidate& candidate : library_candidates("")) {
    asked = asked || candidate.path == "libonnxruntime.so.1";
  }
  EXPECT_TRUE(asked);
}

// Built with or without the engine, the message has to say what to do.
TEST(Runtime, AMissingLibrarySaysHowToGetOne) {
  const auto runtime = Runtime::load("/nonexistent/libonnxruntime.so");
  ASSERT_FALSE(runtime);
  EXPECT_NE(runtime.error().message.find("tools/setup.sh engine"), std::string::npos)
      << runtime.error().message;
}

TEST(Runtime, ALibraryThatIsSomethingElseIsRefused) {
  const auto runtime = Runtime::load("libc.so.6");
  ASSERT_FALSE(runtime);
  EXPECT_EQ(runtime.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace opdrift::engine
