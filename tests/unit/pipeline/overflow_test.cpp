#include "opdrift/pipeline/overflow/overflow.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "unit/pipeline/dump_folders.hpp"

#include "opdrift/io/ascend/debug.hpp"
#include "opdrift/io/ascend/writer.hpp"
#include "opdrift/pipeline/overflow/overflow_record.hpp"

namespace opdrift::pipeline {
namespace {

/// A tagged record of an AIC unit: task 7 on stream 2, any context.
std::vector<std::byte> record(std::uint64_t status) {
  std::vector<std::byte> bytes(24 + 88);
  const std::uint32_t head[6] = {0x5A5A5A5A, 0, 1, 0, 0, 88};
  const std::uint64_t fields[11] = {1, 2, 7, 0, io::kNoId, io::kNoId, 0, 0, 0, 0, status};
  std::memcpy(bytes.data(), head, sizeof(head));
  std::memcpy(bytes.data() + sizeof(head), fields, sizeof(fields));
  return bytes;
}

class Overflow : public ::testing::Test {
 protected:
  Overflow() : in_(folder_.sub("in")), out_(folder_.sub("out")) {
    options_.dump_folder = in_;
    options_.output_folder = out_;
  }
  void dump(const std::string& name, tensor::DType dtype, const std::vector<std::byte>& data) {
    io::AscendContent content;
    content.op_name = "net/" + name.substr(0, 3);
    io::AscendTensor output;
    output.desc.dtype = dtype;
    output.desc.shape = {data.size() * 8 / tensor::info(dtype).bits};
    output.desc.format = tensor::Format::nd;
    output.bytes = data;
    content.tensors = {output};
    ASSERT_TRUE(io::write_ascend_dump(in_ + "/" + name, content));
  }
  void debug(const std::string& name, std::uint64_t status) {
    dump(name, tensor::DType::u8, record(status));
  }

  TestFolder folder_;
  std::string in_;
  std::string out_;
  OverflowOptions options_;
};

TEST_F(Overflow, NamesTheOldestDumpOfTheTask) {
  debug("Opdebug.Node_OpDebug.9.1.1614717262233160", 5);
  dump("Add.b.7.2.1614717262233155", tensor::DType::u8, {std::byte{3}});
  dump("Mul.a.7.2.1614717262233156", tensor::DType::u8, {std::byte{4}});
  dump("Sub.a.7.3.1614717262233150", tensor::DType::u8, {std::byte{5}});
  const OverflowReport report = analyse_overflow(options_);
  ASSERT_FALSE(report.error) << report.error->to_string();
  EXPECT_NE(report.text.find("[Add] net/Add\n [AIC][TaskId:7][StreamId:2][Status:5]\n"),
            std::string::npos)
      << report.text;
  EXPECT_NE(report.text.find("[Max: 3] [Min: 3] [Mean: 3.0]\n"), std::string::npos);
}

// A second run finds JSON and arrays of the first in the folder of the dumps.
TEST_F(Overflow, IsNotDisturbedByItsOwnResults) {
  options_.output_folder = in_;
  debug("Opdebug.Node_OpDebug.9.1.1614717262233160", 5);
  dump("Add.b.7.2.1614717262233155", tensor::DType::u8, {std::byte{3}});
  const std::string first = analyse_overflow(options_).text;
  const OverflowReport second = analyse_overflow(options_);
  ASSERT_FALSE(second.error) << second.error->to_string();
  EXPECT_EQ(second.text, first);
}

TEST_F(Overflow, FollowsTheMappingOfBothFiles) {
  debug("111", 5);
  dump("222", tensor::DType::u8, {std::byte{3}});
  folder_.file("in/mapping.csv",
               "111,Opdebug.Node_OpDebug.9.1.1614717262233160\n222,Add.b.7.2.1614717262233155\n");
  const OverflowReport report = analyse_overflow(options_);
  ASSERT_FALSE(report.error) << report.error->to_string();
  EXPECT_NE(report.text.find("[timestamp:1614717262233160]"), std::string::npos);
  EXPECT_NE(report.text.find("\n 222.output.0.npy\n"), std::string::npos) << report.text;
}

TEST_F(Overflow, TakesAMissingStreamForStreamZero) {
  debug("Opdebug.Node_OpDebug.9.1614717262233160", 5);
  dump("Add.b.7.1614717262233155", tensor::DType::u8, {std::byte{3}});
  const OverflowReport report = analyse_overflow(options_);
  ASSERT_FALSE(report.error);
  EXPECT_EQ(report.text.find("[Add]"), std::string::npos);
}

TEST_F(Overflow, TellsWhyThereIsNoSummary) {
  EXPECT_EQ(analyse_overflow(options_).cause, OverflowCause::none);
  debug("Opdebug.Node_OpDebug.9.1.1614717262233160", 0);
  EXPECT_EQ(analyse_overflow(options_).cause, OverflowCause::no_status);
  folder_.file("out/Opdebug.Node_OpDebug.9.1.1614717262233160.output.1.json", "{}");
  EXPECT_EQ(analyse_overflow(options_).error->code, ErrorCode::ambiguous);
}

TEST(DebugJson, ReadsBackWhatWasWritten) {
  const io::DebugRecord record_in = io::parse_debug_record(record(5)).value();
  const io::DebugRecord read = parse_debug_json(io::to_json(record_in)).value();
  ASSERT_EQ(read.units.size(), 1U);
  EXPECT_EQ(read.units[0].name, "AIC");
  EXPECT_EQ(read.units[0].field_or_none("task_id"), 7U);
  EXPECT_EQ(read.units[0].status, (std::vector<std::uint64_t>{5}));
}

TEST(DebugJson, RefusesOtherJson) {
  for (const char* text : {"", "[]", "{\"acc_list\": 1}", "{\"acc_list\": {\"acc_type\": \"X\"}}",
                           "{\"AI Core\": {}}", "{\"AI Core\": {\"status\": \"x\"}}"}) {
    EXPECT_FALSE(parse_debug_json(text)) << text;
  }
}

}  // namespace
}  // namespace opdrift::pipeline
