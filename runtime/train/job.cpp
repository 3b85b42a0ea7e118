//===- job.cpp - what every rank of a run is told -------------------------===//
//
// Each part of a job has two functions, one behind the other: to JSON, and back
// to what it was.
//
//===----------------------------------------------------------------------===//

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

Json dumpsToJson(const std::vector<DumpOrder> &dumps) {
  Json list = Json::array();
  for (const DumpOrder &dump : dumps)
    list.push_back({{"what", dump.what},
                    {"step", dump.step},
                    {"file", dump.file},
                    {"parts", dump.parts}});
  return list;
}

std::vector<DumpOrder> dumpsFromJson(std::vector<FieldReader> list) {
  std::vector<DumpOrder> dumps;
  for (FieldReader &of : list)
    dumps.push_back({of.text("what"), of.integer("step", 0, INT64_MAX),
                     of.text("file"), of.text("parts")});
  return dumps;
}

Json traceToJson(const TraceOrder &trace) {
  return {{"first", trace.first},
          {"last", trace.last},
          {"file", trace.file},
          {"parts", trace.parts},
          {"origin", trace.origin}};
}

TraceOrder traceFromJson(FieldReader reader) {
  return {reader.integer("first", 0, INT64_MAX),
          reader.integer("last", 0, INT64_MAX), reader.text("file"),
          reader.text("parts"), reader.integer("origin", 0, INT64_MAX)};
}

Json profileToJson(const ProfileOrder &profile) {
  return {{"folder", profile.folder}, {"warm_up", profile.warmUp}};
}

ProfileOrder profileFromJson(FieldReader reader) {
  return {reader.text("folder"), reader.integer("warm_up", 0, INT64_MAX)};
}

Json checkpointsToJson(const CheckpointOrder &of) {
  Json json = {{"root", of.place.root},   {"nonce", of.place.nonce},
               {"bytes", of.place.bytes}, {"interval", of.interval},
               {"keep", of.keep},         {"async", of.async},
               {"resume", of.resume}};
  writePosition(of.start, json);
  return json;
}

CheckpointOrder checkpointsFromJson(FieldReader reader) {
  return {{reader.text("root"), reader.text("nonce"),
           reader.integer("bytes", 0, INT64_MAX)},
          reader.integer("interval", 0, INT64_MAX),
          reader.integer("keep", 0, INT64_MAX),
          reader.boolean("async"),
          reader.text("resume"),
          readPosition(reader)};
}

Json flopsToJson(const std::vector<ModelFlops> &flops) {
  Json list = Json::array();
  for (const ModelFlops &of : flops)
    list.push_back({{"seq", of.seq}, {"per_token", of.perToken}});
  return list;
}

Json reportToJson(const ReportOrder &report) {
  return {{"interval", report.interval},       {"timing", report.timing},
          {"megatron", report.megatron},       {"header", report.header},
          {"events", report.events},           {"peak", report.peak},
          {"flops", flopsToJson(report.flops)}};
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

Json sourcesToJson(const std::vector<SourceFiles> &sources) {
  Json list = Json::array();
  for (const SourceFiles &source : sources)
    list.push_back(toJson(source));
  return list;
}

std::vector<SourceFiles> sourcesFromJson(std::vector<FieldReader> list) {
  std::vector<SourceFiles> sources;
  for (FieldReader &source : list)
    sources.push_back(sourceFromJson(source));
  return sources;
}

Json evaluationToJson(const EvaluationOrder &evaluation) {
  return {{"interval", evaluation.interval},
          {"batches", evaluation.batches},
          {"source", toJson(evaluation.source)},
          {"goes_on", evaluation.goesOn}};
}

EvaluationOrder evaluationFromJson(FieldReader reader) {
  return {reader.integer("interval", 0, INT64_MAX),
          reader.integer("batches", 0, INT64_MAX),
          sourceFromJson(reader.object("source")), reader.boolean("goes_on")};
}

/// A number of the host, or -1: none.
int hostNumber(FieldReader &reader, const char *key) {
  return static_cast<int>(reader.integer(key, -1, INT32_MAX));
}

} // namespace

std::string packJob(const Job &job) {
  Json json = {{"plan", job.plan},
               {"recipe", recipeToJson(job.recipe)},
               {"dumps", dumpsToJson(job.dumps)},
               {"init_from", job.initFrom},
               {"save_to", job.saveTo},
               {"save_parts", job.saveParts},
               {"trace", traceToJson(job.trace)},
               {"profile", profileToJson(job.profile)},
               {"checkpoints", checkpointsToJson(job.checkpoints)},
               {"report", reportToJson(job.report)},
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
               {"sources", sourcesToJson(job.sources)},
               {"evaluation", evaluationToJson(job.evaluation)},
               {"progress_fd", job.progressFd},
               {"progress_rewrites", job.progressRewrites}};
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
  if (reader.has("plan")) // an older mtc says none
    job.plan = reader.text("plan");
  job.recipe = recipeFromJson(reader.object("recipe"));
  job.dumps = dumpsFromJson(reader.objects("dumps"));
  job.initFrom = reader.text("init_from");
  job.saveTo = reader.text("save_to");
  job.saveParts = reader.text("save_parts");
  job.trace = traceFromJson(reader.object("trace"));
  job.profile = profileFromJson(reader.object("profile"));
  job.checkpoints = checkpointsFromJson(reader.object("checkpoints"));
  job.report = reportFromJson(reader.object("report"));
  job.early = {reader.integer("exit_interval", 0, INT64_MAX),
               reader.number("exit_seconds")};
  job.nccl = reader.boolean("nccl");
  job.graphs = reader.boolean("graphs");
  job.gpu = hostNumber(reader, "gpu");
  job.gemmTable = reader.text("gemm_table");
  job.logAlone = reader.boolean("log_alone");
  job.logFile = reader.text("log_file");
  job.logFd = hostNumber(reader, "log_fd");
  job.evalBatches = reader.integer("eval_batches", 0, INT64_MAX);
  job.evalFirst = reader.integer("eval_first", 0, INT64_MAX);
  job.sources = sourcesFromJson(reader.objects("sources"));
  job.evaluation = evaluationFromJson(reader.object("evaluation"));
  job.progressFd = hostNumber(reader, "progress_fd");
  job.progressRewrites = reader.boolean("progress_rewrites");
  MTC_RETURN_IF_ERROR(problems.status("job"));
  out = std::move(job);
  return Status::okay();
}

} // namespace mtc::runtime
