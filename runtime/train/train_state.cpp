//===- train_state.cpp - what a rank has that a later run needs -----------===//

#include "runtime/train/train_state.h"

#include "runtime/train/fill_params.h"
#include "runtime/train/shards.h"

#include <fmt/format.h>

#include <set>

namespace mtc::runtime {
namespace {

std::string tensorName(std::string_view what, std::string_view parameter) {
  return fmt::format("{}/{}", what, parameter);
}

std::string parameterTensor(std::string_view parameter) {
  return tensorName("param", parameter);
}

/// Main parameters are saved as the parameters that they are of.
bool isSaved(const StateInfo &state) { return state.name != "main"; }

/// Adds pieces of parameters as those of tensors of a checkpoint.
void append(std::string_view what, std::vector<Piece> pieces,
            std::vector<Piece> &out) {
  for (Piece &piece : pieces) {
    piece.name = tensorName(what, piece.name);
    if (piece.slice)
      piece.slice->of = tensorName(what, piece.slice->of);
    out.push_back(std::move(piece));
  }
}

/// Reads elements [start, start + count) of a box of `p`.
Status readBox(const TensorReader &from, const ParamInfo &p, const Box &box,
               int64_t start, int64_t count, float *out) {
  Status status;
  visitRuns(p.shape, box, p.slice, start, count,
            [&](int64_t global, int64_t local, int64_t run) {
              if (status.ok())
                status = from.read(global, run, out + (local - start));
            });
  return status;
}

Status loadParameter(const StoredPieces &from, const ParamInfo &p,
                     ParamFiller &filler) {
  TensorReader reader;
  MTC_RETURN_IF_ERROR(
      TensorReader::open(from, parameterTensor(p.modelName()), reader));
  return filler.fill(p, [&](const Box &box, float *out) {
    return readBox(reader, p, box, 0, box.elements(), out);
  });
}

Status loadState(const StoredPieces &from, const RankState &rank,
                 const ParamInfo &p, const StateInfo &state,
                 ParamFiller &filler) {
  TensorReader reader;
  MTC_RETURN_IF_ERROR(
      TensorReader::open(from, tensorName(state.name, p.modelName()), reader));
  Box shard = shardBox(rank, p.shape, p.split);
  return filler.fillState(p, state,
                          [&](int64_t first, int64_t count, float *out) {
                            return readBox(reader, p, shard, first, count, out);
                          });
}

} // namespace

std::vector<Piece> trainState(const RankState &rank) {
  std::vector<Piece> all;
  append("param", paramPieces(rank), all);
  std::set<std::string> states;
  for (const BucketInfo &b : rank.descriptor().buckets)
    for (const StateInfo &state : b.states)
      if (isSaved(state))
        states.insert(state.name);
  for (const std::string &state : states)
    append(state, statePieces(rank, state), all);
  return all;
}

std::vector<std::string> tensorsOf(const Descriptor &program,
                                   const ParamInfo &p) {
  std::vector<std::string> names{parameterTensor(p.modelName())};
  for (const StateInfo &state : program.buckets[p.bucket].states)
    if (isSaved(state))
      names.push_back(tensorName(state.name, p.modelName()));
  return names;
}

bool isParameterTensor(std::string_view name) {
  return name.starts_with(parameterTensor(""));
}

Status loadTrainState(RankState &rank, const StoredPieces &from) {
  ParamFiller filler(rank);
  for (const ParamInfo &p : rank.descriptor().params) {
    MTC_RETURN_IF_ERROR(loadParameter(from, p, filler));
    for (const StateInfo &state : rank.descriptor().buckets[p.bucket].states)
      if (isSaved(state))
        MTC_RETURN_IF_ERROR(loadState(from, rank, p, state, filler));
  }
  return rank.complete();
}

} // namespace mtc::runtime
