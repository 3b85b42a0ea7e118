//===- job.cpp - what every rank of a run is told -------------------------===//

#include "runtime/train/job.h"

#include "mtc/runtime/recipe_fields.h"
#include "runtime/base/json.h"
#include "runtime/data/source_json.h"

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

/// All values as text: JSON integers of other readers end at 2^53 or 2^63.
Json recipeToJson(const Recipe &recipe) {
  Json json = Json::object();
  for (const RecipeField &field : recipeFields())
    json[field.key] = textOf(field, recipe);
  return json;
}

Recipe recipeFromJson(FieldReader reader) {
  Recipe recipe;
  for (const RecipeField &field : recipeFields())
    if (!setField(field, reader.text(field.key), recipe))
      reader.problem(
          fmt::format("'{}': expected {}", field.key, expectedOf(field)));
  return recipe;
}

Json flopsToJson(const std::vector<ModelFlops> &flops) {
  Json list = Json::array();
  for (const ModelFlops &of : flops)
    list.push_back({{"seq", of.seq}, {"per_token", of.perToken}});
  return list;
}

ReportOrder reportFromJson(FieldReader reader) {
  ReportOrder report;
  report.interval = reader.integer("interval", 1, INT64_MAX);
  report.timing = reader.integer("timing", 0, 2);
  report.megatron = reader.boolean("megatron");
  report.header = reader.text("header");
  report.events = reader.text("events");
  report.peak = reader.number("peak");
  for (FieldReader &of : reader.objects("flops"))
    report.flops.push_back(
        {of.integer("seq", 1, INT64_MAX), of.number("per_token")});
  return report;
}

} // namespace

std::string packJob(const Job &job) {
  Json dumps = Json::array();
  for (const DumpOrder &dump : job.dumps)
    dumps.push_back({{"what", dump.what},
                     {"step", dump.step},
                     {"file", dump.file},
                     {"parts", dump.parts}});
  Json sources = Json::array();
  for (const SourceFiles &source : job.sources)
    sources.push_back(toJson(source));
  Json json = {
      {"recipe", recipeToJson(job.recipe)},
      {"dumps", dumps},
      {"init_from", job.initFrom},
      {"save_to", job.saveTo},
      {"save_parts", job.saveParts},
      {"trace",
       {{"first", job.trace.first},
        {"last", job.trace.last},
        {"file", job.trace.file},
        {"parts", job.trace.parts},
        {"origin", job.trace.origin}}},
      {"profile",
       {{"folder", job.profile.folder}, {"warm_up", job.profile.warmUp}}},
      {"checkpoints",
       {{"root", job.checkpoints.place.root},
        {"nonce", job.checkpoints.place.nonce},
        {"bytes", job.checkpoints.place.bytes},
        {"interval", job.checkpoints.interval},
        {"keep", job.checkpoints.keep},
        {"async", job.checkpoints.async},
        {"resume", job.checkpoints.resume}}},
      {"report",
       {{"interval", job.report.interval},
        {"timing", job.report.timing},
        {"megatron", job.report.megatron},
        {"header", job.report.header},
        {"events", job.report.events},
        {"peak", job.report.peak},
        {"flops", flopsToJson(job.report.flops)}}},
      {"exit_interval", job.early.interval},
      {"exit_seconds", job.early.seconds},
      {"nccl", job.nccl},
      {"graphs", job.graphs},
      {"gpu", job.gpu},
      {"gemm_table", job.gemmTable},
      {"log_alone", job.logAlone},
      {"log_file", job.logFile},
      {"log_fd", job.logFd},
      {"eval_batches", job.evalBatches},
      {"eval_first", job.evalFirst},
      {"sources", sources},
      {"evaluation",
       {{"interval", job.evaluation.interval},
        {"batches", job.evaluation.batches},
        {"source", toJson(job.evaluation.source)},
        {"goes_on", job.evaluation.goesOn}}},
      {"progress_fd", job.progressFd},
      {"progress_rewrites", job.progressRewrites}};
  writePosition(job.checkpoints.start, json["checkpoints"]);
  // File names need not be UTF-8, which texts in JSON must be.
  std::string bytes;
  Json::to_msgpack(json, bytes);
  return bytes;
}

Status unpackJob(std::string_view bytes, Job &out) {
  Json json = Json::from_msgpack(bytes, /*strict=*/true,
                                 /*allow_exceptions=*/false);
  Problems problems;
  FieldReader reader(json, "", problems);
  Job job;
  job.recipe = recipeFromJson(reader.object("recipe"));
  for (FieldReader &item : reader.objects("dumps"))
    job.dumps.push_back({item.text("what"), item.integer("step", 0, INT64_MAX),
                         item.text("file"), item.text("parts")});
  job.initFrom = reader.text("init_from");
  job.saveTo = reader.text("save_to");
  job.saveParts = reader.text("save_parts");
  FieldReader trace = reader.object("trace");
  job.trace = {trace.integer("first", 0, INT64_MAX),
               trace.integer("last", 0, INT64_MAX), trace.text("file"),
               trace.text("parts"), trace.integer("origin", 0, INT64_MAX)};
  FieldReader profile = reader.object("profile");
  job.profile = {profile.text("folder"),
                 profile.integer("warm_up", 0, INT64_MAX)};
  FieldReader saved = reader.object("checkpoints");
  job.checkpoints = {{saved.text("root"), saved.text("nonce"),
                      saved.integer("bytes", 0, INT64_MAX)},
                     saved.integer("interval", 0, INT64_MAX),
                     saved.integer("keep", 0, INT64_MAX),
                     saved.boolean("async"),
                     saved.text("resume"),
                     readPosition(saved)};
  job.report = reportFromJson(reader.object("report"));
  job.early = {reader.integer("exit_interval", 0, INT64_MAX),
               reader.number("exit_seconds")};
  job.nccl = reader.boolean("nccl");
  job.graphs = reader.boolean("graphs");
  job.gpu = static_cast<int>(reader.integer("gpu", -1, INT32_MAX));
  job.gemmTable = reader.text("gemm_table");
  job.logAlone = reader.boolean("log_alone");
  job.logFile = reader.text("log_file");
  job.logFd = static_cast<int>(reader.integer("log_fd", -1, INT32_MAX));
  job.evalBatches = reader.integer("eval_batches", 0, INT64_MAX);
  job.evalFirst = reader.integer("eval_first", 0, INT64_MAX);
  for (FieldReader &source : reader.objects("sources"))
    job.sources.push_back(sourceFromJson(source));
  FieldReader evaluation = reader.object("evaluation");
  job.evaluation = {evaluation.integer("interval", 0, INT64_MAX),
                    evaluation.integer("batches", 0, INT64_MAX),
                    sourceFromJson(evaluation.object("source")),
                    evaluation.boolean("goes_on")};
  job.progressFd =
      static_cast<int>(reader.integer("progress_fd", -1, INT32_MAX));
  job.progressRewrites = reader.boolean("progress_rewrites");
  MTC_RETURN_IF_ERROR(problems.status("job"));
  out = std::move(job);
  return Status::okay();
}

} // namespace mtc::runtime
