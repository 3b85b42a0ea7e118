//===- stream_clocks.h - what streams know to be done -----------*- C++ -*-===//
//
// Vector clocks: what each stream knows to be done of each other stream. An
// event carries the clock of the stream that recorded it; a wait takes the
// maximum.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_VERIFY_STREAM_CLOCKS_H
#define MTC_PASSES_VERIFY_STREAM_CLOCKS_H

#include "llvm/ADT/STLExtras.h"

#include <cstdint>
#include <map>
#include <vector>

namespace mtc::passes::verify {

/// Streams are [0, size()): callers check what the IR names.
class StreamClocks {
public:
  explicit StreamClocks(int64_t streams)
      : clocks(streams, Clock(streams, 0)), last(streams, 0) {
    last[0] = clocks[0][0] = 1; // what ran before, on stream 0
  }

  int64_t size() const { return clocks.size(); }

  /// Replaces what the event stood for.
  void record(int64_t event, int64_t stream) { events[event] = clocks[stream]; }

  /// False if nobody recorded the event.
  bool wait(int64_t event, int64_t stream) {
    auto it = events.find(event);
    if (it == events.end())
      return false;
    for (auto [mine, known] : llvm::zip(clocks[stream], it->second))
      mine = std::max(mine, known);
    return true;
  }

  /// Gives a stream its next work, whose time this is.
  int64_t issue(int64_t stream) {
    return clocks[stream][stream] = ++last[stream];
  }

  /// True if what `stream` is given next runs after the work of `other` that
  /// has this time.
  bool isAfter(int64_t stream, int64_t other, int64_t time) const {
    return clocks[stream][other] >= time;
  }

  /// The first stream with work that stream 0 has not waited for; 0 if there is
  /// none.
  int64_t inFlight() const {
    for (int64_t i = 1; i < size(); ++i)
      if (!isAfter(0, i, last[i]))
        return i;
    return 0;
  }

private:
  using Clock = std::vector<int64_t>;

  std::vector<Clock> clocks;
  std::vector<int64_t> last;       ///< by stream, the time of its last work
  std::map<int64_t, Clock> events; ///< by number, as recorded last
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_STREAM_CLOCKS_H
