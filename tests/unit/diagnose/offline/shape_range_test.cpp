#include "opdrift/diagnose/offline/shape_range.hpp"

#include <gtest/gtest.h>

namespace opdrift::diagnose::offline {
namespace {

TEST(Shapes, ANameEndsAtTheLastColon) {
  const auto shapes = parse_shapes("a:0:1,3,224,224;b/c.d:3");
  ASSERT_TRUE(shapes) << shapes.error().message;
  ASSERT_EQ(shapes->size(), 2U);
  EXPECT_EQ((*shapes)[0].name, "a:0");
  EXPECT_EQ((*shapes)[0].dims, (tensor::Shape{1, 3, 224, 224}));
  EXPECT_EQ(find_shape(*shapes, "b/c.d")->dims, tensor::Shape{3});
  EXPECT_EQ(find_shape(*shapes, "b"), nullptr);
}

TEST(Shapes, TextsThatAreNoShapesAreRefused) {
  for (const char* text : {"", "a", ":1", "a:", "a:1,,2", "a:1;", "a:x", "a:-1", "a:1;a:2", "a:1 2",
                           "a:99999999999999999999", "a:4611686018427387904,4"}) {
    EXPECT_FALSE(parse_shapes(text)) << text;
  }
}

TEST(Ranges, DimsAndInputsTurnLikeNestedLoops) {
  const auto all = expand_ranges("a:1,2~4~2,5-7;b:8,9");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(*all, (std::vector<std::string>{"a:1,2,5;b:8,9", "a:1,2,7;b:8,9", "a:1,4,5;b:8,9",
                                            "a:1,4,7;b:8,9"}));
  EXPECT_EQ(*expand_ranges("a:200~224~8,1"),
            (std::vector<std::string>{"a:200,1", "a:208,1", "a:216,1", "a:224,1"}));
  EXPECT_EQ(*expand_ranges("a:1~4~2"), (std::vector<std::string>{"a:1", "a:3"}));
  EXPECT_EQ(*expand_ranges("a:3"), std::vector<std::string>{"a:3"});
}

TEST(Ranges, LimitsAreKept) {
  const std::string name(45, 'n');
  EXPECT_TRUE(expand_ranges(name + ":1,"
                                   "2"));
  EXPECT_FALSE(expand_ranges(name + ":1,22"));
  EXPECT_TRUE(expand_ranges("a:1,2,3,4"));
  for (const char* text : {"a:1,2,3,4,5", "a:1~2~0", "a:3~2", "a:1~2~3~4", "a:1-", "a:~3",
                           "a:1~9999999", "a:1~1000,1~1000,1~2", "a:18446744073709551615~1"}) {
    EXPECT_FALSE(expand_ranges(text)) << text;
  }
  EXPECT_EQ(expand_ranges("a:1~1000,1~1000")->size(), kMaxShapes);
}

TEST(Ranges, ARangeAtTheEndOfTheNumbersEnds) {
  const auto all = expand_ranges("a:18446744073709551613~18446744073709551615~2");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 2U);
}

TEST(ShapeFolder, HasNoCharactersThatSplitPaths) {
  EXPECT_EQ(shape_folder("a:1,3,200,224;b/c:1,300"), "a-1_3_200_224-b_c-1_300");
}

}  // namespace
}  // namespace opdrift::diagnose::offline
