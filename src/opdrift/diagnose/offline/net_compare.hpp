#pragma once

#include <string>
#include <vector>

#include "opdrift/diagnose/offline/failure.hpp"
#include "opdrift/diagnose/offline/result_table.hpp"
#include "opdrift/graph/graph.hpp"

/// Only what comes out of the network: raw output files of the device against golden arrays, by
/// position. Type and shape of output i are those of input i of the model's NetOutput (one element
/// per dim 1 when it tells no shape).
///
///   <folder>/output_<i>.npy    the device's output, in the golden's shape
///
///   Index, OpType, NPUDump, DataType, Address, GroundTruth, DataType, TensorIndex, Shape,
///   <ten numbers>, CompareFailReason
namespace opdrift::diagnose::offline {

struct NetCompareJob {
  std::vector<std::string> device;  ///< bin files, in order
  std::vector<std::string> golden;  ///< npy files, in order
  std::string folder;
};

struct NetCompare {
  ResultTable table;
  std::vector<std::string> warnings;
};

/// An output that cannot be compared is a row with its reason. Fails with net_output (the counts
/// differ, no NetOutput).
Outcome<NetCompare> compare_net_outputs(const NetCompareJob& job, const graph::Graph& model);

/// Puts golden files into the order of the model's outputs: with one entry in
/// attr_model_out_nodes_name the file whose name starts with it ("/" as "_", ":" as ".") comes
/// first. False when there are several entries or none fits.
bool repair_order(std::vector<std::string>& golden, const graph::Graph& model);

}  // namespace opdrift::diagnose::offline
