#include "targets.hpp"

#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/io/ascend/dump.hpp"
#include "opdrift/io/tensor_proto_reader.hpp"

namespace opdrift::fuzz {

namespace {

Status walk(ProtobufCursor cursor) {
  return for_each_field(cursor, [](const ProtobufField& field) -> Status {
    return field.bytes.empty() ? Status(Unit{}) : walk(ProtobufCursor(field));
  });
}

}  // namespace

/// The wire format by itself, and the two messages that are read from it.
void protobuf(ByteSpan bytes) {
  static_cast<void>(walk(ProtobufCursor(bytes)));
  const Bytes file = own_bytes({bytes.begin(), bytes.end()});
  for (const auto& dump : {io::parse_tensor_proto(file, "/nowhere/fuzz"),
                           io::parse_ascend_dump(file, "/nowhere/fuzz")}) {
    if (dump) {
      for (const io::FileTensor& one : dump->tensors) {
        static_cast<void>(io::load_tensor(one));
      }
    }
  }
}

}  // namespace opdrift::fuzz
