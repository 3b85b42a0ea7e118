//===- data_path.h - what --data names --------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DATA_DATA_PATH_H
#define MTC_RUNTIME_DATA_DATA_PATH_H

#include "runtime/base/status.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// One flat file of tokens, or corpora of Megatron-LM with or without weights.
struct DataPath {
  std::string flat;                  ///< empty: corpora
  std::vector<std::string> prefixes; ///< of .bin and .idx
  std::vector<double> weights;       ///< as given; empty: none were
};

/// Reads the name of a file or of a corpus (PREFIX, PREFIX.bin or PREFIX.idx,
/// where PREFIX.idx is there), or as Megatron-LM's --data-path several corpora
/// with spaces between: "0.7 a 0.3 b", or "a b" with weights in proportion to
/// their samples. What is one file's name is that file. `option` is how errors
/// call the text. Errors: usage; inputRejected, for a corpus that is not there.
Status parseDataPath(std::string_view text, const std::string &option,
                     DataPath &out);

/// How many of the words behind Megatron-LM's --data-path are of it: as many
/// weights, each with the word behind it, and names of corpora that are there
/// as follow each other, and the first word in any case.
size_t countDataWords(std::span<const std::string> words);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_DATA_PATH_H
