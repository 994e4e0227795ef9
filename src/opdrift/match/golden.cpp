#include "opdrift/match/golden.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace opdrift::match {

namespace {

bool is_transparent(const Node& node) {
  return node.type == "Cast" || node.type == "TransData";
}

GoldenRef failed(NoGolden problem, std::string detail) {
  GoldenRef ref;
  ref.problem = problem;
  ref.detail = std::move(detail);
  return ref;
}

/// One output of one operator.
struct Place {
  std::size_t node = 0;
  std::uint32_t output = 0;
};

/// Follows input `input` of `node`; a failure lands in `problem`.
std::optional<Place> follow(const Network& network, std::size_t node, std::uint32_t input,
                            GoldenRef& problem) {
  const Node& consumer = network.nodes[node];
  if (input >= consumer.inputs.size()) {
    problem = failed(NoGolden::input_past_end,
                     consumer.name + " has " + std::to_string(consumer.inputs.size()) + " inputs");
    return std::nullopt;
  }
  const graph::InputRef& entry = consumer.inputs[input];
  if (!entry.well_formed) {
    problem = failed(NoGolden::bad_input_entry, entry.text);
    return std::nullopt;
  }
  const std::optional<std::size_t> producer = network.find(entry.producer);
  if (!producer) {
    problem = failed(NoGolden::unknown_producer, entry.producer);
    return std::nullopt;
  }
  return Place{*producer, static_cast<std::uint32_t>(entry.index)};
}

GoldenRef described(const Network& network, const Place& place) {
  const Node& node = network.nodes[place.node];
  if (node.outputs.empty()) {
    return failed(NoGolden::no_origin, node.name);
  }
  const bool own = place.output < node.outputs.size();
  const Description& output = node.outputs[own ? place.output : 0];
  if (output.origin_name.empty()) {
    return failed(NoGolden::no_origin, node.name);
  }
  GoldenRef ref;
  ref.rule = own ? PairRule::output_origin : PairRule::output_first_description;
  ref.rule = output.origin_index ? ref.rule : PairRule::output_same_index;
  ref.origin_name = output.origin_name;
  ref.origin_index =
      output.origin_index ? static_cast<std::uint32_t>(*output.origin_index) : place.output;
  ref.format = output.format;
  ref.shape = output.shape;
  ref.producer = place.node;
  ref.producer_output = place.output;
  return ref;
}

GoldenRef look_through(const Network& network, Place place) {
  std::size_t hops = 0;
  while (is_transparent(network.nodes[place.node])) {
    if (hops++ > network.nodes.size()) {
      return failed(NoGolden::input_ring, network.nodes[place.node].name);
    }
    GoldenRef problem;
    const std::optional<Place> next = follow(network, place.node, place.output, problem);
    if (!next) {
      return problem;
    }
    place = *next;
  }
  GoldenRef ref = described(network, place);
  ref.looked_through = hops;
  return ref;
}

}  // namespace

const char* to_string(PairRule rule) {
  switch (rule) {
    case PairRule::none: return "none";
    case PairRule::output_origin: return "origin of the output";
    case PairRule::output_first_description: return "origin of the first output";
    case PairRule::output_same_index: return "output of the same number of the original";
    case PairRule::input_producer: return "output of the producer";
    case PairRule::same_key: return "same operator name";
  }
  return "";
}

const char* to_string(NoGolden reason) {
  switch (reason) {
    case NoGolden::none: return "";
    case NoGolden::no_origin: return "has no original operator in the graph json";
    case NoGolden::input_past_end: return "the graph json knows fewer inputs";
    case NoGolden::bad_input_entry: return "the graph json names an input not as name:number";
    case NoGolden::unknown_producer: return "the graph json does not know the producer";
    case NoGolden::input_ring: return "Cast and TransData operators form a ring";
  }
  return "";
}

std::string GoldenRef::explain() const {
  if (problem != NoGolden::none) {
    return std::string(to_string(problem)) + " (" + detail + ")";
  }
  std::string text = to_string(rule);
  if (looked_through > 0) {
    text += ", seen through " + std::to_string(looked_through) +
            (looked_through == 1 ? " conversion" : " conversions");
  }
  return text;
}

GoldenRef golden_of_output(const Network& network, std::size_t node, std::uint32_t output) {
  return look_through(network, Place{node, output});
}

GoldenRef golden_of_input(const Network& network, std::size_t node, std::uint32_t input) {
  GoldenRef problem;
  const std::optional<Place> place = follow(network, node, input, problem);
  if (!place) {
    return problem;
  }
  GoldenRef ref = look_through(network, *place);
  if (ref.problem == NoGolden::none) {
    ref.rule = PairRule::input_producer;
  }
  return ref;
}

bool is_dequantiser(const Node& node) {
  constexpr std::array<std::string_view, 4> kSuffixes = {"_dequant_layer", "AscendDequant",
                                                         "_dequant", ".dequant"};
  return node.type == "AscendDequant" ||
         std::any_of(kSuffixes.begin(), kSuffixes.end(), [&node](std::string_view suffix) {
           return std::string_view(node.name).ends_with(suffix);
         });
}

bool is_quantiser(const Node& node) {
  return node.type == "AscendQuant";
}

}  // namespace opdrift::match
