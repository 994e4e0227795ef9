#include "opdrift/tensor/fractal.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "opdrift/tensor/bit_pack.hpp"
#include "opdrift/tensor/strided_copy.hpp"

namespace opdrift::tensor {

namespace {

using fractal::does_not_fit;

constexpr std::uint64_t kCube = 16;
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 30U;

std::uint64_t blocks_of(std::uint64_t count, std::uint64_t block) {
  return count / block + (count % block != 0 ? 1 : 0);
}

std::int64_t step(std::uint64_t elements) {
  return static_cast<std::int64_t>(elements);
}

/// How the groups of a weight share cubes of `rows` x `columns` elements.
struct Grouping {
  std::uint64_t groups = 1;
  std::uint64_t outputs = 0;   // n: outputs of one group
  std::uint64_t channels = 0;  // C: inputs of one group
  std::uint64_t kernel = 1;    // kh * kw
  std::uint64_t rows = kCube;
  std::uint64_t columns = kCube;
  std::uint64_t together = 1;  // E

  std::uint64_t channel_blocks() const { return blocks_of(together * channels, columns); }
  Shape shape() const {
    return {blocks_of(groups, together) * channel_blocks() * kernel,
            blocks_of(together * outputs, rows), rows, columns};
  }
};

/// Groups needed until both sides of the block diagonal end on a cube.
std::uint64_t groups_together(const Grouping& grouping) {
  const std::uint64_t by_channels =
      grouping.columns / std::gcd(grouping.channels, grouping.columns);
  const std::uint64_t by_outputs = grouping.rows / std::gcd(grouping.outputs, grouping.rows);
  return std::min(std::lcm(by_channels, by_outputs), grouping.groups);
}

Result<Grouping> grouping_of(const Shape& nchw, int sub_format, std::uint64_t rows,
                             std::uint64_t columns) {
  // Sides bounded so that lcm and the products below stay inside 64 bits.
  constexpr std::uint64_t kLargestSide = 1U << 16U;
  OPDRIFT_TRY(const std::uint64_t count, element_count(nchw));
  Grouping grouping;
  grouping.groups = sub_format < 2 ? 1 : static_cast<std::uint64_t>(sub_format);
  grouping.outputs = nchw[0] / grouping.groups;
  grouping.channels = nchw[1];
  grouping.kernel = nchw[2] * nchw[3];
  grouping.rows = rows;
  grouping.columns = columns;
  if (grouping.outputs == 0 || grouping.channels == 0 || count == 0 || rows == 0 || columns == 0 ||
      rows > kLargestSide || columns > kLargestSide) {
    return does_not_fit("expected outputs and channels for each of " +
                        std::to_string(grouping.groups) + " groups, found [" + to_string(nchw) +
                        "]");
  }
  grouping.together = groups_together(grouping);
  if (count > (std::uint64_t{1} << 61U) / (rows * columns) / grouping.together) {
    return Error{ErrorCode::limit,
                 "expected a weight of moderate size, found [" + to_string(nchw) + "]"};
  }
  return grouping;
}

/// Calls `copy(logical, packed, nest)` for pieces that do not leave a channel block; `logical` and
/// `packed` are element positions, source steps in the nest those of the logical side.
/// `strides` are the element strides of N, C, H, W on the logical side.
template <typename Copy>
void for_each_piece(const Grouping& grouping, const Shape& nchw,
                    const std::vector<std::int64_t>& strides, bool reference, const Copy& copy) {
  const std::uint64_t cube = grouping.rows * grouping.columns;
  const std::uint64_t row_elements =
      blocks_of(grouping.together * grouping.outputs, grouping.rows) * cube;
  for (std::uint64_t g = 0; g < grouping.groups; ++g) {
    const std::uint64_t e = g % grouping.together;
    std::uint64_t c = 0;
    while (c < grouping.channels) {
      const std::uint64_t dc = e * grouping.channels + c;
      const std::uint64_t block = dc / grouping.columns;
      const std::uint64_t run =
          std::min(grouping.channels - c, grouping.columns - dc % grouping.columns);
      const std::uint64_t per_cube = reference ? block : grouping.channel_blocks();
      const std::uint64_t row = (g / grouping.together * per_cube + block) * grouping.kernel;
      CopyNest nest;
      nest.size = 0;
      nest.push({grouping.outputs, strides[0], step(grouping.columns)});
      nest.push({run, strides[1], 1});
      nest.push({nchw[2], strides[2], step(nchw[3] * row_elements)});
      nest.push({nchw[3], strides[3], step(row_elements)});
      const std::int64_t logical = step(g * grouping.outputs) * strides[0] + step(c) * strides[1];
      const std::uint64_t packed =
          row * row_elements + e * grouping.outputs * grouping.columns + dc % grouping.columns;
      copy(logical, step(packed), nest);
      c += run;
    }
  }
}

Result<std::vector<std::byte>> zeros(DType dtype, const Shape& shape) {
  OPDRIFT_TRY(const std::uint64_t count, element_count(shape));
  const auto bytes = storage_bytes(dtype, count);
  if (!bytes.has_value() || *bytes > kMostBytes) {
    return Error{ErrorCode::limit, "expected at most 16 GiB, found shape [" + to_string(shape) +
                                       "] of " + std::string(name_of(dtype))};
  }
  return std::vector<std::byte>(static_cast<std::size_t>(*bytes));
}

Status whole_bytes(DType dtype) {
  if (is_packed(dtype) || info(dtype).bits == 0) {
    return Error{ErrorCode::unsupported_dtype,
                 "expected elements of whole bytes, found " + std::string(name_of(dtype))};
  }
  return Unit{};
}

Tensor with_data(const TensorDesc& desc, Format format, const Shape& shape,
                 std::vector<std::byte> data) {
  Tensor result{desc, own_bytes(std::move(data))};
  result.desc.format = format;
  result.desc.shape = shape;
  result.desc.strides.clear();
  return result;
}

/// Padded shape (..., No*Ni, C1*C0); nothing for fewer than four dims.
std::optional<Shape> padded_nz(const Shape& stored) {
  if (stored.size() < 4) {
    return std::nullopt;
  }
  const std::size_t lead = stored.size() - 4;
  Shape padded(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(lead));
  padded.push_back(stored[lead + 1] * stored[lead + 2]);
  padded.push_back(stored[lead] * stored[lead + 3]);
  return padded;
}

bool in_window(std::uint64_t wanted, std::uint64_t padded, std::uint64_t block) {
  return wanted <= padded && padded - wanted < block;
}

/// D with one dim is one row below leading ones.
Shape as_rows(const Shape& target, std::size_t rank) {
  Shape rows(rank, 1);
  rows.back() = target[0];
  return rows;
}

Error outside_window(const Shape& target, const Shape& padded, std::uint64_t rows,
                     std::uint64_t columns) {
  return Error{ErrorCode::bad_nz_shape,
               "expected a shape like [" + to_string(padded) + "] less at most " +
                   std::to_string(rows - 1) + " rows and " + std::to_string(columns - 1) +
                   " columns of FRACTAL_NZ padding, found [" + to_string(target) + "]"};
}

}  // namespace

namespace fractal {

Result<std::uint64_t> padded_cut(std::uint64_t padded, std::uint64_t wanted,
                                 const LayoutRules& rules) {
  if (wanted <= padded) {
    return wanted;
  }
  if (rules.reference) {
    return std::min(wanted - padded, padded);
  }
  return does_not_fit("expected at most " + std::to_string(padded) + " on a padded axis, found " +
                      std::to_string(wanted));
}

bool fits_padded(const Shape& padded, const Shape& wanted, std::size_t channel,
                 std::uint64_t block) {
  if (padded.size() != wanted.size()) {
    return false;
  }
  for (std::size_t i = 0; i < padded.size(); ++i) {
    const std::uint64_t allowed = i == channel ? std::max<std::uint64_t>(block, 1) : 1;
    if (!in_window(wanted[i], padded[i], allowed)) {
      return false;
    }
  }
  return true;
}

Result<View> unfold_nz(const Tensor& tensor, const Shape& target_shape, const LayoutRules& rules) {
  const Shape& stored = tensor.desc.shape;
  if (stored.size() < 4 || target_shape.empty()) {
    return does_not_fit("expected four dims of FRACTAL_NZ and a target shape, found [" +
                        to_string(stored) + "] and [" + to_string(target_shape) + "]");
  }
  const std::size_t lead = stored.size() - 4;
  const std::uint64_t c1 = stored[lead];
  const std::uint64_t rows = stored[lead + 1] * stored[lead + 2];
  const std::uint64_t c0 = stored[lead + 3];
  const Shape stored_lead(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(lead));
  Shape wanted = target_shape.size() == 1 ? as_rows(target_shape, 2) : target_shape;
  Shape wanted_lead(wanted.begin(), wanted.end() - 2);
  OPDRIFT_TRY(const std::uint64_t batch, element_count(stored_lead));
  const auto wanted_batch = element_count(wanted_lead);
  if (!wanted_batch.has_value() || *wanted_batch != batch) {
    return does_not_fit("expected leading dims of " + std::to_string(batch) + " matrices, found [" +
                        to_string(target_shape) + "]");
  }
  if (rules.reference) {
    wanted_lead = wanted.size() > 2 ? Shape{batch} : Shape{};
  }
  OPDRIFT_TRY(View view, shaped_view(tensor, stored));
  view.axes.clear();
  std::uint64_t below = c1 * rows * c0;
  for (std::size_t i = wanted_lead.size(); i-- > 0;) {
    view.axes.insert(view.axes.begin(), AxisMap{wanted_lead[i], 1, step(below), 0});
    below *= wanted_lead[i];
  }
  AxisMap row{rows, 1, step(c0), 0};
  AxisMap column{c1 * c0, c0, step(rows * c0), 1};
  OPDRIFT_TRY(row.extent, padded_cut(row.extent, wanted[wanted.size() - 2], rules));
  OPDRIFT_TRY(column.extent, padded_cut(column.extent, wanted.back(), rules));
  if (target_shape.size() > 1 || rules.reference) {
    view.axes.push_back(row);
  }
  view.axes.push_back(column);
  return view;
}

bool has_group_shape(const TensorDesc& desc, const Shape& nchw) {
  if (desc.shape.size() != 4) {
    return false;
  }
  const auto grouping = grouping_of(nchw, desc.sub_format, desc.shape[2], desc.shape[3]);
  return grouping.has_value() && grouping->shape() == desc.shape;
}

}  // namespace fractal

Status check_nz_window(const Shape& stored, const Shape& target_shape, const LayoutRules& rules) {
  const auto padded = padded_nz(stored);
  if (!padded.has_value()) {
    return does_not_fit("expected at least four dims of FRACTAL_NZ, found [" + to_string(stored) +
                        "]");
  }
  const std::uint64_t ni = rules.reference ? kCube : stored[stored.size() - 2];
  const std::uint64_t c0 = rules.reference ? kCube : stored.back();
  if (rules.reference && target_shape.size() == 1) {
    return Error{ErrorCode::internal,
                 "the reference ends here with exit status 1: a FRACTAL_NZ target of one dim"};
  }
  const Shape wanted =
      target_shape.size() == 1 ? as_rows(target_shape, padded->size()) : target_shape;
  bool fits = wanted.size() == padded->size();
  for (std::size_t i = 0; fits && i < wanted.size(); ++i) {
    const std::size_t from_end = wanted.size() - i;
    const std::uint64_t block = from_end == 1 ? c0 : (from_end == 2 ? ni : 1);
    fits = in_window(wanted[i], (*padded)[i], block);
  }
  if (!fits) {
    return outside_window(target_shape, *padded, ni, c0);
  }
  return Unit{};
}

Result<Tensor> to_fractal_z(const Tensor& tensor, const LayoutRules& rules) {
  OPDRIFT_CHECK_OK(whole_bytes(tensor.desc.dtype));
  const auto view = stored_view(tensor);
  const auto shape = permute_shape(tensor.desc.shape, tensor.desc.format, Format::nchw);
  if (!view.has_value() || !shape.has_value()) {
    return does_not_fit("expected four dims with their data, found [" +
                        to_string(tensor.desc.shape) + "]");
  }
  const Shape order = *permute_shape({0, 1, 2, 3}, tensor.desc.format, Format::nchw);
  std::vector<std::int64_t> strides;
  for (const std::uint64_t axis : order) {
    strides.push_back(view->axes[axis].outer_stride);
  }
  OPDRIFT_TRY(const Grouping grouping, grouping_of(*shape, tensor.desc.sub_format, kCube, kCube));
  OPDRIFT_TRY(std::vector<std::byte> data, zeros(tensor.desc.dtype, grouping.shape()));
  const std::size_t size = info(tensor.desc.dtype).bits / 8;
  const std::byte* source = tensor.bytes.span.data();
  for_each_piece(grouping, *shape, strides, rules.reference,
                 [&](std::int64_t logical, std::int64_t packed, const CopyNest& nest) {
                   const auto bytes = static_cast<std::int64_t>(size);
                   strided_copy(source + logical * bytes, data.data() + packed * bytes, size, nest,
                                0);
                 });
  return with_data(tensor.desc, Format::fractal_z, grouping.shape(), std::move(data));
}

Result<Tensor> from_grouped_fractal_z(const Tensor& tensor, const Shape& target_shape) {
  OPDRIFT_CHECK_OK(whole_bytes(tensor.desc.dtype));
  if (target_shape.size() != 4 || !fractal::has_group_shape(tensor.desc, target_shape)) {
    return does_not_fit("expected a stored shape of " + std::to_string(tensor.desc.sub_format) +
                        " groups of [" + to_string(target_shape) + "], found [" +
                        to_string(tensor.desc.shape) + "]");
  }
  OPDRIFT_TRY(const View view, shaped_view(tensor, tensor.desc.shape));
  OPDRIFT_TRY(const Grouping grouping, grouping_of(target_shape, tensor.desc.sub_format,
                                                   tensor.desc.shape[2], tensor.desc.shape[3]));
  OPDRIFT_TRY(std::vector<std::byte> data, zeros(tensor.desc.dtype, target_shape));
  const std::size_t size = info(tensor.desc.dtype).bits / 8;
  const std::byte* source = view.tensor.bytes.span.data();
  const std::int64_t w = 1;
  const std::int64_t h = step(target_shape[3]);
  const std::int64_t c = h * step(target_shape[2]);
  const std::int64_t n = c * step(target_shape[1]);
  for_each_piece(grouping, target_shape, {n, c, h, w}, false,
                 [&](std::int64_t logical, std::int64_t packed, const CopyNest& nest) {
                   CopyNest back = nest;
                   for (std::size_t i = 0; i < back.size; ++i) {
                     std::swap(back.loops[i].source_step, back.loops[i].target_step);
                   }
                   const auto bytes = static_cast<std::int64_t>(size);
                   strided_copy(source + packed * bytes, data.data() + logical * bytes, size, back,
                                0);
                 });
  return with_data(tensor.desc, Format::nchw, target_shape, std::move(data));
}

}  // namespace opdrift::tensor
