//===- job.cpp - what every rank of a run is told -------------------------===//

#include "runtime/train/job.h"

#include "runtime/base/json.h"

namespace mtc::runtime {
namespace {

Json recipeToJson(const Recipe &r) {
  return {{"steps", r.steps},
          {"lr", r.lr},
          {"min_lr", r.min_lr},
          {"warmup_steps", r.warmup_steps},
          {"decay_steps", r.decay_steps},
          {"decay", r.decay},
          {"beta1", r.beta1},
          {"beta2", r.beta2},
          {"eps", r.eps},
          {"weight_decay", r.weight_decay},
          {"clip", r.clip},
          // All 64 bits; JSON integers of other readers end at 2^53 or 2^63.
          {"seed", std::to_string(r.seed)},
          {"data", r.data},
          {"data_dtype", r.data_dtype},
          {"order", r.order}};
}

Recipe recipeFromJson(FieldReader reader) {
  Recipe r;
  r.steps = reader.integer("steps", 0, INT64_MAX);
  r.lr = reader.number("lr");
  r.min_lr = reader.number("min_lr");
  r.warmup_steps = reader.integer("warmup_steps", 0, INT64_MAX);
  r.decay_steps = reader.integer("decay_steps", 0, INT64_MAX);
  r.decay = reader.text("decay");
  r.beta1 = reader.number("beta1");
  r.beta2 = reader.number("beta2");
  r.eps = reader.number("eps");
  r.weight_decay = reader.number("weight_decay");
  r.clip = reader.number("clip");
  r.seed = 0;
  for (char c : reader.text("seed"))
    r.seed = c >= '0' && c <= '9' ? r.seed * 10 + uint64_t(c - '0') : r.seed;
  r.data = reader.text("data");
  r.data_dtype = reader.text("data_dtype");
  r.order = reader.text("order");
  return r;
}

} // namespace

std::string jobToText(const Job &job) {
  Json dumps = Json::array();
  for (const DumpOrder &dump : job.dumps)
    dumps.push_back(
        {{"what", dump.what}, {"step", dump.step}, {"file", dump.file}});
  Json json = {{"recipe", recipeToJson(job.recipe)},
               {"dumps", dumps},
               {"init_from", job.initFrom},
               {"save_to", job.saveTo},
               {"log_file", job.logFile},
               {"eval_batches", job.evalBatches},
               {"progress_fd", job.progressFd},
               {"progress_rewrites", job.progressRewrites}};
  // File names need not be UTF-8; JSON must be, so such names are rejected by
  // the ranks (they find another name) rather than thrown about here.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status jobFromText(std::string_view text, Job &out) {
  Json json;
  MTC_RETURN_IF_ERROR(parseJson(text, "job", json));
  Problems problems;
  FieldReader reader(json, "", problems);
  Job job;
  job.recipe = recipeFromJson(reader.object("recipe"));
  for (FieldReader &item : reader.objects("dumps"))
    job.dumps.push_back({item.text("what"), item.integer("step", 0, INT64_MAX),
                         item.text("file")});
  job.initFrom = reader.text("init_from");
  job.saveTo = reader.text("save_to");
  job.logFile = reader.text("log_file");
  job.evalBatches = reader.integer("eval_batches", 0, INT64_MAX);
  job.progressFd =
      static_cast<int>(reader.integer("progress_fd", -1, INT32_MAX));
  job.progressRewrites = reader.boolean("progress_rewrites");
  MTC_RETURN_IF_ERROR(problems.status("job"));
  out = std::move(job);
  return Status::okay();
}

} // namespace mtc::runtime
