#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "opdrift/io/onnx/model.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Looking at the values of a model without keeping them.
///
/// A value that is a graph output has memory of its own until the run is over: hundreds of
/// megabytes of new pages for a network that works in ten, and touching a new page costs more than
/// computing what goes into it. Instead each value is given a reader, a node Tap, which shows it
/// and is done with it, so that the library uses its memory again as in a run without.
///
///   Tap(value, token?, beside?) -> token    number: its place in the list
///   Source<n>() -> value                    number: its place in the list
///
/// The library runs nodes in the order of a depth-first walk back from the last node, of two inputs
/// the one made by the later node first. So each Tap reads the token of the one before it, and they
/// stand behind all other nodes: the walk then reaches value 1, Tap 1, what value 2 needs, value 2,
/// Tap 2 and so on. Another order would cost memory and nothing else.
namespace opdrift::engine {

inline constexpr const char* kTapDomain = "opdrift.tap";
inline constexpr const char* kTapType = "Tap";
inline constexpr const char* kTapNumber = "number";

struct Tap {
  std::string value;
  std::string beside;  ///< shown with it; "" for nothing
};

/// Adds a Tap for each entry and makes the last token an output. Returns its name, "" for no entry.
std::string add_taps(io::onnx::Model& model, std::span<const Tap> taps);

/// A value that comes from outside while the model runs.
struct Source {
  std::string value;
  int element_type = 0;
  tensor::Shape shape;
};

/// Adds nodes that make the values, at the front of the graph.
void add_sources(io::onnx::Model& model, std::span<const Source> sources);

/// TensorProto.DataType of tensors that a Tap can read in every version of the library. A Source
/// makes all of these but text.
std::span<const int> tappable_types();
bool tappable(int element_type);

/// Whether values of the main graph may be other than tensors: an operator that makes such, also in
/// a body, a model-local function, which can hold any, or an input.
bool may_hold_other_kinds(const io::onnx::Model& model);

/// The operator type of sources.
std::string source_type(int element_type);

}  // namespace opdrift::engine
