#include "opdrift/io/torch/torch_pickle.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <optional>
#include <unordered_map>
#include <utility>

namespace opdrift::io {

namespace {

using Kind = PickleNode::Kind;

class Unpickler {
 public:
  Unpickler(ByteSpan bytes, std::uint64_t base_offset)
      : bytes_(bytes), cursor_(bytes, base_offset) {}

  Result<PickleTree> run() {
    bool stopped = false;
    while (!stopped) {
      OPDRIFT_TRY(const std::uint8_t opcode, cursor_.u8("pickle opcode"));
      stopped = opcode == '.';
      if (!stopped) {
        OPDRIFT_CHECK_OK(step(opcode));
      }
      if (tree_.nodes.size() > kMaxPickleNodes || stack_.size() > kMaxPickleNodes ||
          marks_.size() > kMaxPickleNodes || linked_ > 4 * kMaxPickleNodes) {
        return failure(ErrorCode::limit,
                       "pickle has more than " + std::to_string(kMaxPickleNodes) + " values");
      }
    }
    OPDRIFT_TRY(tree_.root, pop("result"));
    tree_.consumed_bytes = cursor_.position();
    return std::move(tree_);
  }

 private:
  Error failure(ErrorCode code, std::string message) const {
    Error error{code, std::move(message)};
    error.offset = cursor_.file_offset();
    return error;
  }

  Error missing(std::string_view what) const {
    return failure(ErrorCode::malformed,
                   "pickle: expected " + std::string(what) + " on the stack, found nothing");
  }

  PickleNode& push(Kind kind) {
    stack_.push_back(static_cast<std::uint32_t>(tree_.nodes.size()));
    tree_.nodes.emplace_back();
    tree_.nodes.back().kind = kind;
    return tree_.nodes.back();
  }

  /// Values below the last mark belong to it and cannot be taken.
  Result<std::uint32_t> pop(std::string_view what) {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) {
      return missing(what);
    }
    const std::uint32_t top = stack_.back();
    stack_.pop_back();
    return top;
  }

  Result<std::vector<std::uint32_t>> pop_to_mark() {
    if (marks_.empty()) {
      return missing("a mark");
    }
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<std::uint32_t> values(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return values;
  }

  Status step(std::uint8_t opcode) {
    switch (opcode) {
      case 0x80: return protocol();
      case 'N': push(Kind::none); return Unit{};
      case 0x88:
      case 0x89: push(Kind::boolean).boolean = opcode == 0x88; return Unit{};
      case '(': marks_.push_back(stack_.size()); return Unit{};
      case ')': push(Kind::tuple); return Unit{};
      case ']': push(Kind::list); return Unit{};
      case '}': push(Kind::dict); return Unit{};
      case 't': return tuple_to_mark();
      case 0x85:
      case 0x86:
      case 0x87: return tuple_of(opcode - 0x84U);
      case 'a':
      case 's': return add_items(opcode == 'a' ? 1 : 2, opcode == 'a' ? Kind::list : Kind::dict);
      case 'e':
      case 'u': return add_marked(opcode == 'e' ? Kind::list : Kind::dict);
      case 'R': return call();
      case 'b': return build();
      case 'Q': return persistent_id();
      default: return leaf(opcode);
    }
  }

  Status leaf(std::uint8_t opcode) {
    switch (opcode) {
      case 'J': {
        OPDRIFT_TRY(const std::int32_t value, cursor_.i32("pickled integer"));
        push(Kind::integer).integer = value;
        return Unit{};
      }
      case 'K': {
        OPDRIFT_TRY(const std::uint8_t value, cursor_.u8("pickled integer"));
        push(Kind::integer).integer = value;
        return Unit{};
      }
      case 'M': {
        OPDRIFT_TRY(const std::uint16_t value, cursor_.u16("pickled integer"));
        push(Kind::integer).integer = value;
        return Unit{};
      }
      case 0x8a: return long_integer();
      case 'G': return real();
      case 'X': {
        OPDRIFT_TRY(const std::uint32_t length, cursor_.u32("length of a text"));
        return text(length);
      }
      case 'U': {
        OPDRIFT_TRY(const std::uint8_t length, cursor_.u8("length of a text"));
        return text(length);
      }
      case 'c': return global();
      case 'q':
      case 'r':
      case 'h':
      case 'j': return memo(opcode);
      default: break;
    }
    std::array<char, 48> name{};
    std::snprintf(name.data(), name.size(), "pickle opcode 0x%02x is not part of a tensor",
                  static_cast<unsigned>(opcode));
    return failure(ErrorCode::unsupported, name.data());
  }

  Status protocol() {
    OPDRIFT_TRY(const std::uint8_t version, cursor_.u8("pickle protocol"));
    if (version > 3) {
      return failure(ErrorCode::unsupported,
                     "expected pickle protocol 2, found " + std::to_string(version));
    }
    return Unit{};
  }

  Status text(std::uint64_t length) {
    OPDRIFT_TRY(const ByteSpan bytes, cursor_.take(length, "pickled text"));
    push(Kind::text).text = as_text(bytes);
    return Unit{};
  }

  /// Little-endian two's complement of any length; beyond 64 bits only as much as fits is kept, and
  /// the value is marked as no integer a tensor could use.
  Status long_integer() {
    OPDRIFT_TRY(const std::uint8_t length, cursor_.u8("length of an integer"));
    OPDRIFT_TRY(const ByteSpan bytes, cursor_.take(length, "pickled integer"));
    if (length > 8) {
      push(Kind::text).text = as_text(bytes);
      return Unit{};
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < length; ++i) {
      value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    }
    if (length > 0 && length < 8 && (std::to_integer<unsigned>(bytes[length - 1U]) & 0x80U) != 0) {
      value |= ~std::uint64_t{0} << (8 * length);
    }
    push(Kind::integer).integer = static_cast<std::int64_t>(value);
    return Unit{};
  }

  Status real() {
    OPDRIFT_TRY(const ByteSpan bytes, cursor_.take(8, "pickled float"));
    std::uint64_t bits = 0;
    for (const std::byte byte : bytes) {
      bits = (bits << 8U) | std::to_integer<std::uint64_t>(byte);
    }
    push(Kind::real).real = std::bit_cast<double>(bits);
    return Unit{};
  }

  /// "module\nname\n" is kept as it stands, without the last line end.
  Status global() {
    const std::size_t start = cursor_.position();
    const std::string_view rest = as_text(bytes_.subspan(start));
    const std::size_t middle = rest.find('\n');
    const std::size_t end = middle == std::string_view::npos ? middle : rest.find('\n', middle + 1);
    if (end == std::string_view::npos) {
      return failure(ErrorCode::truncated, "pickle: expected two lines with a module and a name");
    }
    OPDRIFT_CHECK_OK(cursor_.skip(end + 1, "name"));
    push(Kind::global).text = rest.substr(0, end);
    return Unit{};
  }

  Status tuple_to_mark() {
    OPDRIFT_TRY(std::vector<std::uint32_t> values, pop_to_mark());
    linked_ += values.size();
    push(Kind::tuple).children = std::move(values);
    return Unit{};
  }

  Status tuple_of(std::size_t count) {
    std::vector<std::uint32_t> values(count);
    for (std::size_t i = count; i > 0; --i) {
      OPDRIFT_TRY(values[i - 1], pop("a tuple element"));
    }
    linked_ += count;
    push(Kind::tuple).children = std::move(values);
    return Unit{};
  }

  Status add_items(std::size_t count, Kind kind) {
    std::vector<std::uint32_t> values(count);
    for (std::size_t i = count; i > 0; --i) {
      OPDRIFT_TRY(values[i - 1], pop("an item"));
    }
    return add_to_top(values, kind);
  }

  Status add_marked(Kind kind) {
    OPDRIFT_TRY(const std::vector<std::uint32_t> values, pop_to_mark());
    return add_to_top(values, kind);
  }

  /// Items go to a list or dict; an ordered dict is the result of a call.
  Status add_to_top(const std::vector<std::uint32_t>& values, Kind kind) {
    if (stack_.empty()) {
      return missing("a container");
    }
    PickleNode& container = tree_.nodes[stack_.back()];
    const bool fits =
        container.kind == kind || (container.kind == Kind::call && kind == Kind::dict);
    if (!fits || (kind == Kind::dict && values.size() % 2 != 0)) {
      return failure(ErrorCode::malformed, "pickle: expected a container to add to, found " +
                                               describe(tree_, stack_.back()));
    }
    linked_ += values.size();
    container.children.insert(container.children.end(), values.begin(), values.end());
    return Unit{};
  }

  Status call() {
    OPDRIFT_TRY(const std::uint32_t arguments, pop("arguments"));
    OPDRIFT_TRY(const std::uint32_t callable, pop("a callable"));
    push(Kind::call).children = {callable, arguments};
    return Unit{};
  }

  /// The state set on an object says nothing about the numbers of a tensor.
  Status build() {
    OPDRIFT_TRY(const std::uint32_t state, pop("a state"));
    static_cast<void>(state);
    return stack_.empty() ? Status(missing("an object")) : Status(Unit{});
  }

  Status persistent_id() {
    OPDRIFT_TRY(const std::uint32_t id, pop("a persistent id"));
    push(Kind::persistent_id).children = {id};
    return Unit{};
  }

  Status memo(std::uint8_t opcode) {
    std::uint32_t key = 0;
    if (opcode == 'q' || opcode == 'h') {
      OPDRIFT_TRY(key, cursor_.u8("memo number"));
    } else {
      OPDRIFT_TRY(key, cursor_.u32("memo number"));
    }
    if (opcode == 'q' || opcode == 'r') {
      if (stack_.empty()) {
        return missing("a value to remember");
      }
      memo_[key] = stack_.back();
      return Unit{};
    }
    const auto found = memo_.find(key);
    if (found == memo_.end()) {
      return failure(ErrorCode::malformed,
                     "pickle: memo " + std::to_string(key) + " was never set");
    }
    stack_.push_back(found->second);
    return Unit{};
  }

  ByteSpan bytes_;
  ByteCursor cursor_;
  PickleTree tree_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint32_t, std::uint32_t> memo_;
  std::size_t linked_ = 0;  // children of all nodes together
};

}  // namespace

Result<PickleTree> read_pickle(ByteSpan bytes, std::uint64_t base_offset) {
  return Unpickler(bytes, base_offset).run();
}

std::string describe(const PickleTree& tree, std::uint32_t position) {
  const PickleNode& node = tree[position];
  const std::string count = std::to_string(node.children.size());
  switch (node.kind) {
    case Kind::none: return "None";
    case Kind::boolean: return node.boolean ? "True" : "False";
    case Kind::integer: return "the integer " + std::to_string(node.integer);
    case Kind::real: return "a float";
    case Kind::text: return "a text of " + std::to_string(node.text.size()) + " bytes";
    case Kind::global: {
      std::string name(node.text.substr(0, 120));
      for (char& c : name) {
        c = c == '\n' ? ' ' : c;
      }
      return "the name " + name;
    }
    case Kind::tuple: return "a tuple of " + count;
    case Kind::list: return "a list of " + count;
    case Kind::dict: return "a dict of " + std::to_string(node.children.size() / 2);
    case Kind::call: {
      const PickleNode& callable = tree[node.children.front()];
      return callable.kind == Kind::global ? "a call of " + describe(tree, node.children.front())
                                           : std::string("a call of a computed function");
    }
    case Kind::persistent_id: return "a storage";
  }
  return "an unknown value";
}

}  // namespace opdrift::io
