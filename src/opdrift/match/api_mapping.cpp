#include "opdrift/match/api_mapping.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "opdrift/base/text.hpp"

namespace opdrift::match {

namespace {

/// Functions of mindspore.ops that torch has under the same name at top level; all others of that
/// module stand in torch.nn.functional or have no counterpart. Sorted.
constexpr std::string_view kTopLevel[] = {
    "abs",          "absolute",
    "acos",         "acosh",
    "add",          "addbmm",
    "addcdiv",      "addcmul",
    "addmm",        "addmv",
    "addr",         "all",
    "amax",         "amin",
    "angle",        "any",
    "arange",       "arccos",
    "arccosh",      "arcsin",
    "arcsinh",      "arctan",
    "arctan2",      "arctanh",
    "argmax",       "argmin",
    "argsort",      "asin",
    "asinh",        "atan",
    "atan2",        "atanh",
    "atleast_1d",   "atleast_2d",
    "atleast_3d",   "baddbmm",
    "bernoulli",    "bincount",
    "bitwise_and",  "bitwise_or",
    "bitwise_xor",  "block_diag",
    "bmm",          "broadcast_to",
    "bucketize",    "cat",
    "cdist",        "ceil",
    "chunk",        "clamp",
    "clip",         "column_stack",
    "concat",       "conj",
    "copysign",     "cos",
    "cosh",         "count_nonzero",
    "cross",        "cummax",
    "cummin",       "cumprod",
    "cumsum",       "deg2rad",
    "diag",         "diagonal",
    "diff",         "digamma",
    "dist",         "div",
    "divide",       "dot",
    "dsplit",       "dstack",
    "einsum",       "eq",
    "equal",        "erf",
    "erfc",         "erfinv",
    "exp",          "exp2",
    "expm1",        "eye",
    "flatten",      "flip",
    "fliplr",       "flipud",
    "float_power",  "floor",
    "floor_divide", "fmax",
    "fmin",         "fmod",
    "frac",         "full",
    "full_like",    "gather",
    "gcd",          "ge",
    "geqrf",        "ger",
    "greater",      "greater_equal",
    "gt",           "heaviside",
    "histc",        "hsplit",
    "hstack",       "hypot",
    "i0",           "igamma",
    "igammac",      "imag",
    "index_add",    "index_fill",
    "index_select", "inner",
    "inverse",      "isclose",
    "isfinite",     "isinf",
    "isnan",        "isneginf",
    "isposinf",     "isreal",
    "kron",         "lcm",
    "ldexp",        "le",
    "lerp",         "less",
    "less_equal",   "linspace",
    "log",          "log10",
    "log1p",        "log2",
    "logaddexp",    "logaddexp2",
    "logdet",       "logical_and",
    "logical_not",  "logical_or",
    "logical_xor",  "logit",
    "logspace",     "logsumexp",
    "lt",           "lu_unpack",
    "masked_fill",  "masked_select",
    "matmul",       "max",
    "maximum",      "mean",
    "median",       "meshgrid",
    "min",          "minimum",
    "mm",           "moveaxis",
    "movedim",      "msort",
    "mul",          "multinomial",
    "multiply",     "mv",
    "mvlgamma",     "nan_to_num",
    "nanmean",      "nanmedian",
    "nanquantile",  "nansum",
    "narrow",       "ne",
    "neg",          "negative",
    "nextafter",    "nonzero",
    "norm",         "normal",
    "not_equal",    "numel",
    "ones",         "ones_like",
    "orgqr",        "outer",
    "permute",      "pinverse",
    "polar",        "polygamma",
    "positive",     "pow",
    "prod",         "quantile",
    "rad2deg",      "rand",
    "rand_like",    "randint",
    "randint_like", "randn",
    "randn_like",   "randperm",
    "range",        "ravel",
    "real",         "reciprocal",
    "remainder",    "renorm",
    "reshape",      "roll",
    "rot90",        "round",
    "rsqrt",        "scatter",
    "scatter_add",  "searchsorted",
    "select",       "sgn",
    "sigmoid",      "sign",
    "signbit",      "sin",
    "sinc",         "sinh",
    "slogdet",      "sort",
    "split",        "sqrt",
    "square",       "squeeze",
    "stack",        "std",
    "std_mean",     "sub",
    "subtract",     "sum",
    "svd",          "swapaxes",
    "swapdims",     "t",
    "take",         "tan",
    "tanh",         "tensor_split",
    "tile",         "topk",
    "trace",        "transpose",
    "trapz",        "tril",
    "tril_indices", "triu",
    "triu_indices", "true_divide",
    "trunc",        "unbind",
    "unique",       "unique_consecutive",
    "unsqueeze",    "vander",
    "var",          "var_mean",
    "view_as_real", "vsplit",
    "vstack",       "where",
    "xlogy",        "zeros",
    "zeros_like",
};

static_assert(std::is_sorted(std::begin(kTopLevel), std::end(kTopLevel)));

/// The first two parts of a name: which function was called.
std::string_view api_of(std::string_view name) {
  const std::size_t first = name.find('.');
  const std::size_t second = first == std::string_view::npos ? first : name.find('.', first + 1);
  return name.substr(0, second);
}

std::string replace_first(std::string_view text, std::string_view from, std::string_view to) {
  const std::size_t place = from.empty() ? std::string_view::npos : text.find(from);
  if (place == std::string_view::npos) {
    return std::string(text);
  }
  return std::string(text.substr(0, place)) + std::string(to) +
         std::string(text.substr(place + from.size()));
}

/// End of the module path in a name: the first of the three words behind it.
std::size_t module_end(std::string_view name) {
  std::size_t end = std::string_view::npos;
  for (const std::string_view word : {".forward.", ".backward.", ".parameters_grad."}) {
    end = std::min(end, name.find(word));
  }
  return end;
}

bool has_gradient_part(std::string_view name) {
  const auto parts = split(name, '.');
  return std::find(parts.begin(), parts.end(), "parameters_grad") != parts.end();
}

std::string map_cell(std::string_view cell, const NamePairs& pairs) {
  for (const auto& [from, to] : pairs) {
    if (cell == from) {
      return to;
    }
  }
  std::string mapped(cell);
  for (const auto& [from, to] : pairs) {
    mapped = replace_first(mapped, from, to);
  }
  return mapped;
}

std::unordered_set<std::string> apis_of(const graph::ApiRun& run, bool translate) {
  std::unordered_set<std::string> apis;
  for (const graph::ApiEntry& entry : run.entries) {
    apis.insert(std::string(api_of(translate ? torch_name(entry.name) : entry.name)));
    apis.insert(std::string(api_of(entry.name)));
  }
  return apis;
}

/// A leaf name of a listed call, or nothing when the list leaves it out.
std::optional<std::string> by_rule(std::string_view name, const ApiRule& rule) {
  struct Kind {
    std::string_view word;
    const PositionPairs& positions;
  };
  const Kind kinds[] = {{".input.", rule.inputs},
                        {".output.", rule.outputs},
                        {".parameters.", rule.parameters},
                        {".parameters_grad.", rule.parameters_grad}};
  for (const Kind& kind : kinds) {
    const std::size_t place = name.find(kind.word);
    if (place == std::string_view::npos) {
      continue;
    }
    const std::size_t start = place + kind.word.size();
    const std::size_t end = std::min(name.find('.', start), name.size());
    const auto index = parse_u64(name.substr(start, end - start));
    const auto& from = kind.positions.target;
    const auto found = index ? std::find(from.begin(), from.end(), *index) : from.end();
    if (found == from.end()) {
      return std::nullopt;
    }
    const std::uint64_t to = kind.positions.golden[static_cast<std::size_t>(found - from.begin())];
    return rule.golden_api +
           std::string(name.substr(rule.target_api.size(), start - rule.target_api.size())) +
           std::to_string(to) + std::string(name.substr(end));
  }
  return std::nullopt;
}

}  // namespace

NameTranslation data_translation(const NamePairs& pairs) {
  auto table = std::make_shared<std::unordered_map<std::string, std::string>>();
  for (const auto& [from, to] : pairs) {
    table->insert_or_assign(from, to);
  }
  return [table](std::string_view name) -> std::optional<std::string> {
    std::string own(name);
    const auto found = table->find(own);
    return found == table->end() ? std::move(own) : found->second;
  };
}

NameTranslation cell_translation(NamePairs pairs) {
  return [pairs = std::move(pairs)](std::string_view name) -> std::optional<std::string> {
    const std::string renamed = replace_first(name, "Cell", "Module");
    const std::string_view text = renamed;
    const std::size_t end = module_end(text);
    if (end == std::string_view::npos) {
      return has_gradient_part(text) ? std::optional<std::string>(renamed) : std::nullopt;
    }
    const std::size_t dot = text.find('.');
    if (dot >= end) {
      return renamed;
    }
    const std::string cell = map_cell(text.substr(dot + 1, end - dot - 1), pairs);
    return std::string(text.substr(0, dot + 1)) + cell + std::string(text.substr(end));
  };
}

std::string torch_name(std::string_view name) {
  if (name.starts_with("Mint.")) {
    return "Torch." + std::string(name.substr(5));
  }
  if (name.starts_with("MintFunctional.")) {
    return std::string(name.substr(4));
  }
  constexpr std::string_view kFunctional = "Functional.";
  if (name.starts_with(kFunctional)) {
    const std::string_view api = api_of(name).substr(kFunctional.size());
    if (std::binary_search(std::begin(kTopLevel), std::end(kTopLevel), api)) {
      return "Torch." + std::string(name.substr(kFunctional.size()));
    }
  }
  return std::string(name);
}

NameTranslation api_translation(const graph::ApiRun& target, const graph::ApiRun& golden,
                                std::vector<ApiRule> rules) {
  const auto target_apis = apis_of(target, true);
  const auto golden_apis = apis_of(golden, false);
  std::erase_if(rules, [&](const ApiRule& rule) {
    return !target_apis.contains(rule.target_api) || !golden_apis.contains(rule.golden_api);
  });
  return [rules = std::move(rules)](std::string_view name) -> std::optional<std::string> {
    const std::string translated = torch_name(name);
    for (const ApiRule& rule : rules) {
      if (api_of(name) == rule.target_api) {
        return by_rule(name, rule);
      }
      if (api_of(translated) == rule.target_api) {
        return by_rule(translated, rule);
      }
    }
    return translated;
  };
}

}  // namespace opdrift::match
