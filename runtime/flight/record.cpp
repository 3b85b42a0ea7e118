//===- record.cpp - what a rank did last, for whoever asks ----------------===//

#include "runtime/flight/record.h"

#include "runtime/base/trace_time.h"
#include "runtime/comm/call.h"

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

constexpr const char *kTypeNames[] = {"Float", "BFloat16", "Int", "Int128",
                                      "Half"};

void addCall(const FlightNote &note, FlightOp &op) {
  comm::CallRecord call;
  static_cast<CollectiveCall &>(call) = note.call;
  call.sequence = note.sequence;
  op.group = groupName(note.call.group);
  op.call = comm::describe(call);
  op.dtype = kTypeNames[note.call.dtype];
  op.count = note.call.count;
}

FlightOp opOf(const FlightOperation &read, const Descriptor &d) {
  const FlightNote &note = read.note;
  FlightOp op;
  op.number = read.number;
  op.kind = note.kind;
  op.sequence = note.sequence;
  op.peer = note.peer;
  op.bytes = note.bytes;
  op.step = note.step;
  op.row = note.row;
  op.index = note.index;
  op.microbatch = note.microbatch;
  if (note.fragment >= 0 &&
      note.fragment < static_cast<int64_t>(d.fragments.size()))
    op.fragment = d.fragments[static_cast<size_t>(note.fragment)];
  op.created = note.created;
  op.started = read.started;
  op.completed = read.completed;
  if (note.kind == FlightKind::collective)
    addCall(note, op);
  return op;
}

} // namespace

FlightRecord recordOf(const FlightRing &ring, const Descriptor &descriptor,
                      int rank) {
  FlightRecord record;
  record.rank = rank;
  record.model = descriptor.model;
  record.planHash = descriptor.planHash;
  record.taken = traceNow();
  for (const GroupInfo &group : kGroups)
    record.groups[std::string(group.name)] =
        descriptor.mesh.members(rank, group.id);
  for (const FlightOperation &read : readRing(ring))
    record.operations.push_back(opOf(read, descriptor));
  return record;
}

std::string textOf(const FlightOp &op) {
  switch (op.kind) {
  case FlightKind::collective:
    return fmt::format("{} of {}", op.call, op.group);
  case FlightKind::send:
    return fmt::format("send {} to rank {}, {} bytes", op.sequence, op.peer,
                       op.bytes);
  case FlightKind::receive:
    return fmt::format("receive {} from rank {}, {} bytes", op.sequence,
                       op.peer, op.bytes);
  case FlightKind::wait:
    return "a wait for transfers";
  case FlightKind::exchange:
    return "an exchange";
  case FlightKind::post:
    return "a post of transfers";
  case FlightKind::load:
    return "the load of its data";
  case FlightKind::fragment:
    break;
  }
  return fmt::format("fragment {}", op.fragment);
}

std::string placeOf(const FlightOp &op) {
  std::string text = op.step > 0 ? fmt::format("step {}", op.step) : "";
  if (op.row < 0)
    return text;
  text += fmt::format("{}row {}", text.empty() ? "" : ", ", op.row);
  if (!op.fragment.empty() && op.kind != FlightKind::fragment)
    text += fmt::format(", fragment {}", op.fragment);
  if (op.microbatch >= 0)
    text += fmt::format(", microbatch {}", op.microbatch);
  if (!op.part.empty())
    text += ", " + op.part;
  return text;
}

} // namespace mtc::runtime
