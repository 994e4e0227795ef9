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

std::int64_t ShiftRefit::source_index(std::size_t axis, std::int64_t c) const {
  const auto extent = static_cast<std::int64_t>(shape_[axis]);
  const std::int64_t source = c - shifts_[axis];
  if (source >= 0 && source < extent) {
    return source;
  }
  switch (fill_) {
    case Fill::wrap: return (source % extent + extent) % extent;
    case Fill::repeat: return std::clamp<std::int64_t>(source, 0, extent - 1);
    case Fill::zero:
    case Fill::unknown: break;
  }
  return kOutside;
}

std::int64_t ShiftRefit::source_row(const std::vector<std::uint64_t>& coordinates) const {
  std::int64_t row = 0;
  for (std::size_t k = 0; k + 1 < shape_.size(); ++k) {
    const std::int64_t source = source_index(k, static_cast<std::int64_t>(coordinates[k]));
    if (source == kOutside) {
      return kOutside;
    }
    row += source * static_cast<std::int64_t>(strides_[k]);
  }
  return row;
}

void ShiftRefit::part_of_row(std::int64_t row, std::int64_t first, std::size_t count,
                             double* out) const {
  const std::size_t last = shape_.size() - 1;
  const std::int64_t end = first + static_cast<std::int64_t>(count);
  const double blank = fill_ == Fill::unknown ? kSilent : 0.0;
  for (std::int64_t c = first; c < end;) {
    const std::int64_t source = row == kOutside ? kOutside : source_index(last, c);
    // Sources follow each other up to the end of their row, where none is repeated.
    const bool inside = source == c - shifts_[last] && source != kOutside;
    const std::int64_t run =
        inside ? std::min(end - c, static_cast<std::int64_t>(shape_[last]) - source) : 1;
    if (source == kOutside) {
      out[c - first] = blank;
    } else {
      fetch(*base_, static_cast<std::uint64_t>(row + source), static_cast<std::size_t>(run),
            out + (c - first));
    }
    c += run;
  }
}

void ShiftRefit::predict(std::uint64_t first, std::size_t count, const double* /*base*/,
                         double* out) const {
  RowWalk walk(shape_, first);
  for (std::size_t done = 0; done < count;) {
    const auto run =
        static_cast<std::size_t>(std::min<std::uint64_t>(walk.rest_of_row(), count - done));
    part_of_row(source_row(walk.coordinates()),
                static_cast<std::int64_t>(walk.coordinates().back()), run, out + done);
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
