#pragma once

#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/flow/facts.hpp"

/// Facts as JSON:
///
///   { "runs":     { ROLE: { "verdict": "pass"|"fail"|"unknown", "output_cosine": NUMBERS,
///                           "input_digest": TEXT } },
///     "compare":  { "CANDIDATE.vs.REFERENCE": [ { "op": TEXT, "type": TEXT, "original": TEXTS,
///                     "cos_in": NUMBERS, "cos_out": NUMBERS, "const": BOOL, "quant": BOOL,
///                     "passes": TEXTS, "dtype": TEXT, "places": TEXTS, "foreign": TEXTS, and
///                     the numbers of kNumberFields } ] },
///     "options":  { OPTION: TEXT } or the command line as one text,
///     "boundary": { "input_cosine", "output_cosine", "input_close": BOOL, "findings": TEXTS },
///     "export":   { "output_cosine", "findings": TEXTS, "faults": TEXTS },
///     "aipp_input_cosine": NUMBER, "aipp_input_close": BOOL, "aipp_findings": TEXTS,
///     "keep": TEXTS, "repeat": { "identical": BOOL, "first_difference": TEXT, "unrelated": BOOL },
///     "bisect": { "interval": TEXTS, "single_op_ok": BOOL },
///     "notes": [ { "id", "result" } ], "golden_model": TEXT, "device_soc": TEXT }
///
/// Everything may be missing or null; other keys are passed over. TEXTS and NUMBERS may be a single
/// one. A number may be NaN, Infinity or -Infinity, bare as Python writes them or as text; null in
/// a list of numbers is NaN. Of several output cosines the worst counts.
namespace opdrift::diagnose::flow {

/// Fails with bad_json (no JSON, or a key of another type; the message names it) or limit.
/// `path` is named in errors.
Result<Facts> parse_facts(std::string_view text, const std::string& path);

/// Reads a file of at most 64 MiB.
Result<Facts> read_facts(const std::string& path);

/// Facts as parse_facts reads them back.
std::string write_facts(const Facts& facts);

}  // namespace opdrift::diagnose::flow
