//===- manifest.cpp - what a checkpoint says of itself --------------------===//

#include "runtime/checkpoint/manifest.h"

#include "mtc/runtime/descriptor.h"
#include "runtime/base/digest.h"
#include "runtime/base/json.h"

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

constexpr std::string_view kFormat = "mtc checkpoint";
constexpr size_t kDigits = 32;
/// What stands behind the digest.
constexpr std::string_view kEnd = "\"\n}\n";

/// The digest of a text whose own is not in it.
std::string digestWithout(std::string text, size_t at) {
  return digestOf(text.replace(at, kDigits, kDigits, '0'));
}

template <typename Value> Json objectOf(const std::map<std::string, Value> &m) {
  Json json = Json::object();
  for (const auto &[key, value] : m)
    json[key] = value;
  return json;
}

/// Up to this version nothing names the optimizer: there was only one.
constexpr int64_t kOneOptimizer = 2;

void readFields(FieldReader reader, int64_t version, Manifest &m) {
  m.position = readPosition(reader);
  m.model = reader.line("model");
  m.planHash = reader.line("plan_hash");
  m.optimizer = version <= kOneOptimizer ? "adamw" : reader.line("optimizer");
  m.mesh = reader.line("mesh");
  FieldReader recipe = reader.object("recipe");
  for (const std::string &key : recipe.keys())
    m.recipe[key] = recipe.text(key.c_str());
  if (reader.has("sample_orders")) {
    FieldReader orders = reader.object("sample_orders");
    for (const std::string &length : orders.keys()) {
      FieldReader order = orders.object(length.c_str());
      for (const std::string &name : order.keys())
        m.orders[length][name] = order.line(name.c_str());
    }
  }
  m.sums = reader.texts("sums");
  FieldReader tensors = reader.object("tensors");
  for (const std::string &name : tensors.keys())
    m.tensors[name] = tensors.integers(name.c_str(), 1);
}

} // namespace

int64_t elementsOf(const Manifest &manifest) {
  int64_t n = 0;
  for (const auto &[name, shape] : manifest.tensors)
    n += elementCount(shape);
  return n;
}

std::string textOf(const Manifest &m) {
  Json json = {{"format", kFormat}, {"version", Manifest::kVersion}};
  writePosition(m.position, json);
  for (const auto &[length, order] : m.orders)
    json["sample_orders"][length] = objectOf(order);
  json.update(Json({{"model", m.model},
                    {"plan_hash", m.planHash},
                    {"optimizer", m.optimizer},
                    {"mesh", m.mesh},
                    {"recipe", objectOf(m.recipe)},
                    {"sums", m.sums},
                    {"tensors", objectOf(m.tensors)},
                    {"digest", std::string(kDigits, '0')}}));
  std::string text = json.dump(1) + "\n";
  size_t at = text.size() - kEnd.size() - kDigits;
  return text.replace(at, kDigits, digestOf(text));
}

Status parseManifest(std::string_view text, const std::string &path,
                     Manifest &out) {
  auto rejected = [&](std::string why) {
    return Status(StatusCode::inputRejected,
                  fmt::format("'{}': {}", path, why));
  };
  size_t tail = kDigits + kEnd.size();
  if (text.size() < tail || !text.ends_with(kEnd) ||
      text.substr(text.size() - tail, kDigits) !=
          digestWithout(std::string(text), text.size() - tail))
    return rejected("it is not what was written (another digest)");
  Json json;
  MTC_RETURN_IF_ERROR(parseJson(text, "'" + path + "'", json));
  Problems problems;
  FieldReader reader(json, "", problems);
  if (std::string format = reader.text("format"); format != kFormat)
    return rejected(
        fmt::format("expected the format '{}', found '{}'", kFormat, format));
  int64_t version = reader.integer("version", 1, INT32_MAX);
  if (version > Manifest::kVersion)
    return rejected(
        fmt::format("expected version {} or older, found version {}; read it "
                    "with a newer mtc",
                    Manifest::kVersion, version));
  Manifest manifest;
  readFields(reader, version, manifest);
  MTC_RETURN_IF_ERROR(problems.status("'" + path + "'"));
  out = std::move(manifest);
  return Status::okay();
}

} // namespace mtc::runtime
