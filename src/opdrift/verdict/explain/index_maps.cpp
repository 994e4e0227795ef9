#include "opdrift/verdict/explain/index_maps.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace opdrift::verdict::refit {

namespace {

constexpr double kSilent = std::numeric_limits<double>::quiet_NaN();

/// Reads `count` elements, single ones without the cost of a tile.
void fetch(const Values& values, std::uint64_t first, std::size_t count, double* out) {
  if (count == 1) {
    *out = values.at(first);
  } else {
    values.read(first, count, out);
  }
}

}  // namespace

void ViewRefit::predict(std::uint64_t first, std::size_t count, const double* /*base*/,
                        double* out) const {
  fetch(values_, first, count, out);
}

AxisRefit::AxisRefit(const Evidence& evidence, std::size_t axis, std::vector<std::uint64_t> map)
    : base_(&evidence.base),
      map_(std::move(map)),
      inner_(row_major_strides(evidence.shape)[axis]),
      row_(inner_ * evidence.shape[axis]) {}

void AxisRefit::predict(std::uint64_t first, std::size_t count, const double* /*base*/,
                        double* out) const {
  if (inner_ < 32 && row_ <= kTile && count > 1) {
    by_rows(first, count, out);
    return;
  }
  for (std::size_t done = 0; done < count;) {
    const std::uint64_t at = first + done;
    const std::uint64_t channel = at % row_ / inner_;
    const std::uint64_t offset = at % inner_;
    const auto run =
        static_cast<std::size_t>(std::min<std::uint64_t>(inner_ - offset, count - done));
    fetch(*base_, at - at % row_ + map_[static_cast<std::size_t>(channel)] * inner_ + offset, run,
          out + done);
    done += run;
  }
}

void AxisRefit::by_rows(std::uint64_t first, std::size_t count, double* out) const {
  std::array<double, kTile> row;
  for (std::size_t done = 0; done < count;) {
    const std::uint64_t at = first + done;
    base_->read(at - at % row_, static_cast<std::size_t>(row_), row.data());
    const auto run =
        static_cast<std::size_t>(std::min<std::uint64_t>(row_ - at % row_, count - done));
    for (std::size_t i = 0; i < run; ++i) {
      const std::uint64_t place = at % row_ + i;
      out[done + i] = row[static_cast<std::size_t>(
          map_[static_cast<std::size_t>(place / inner_)] * inner_ + place % inner_)];
    }
    done += run;
  }
}

ShiftRefit::ShiftRefit(const Values& base, tensor::Shape shape, std::vector<std::int64_t> shifts,
                       Fill fill)
    : base_(&base),
      shape_(std::move(shape)),
      strides_(row_major_strides(shape_)),
      shifts_(std::move(shifts)),
      fill_(fill) {}

double ShiftRefit::at(const std::vector<std::uint64_t>& coordinates, std::uint64_t last) const {
  std::uint64_t source = 0;
  for (std::size_t k = 0; k < shape_.size(); ++k) {
    const auto extent = static_cast<std::int64_t>(shape_[k]);
    const std::uint64_t here = k + 1 == shape_.size() ? last : coordinates[k];
    std::int64_t c = static_cast<std::int64_t>(here) - shifts_[k];
    if (c < 0 || c >= extent) {
      switch (fill_) {
        case Fill::zero: return 0.0;
        case Fill::unknown: return kSilent;
        case Fill::wrap: c = (c % extent + extent) % extent; break;
        case Fill::repeat: c = std::clamp<std::int64_t>(c, 0, extent - 1); break;
      }
    }
    source += static_cast<std::uint64_t>(c) * strides_[k];
  }
  return base_->at(source);
}

void ShiftRefit::predict(std::uint64_t first, std::size_t count, const double* /*base*/,
                         double* out) const {
  const std::int64_t shift = shifts_.back();
  const auto extent = static_cast<std::int64_t>(shape_.back());
  RowWalk walk(shape_, first);
  for (std::size_t done = 0; done < count;) {
    const std::vector<std::uint64_t>& coordinates = walk.coordinates();
    const auto run =
        static_cast<std::size_t>(std::min<std::uint64_t>(walk.rest_of_row(), count - done));
    const auto begin = static_cast<std::int64_t>(coordinates.back());
    const std::int64_t end = begin + static_cast<std::int64_t>(run);
    // The middle part has its sources in one row; only its first element need be looked up.
    const std::int64_t inside_begin = std::clamp(shift, begin, end);
    const std::int64_t inside_end = std::clamp(extent + shift, inside_begin, end);
    double* row = out + done;
    for (std::int64_t c = begin; c < end; ++c) {
      if (c != inside_begin || inside_end - inside_begin < 2) {
        row[c - begin] = at(coordinates, static_cast<std::uint64_t>(c));
        continue;
      }
      std::uint64_t source = static_cast<std::uint64_t>(c - shift);
      bool inside = true;
      for (std::size_t k = 0; k + 1 < shape_.size(); ++k) {
        const auto whole = static_cast<std::int64_t>(shape_[k]);
        const std::int64_t from = static_cast<std::int64_t>(coordinates[k]) - shifts_[k];
        inside = inside && from >= 0 && from < whole;
        source += static_cast<std::uint64_t>(from) * strides_[k];
      }
      if (inside) {
        base_->read(source, static_cast<std::size_t>(inside_end - inside_begin), row + (c - begin));
      } else {
        for (std::int64_t i = inside_begin; i < inside_end; ++i) {
          row[i - begin] = at(coordinates, static_cast<std::uint64_t>(i));
        }
      }
      c = inside_end - 1;
    }
    walk.advance(run);
    done += run;
  }
}

std::uint64_t IndexBox::count() const {
  std::uint64_t product = 1;
  for (std::size_t k = 0; k < begin.size(); ++k) {
    product *= end[k] - begin[k];
  }
  return product;
}

bool IndexBox::contains(const std::vector<std::uint64_t>& coordinates) const {
  for (std::size_t k = 0; k < begin.size(); ++k) {
    if (coordinates[k] < begin[k] || coordinates[k] >= end[k]) {
      return false;
    }
  }
  return true;
}

BoxRefit::BoxRefit(const Evidence& evidence, std::vector<Move> moves)
    : base_(&evidence.base), shape_(evidence.shape), moves_(std::move(moves)) {}

void BoxRefit::predict(std::uint64_t first, std::size_t count, const double* base,
                       double* out) const {
  std::copy_n(base, count, out);
  RowWalk walk(shape_, first);
  const std::size_t last = shape_.size() - 1;
  for (std::size_t done = 0; done < count;) {
    const auto run =
        static_cast<std::size_t>(std::min<std::uint64_t>(walk.rest_of_row(), count - done));
    const std::uint64_t column = walk.coordinates().back();
    for (const Move& move : moves_) {
      std::vector<std::uint64_t> place = walk.coordinates();
      place[last] = std::clamp(column, move.box.begin[last], move.box.end[last] - 1);
      if (!move.box.contains(place) || place[last] >= column + run || place[last] < column) {
        continue;
      }
      const auto skip = static_cast<std::size_t>(place[last] - column);
      const auto part = static_cast<std::size_t>(
          std::min<std::uint64_t>(move.box.end[last] - place[last], run - skip));
      const std::uint64_t source = first + done + skip + static_cast<std::uint64_t>(move.distance);
      fetch(*base_, source, part, out + done + skip);
    }
    walk.advance(run);
    done += run;
  }
}

}  // namespace opdrift::verdict::refit
