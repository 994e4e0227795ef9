#include "opdrift/verdict/judge/reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "opdrift/replay/budget.hpp"
#include "opdrift/replay/number_format.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/verdict/judge/block_reader.hpp"

namespace opdrift::verdict::judging {

namespace {

using tensor::DType;

template <typename T>
T stored_value(const std::byte* data) {
  T value{};
  std::memcpy(&value, data, sizeof value);
  return value;
}

// Decoding one half at a time through the general decoder costs ten times a look into this table.
const std::array<float, 65536>& half_table() {
  static const std::array<float, 65536> kTable = [] {
    std::array<float, 65536> table{};
    for (std::size_t bits = 0; bits < table.size(); ++bits) {
      const auto pattern = static_cast<std::uint16_t>(bits);
      std::array<std::byte, 2> bytes{};
      std::memcpy(bytes.data(), &pattern, sizeof pattern);
      tensor::decode_to_float(DType::f16, bytes.data(), 0, 1, &table[bits]);
    }
    return table;
  }();
  return kTable;
}

template <typename Decode>
void read_each(std::int64_t base, std::span<const std::int64_t> offsets, double* out,
               const Decode& decode) {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    out[i] = decode(base + offsets[i]);
  }
}

void read_typed(DType dtype, const std::byte* bytes, std::int64_t base,
                std::span<const std::int64_t> offsets, double* out) {
  switch (dtype) {
    case DType::f32:
      read_each(base, offsets, out, [&](std::int64_t at) {
        return static_cast<double>(stored_value<float>(bytes + 4 * at));
      });
      return;
    case DType::f16: {
      const std::array<float, 65536>& table = half_table();
      read_each(base, offsets, out, [&](std::int64_t at) {
        return static_cast<double>(table[stored_value<std::uint16_t>(bytes + 2 * at)]);
      });
      return;
    }
    case DType::bf16:
      read_each(base, offsets, out, [&](std::int64_t at) {
        const auto bits = static_cast<std::uint32_t>(stored_value<std::uint16_t>(bytes + 2 * at));
        return static_cast<double>(std::bit_cast<float>(bits << 16U));
      });
      return;
    default:
      read_each(base, offsets, out, [&](std::int64_t at) {
        return tensor::decode_one(dtype, bytes, static_cast<std::uint64_t>(at));
      });
  }
}

}  // namespace

Reader::Reader(tensor::View view)
    : view_(std::move(view)), shape_(view_.shape()), dtype_(view_.tensor.desc.dtype) {
  const unsigned bits = tensor::info(dtype_).bits;
  if (bits % 8 == 0 && bits > 0 && !view_.tensor.desc.big_endian) {
    width_ = bits / 8;
    bytes_ = view_.tensor.bytes.span.data();
    in_order_ = view_.contiguous();
  }
}

Reader::Reader(ArrayPtr array)
    : array_(std::move(array)), shape_(array_->shape), dtype_(array_->dtype) {}

std::int64_t Reader::stored(std::uint64_t position) const {
  std::int64_t at = view_.offset;
  for (std::size_t axis = view_.axes.size(); axis-- > 0;) {
    const tensor::AxisMap& map = view_.axes[axis];
    const std::uint64_t along = position % map.extent;
    position /= map.extent;
    at += static_cast<std::int64_t>(along / map.inner) * map.outer_stride +
          static_cast<std::int64_t>(along % map.inner) * map.inner_stride;
  }
  return at;
}

void Reader::read(std::int64_t base, std::span<const std::int64_t> offsets, double* out) const {
  if (array_ != nullptr) {
    read_each(base, offsets, out,
              [&](std::int64_t at) { return array_->values[static_cast<std::size_t>(at)]; });
  } else if (in_order_) {
    read_typed(dtype_, bytes_, base + view_.offset, offsets, out);
  } else if (bytes_ != nullptr) {
    read_scattered(base, offsets, out);
  } else {
    read_each(base, offsets, out,
              [&](std::int64_t at) { return this->at(static_cast<std::uint64_t>(at)); });
  }
}

void Reader::read_run(std::int64_t first, std::size_t count, double* out) const {
  if (array_ == nullptr && in_order_) {
    tensor::decode_to_double(dtype_, bytes_, static_cast<std::uint64_t>(first + view_.offset),
                             count, out);
  } else {
    ElementReader::read_run(first, count, out);
  }
}

void Reader::read_scattered(std::int64_t base, std::span<const std::int64_t> offsets,
                            double* out) const {
  std::array<std::int64_t, 128> places{};
  for (std::size_t done = 0; done < offsets.size(); done += places.size()) {
    const std::size_t count = std::min(places.size(), offsets.size() - done);
    for (std::size_t i = 0; i < count; ++i) {
      places[i] = stored(static_cast<std::uint64_t>(base + offsets[done + i]));
    }
    read_typed(dtype_, bytes_, 0, std::span(places).first(count), out + done);
  }
}

std::int64_t Reader::locate(std::uint64_t position) const {
  return bytes_ != nullptr ? stored(position) : static_cast<std::int64_t>(position);
}

void Reader::read_located(std::int64_t base, std::span<const std::int64_t> offsets,
                          double* out) const {
  if (bytes_ != nullptr) {
    read_typed(dtype_, bytes_, base, offsets, out);
  } else {
    read(base, offsets, out);
  }
}

double Reader::at(std::uint64_t position) const {
  if (array_ != nullptr) {
    return array_->values[position];
  }
  if (bytes_ != nullptr) {
    return tensor::decode_one(dtype_, bytes_, static_cast<std::uint64_t>(stored(position)));
  }
  std::array<std::byte, 16> bytes{};
  tensor::gather(view_, position, 1, bytes.data());
  return tensor::decode_one(dtype_, bytes.data(), 0);
}

std::vector<double> Reader::at(std::span<const std::uint64_t> positions) const {
  const std::vector<std::int64_t> offsets(positions.begin(), positions.end());
  std::vector<double> values(positions.size());
  read(0, offsets, values.data());
  return values;
}

void WidenedReader::read(std::int64_t base, std::span<const std::int64_t> offsets,
                         double* out) const {
  reader_->read(base, offsets, out);
  const double share = 1.0 / std::sqrt(12.0);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (std::isfinite(out[i])) {
      out[i] += replay::ulp(out[i], dtype_) * share *
                replay::normal_noise(seed_, static_cast<std::uint64_t>(base + offsets[i]));
    }
  }
}

namespace {

Result<ReaderPtr> open_side(const Context& context, RunSide side, ValueId value) {
  OPDRIFT_TRY(tensor::View view, context.source.view(side, value));
  OPDRIFT_CHECK_OK(check_numbers(view));
  return ReaderPtr(std::make_shared<const Reader>(std::move(view)));
}

Result<InputReaders> open_stand_in(const Context& context, ValueId value, const StandIn& stand_in) {
  if (!stand_in.trouble.empty()) {
    return lacking(context, value, stand_in.trouble);
  }
  InputReaders readers;
  readers.replayed = true;
  readers.group = stand_in.group;
  if (stand_in.golden != nullptr) {
    readers.golden = std::make_shared<const Reader>(stand_in.golden);
  } else {
    OPDRIFT_TRY(readers.golden, open_side(context, RunSide::golden, value));
  }
  if (stand_in.target != nullptr) {
    readers.target = std::make_shared<const Reader>(stand_in.target);
  } else {
    OPDRIFT_TRY(readers.target, open_side(context, RunSide::target, value));
  }
  for (const ArrayPtr& noisy : stand_in.noisy) {
    readers.noisy.push_back(std::make_shared<const Reader>(noisy));
  }
  return readers;
}

}  // namespace

Result<InputReaders> open_dumped(const Context& context, ValueId value) {
  if (value >= context.facts.values.size() || !context.facts.values[value].both()) {
    return Error{ErrorCode::not_found, "it was not dumped on both sides"};
  }
  InputReaders readers;
  OPDRIFT_TRY(readers.golden, open_side(context, RunSide::golden, value));
  OPDRIFT_TRY(readers.target, open_side(context, RunSide::target, value));
  return readers;
}

Result<InputReaders> open_input(const Context& context, ValueId value, StandIns& stand_ins) {
  const ValueFacts& facts = context.facts.values[value];
  if (is_missing(context.problem, context.facts, value)) {
    return open_stand_in(context, value, stand_ins.at(value));
  }
  InputReaders readers;
  const bool parameter = context.problem.values[value].role == ProblemValue::Role::parameter;
  if (!facts.golden && (parameter || !facts.target)) {
    return lacking(context, value, facts.trouble);
  }
  const RunSide first = facts.golden ? RunSide::golden : RunSide::target;
  OPDRIFT_TRY(readers.golden, open_side(context, first, value));
  readers.target = readers.golden;
  if (facts.both()) {
    OPDRIFT_TRY(readers.target, open_side(context, RunSide::target, value));
  }
  return readers;
}

}  // namespace opdrift::verdict::judging
