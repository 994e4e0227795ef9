#include "opdrift/diagnose/flow/facts.hpp"

namespace opdrift::diagnose::flow {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::unknown: return "unknown";
    case Verdict::pass: return "pass";
    case Verdict::fail: return "fail";
  }
  return "unknown";
}

std::string pair_key(std::string_view candidate, std::string_view reference) {
  return std::string(candidate) + ".vs." + std::string(reference);
}

}  // namespace opdrift::diagnose::flow
