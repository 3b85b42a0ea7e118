//===- kernel_case.cpp - files of kernel cases ----------------------------===//
//
// A file is a count of cases, then each case's fields in order of their
// declaration. Numbers are 8 bytes, little-endian; texts and vectors begin with
// their length in elements.
//
//===----------------------------------------------------------------------===//
#include "kernel_case.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>

using namespace mtc::test;

static_assert(std::endian::native == std::endian::little);

namespace {

/// No vector of a case is longer: a larger length is a broken file.
constexpr uint64_t kMost = uint64_t(1) << 28;

struct Writer {
  std::ofstream file;

  void number(uint64_t n) { number(static_cast<int64_t>(n)); }
  void number(int64_t n) {
    file.write(reinterpret_cast<const char *>(&n), sizeof n);
  }
  template <typename T> void list(const T &values) {
    number(static_cast<int64_t>(values.size()));
    file.write(reinterpret_cast<const char *>(values.data()),
               values.size() * sizeof(values[0]));
  }
};

struct Reader {
  std::ifstream file;

  void number(int64_t &n) { file.read(reinterpret_cast<char *>(&n), sizeof n); }
  void number(uint64_t &n) {
    file.read(reinterpret_cast<char *>(&n), sizeof n);
  }
  template <typename T> void list(T &values) {
    uint64_t size = 0;
    number(size);
    if (!file || size > kMost)
      return file.setstate(std::ios::failbit);
    values.resize(size);
    file.read(reinterpret_cast<char *>(values.data()),
              size * sizeof(values[0]));
  }
};

template <typename Stream, typename Launch>
requires requires(Launch l) { l.entry; }
void eachField(Stream &stream, Launch &launch) {
  stream.list(launch.entry);
  stream.number(launch.blocks);
  stream.number(launch.threads);
  stream.number(launch.sharedBytes);
}

template <typename Stream, typename Operand>
requires requires(Operand o) { o.element; }
void eachField(Stream &stream, Operand &operand) {
  stream.list(operand.element);
  stream.number(operand.count);
  stream.number(operand.sharesWith);
  stream.list(operand.before);
  stream.list(operand.cpu);
  stream.list(operand.expected);
  stream.list(operand.tolerance);
}

bool isWhole(const KernelCase &c) {
  for (const CaseOperand &o : c.operands) {
    uint64_t bytes = o.count * widthOf(o.element);
    bool hasData = !o.before.empty() || !o.cpu.empty();
    if (bytes == 0 ||
        (hasData && (o.before.size() != bytes || o.cpu.size() != bytes)) ||
        o.expected.size() != o.tolerance.size() ||
        (!o.expected.empty() && o.expected.size() != o.count) ||
        o.sharesWith >= static_cast<int64_t>(c.operands.size()))
      return false;
  }
  return true;
}

} // namespace

uint64_t mtc::test::widthOf(const std::string &element) {
  if (element == "f32" || element == "i32")
    return 4;
  return element == "bf16" || element == "f16" ? 2 : 0;
}

double mtc::test::valueAt(const std::string &element,
                          const std::vector<uint8_t> &bytes, uint64_t index) {
  const uint8_t *at = bytes.data() + index * widthOf(element);
  if (element == "f16") {
    _Float16 half;
    std::memcpy(&half, at, 2);
    return static_cast<double>(half);
  }
  uint32_t bits = 0;
  std::memcpy(&bits, at, widthOf(element));
  if (element == "i32")
    return static_cast<int32_t>(bits);
  return std::bit_cast<float>(element == "bf16" ? bits << 16 : bits);
}

std::string mtc::test::digestOf(const std::vector<uint8_t> &bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (uint8_t b : bytes)
    hash = (hash ^ b) * 0x100000001b3;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(hash));
  return text;
}

bool mtc::test::saveCases(const std::string &path,
                          const std::vector<KernelCase> &cases) {
  Writer writer{std::ofstream(path, std::ios::binary)};
  writer.number(static_cast<int64_t>(cases.size()));
  for (const KernelCase &c : cases) {
    writer.list(c.ptx);
    writer.list(c.kernel);
    writer.list(c.args);
    writer.number(static_cast<int64_t>(c.fields));
    writer.number(c.guard);
    writer.number(static_cast<int64_t>(c.workspaceBytes));
    writer.number(static_cast<int64_t>(c.launches.size()));
    for (const CaseLaunch &launch : c.launches)
      eachField(writer, launch);
    writer.number(static_cast<int64_t>(c.operands.size()));
    for (const CaseOperand &operand : c.operands)
      eachField(writer, operand);
  }
  return static_cast<bool>(writer.file.flush());
}

std::string mtc::test::loadCases(const std::string &path,
                                 std::vector<KernelCase> &cases) {
  Reader reader{std::ifstream(path, std::ios::binary)};
  uint64_t count = 0;
  reader.number(count);
  for (uint64_t i = 0; i < count && reader.file; ++i) {
    KernelCase c;
    uint64_t operands = 0, launches = 0;
    reader.list(c.ptx);
    reader.list(c.kernel);
    reader.list(c.args);
    reader.number(c.fields);
    reader.number(c.guard);
    reader.number(c.workspaceBytes);
    reader.number(launches);
    for (uint64_t k = 0; k < launches && reader.file; ++k)
      eachField(reader, c.launches.emplace_back());
    reader.number(operands);
    for (uint64_t k = 0; k < operands && reader.file; ++k)
      eachField(reader, c.operands.emplace_back());
    if (reader.file && !isWhole(c))
      return path + ": case " + std::to_string(i) + " contradicts itself";
    cases.push_back(std::move(c));
  }
  if (!reader.file)
    return path + ": expected a file of kernel cases, found less";
  return "";
}
