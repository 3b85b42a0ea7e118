//===- flight_test.cpp - what ranks did last, and who is to blame ---------===//

#include "runtime/flight/flight_comm.h"
#include "runtime/flight/verdict.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace mtc::runtime::test {
namespace {

TEST(FlightRing, KeepsTheLastOperations) {
  auto ring = std::make_unique<FlightRing>();
  FlightRecorder recorder(ring.get());
  recorder.setStep(7);
  constexpr uint64_t kAll = 3 * FlightRing::kEntries + 5;
  for (uint64_t i = 1; i <= kAll; ++i) {
    FlightNote note;
    note.row = static_cast<int32_t>(i);
    uint64_t number = recorder.begin(note);
    EXPECT_EQ(number, i);
    if (i < kAll)
      recorder.end(number);
  }
  recorder.end(1); // overwritten: nothing
  std::vector<FlightOperation> found = readRing(*ring);
  ASSERT_EQ(found.size(), FlightRing::kEntries);
  EXPECT_EQ(found.back().number, kAll);
  EXPECT_EQ(found.back().note.row, static_cast<int32_t>(kAll));
  EXPECT_EQ(found.back().note.step, 7);
  EXPECT_EQ(found.back().completed, 0);
  EXPECT_NE(found.front().completed, 0);
  EXPECT_EQ(found.front().number, kAll - FlightRing::kEntries + 1);
}

TEST(FlightRing, IsReadWhileItIsWritten) {
  auto ring = std::make_unique<FlightRing>();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    FlightRecorder recorder(ring.get());
    for (int32_t i = 0; !stop; ++i) {
      FlightNote note;
      note.row = note.microbatch = note.peer = i;
      recorder.end(recorder.begin(note));
    }
  });
  for (int i = 0; i < 200; ++i)
    for (const FlightOperation &each : readRing(*ring))
      EXPECT_TRUE(each.note.row == each.note.peer &&
                  each.note.row == each.note.microbatch);
  stop = true;
  writer.join();
}

FlightOp call(uint64_t number, const std::string &group, uint64_t sequence,
              bool done, const std::string &what = "all-reduce") {
  FlightOp op;
  op.number = number;
  op.kind = FlightKind::collective;
  op.group = group;
  op.call = what + " (call " + std::to_string(sequence) + ")";
  op.sequence = sequence;
  op.created = op.started = static_cast<int64_t>(100 * number);
  op.completed = done ? op.started + 50 : 0;
  op.step = 3;
  return op;
}

FlightOp transfer(uint64_t number, FlightKind kind, int peer, bool done) {
  FlightOp op = call(number, "", 1, done);
  op.kind = kind;
  op.peer = peer;
  return op;
}

/// Ranks 0 to 3: tp is 0 1 and 2 3, dp 0 2 and 1 3.
FlightRecord recordOfRank(int rank, std::vector<FlightOp> operations) {
  FlightRecord record;
  record.rank = rank;
  int first = rank / 2 * 2, column = rank % 2;
  record.groups["tp"] = {first, first + 1};
  record.groups["dp"] = {column, column + 2};
  record.operations = std::move(operations);
  return record;
}

/// All wait, in the end, for rank 3, which is in a fragment.
std::vector<FlightRecord> allForThree() {
  FlightOp fragment;
  fragment.number = 2;
  fragment.started = 5;
  fragment.fragment = "fwd";
  return {recordOfRank(0, {call(1, "tp", 1, true), call(2, "dp", 1, false)}),
          recordOfRank(1, {call(1, "tp", 1, true), call(2, "dp", 1, false)}),
          recordOfRank(2, {call(1, "tp", 1, false)}),
          recordOfRank(3, {call(1, "dp", 0, true), fragment})};
}

TEST(FlightVerdict, FollowsWhoWaitsForWhom) {
  FlightVerdict found = explainFlight(allForThree());
  ASSERT_EQ(found.ranks.size(), 4u);
  EXPECT_EQ(found.ranks[0].waitsFor, std::vector<int>{2});
  EXPECT_EQ(found.ranks[1].waitsFor, std::vector<int>{3});
  EXPECT_EQ(found.ranks[2].waitsFor, std::vector<int>{3});
  EXPECT_EQ(found.culprit, 3);
  EXPECT_NE(found.why.find("fragment fwd"), std::string::npos) << found.why;
  // Call 1 of tp of ranks 2 and 3 began before that of dp.
  EXPECT_NE(found.difference.find("of tp"), std::string::npos);
  EXPECT_NE(found.difference.find("rank 2 came to it, rank 3 did not"),
            std::string::npos)
      << found.difference;
}

TEST(FlightVerdict, BlamesTheDeadThenTheStopped) {
  std::vector<FlightRecord> records = allForThree();
  records[1].stopped = true;
  EXPECT_EQ(explainFlight(records).culprit, 1);
  records[2].dead = true;
  records[2].ended = "killed by signal 9";
  EXPECT_EQ(explainFlight(records).culprit, 2);
}

TEST(FlightVerdict, NamesCallsThatDiffer) {
  FlightVerdict found =
      explainFlight({recordOfRank(0, {call(1, "tp", 4, false)}),
                     recordOfRank(1, {call(1, "tp", 4, false, "all-gather")})});
  EXPECT_NE(found.difference.find("rank 0 calls all-reduce"),
            std::string::npos);
  EXPECT_NE(found.difference.find("rank 1 calls all-gather"),
            std::string::npos);
}

TEST(FlightVerdict, NamesACircle) {
  FlightVerdict found =
      explainFlight({recordOfRank(0, {call(1, "tp", 1, false)}),
                     recordOfRank(1, {call(1, "dp", 1, false)}),
                     recordOfRank(2, {call(1, "dp", 1, false)}),
                     recordOfRank(3, {call(1, "tp", 1, false)})});
  EXPECT_NE(found.why.find("ranks wait for each other: 0 for 1 for 3 for 2 "
                           "for 0"),
            std::string::npos)
      << found.why;
}

TEST(FlightVerdict, KnowsWhichHalfOfATransferLacks) {
  FlightOp wait = call(2, "", 0, false);
  wait.kind = FlightKind::wait;
  FlightVerdict found = explainFlight(
      {recordOfRank(0, {transfer(1, FlightKind::receive, 2, false), wait}),
       recordOfRank(2, {call(1, "dp", 9, true)})});
  EXPECT_EQ(found.ranks[0].waitsFor, std::vector<int>{2});
  EXPECT_EQ(found.culprit, 2);
  EXPECT_NE(found.difference.find("receive 1 from rank 2"), std::string::npos)
      << found.difference;
  // Once the other half is posted nobody is waited for.
  EXPECT_TRUE(
      explainFlight(
          {recordOfRank(0, {transfer(1, FlightKind::receive, 2, false), wait}),
           recordOfRank(2, {transfer(1, FlightKind::send, 0, false)})})
          .ranks[0]
          .waitsFor.empty());
}

TEST(FlightRecord, IsReadAsItWasWritten) {
  FlightRecord record = allForThree()[0];
  record.model = "toy";
  record.planHash = "0123456789abcdef";
  record.ended = "rank 3 died";
  record.stopped = true;
  record.taken = 1000;
  record.operations.push_back(transfer(3, FlightKind::send, 2, false));
  record.operations[0].part = "layers.1.mlp";
  std::string text = textOf(record);
  FlightRecord read;
  Status status = parseFlightRecord(text, "file", read);
  ASSERT_TRUE(status.ok()) << status.message();
  // Times are those of the epoch.
  EXPECT_GT(read.taken, record.taken);
  EXPECT_EQ(read.operations[0].completed - read.operations[0].started, 50);
  EXPECT_EQ(read.operations[0].part, "layers.1.mlp");
  EXPECT_EQ(read.groups, record.groups);
  EXPECT_EQ(read.stopped, true);
  ASSERT_EQ(read.operations.size(), 3u);
  EXPECT_EQ(placeOf(read.operations[2]), placeOf(record.operations[2]));
  EXPECT_EQ(textOf(read.operations[1]), textOf(record.operations[1]));
}

TEST(FlightRecord, SaysAllThatIsWrong) {
  FlightRecord read;
  Status status = parseFlightRecord(
      R"({"version": "mtc 9", "rank": -1, "entries": [{"record_id": 0}]})",
      "file", read);
  EXPECT_EQ(status.code(), StatusCode::inputRejected);
  for (const char *part : {"'version'", "rank", "entries", "pg_config", "rows"})
    EXPECT_NE(status.message().find(part), std::string::npos)
        << part << " in " << status.message();
}

} // namespace
} // namespace mtc::runtime::test
