//===- record.h - what a rank did last, for whoever asks --------*- C++ -*-===//
#ifndef MTC_RUNTIME_FLIGHT_RECORD_H
#define MTC_RUNTIME_FLIGHT_RECORD_H

#include "mtc/runtime/descriptor.h"
#include "runtime/flight/ring.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// One operation with its names.
struct FlightOp {
  uint64_t number = 0;
  FlightKind kind = FlightKind::fragment;
  std::string group;     ///< collective
  std::string call;      ///< collective: in full, its number in the group, too
  std::string dtype;     ///< collective
  int64_t count = 0;     ///< collective: elements
  uint64_t sequence = 0; ///< as FlightNote; 0: not known yet
  int peer = -1;         ///< send, receive
  int64_t bytes = 0;     ///< send, receive
  int64_t step = 0, row = -1, index = -1, microbatch = -1; ///< as FlightNote
  std::string fragment;                                    ///< empty: none
  std::string part; ///< of the model; empty: not known
  int64_t created = 0, started = 0, completed = 0; ///< nanoseconds; 0: not yet

  bool inProgress() const { return started != 0 && completed == 0; }
};

struct FlightRecord {
  int rank = 0;
  std::string model, planHash;
  std::string ended;    ///< how its process did, for people; empty: it ran
  bool dead = false;    ///< a signal that nobody here sent ended it
  bool stopped = false; ///< by a signal, when it was looked at
  int64_t taken = 0;    ///< when that was, in nanoseconds, as its operations
  std::map<std::string, std::vector<int>> groups; ///< members of its own
  std::vector<FlightOp> operations;               ///< in the order of issue
};

struct FlightKindInfo {
  FlightKind id;
  std::string_view name; ///< in files
};
inline constexpr FlightKindInfo kFlightKinds[] = {
    {FlightKind::load, "load"},         {FlightKind::fragment, "fragment"},
    {FlightKind::exchange, "exchange"}, {FlightKind::post, "post"},
    {FlightKind::wait, "wait"},         {FlightKind::collective, "collective"},
    {FlightKind::send, "send"},         {FlightKind::receive, "receive"}};

/// What a ring has now, of a rank of the program of `descriptor`.
FlightRecord recordOf(const FlightRing &ring, const Descriptor &descriptor,
                      int rank);

/// "all-reduce sum f32 of 8 elements (call 3) of tp", "a wait for transfers".
std::string textOf(const FlightOp &op);
/// "step 12, row 17, fragment B, microbatch 3, layers.1.mlp.up"; empty outside
/// of a timeline.
std::string placeOf(const FlightOp &op);

/// JSON: `entries` has what communicates in the shape of PyTorch's flight
/// recorder for NCCL, with times of the epoch, `rows` the rest, and each `mtc`
/// what only this plan knows.
std::string textOf(const FlightRecord &record);
/// Errors: inputRejected, all that is wrong with it at once.
Status parseFlightRecord(std::string_view text, const std::string &path,
                         FlightRecord &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_FLIGHT_RECORD_H
