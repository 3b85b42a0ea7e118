//===- documents_test.cpp - documents out of text files -------------------===//

#include "tools/data/documents.h"
#include "tools/data/in_order.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

using namespace mtc::data;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace {

using Found = std::vector<std::pair<std::string, int64_t>>; // text, line

class Folder {
public:
  Folder() {
    std::string name = testing::TempDir() + "documents-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string &name, const std::string &text) {
    std::ofstream(path_ + "/" + name, std::ios::binary) << text;
    return path_ + "/" + name;
  }

private:
  std::string path_;
};

Found documentsOf(const std::vector<std::string> &paths, Documents kind) {
  TextSource source;
  Status status = TextSource::open(paths, kind, source);
  EXPECT_TRUE(status.ok()) << status.message();
  Found found;
  TextChunk chunk;
  for (bool more = true;;) {
    EXPECT_TRUE(source.next(chunk, more).ok());
    if (!more)
      return found;
    forEachDocument(chunk, kind, [&](const DocumentText &document) {
      found.emplace_back(document.text, document.line);
      // The offset is that of the text in its file.
      std::ifstream in(paths[chunk.file], std::ios::binary);
      in.seekg(document.offset);
      std::string there(document.text.size(), '\0');
      in.read(there.data(), static_cast<std::streamsize>(there.size()));
      EXPECT_EQ(there, document.text);
    });
  }
}

} // namespace

TEST(Documents, OfEachKind) {
  Folder folder;
  std::string a = folder.write("a", "one\r\n\n  two\nthree\n \t\n\nfour");
  std::string b = folder.write("b", "");
  EXPECT_EQ(documentsOf({a, b}, Documents::jsonl),
            (Found{{"one", 1}, {"  two", 3}, {"three", 4}, {"four", 7}}));
  EXPECT_EQ(documentsOf({a, b}, Documents::lines), (Found{{"one", 1},
                                                          {"", 2},
                                                          {"  two", 3},
                                                          {"three", 4},
                                                          {" \t", 5},
                                                          {"", 6},
                                                          {"four", 7}}));
  EXPECT_EQ(documentsOf({a, b}, Documents::paragraphs),
            (Found{{"one", 1}, {"  two\nthree", 3}, {"four", 7}}));
  EXPECT_EQ(documentsOf({a, b}, Documents::files),
            (Found{{"one\r\n\n  two\nthree\n \t\n\nfour", 1}, {"", 1}}));
}

/// Documents that do not end with the blocks in which files are read.
TEST(Documents, AreNotSplit) {
  Folder folder;
  std::string text;
  Found lines, paragraphs;
  int64_t line = 1;
  for (int i = 0; i < 40; ++i) {
    std::string first(
        static_cast<size_t>(i == 7 ? 5'000'000 : 97'003 * (i % 5)),
        static_cast<char>('a' + i % 26));
    first += "x";
    text += first + "\ny\n\n";
    lines.emplace_back(first, line);
    lines.emplace_back("y", line + 1);
    paragraphs.emplace_back(first + "\ny", line);
    line += 3;
  }
  std::string path = folder.write("long", text);
  EXPECT_EQ(documentsOf({path}, Documents::jsonl), lines);
  EXPECT_EQ(documentsOf({path}, Documents::paragraphs), paragraphs);
  EXPECT_EQ(documentsOf({path}, Documents::files), (Found{{text, 1}}));
}

TEST(Documents, AllFilesThatLackAreNamed) {
  TextSource source;
  Status status =
      TextSource::open({"lacks-1", "lacks-2"}, Documents::jsonl, source);
  EXPECT_EQ(status.code(), StatusCode::inputRejected);
  EXPECT_NE(status.message().find("'lacks-1'"), std::string::npos);
  EXPECT_NE(status.message().find("'lacks-2'"), std::string::npos);
  EXPECT_EQ(TextSource::open({}, Documents::jsonl, source).code(),
            StatusCode::usage);
}

namespace {

/// Runs over 0 to n - 1; what was used, and how many were in flight at most.
struct Counting {
  int n = 1000, failAt = -1, stopAt = -1;
  std::vector<int> used = {};
  std::atomic<int> flying{0}, most{0};

  Status run(int threads) {
    int next = 0;
    InOrder<int, int> order;
    order.read = [&](int &item, bool &more) -> Status {
      if (next == failAt)
        return {StatusCode::inputRejected, "no more"};
      more = next < n;
      item = next++;
      int now = ++flying;
      most = std::max<int>(most, now);
      return Status::okay();
    };
    order.work = [](int &item, int) {
      if (item % 7 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      return item * item;
    };
    order.use = [&](int &result) -> Status {
      --flying;
      used.push_back(result);
      if (static_cast<int>(used.size()) == stopAt)
        return {StatusCode::writeFailed, "full"};
      return Status::okay();
    };
    return order.run(threads);
  }
};

} // namespace

TEST(InOrder, ResultsComeInTheOrderOfItems) {
  for (int threads : {1, 2, 5}) {
    Counting counting;
    ASSERT_TRUE(counting.run(threads).ok());
    ASSERT_EQ(counting.used.size(), 1000u);
    for (int i = 0; i < 1000; ++i)
      ASSERT_EQ(counting.used[i], i * i);
    EXPECT_LE(counting.most, 2 * threads + 2);
  }
}

TEST(InOrder, EndsWithTheFirstError) {
  for (int threads : {1, 3}) {
    Counting reads{.failAt = 100};
    EXPECT_EQ(reads.run(threads).message(), "no more");
    EXPECT_EQ(reads.used.size(), 100u);
    Counting uses{.stopAt = 50};
    EXPECT_EQ(uses.run(threads).message(), "full");
    EXPECT_EQ(uses.used.size(), 50u);
  }
}
