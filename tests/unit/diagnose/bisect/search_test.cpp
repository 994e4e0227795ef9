#include "opdrift/diagnose/bisect/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "unit/io/io_testing.hpp"
#include <nlohmann/json.hpp>

namespace opdrift::diagnose {
namespace {

using Json = nlohmann::json;

std::string bisect_json() {
  const char* set = std::getenv("OPDRIFT_SHARED");
  const std::string shared = set != nullptr ? set : OPDRIFT_SOURCE_DIR "/../shared";
  return shared + "/fixtures/onnx-extract/bisect.json";
}

SearchRun searched(Direction direction, std::size_t cuts,
                   const std::function<Outcome(std::size_t)>& probe) {
  const auto run =
      run_search(direction, cuts, [&](std::size_t cut) -> Result<Outcome> { return probe(cut); });
  EXPECT_TRUE(run);
  return run.value();
}

Outcome bad_if(bool bad) {
  return bad ? Outcome::bad : Outcome::good;
}

void expect_probes(const SearchRun& run, const Json& cuts, const Json& expected) {
  Json made = Json::array();
  for (const ProbeRecord& probe : run.probes) {
    made.push_back(cuts[probe.cut]);
  }
  Json wanted = Json::array();
  for (const Json& probe : expected) {
    wanted.push_back(probe[0]);
  }
  EXPECT_EQ(made, wanted);
}

TEST(RunSearch, RecordedSequencesComeOutAsRecorded) {
  if (!std::filesystem::exists(bisect_json())) {
    GTEST_SKIP() << "no recorded cases at " << bisect_json();
  }
  const Json cases = Json::parse(io::testing::content_of(bisect_json()), nullptr, false);
  ASSERT_FALSE(cases.empty());
  for (const Json& recorded : cases) {
    SCOPED_TRACE(recorded.dump().substr(0, 80));
    const Json& cuts = recorded["cut_points"];
    const std::size_t last = recorded["suffix"]["error_reproduces_from_index_at_most"];
    const SearchRun suffix = searched(Direction::suffix, cuts.size(),
                                      [&](std::size_t cut) { return bad_if(cut <= last); });
    expect_probes(suffix, cuts, recorded["suffix"]["probes"]);
    EXPECT_EQ(cuts[suffix.answer.first], recorded["suffix"]["answer"][0]);
    const std::size_t first = recorded["prefix"]["first_bad_index"];
    const SearchRun prefix = searched(Direction::prefix, cuts.size(),
                                      [&](std::size_t cut) { return bad_if(cut >= first); });
    expect_probes(prefix, cuts, recorded["prefix"]["probes"]);
    EXPECT_EQ(cuts[prefix.answer.first], recorded["prefix"]["answer"]);
  }
}

TEST(RunSearch, FindsEveryPlaceInFewProbesAndRepeatsNone) {
  for (const Direction direction : {Direction::suffix, Direction::prefix}) {
    for (std::size_t cuts = 1; cuts <= 40; ++cuts) {
      for (std::size_t place = 0; place < cuts; ++place) {
        const SearchRun run = searched(direction, cuts, [&](std::size_t cut) {
          return bad_if(direction == Direction::suffix ? cut <= place : cut >= place);
        });
        EXPECT_EQ(run.answer.first, place);
        EXPECT_EQ(run.answer.last, place);
        EXPECT_LE(run.probes.size(), 1 + static_cast<std::size_t>(std::bit_width(cuts - 1)));
        std::vector<std::size_t> made;
        for (const ProbeRecord& probe : run.probes) {
          made.push_back(probe.cut);
        }
        std::sort(made.begin(), made.end());
        EXPECT_EQ(std::adjacent_find(made.begin(), made.end()), made.end());
      }
    }
  }
}

TEST(RunSearch, AllGoodRestsOnTheAssumption) {
  const auto good = [](std::size_t) { return Outcome::good; };
  const SearchRun suffix = searched(Direction::suffix, 8, good);
  EXPECT_EQ(suffix.answer.first, 0U);
  EXPECT_TRUE(suffix.answer.assumed);
  const SearchRun prefix = searched(Direction::prefix, 8, good);
  EXPECT_EQ(prefix.answer.first, 7U);
  EXPECT_TRUE(prefix.answer.assumed);
  const SearchRun found =
      searched(Direction::suffix, 8, [](std::size_t c) { return bad_if(c <= 3); });
  EXPECT_FALSE(found.answer.assumed);
}

TEST(RunSearch, ASkippedCutIsReplacedByTheNearest) {
  const SearchRun run = searched(Direction::suffix, 9, [](std::size_t cut) {
    return cut == 4 ? Outcome::skip : bad_if(cut <= 6);
  });
  ASSERT_GE(run.probes.size(), 2U);
  EXPECT_EQ(run.probes[0].cut, 4U);
  EXPECT_EQ(run.probes[1].cut, 3U);
  EXPECT_EQ(run.answer.first, 6U);
  EXPECT_EQ(run.answer.last, 6U);
}

TEST(RunSearch, WhatIsSkippedLeavesARange) {
  const auto skips = [](std::size_t cut) {
    return cut >= 3 && cut <= 5 ? Outcome::skip : bad_if(cut <= 4);
  };
  const SearchRun suffix = searched(Direction::suffix, 9, skips);
  EXPECT_EQ(suffix.answer.first, 2U);
  EXPECT_EQ(suffix.answer.last, 5U);
  const SearchRun none = searched(Direction::prefix, 9, [](std::size_t) { return Outcome::skip; });
  EXPECT_EQ(none.answer.first, 0U);
  EXPECT_EQ(none.answer.last, 8U);
  EXPECT_EQ(none.probes.size(), 8U);
}

TEST(RunSearch, AFlakyProbeIsTriedAgain) {
  std::size_t tries = 0;
  const SearchRun run = searched(Direction::prefix, 3, [&](std::size_t cut) {
    return cut == 1 && ++tries < 3 ? Outcome::flaky : bad_if(cut >= 1);
  });
  EXPECT_EQ(tries, 3U);
  EXPECT_EQ(run.answer.first, 1U);
  EXPECT_EQ(run.answer.last, 1U);
}

TEST(RunSearch, WhatStaysFlakyCountsAsSkipped) {
  const SearchRun run = searched(Direction::prefix, 3, [](std::size_t cut) {
    return cut == 1 ? Outcome::flaky : bad_if(cut >= 1);
  });
  EXPECT_EQ(std::count_if(run.probes.begin(), run.probes.end(),
                          [](const ProbeRecord& probe) { return probe.cut == 1; }),
            3);
  EXPECT_EQ(run.answer.first, 1U);
  EXPECT_EQ(run.answer.last, 2U);
}

// Bad from 2, good from 5, bad from 7: the shortest failing suffix is what counts.
TEST(Search, ResultsThatContradictEachOtherAreSaid) {
  Search search(Direction::suffix, 10);
  search.record(2, Outcome::bad);
  search.record(5, Outcome::good);
  search.record(7, Outcome::bad);
  search.record(8, Outcome::good);
  const SearchAnswer answer = search.answer();
  ASSERT_EQ(answer.contradictions.size(), 1U);
  EXPECT_EQ(answer.contradictions[0], (std::pair<std::size_t, std::size_t>{7, 5}));
  EXPECT_EQ(answer.first, 7U);
  EXPECT_EQ(answer.last, 7U);
  EXPECT_FALSE(search.next());
}

TEST(Search, TheOrderOfRecordsDoesNotMatter) {
  Search one(Direction::prefix, 12);
  Search two(Direction::prefix, 12);
  one.record(5, Outcome::bad);
  one.record(2, Outcome::good);
  two.record(2, Outcome::good);
  two.record(5, Outcome::bad);
  EXPECT_EQ(one.next(), two.next());
  EXPECT_EQ(one.next(), std::optional<std::size_t>(4));
}

TEST(RunSearch, AFailedProbeEndsTheSearch) {
  const auto run = run_search(Direction::suffix, 4, [](std::size_t) -> Result<Outcome> {
    return Error{ErrorCode::cancelled, "interrupted"};
  });
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace opdrift::diagnose
