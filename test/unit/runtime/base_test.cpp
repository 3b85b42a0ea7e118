//===- base_test.cpp - files, JSON, safetensors ---------------------------===//

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/base/messages.h"
#include "runtime/base/resident.h"
#include "runtime/base/safetensors.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace mtc::runtime::test {
namespace {

TensorInfo tensor(std::string name, std::string dtype,
                  std::vector<int64_t> shape) {
  TensorInfo info;
  info.name = std::move(name);
  info.dtype = std::move(dtype);
  info.shape = std::move(shape);
  return info;
}

/// A file with this header text and `bytes` bytes of data.
std::string fileWith(const std::string &header, size_t bytes) {
  uint64_t n = header.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &n, 8);
  return out + header + std::string(bytes, 'x');
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  TemporaryFolder folder;
  {
    AtomicFile file;
    ASSERT_TRUE(AtomicFile::create(folder.path("a"), file).ok());
    ASSERT_TRUE(file.write(0, "half", 4).ok());
    EXPECT_FALSE(std::filesystem::exists(folder.path("a")));
  }
  EXPECT_EQ(folder.files(), 0u) << "a temporary file was left behind";
  ASSERT_TRUE(writeTextFile(folder.path("a"), "whole").ok());
  EXPECT_EQ(readFile(folder.path("a")), "whole");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(AtomicFile, SaysWhyItCannotWrite) {
  Status status = writeTextFile("/proc/no-such-folder/a", "x");
  EXPECT_EQ(status.code(), StatusCode::writeFailed);
}

TEST(Messages, ControlCharactersAreShown) {
  EXPECT_EQ(printable("a\x1b[31m\r\x7f\n\tb"), "a\\x1b[31m\\x0d\\x7f\n\tb");
  EXPECT_EQ(printable("\u00e4\u009b\u00a0\u20ac"), "\u00e4\\x9b\u00a0\u20ac");
}

TEST(Messages, ManyLinesAreCounted) {
  std::string text = "21 problems";
  for (int i = 0; i < 20; ++i)
    text += "\n  one";
  EXPECT_EQ(firstLines(text), text);
  EXPECT_EQ(firstLines(text + "\n  two\n  three"),
            text + "\n... and 2 more lines");
  EXPECT_EQ(firstLines(text + "\n"), text + "\n");
}

TEST(InputFile, RejectsWhatIsNoFile) {
  InputFile file;
  EXPECT_EQ(InputFile::open("/dev/zero", file).code(),
            StatusCode::inputRejected);
  EXPECT_EQ(InputFile::open("/no/such/file", file).code(),
            StatusCode::inputRejected);
}

TEST(InputFile, IsCutWhileItIsOpen) {
  TemporaryFolder folder;
  std::string path = folder.path("cut");
  writeFile(path, std::string(10000, 'x'));
  InputFile file;
  ASSERT_TRUE(InputFile::open(path, file).ok());
  std::filesystem::resize_file(path, 5000);
  char byte;
  EXPECT_TRUE(file.read(4999, &byte, 1).ok());
  std::vector<char> more(2000);
  Status status = file.read(4000, more.data(), 2000);
  EXPECT_EQ(status.code(), StatusCode::inputRejected);
  EXPECT_NE(status.message().find(path), std::string::npos);
  EXPECT_NE(status.message().find("had 10000 bytes"), std::string::npos);
  EXPECT_NE(status.message().find("ends at byte 5000"), std::string::npos);
}

TEST(Safetensors, RoundTrip) {
  TemporaryFolder folder;
  std::string path = folder.path("t.safetensors");
  std::vector<float> a = {1, 2, 3, 4, 5, 6};
  std::vector<uint16_t> b = {7, 8, 9};
  SafetensorsWriter writer;
  ASSERT_TRUE(SafetensorsWriter::create(
                  path,
                  {tensor("b", "BF16", {3}), tensor("a", "F32", {2, 3}),
                   tensor("none", "F32", {0, 4}), tensor("scalar", "F64", {})},
                  {{"format", "mtc"}}, writer)
                  .ok());
  double scalar = 2.5;
  ASSERT_TRUE(writer.write("a", 8, a.data() + 2, 16).ok()); // in two parts
  ASSERT_TRUE(writer.write("b", 0, b.data(), 6).ok());
  ASSERT_TRUE(writer.write("a", 0, a.data(), 8).ok());
  ASSERT_TRUE(writer.write("scalar", 0, &scalar, 8).ok());
  EXPECT_FALSE(writer.write("a", 20, a.data(), 8).ok());
  ASSERT_TRUE(writer.commit().ok());

  SafetensorsFile file;
  Status status = SafetensorsFile::open(path, file);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(file.tensors().size(), 4u);
  EXPECT_EQ(file.metadata().at("format"), "mtc");
  const TensorInfo *info = file.find("a");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->shape, (std::vector<int64_t>{2, 3}));
  std::vector<float> readA(6);
  ASSERT_TRUE(file.read(*info, 0, readA.data(), 24).ok());
  EXPECT_EQ(readA, a);
  std::vector<uint16_t> readB(2);
  ASSERT_TRUE(file.read(*file.find("b"), 2, readB.data(), 4).ok());
  EXPECT_EQ(readB, (std::vector<uint16_t>{8, 9}));
  double readScalar = 0;
  ASSERT_TRUE(file.read(*file.find("scalar"), 0, &readScalar, 8).ok());
  EXPECT_EQ(readScalar, scalar);
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST(Safetensors, RejectsEveryCorruption) {
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  struct Case {
    const char *what;
    std::string bytes;
  };
  const Case cases[] = {
      {"empty", ""},
      {"seven bytes", "1234567"},
      {"header longer than the file", fileWith("{}", 0).substr(0, 9)},
      {"huge header", std::string(8, '\xff') + "{}"},
      {"leading space", fileWith(" {}", 0)},
      {"no JSON", fileWith("{]", 0)},
      {"invalid UTF-8", fileWith("{\"\xff\":{" + good + "}}", 8)},
      {"not an entry", fileWith(R"({"a":3})", 0)},
      {"duplicate tensor",
       fileWith("{\"a\":{" + good + "},\"a\":{" + good + "}}", 8)},
      {"unknown dtype",
       fileWith(R"({"a":{"dtype":"f32","shape":[2],"data_offsets":[0,8]}})",
                8)},
      {"negative size",
       fileWith(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
                8)},
      {"overflow", fileWith(R"({"a":{"dtype":"F32","shape":[4294967296,)"
                            R"(4294967296],"data_offsets":[0,0]}})",
                            0)},
      {"offsets reversed",
       fileWith(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
                8)},
      {"offsets disagree with the shape",
       fileWith(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
                4)},
      {"hole",
       fileWith(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                12)},
      {"overlap", fileWith("{\"a\":{" + good + "},\"b\":{" + good + "}}", 8)},
      {"data too short", fileWith("{\"a\":{" + good + "}}", 7)},
      {"data too long", fileWith("{\"a\":{" + good + "}}", 9)},
      {"metadata not text", fileWith(R"({"__metadata__":{"a":1}})", 0)},
  };
  TemporaryFolder folder;
  std::string path = folder.path("t.safetensors");
  SafetensorsFile file;
  writeFile(path, fileWith("{\"a\":{" + good + "}}  ", 8));
  Status status = SafetensorsFile::open(path, file);
  EXPECT_TRUE(status.ok()) << status.message();
  for (const Case &c : cases) {
    writeFile(path, c.bytes);
    EXPECT_EQ(SafetensorsFile::open(path, file).code(),
              StatusCode::inputRejected)
        << c.what;
  }
}

TEST(Json, CollectsAllProblems) {
  Json json;
  ASSERT_TRUE(
      parseJson(R"({"a": "x", "b": 12, "o": {"c": -1}})", "t", json).ok());
  Problems problems;
  FieldReader reader(json, "", problems);
  reader.integer("a", 0, 9);
  reader.integer("b", 0, 9);
  reader.boolean("missing");
  reader.object("o").integer("c", 0, 9);
  EXPECT_EQ(problems.list().size(), 4u);
  EXPECT_NE(problems.status("t").message().find("o: 'c'"), std::string::npos)
      << problems.status("t").message();
}

TEST(Json, HasNoMoreLevelsThanTheStackTakes) {
  auto nested = [](size_t levels) {
    return "{\"a\": " + std::string(levels - 1, '[') +
           std::string(levels - 1, ']') + "}";
  };
  Json json;
  ASSERT_TRUE(parseJson(nested(64), "t", json).ok());
  Problems problems;
  FieldReader(json, "", problems).integers("a", 0); // writes it out
  EXPECT_EQ(problems.list().size(), 1u);
  for (size_t levels : {66, 1'000'000}) {
    Status status = parseJson(nested(levels), "t", json);
    EXPECT_EQ(status.code(), StatusCode::inputRejected);
    EXPECT_NE(status.message().find("at most 64 levels"), std::string::npos)
        << status.message();
  }
}

TEST(Files, AFolderHasOneNameBehindLinks) {
  TemporaryFolder folder;
  std::string name = folder.path("a"), link = folder.path("b");
  std::filesystem::create_directory(name);
  std::filesystem::create_symlink("a", link);
  for (const std::string &of : {name, link, folder.path("new")}) {
    std::string expected = of == link ? name : of;
    for (const char *end : {"", "/", "//", "/.", "/./"})
      EXPECT_EQ(behindLinks(of + end), expected) << of << end;
  }
  EXPECT_EQ(behindLinks("/"), "/");
  EXPECT_EQ(behindLinks("./"), ".");
  EXPECT_EQ(behindLinks(""), "");
}

TEST(Resident, AProcessThatWasForkedHasItsOwn) {
  int64_t before = residentBytes();
  ASSERT_GT(before, 0);
  pid_t child = fork();
  if (child == 0) {
    constexpr int64_t kMore = 64 << 20;
    std::vector<char> used(kMore, 'x');
    _exit(residentBytes() > before + kMore / 2 && used.back() == 'x' ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
} // namespace mtc::runtime::test
