//===- tokenize.h - texts of files to files of tokens -----------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_TOKENIZE_H
#define MTC_TOOLS_DATA_TOKENIZE_H

#include "tools/data/documents.h"
#include "tools/data/meter.h"
#include "tools/data/report.h"
#include "tools/data/token_output.h"
#include "tools/data/tokenizer.h"

#include <string>
#include <vector>

namespace mtc::data {

struct TokenizeOptions {
  std::vector<std::string> files;
  Documents documents = Documents::jsonl;
  std::vector<std::string> keys = {"text"}; ///< of JSON lines
  TokenizerChoice tokenizer;
  bool appendEod = false; ///< a token ends each document that has any
  OutputKind output = OutputKind::indexed;
  std::string prefix; ///< of the outputs' names: PREFIX_KEY
  std::string type;   ///< of the tokens; empty: by the vocabulary
  int workers = 1;    ///< threads; no byte depends on them
};

/// Writes an output of each key, of whole documents in the order of the input,
/// as Megatron-LM's tools/preprocess_data.py does. None has its name before all
/// are written. Texts of other documents than JSON lines are those of the key
/// "text". Memory: some mebibytes a thread, and tokens of the documents in
/// work, of which a mebibyte and the longest count.
///
/// Errors: usage; inputRejected, with file and line of everything that is wrong
/// in the first piece of a file where something is; writeFailed; interrupted.
runtime::Status tokenize(const TokenizeOptions &options, const Watch &watch,
                         Report &report);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_TOKENIZE_H
