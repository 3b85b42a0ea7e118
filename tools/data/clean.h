//===- clean.h - repairs the texts of a corpus ------------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_CLEAN_H
#define MTC_TOOLS_DATA_CLEAN_H

#include "tools/data/report.h"
#include "tools/data/text_lines.h"

namespace mtc::data {

/// Writes the documents of a corpus as JSON lines, their texts repaired
/// (clean_text.h). A line whose text needs no repair, and all of a line but its
/// text, stays as it is, but for bytes that are no UTF-8. Left out are lines
/// that are no JSON object with the text, and texts that are empty then; the
/// report counts both and names the first. Errors: usage, inputRejected (a file
/// cannot be read), writeFailed, interrupted.
runtime::Status cleanCorpus(const TextOptions &options,
                            const std::string &output, const Watch &watch,
                            Report &report);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_CLEAN_H
