//===- failure.cpp - what frames of a running job say ---------------------===//

#include "runtime/rendezvous/failure.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {
namespace {

// Messages name files and counts, not more.
constexpr size_t kMostMessageBytes = 65536;

PayloadWriter &addStatus(PayloadWriter &fields, const Status &status) {
  return fields.number(uint64_t(status.code()), 1)
      .text(status.message().substr(0, kMostMessageBytes));
}

Status readStatus(PayloadReader &fields) {
  auto code = StatusCode(fields.number(1));
  return {code, fields.text()};
}

} // namespace

// Behind the host's name, where there are several.
bool saidItself(const Failure &failure) {
  return failure.how.ends_with(Failure{}.how);
}

std::string packFailure(const Failure &failure) {
  PayloadWriter fields;
  fields.number(uint64_t(failure.origin), 4).text(failure.how);
  addStatus(fields, failure.status).number(failure.members.size(), 4);
  for (int member : failure.members)
    fields.number(uint64_t(member), 4);
  return fields.str();
}

bool readFailure(std::string_view payload, Failure &out) {
  PayloadReader fields(payload);
  out.origin = int(fields.number(4));
  out.how = fields.text();
  out.status = readStatus(fields);
  out.members.clear();
  for (uint64_t left = fields.number(4); left > 0 && fields.good(); --left)
    out.members.push_back(int(fields.number(4)));
  return fields.ended();
}

Status verdictOf(const Failure &failure, int rank, const std::string &name) {
  if (std::ranges::find(failure.members, rank) != failure.members.end())
    return failure.status;
  return {StatusCode::peerDied, fmt::format("{} {}", name, failure.how)};
}

std::string packGiven(const Given &given) {
  PayloadWriter fields;
  return fields.number(given.round, 4)
      .number(uint64_t(given.rank), 4)
      .text(given.bytes)
      .str();
}

bool readGiven(std::string_view payload, Given &out) {
  PayloadReader fields(payload);
  out.round = uint32_t(fields.number(4));
  out.rank = int(fields.number(4));
  out.bytes = fields.text();
  return fields.ended();
}

std::string packProgress(const Progress &progress) {
  return PayloadWriter()
      .number(uint64_t(progress.step), 8)
      .number(uint64_t(progress.beats), 8)
      .str();
}

bool readProgress(std::string_view payload, Progress &out) {
  PayloadReader fields(payload);
  out.step = int64_t(fields.number(8));
  out.beats = int64_t(fields.number(8));
  return fields.ended();
}

std::string packOutcome(const Status &outcome) {
  PayloadWriter fields;
  return addStatus(fields, outcome).str();
}

bool readOutcome(std::string_view payload, Status &out) {
  PayloadReader fields(payload);
  out = readStatus(fields);
  return fields.ended();
}

} // namespace mtc::runtime
