#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opdrift::pipeline {

/// A row of a result table worth showing on a terminal.
struct NotableRow {
  std::uint64_t row = 0;  ///< place in the table
  bool wrong = true;      ///< false: suspicious only
  std::string name;
  std::string message;
};

/// At most so many are kept of either kind.
inline constexpr std::size_t kNotableRows = 8;

/// The first wrong rows, then the first suspicious ones.
class NotableRows {
 public:
  void add(NotableRow row);
  void merge(const NotableRows& other);
  std::vector<NotableRow> take() const;

  bool full(bool wrong) const { return (wrong ? wrong_ : suspicious_).size() >= kNotableRows; }

 private:
  std::vector<NotableRow> wrong_;       // by place
  std::vector<NotableRow> suspicious_;  // by place
};

}  // namespace opdrift::pipeline
