//===- key_page.h - keys of files as help and as pages ----------*- C++ -*-===//
//
// The rows come from the tables that the readers and the writer themselves go
// through, so that help and docs/reference say what is read and written.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TOOLS_MTC_KEY_PAGE_H
#define MTC_TOOLS_MTC_KEY_PAGE_H

#include <string>
#include <vector>

namespace mtc::tool {

struct KeyRow {
  std::string key;
  std::string options;     ///< that replace it: "--micro-batch-size, --mbs"
  std::string type;        ///< what a value may be
  std::string defaultText; ///< if the key is not given; empty: see isRequired
  std::string meaning;
  std::string example; ///< a value as in a file
  bool isRequired = false;
};

struct KeyTable {
  std::string heading; ///< "[norm]", as in a file, or words; empty: none
  std::vector<KeyRow> rows;
};

/// `intro` and `closing` are Markdown, for pages only.
struct KeyPage {
  std::string title, intro;
  std::vector<KeyTable> tables;
  std::string closing;
};

KeyPage specPage();
KeyPage strategyPage();
KeyPage recipePage();
KeyPage logPage();

/// For a terminal: a line for each key under the headings of tables.
std::string toText(const KeyPage &page);

/// A page of docs/reference.
std::string toMarkdown(const KeyPage &page);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_KEY_PAGE_H
