#pragma once

#include <functional>
#include <string>
#include <vector>

#include "opdrift/diagnose/offline/analyser.hpp"
#include "opdrift/diagnose/offline/device_run.hpp"
#include "opdrift/diagnose/offline/part_build.hpp"

/// Where the error comes from that a comparison found (--locat): the shortest part of the network,
/// ending at the first bad operator E, that is bad on the device with golden inputs.
///
///   probe(a)   the part from a to E is built, run on the device with golden inputs, and its
///              outputs judged by bisect/output_rule.hpp
///   E alone is bad                  the interval is E:E
///   for every operator n without an operator before it, E behind it
///                                   bisect/search.hpp over the cut points from n to E (suffix)
///
///   <folder>/<number of n>/         a session of bisect/session.hpp; its probes hold run.sh
///   <run>/error_interval_info.txt   node:node, a line per interval
///
/// Probes that need a device wait like other steps: the search goes on when the same command is
/// started again.
namespace opdrift::diagnose::offline {

struct LocateJob {
  std::string model;   ///< golden, ONNX
  std::string golden;  ///< its dump
  std::string folder;  ///< of this search
  std::string file;    ///< for the intervals
  std::string device = "0";
  std::string library;  ///< of ONNX Runtime
  PartBuild build;
};

struct Interval {
  std::string first;
  std::string last;
};

struct Located {
  bool waiting = false;  ///< for a probe; intervals are not known yet
  std::vector<Interval> intervals;
  std::vector<std::string> notes;
};

/// `alarms` are those of Strategy::all; without any there is nothing to search and no file. Fails
/// as starting a session does and as writing does.
Outcome<Located> locate_error(const LocateJob& job, const std::vector<Alarm>& alarms,
                              DeviceSession& device);

}  // namespace opdrift::diagnose::offline
