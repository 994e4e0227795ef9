#include "opdrift/diagnose/offline/shape_range.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "opdrift/base/text.hpp"

namespace opdrift::diagnose::offline {

namespace {

constexpr std::size_t kMaxInputText = 50;
constexpr std::size_t kMaxRangeDims = 4;

Error wrong(std::string_view text, const std::string& expected) {
  return Error{ErrorCode::invalid_argument, "'" + printable(text) + "': expected " + expected};
}

bool is_shape_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_,;:/.-~").find(c) != std::string_view::npos;
}

Result<std::uint64_t> number(std::string_view text, std::string_view whole) {
  const auto value = parse_u64(text);
  if (!value) {
    return wrong(whole, "a natural number, found '" + printable(text) + "'");
  }
  return *value;
}

/// Numbers of `first~last` or `first~last~step`.
Status add_range(std::string_view part, std::vector<std::uint64_t>& numbers) {
  const std::vector<std::string_view> ends = split(part, '~');
  if (ends.size() < 2 || ends.size() > 3) {
    return wrong(part, "first~last or first~last~step");
  }
  OPDRIFT_TRY(const std::uint64_t first, number(ends[0], part));
  OPDRIFT_TRY(const std::uint64_t last, number(ends[1], part));
  std::uint64_t step = 1;
  if (ends.size() == 3) {
    OPDRIFT_TRY(step, number(ends[2], part));
  }
  if (step == 0 || last < first) {
    return wrong(part, "a rising range with a step above 0");
  }
  if ((last - first) / step >= kMaxShapes) {
    return Error{ErrorCode::limit, "'" + printable(part) + "': expected at most " +
                                       std::to_string(kMaxShapes) + " numbers"};
  }
  for (std::uint64_t value = first;; value += step) {
    numbers.push_back(value);
    if (last - value < step) {
      return Unit{};
    }
  }
}

Result<std::vector<std::uint64_t>> numbers_of(std::string_view dim) {
  std::vector<std::uint64_t> numbers;
  for (const std::string_view part : split(dim, '-')) {
    if (part.find('~') != std::string_view::npos) {
      OPDRIFT_CHECK_OK(add_range(part, numbers));
    } else {
      OPDRIFT_TRY(const std::uint64_t value, number(part, dim));
      numbers.push_back(value);
    }
  }
  return numbers;
}

/// Every text of `heads` continued by `separator` and every one of `tails`.
Result<std::vector<std::string>> product(const std::vector<std::string>& heads,
                                         std::string_view separator,
                                         const std::vector<std::string>& tails) {
  if (!tails.empty() && heads.size() > kMaxShapes / tails.size()) {
    return Error{ErrorCode::limit,
                 "expected at most " + std::to_string(kMaxShapes) + " shapes; give fewer numbers"};
  }
  std::vector<std::string> all;
  all.reserve(heads.size() * tails.size());
  for (const std::string& head : heads) {
    for (const std::string& tail : tails) {
      std::string text = head;
      text += separator;
      text += tail;
      all.push_back(std::move(text));
    }
  }
  return all;
}

Result<std::vector<std::string>> expand_input(const RawShape& input) {
  std::vector<std::string> shapes = {input.name};
  for (std::size_t i = 0; i < input.dims.size(); ++i) {
    OPDRIFT_TRY(const std::vector<std::uint64_t> numbers, numbers_of(input.dims[i]));
    std::vector<std::string> texts;
    texts.reserve(numbers.size());
    for (const std::uint64_t value : numbers) {
      texts.push_back(std::to_string(value));
    }
    OPDRIFT_TRY(shapes, product(shapes, i == 0 ? ":" : ",", texts));
  }
  return shapes;
}

}  // namespace

Result<std::vector<RawShape>> parse_raw_shapes(std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), is_shape_character)) {
    return wrong(text, "letters, digits and _ , ; : / . - ~ only");
  }
  std::vector<RawShape> inputs;
  for (const std::string_view input : split(text, ';')) {
    const std::size_t colon = input.rfind(':');
    if (colon == std::string_view::npos || colon == 0) {
      return wrong(input, "name:dim,dim");
    }
    RawShape shape{std::string(input.substr(0, colon)), {}};
    for (const std::string_view dim : split(input.substr(colon + 1), ',')) {
      if (dim.empty()) {
        return wrong(input, "a number between the commas");
      }
      shape.dims.emplace_back(dim);
    }
    inputs.push_back(std::move(shape));
  }
  return inputs;
}

Result<std::vector<InputShape>> parse_shapes(std::string_view text) {
  OPDRIFT_TRY(const std::vector<RawShape> raw, parse_raw_shapes(text));
  std::vector<InputShape> shapes;
  for (const RawShape& input : raw) {
    if (find_shape(shapes, input.name) != nullptr) {
      return wrong(text, "every input once, found '" + printable(input.name) + "' twice");
    }
    InputShape shape{input.name, {}};
    for (const std::string& dim : input.dims) {
      OPDRIFT_TRY(const std::uint64_t value, number(dim, text));
      shape.dims.push_back(value);
    }
    OPDRIFT_CHECK_OK(tensor::element_count(shape.dims));
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Result<std::vector<std::string>> expand_ranges(std::string_view text) {
  OPDRIFT_TRY(const std::vector<RawShape> raw, parse_raw_shapes(text));
  std::vector<std::string> all;
  for (const std::string_view input : split(text, ';')) {
    if (input.size() >= kMaxInputText) {
      return wrong(input, "less than 50 characters for one input");
    }
  }
  for (const RawShape& input : raw) {
    if (input.dims.size() > kMaxRangeDims) {
      return wrong(input.name, "at most 4 dims");
    }
    OPDRIFT_TRY(std::vector<std::string> shapes, expand_input(input));
    if (all.empty()) {
      all = std::move(shapes);
    } else {
      OPDRIFT_TRY(all, product(all, ";", shapes));
    }
  }
  return all;
}

std::string shape_folder(std::string_view shapes) {
  std::string name(shapes);
  for (char& c : name) {
    if (c == ':' || c == ';') {
      c = '-';
    } else if (c == ',' || c == '/') {
      c = '_';
    }
  }
  return name;
}

const InputShape* find_shape(const std::vector<InputShape>& shapes, std::string_view name) {
  for (const InputShape& shape : shapes) {
    if (shape.name == name) {
      return &shape;
    }
  }
  return nullptr;
}

}  // namespace opdrift::diagnose::offline
