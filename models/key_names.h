//===- key_names.h - other names of the keys of a strategy ------*- C++ -*-===//
//
// The names of the options are those of keys in files as well: the column
// `aliases` of the table of fields is the one list of both.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_MODELS_KEY_NAMES_H
#define MTC_MODELS_KEY_NAMES_H

#include <string>
#include <vector>

#include <toml++/toml.h>

#include "models/diagnostics.h"

namespace mtc::models {

/// Where names stand: what is set replaces a key of a file, so a flag that is
/// false there, which in a file says nothing, would be no change.
enum class NamesIn { file, setting };

/// Gives the keys of a strategy's document, but for those in tables, the names
/// of the table of fields: `sp` and `sequence-parallel` become
/// `sequence_parallel`, `bf16 = true` becomes `dtype = "bf16"`. Errors, of
/// class usage: a key under two names, a flag that is no truth value, and what
/// Megatron-LM has and is no key as it is there, with what to give instead.
/// What nobody knows stays as it is.
Diagnostics useOwnNames(toml::table &document, const std::string &file,
                        NamesIn in = NamesIn::file);

/// All other names, with '_' between words.
std::vector<std::string> otherNames();

} // namespace mtc::models
#endif // MTC_MODELS_KEY_NAMES_H
