// Writes a copy of a model with a planted fault; see opdrift/engine/damage.hpp.
//
//   damage_weight MODEL.onnx OUT.onnx [NODE [FACTOR [CHANNEL]]]
#include <cstdio>

#include "opdrift/base/text.hpp"
#include "opdrift/engine/damage.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace {

using namespace opdrift;

Status run(int count, char** arguments) {
  if (count < 3 || count > 6) {
    return Error{ErrorCode::invalid_argument,
                 "usage: damage_weight MODEL.onnx OUT.onnx [NODE [FACTOR [CHANNEL]]]"};
  }
  engine::DamageOptions options;
  options.node = count > 3 ? arguments[3] : "";
  const auto factor = parse_double(count > 4 ? arguments[4] : "4");
  const auto channel = parse_u64(count > 5 ? arguments[5] : "0");
  if (!factor || !channel) {
    return Error{ErrorCode::invalid_argument, "FACTOR and CHANNEL must be numbers"};
  }
  options.factor = static_cast<float>(*factor);
  options.channel = *channel;
  OPDRIFT_TRY(io::onnx::Model model, io::onnx::open_model(arguments[1]));
  const std::string folder = io::onnx::folder_of_model(arguments[1]);
  OPDRIFT_TRY(const engine::Damage damage, engine::damage_weight(model, folder, options));
  OPDRIFT_CHECK_OK(io::onnx::write_model(arguments[2], model));
  std::printf("multiplied %llu weights of operator '%s' (constant '%s', channel %llu) by %g\n",
              static_cast<unsigned long long>(damage.changed), printable(damage.node).c_str(),
              printable(damage.constant).c_str(), static_cast<unsigned long long>(options.channel),
              static_cast<double>(options.factor));
  return Unit{};
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc, argv);
  if (!status) {
    std::fprintf(stderr, "damage_weight: %s\n", status.error().to_string().c_str());
    return 2;
  }
  return 0;
}
