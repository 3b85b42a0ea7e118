//===- descriptor.cpp - reads a descriptor --------------------------------===//

#include "runtime/program/descriptor.h"

#include "runtime/base/choices.h"

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

/// The lists of descriptor_fields.h, read from JSON. What is missing or wrong
/// is a problem, and the member is as it was.
class ReadFields {
public:
  explicit ReadFields(FieldReader reader) : reader_(std::move(reader)) {}

  void integer(const char *key, int64_t &out, int64_t least, int64_t most) {
    out = reader_.integer(key, least, most);
  }
  void optional(const char *key, std::optional<int64_t> &out, int64_t least,
                int64_t most) {
    if (reader_.has(key))
      out = reader_.integer(key, least, most);
  }
  void number(const char *key, double &out) { out = reader_.number(key); }
  void boolean(const char *key, bool &out) { out = reader_.boolean(key); }
  void text(const char *key, std::string &out) { out = reader_.text(key); }
  void integers(const char *key, std::vector<int64_t> &out, int64_t least) {
    out = reader_.integers(key, least);
  }
  void texts(const char *key, std::vector<std::string> &out) {
    out = reader_.texts(key);
  }
  template <size_t n>
  void sizes(const char *key, std::array<int64_t, n> &out, int64_t least) {
    std::vector<int64_t> found = reader_.integers(key, least);
    if (found.size() == n)
      std::copy(found.begin(), found.end(), out.begin());
    else
      reader_.problem(fmt::format("'{}': expected {} sizes, found {}", key, n,
                                  found.size()));
  }
  template <typename T, typename Names>
  void choice(const char *key, T &out, const Names &names) {
    readChoice(reader_, key, out, names);
  }
  template <typename T, typename Names>
  void choiceUnless(const char *key, T &out, const Names &names, T) {
    if (reader_.has(key))
      choice(key, out, names);
  }
  /// A number that is 1 where it is left out.
  void unlessOne(const char *key, int64_t &out, int64_t most) {
    if (reader_.has(key))
      integer(key, out, 2, most);
  }
  void unlessFalse(const char *key, bool &out) {
    if (reader_.has(key))
      boolean(key, out);
  }
  void order(const char *key, Mesh &mesh) {
    if (!reader_.has(key))
      return;
    std::string found = reader_.text(key);
    if (std::optional<RankOrder> order = RankOrder::of(found))
      mesh.setOrder(*order);
    else
      reader_.problem(fmt::format("'{}': expected {}, found '{}'", key,
                                  RankOrder::description(), found));
  }
  template <typename T> void record(const char *key, T &out) {
    ReadFields inner(reader_.object(key));
    fields(inner, out);
  }
  template <typename T> void record(const char *key, std::optional<T> &out) {
    if (reader_.has(key))
      record(key, out.emplace());
  }
  template <typename T> void records(const char *key, std::vector<T> &out) {
    for (FieldReader &item : reader_.objects(key)) {
      ReadFields inner(std::move(item));
      fields(inner, out.emplace_back());
    }
  }

private:
  FieldReader reader_;
};

} // namespace

Mesh readMesh(FieldReader reader) {
  Mesh mesh;
  ReadFields f(std::move(reader));
  fields(f, mesh);
  return mesh;
}

SliceInfo readSlice(FieldReader reader) {
  SliceInfo slice;
  ReadFields f(std::move(reader));
  fields(f, slice);
  return slice;
}

const EntryInfo *Descriptor::entry(std::string_view name) const {
  for (const EntryInfo &e : entries)
    if (e.name == name)
      return &e;
  return nullptr;
}

Status parseDescriptor(std::string_view text, Descriptor &out) {
  Json json;
  MTC_RETURN_IF_ERROR(parseJson(text, "program descriptor", json));
  Problems problems;
  FieldReader reader(json, "", problems);
  int64_t abi = reader.integer("abi", 0, INT32_MAX);
  if (problems.empty() && abi != MTC_ABI_VERSION)
    return {
        StatusCode::inputRejected,
        fmt::format("program descriptor: expected abi {}, found {}; compile "
                    "the program again with this version of mtc",
                    MTC_ABI_VERSION, abi)};
  Descriptor d;
  ReadFields f(reader);
  fields(f, d);
  // Rules between fields mean nothing while single fields are wrong.
  if (problems.empty()) {
    std::vector<std::string> found;
    checkDescriptor(d, found);
    for (std::string &problem : found)
      problems.add(std::move(problem));
  }
  MTC_RETURN_IF_ERROR(problems.status("program descriptor"));
  out = std::move(d);
  return Status::okay();
}

} // namespace mtc::runtime
