//===- source_json.cpp - tells ranks where samples come from --------------===//

#include "runtime/data/source_json.h"

namespace mtc::runtime {

Json toJson(const SourceFiles &files) {
  Json corpora = Json::array();
  for (const GptSamples::Files &corpus : files.corpora)
    corpora.push_back({{"prefix", corpus.prefix},
                       {"index", corpus.index},
                       {"key", corpus.key},
                       {"sequences", corpus.sequences},
                       {"tokens", corpus.tokens},
                       {"first", corpus.part.first},
                       {"end", corpus.part.end}});
  Json order = Json::object();
  for (const auto &[name, value] : files.order)
    order[name] = value;
  return {{"seq", files.seq},
          {"flat", files.flat.path},
          {"type", infoOf(files.flat.type).name},
          {"first_byte", files.flat.firstByte},
          {"count", files.flat.count},
          {"sequential", files.sequential},
          {"seed", std::to_string(files.seed)},
          {"eod", files.eod},
          {"corpora", corpora},
          {"blend", files.blend},
          {"blend_key", files.blendKey},
          {"order", order}};
}

SourceFiles sourceFromJson(FieldReader reader) {
  SourceFiles files;
  files.seq = reader.integer("seq", 0, INT64_MAX);
  files.flat.path = reader.text("flat");
  if (const TokenTypeInfo *type = tokenTypeNamed(reader.text("type")))
    files.flat.type = type->type;
  else
    reader.problem("'type': expected a type of tokens");
  files.flat.firstByte = reader.integer("first_byte", 0, INT64_MAX);
  files.flat.count = reader.integer("count", 0, INT64_MAX);
  files.sequential = reader.boolean("sequential");
  files.seed = std::strtoull(reader.text("seed").c_str(), nullptr, 10);
  files.eod = reader.integer("eod", -1, INT32_MAX);
  for (FieldReader &corpus : reader.objects("corpora"))
    files.corpora.push_back({corpus.text("prefix"),
                             corpus.text("index"),
                             corpus.text("key"),
                             corpus.integer("sequences", 0, INT64_MAX),
                             corpus.integer("tokens", 0, INT64_MAX),
                             {corpus.integer("first", 0, INT64_MAX),
                              corpus.integer("end", 0, INT64_MAX)}});
  files.blend = reader.text("blend");
  files.blendKey = reader.text("blend_key");
  FieldReader order = reader.object("order");
  for (const std::string &name : order.keys())
    files.order[name] = order.text(name.c_str());
  return files;
}

} // namespace mtc::runtime
