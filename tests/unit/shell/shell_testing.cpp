#include "unit/shell/shell_testing.hpp"

#include <cstring>
#include <filesystem>

#include "unit/pipeline/dump_testing.hpp"

#include "opdrift/io/ascend/debug.hpp"
#include "opdrift/io/ascend/writer.hpp"

namespace opdrift::shell::testing {

namespace fs = std::filesystem;

TestShell::TestShell(std::size_t columns, bool unicode)
    : screen(options(columns, unicode)), session(Workspace(folder / "precision_data"), screen) {
  EXPECT_THAT(make_folders(session.workspace), ::testing::IsEmpty());
}

ScreenOptions TestShell::options(std::size_t columns, bool unicode) {
  ScreenOptions options;
  options.paper = {columns, unicode};
  options.out = [this](std::string_view text) {
    out += text;
    return true;
  };
  options.err = [this](std::string_view text) {
    err += text;
    return true;
  };
  return options;
}

bool TestShell::run(std::string_view line) {
  out.clear();
  err.clear();
  screen.begin(screen.paper().columns, 0);
  return run_line(session, line);
}

std::string TestShell::file(std::string_view relative, std::string_view text) const {
  const std::string path = place(relative);
  fs::create_directories(fs::path(path).parent_path());
  return folder.file("precision_data/" + std::string(relative), text);
}

void TestShell::device_dump(std::string_view relative,
                            const std::vector<TestTensor>& tensors) const {
  const std::string path = place(relative);
  fs::create_directories(fs::path(path).parent_path());
  io::AscendContent content;
  content.op_name = "op";
  for (const TestTensor& source : tensors) {
    io::AscendTensor tensor;
    tensor.role = source.output ? io::TensorRole::output : io::TensorRole::input;
    tensor.desc.dtype = tensor::DType::f32;
    tensor.desc.format = tensor::Format::nd;
    tensor.desc.shape = {source.values.size()};
    tensor.bytes = std::as_bytes(std::span(source.values));
    content.tensors.push_back(tensor);
  }
  ASSERT_TRUE(io::write_ascend_dump(path, content));
}

void TestShell::array(std::string_view relative, const tensor::Shape& shape,
                      const std::vector<float>& values, tensor::DType dtype) const {
  opdrift::testing::write_npy_file(place(relative), dtype, shape, {values.begin(), values.end()});
}

void TestShell::overflow_record(std::string_view relative, std::uint64_t status, std::uint64_t task,
                                std::uint64_t stream) const {
  std::vector<std::byte> bytes(2048);
  const std::uint64_t core[3] = {1, stream, task};  // model, stream, task of the AI core
  std::memcpy(bytes.data() + 256, core, sizeof core);
  std::memcpy(bytes.data() + 1024 + 16, &status, sizeof status);
  io::AscendContent content;
  io::AscendTensor output;
  output.desc.dtype = tensor::DType::u8;
  output.desc.shape = {bytes.size()};
  output.bytes = bytes;
  content.tensors = {output};
  const std::string path = place(relative);
  fs::create_directories(fs::path(path).parent_path());
  ASSERT_TRUE(io::write_ascend_dump(path, content));
}

std::string small_graph(std::string_view relu_format) {
  const std::string relu = std::string(relu_format);
  return R"({"name":"model","graph":[{"name":"net",
    "attr":[{"key":"_session_graph_id","value":{"s":"0_1"}}],"op":[
    {"name":"image","type":"Data","output_desc":[
      {"dtype":"DT_FLOAT","layout":"NCHW","shape":{"dim":[1,3,8,8]}}]},
    {"name":"w","type":"Const","id":1,"output_desc":[{"dtype":"DT_FLOAT","layout":"HWCN"}]},
    {"name":"conv/1","type":"Conv2D","id":2,"input":["image:0","w:0","image:-1"],
      "input_desc":[{"dtype":"DT_FLOAT","layout":"NCHW","shape":{"dim":[1,3,8,8]},
         "attr":[{"key":"origin_shape","value":{"list":{"i":[1,3,8,8]}}},
                 {"key":"shape_range","value":{"list_list_int":{"list_list_i":
                    [{"list_i":[1,2]},{"list_i":[3,3]}]}}}]},
        {"dtype":"DT_FLOAT","layout":"HWCN"}],
      "attr":[{"key":"pass_name","value":{"list":{"s":["ConvPass"]}}},
              {"key":"conv/1_kernelname","value":{"s":"te_conv"}},
              {"key":"_datadump_original_op_names","value":{"list":{"s":["Conv_0","Bn_1"]}}}],
      "output_desc":[{"dtype":"DT_FLOAT16","layout":"NC1HWC0","shape":{"dim":[1,1,8,8,16]},
         "attr":[{"key":"_datadump_origin_name","value":{"s":"Conv_0"}}]}]},
    {"name":"激活/relu","type":"Relu","id":3,"input":["conv/1:0"],
      "input_desc":[{"dtype":"DT_FLOAT16","layout":"NC1HWC0"}],
      "output_desc":[{"dtype":"DT_FLOAT16","layout":")" +
         relu + R"("}]},
    {"name":"cast","type":"Cast","id":4,"input":["激活/relu:0"],
      "input_desc":[{"dtype":"DT_FLOAT"}],"output_desc":[{"dtype":"DT_INT32"}]},
    {"name":"out","type":"NetOutput","id":5,"input":["cast:0"]}]}]})";
}

}  // namespace opdrift::shell::testing
