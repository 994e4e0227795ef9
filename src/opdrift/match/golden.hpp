#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "opdrift/match/network.hpp"

/// Which golden tensor belongs to one tensor of a target operator.
///
///   output k   description k of the operator, or description 0 when there are fewer;
///              the golden is that description's origin name and index
///   input k    `producer:index` of input k, then output `index` of the producer as above
///
/// Operators of type Cast and TransData are looked through on the way (the operator itself too, for
/// its outputs): their input of the same number is followed instead. Rings end as `input_ring`.
namespace opdrift::match {

/// The rule that made a pair.
enum class PairRule : std::uint8_t {
  none,
  output_origin,             ///< the description of this output names it
  output_first_description,  ///< fewer descriptions than outputs: the first one was taken
  output_same_index,         ///< the original operator's output of the same number
  input_producer,            ///< the producer's output by one of the rules above
  same_key,                  ///< equal operator names in the dump files of both sides
};

const char* to_string(PairRule rule);

/// Why a tensor has no golden.
enum class NoGolden : std::uint8_t {
  none,
  no_origin,         ///< not described, or described without an origin
  input_past_end,    ///< the graph gives the operator fewer inputs than its dump has
  bad_input_entry,   ///< not "name:number"
  unknown_producer,  ///< the producer is not in the graph
  input_ring,        ///< Cast and TransData operators that feed each other
};

const char* to_string(NoGolden reason);

struct GoldenRef {
  NoGolden problem = NoGolden::none;
  std::string detail;  ///< the entry or the name a problem is about
  PairRule rule = PairRule::none;
  std::size_t looked_through = 0;  ///< Cast and TransData operators on the way
  std::string origin_name;
  std::uint32_t origin_index = 0;
  std::string format;        ///< layout of the golden, "" unknown
  tensor::Shape shape;       ///< its shape as the graph knows it, may be empty
  std::size_t producer = 0;  ///< node whose output it is
  std::uint32_t producer_output = 0;

  /// One sentence: the rule, or why there is no golden.
  std::string explain() const;
};

GoldenRef golden_of_output(const Network& network, std::size_t node, std::uint32_t output);
GoldenRef golden_of_input(const Network& network, std::size_t node, std::uint32_t input);

/// True for operators whose inputs are not compared: they hold quantised numbers.
bool is_dequantiser(const Node& node);
/// True for operators whose outputs are not compared.
bool is_quantiser(const Node& node);

}  // namespace opdrift::match
