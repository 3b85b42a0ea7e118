//===- indexed_files.h - corpora for tests ----------------------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_DATA_INDEXED_FILES_H
#define MTC_TEST_UNIT_DATA_INDEXED_FILES_H

#include "runtime/data/indexed_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mtc::runtime::test {

/// A document is sequences of tokens.
using Documents = std::vector<std::vector<std::vector<int32_t>>>;

inline void writeCorpus(const std::string &prefix, const Documents &documents,
                        TokenType type = TokenType::u16) {
  IndexedWriter writer;
  ASSERT_TRUE(IndexedWriter::create(prefix, type, writer).ok());
  for (const auto &document : documents) {
    for (const auto &sequence : document)
      ASSERT_TRUE(writer.add(sequence).ok());
    writer.endDocument();
  }
  Status status = writer.commit();
  ASSERT_TRUE(status.ok()) << status.message();
}

/// Four sequences in three documents, one of them without a sequence; a
/// sequence without a token.
inline Documents smallCorpus() { return {{{1, 2, 3}, {}}, {}, {{4, 5}, {6}}}; }

} // namespace mtc::runtime::test
#endif // MTC_TEST_UNIT_DATA_INDEXED_FILES_H
