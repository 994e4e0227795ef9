#include "opdrift/pipeline/msprobe/notable_rows.hpp"

#include <algorithm>
#include <utility>

namespace opdrift::pipeline {

void NotableRows::add(NotableRow row) {
  std::vector<NotableRow>& rows = row.wrong ? wrong_ : suspicious_;
  const auto place =
      std::upper_bound(rows.begin(), rows.end(), row,
                       [](const NotableRow& a, const NotableRow& b) { return a.row < b.row; });
  rows.insert(place, std::move(row));
  if (rows.size() > kNotableRows) {
    rows.pop_back();
  }
}

void NotableRows::merge(const NotableRows& other) {
  for (const auto* rows : {&other.wrong_, &other.suspicious_}) {
    for (const NotableRow& row : *rows) {
      add(row);
    }
  }
}

std::vector<NotableRow> NotableRows::take() const {
  std::vector<NotableRow> rows = wrong_;
  for (const NotableRow& row : suspicious_) {
    if (rows.size() < kNotableRows) {
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace opdrift::pipeline
