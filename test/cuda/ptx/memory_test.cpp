//===- memory_test.cpp - allocations and operations -----------------------===//
#include "test/cuda/ptx/harness.h"
#include "test/cuda/ptx/repeat.h"

#include <algorithm>
#include <set>

namespace mtc::ptx {
namespace {

std::optional<FaultKind> kindOf(const std::optional<Fault> &fault) {
  return fault ? std::optional(fault->kind) : std::nullopt;
}

std::optional<FaultKind> touch(Memory &memory, Address at, size_t bytes,
                               Access access) {
  std::byte *host;
  return kindOf(memory.touch(at, bytes, access, "a test", &host));
}

TEST(Allocations, BoundsAndNames) {
  Memory memory;
  Address a = memory.allocate(100, "first"), b = memory.allocate(10, "second");
  EXPECT_EQ(a % 256, 0u);
  EXPECT_GE(b, a + 100);
  EXPECT_FALSE(touch(memory, a, 100, Access::write));
  EXPECT_EQ(touch(memory, a, 101, Access::write), FaultKind::outOfBounds);
  EXPECT_EQ(touch(memory, a - 1, 4, Access::write), FaultKind::outOfBounds);
  EXPECT_EQ(touch(memory, 8, 4, Access::read), FaultKind::nullPointer);
  std::byte *host;
  auto fault = memory.touch(b + 8, 4, Access::read, "a copy", &host);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->sentence.find("byte 8 of 'second', which has 10"),
            std::string::npos)
      << fault->sentence;
}

TEST(Allocations, FreedOnesAreRemembered) {
  Memory memory;
  Address a = memory.allocate(64, "gone");
  EXPECT_FALSE(memory.release(a));
  EXPECT_EQ(touch(memory, a + 8, 4, Access::read), FaultKind::useAfterFree);
  EXPECT_EQ(kindOf(memory.release(a)), FaultKind::useAfterFree);
  EXPECT_EQ(kindOf(memory.release(a + 4096)), FaultKind::outOfBounds);
  std::byte bytes[64];
  EXPECT_TRUE(memory.adopt(a, 64, bytes, true, "again"));
  EXPECT_FALSE(touch(memory, a + 8, 4, Access::read));
  EXPECT_FALSE(memory.adopt(a + 63, 4, bytes, true, "overlaps"));
  EXPECT_FALSE(memory.adopt(a - 4, 5, bytes, true, "overlaps"));
  EXPECT_FALSE(memory.adopt(~Address(0) - 2, 8, bytes, true, "wraps"));
}

TEST(Allocations, BytesThatWereNeverWritten) {
  Memory memory;
  Address a = memory.allocate(64, "a");
  EXPECT_EQ(touch(memory, a, 1, Access::read), FaultKind::uninitialised);
  EXPECT_FALSE(touch(memory, a, 8, Access::write));
  EXPECT_FALSE(touch(memory, a, 8, Access::read));
  EXPECT_EQ(touch(memory, a, 9, Access::read), FaultKind::uninitialised);
  memory.forget(a, 4);
  EXPECT_EQ(touch(memory, a, 8, Access::read), FaultKind::uninitialised);
}

/// Operations that end in the order of their ids unless `open` has them.
struct Ordered {
  Memory memory;
  std::set<uint64_t> open;
  Ordered() {
    memory.setOrder([this](uint64_t id) { return !open.count(id); });
  }
};

TEST(Operations, ConflictsThatNothingOrders) {
  Ordered o;
  Address a = o.memory.allocate(64, "a");
  o.memory.begin({1, 0});
  EXPECT_FALSE(touch(o.memory, a, 64, Access::write));
  o.memory.begin({2, 1});
  EXPECT_FALSE(touch(o.memory, a, 64, Access::read));
  o.open = {1};
  o.memory.begin({3, 2});
  EXPECT_EQ(touch(o.memory, a, 4, Access::read), FaultKind::operationRace);
  EXPECT_EQ(touch(o.memory, a, 4, Access::write), FaultKind::operationRace);
  o.open = {2};
  o.memory.begin({4, 2});
  EXPECT_FALSE(touch(o.memory, a, 4, Access::read)); // two readers
  EXPECT_EQ(touch(o.memory, a, 4, Access::write), FaultKind::operationRace);
}

TEST(Operations, ReadersOfEachStreamCount) {
  Ordered o;
  Address a = o.memory.allocate(4, "a");
  o.memory.begin({1, 0});
  EXPECT_FALSE(touch(o.memory, a, 4, Access::write));
  o.memory.begin({2, 1});
  EXPECT_FALSE(touch(o.memory, a, 4, Access::read));
  o.memory.begin({3, 2});
  EXPECT_FALSE(touch(o.memory, a, 4, Access::read)); // hides no reader of 1
  o.open = {2};
  o.memory.begin({4, 3});
  EXPECT_EQ(touch(o.memory, a, 4, Access::write), FaultKind::operationRace);
}

/// Kernels of 32 lanes, each an operation, over a row of 32 words, all of which
/// the first operation wrote. They are told by ways for whole rows, for lanes
/// and for words that all lanes read. Whole rows are only where a kernel knows
/// that the first operation ended: it `asks` by reading another row.
struct Row {
  Ordered o;
  Address in, out;
  bool asks;

  explicit Row(bool asks) : asks(asks) {
    in = o.memory.allocate(256, "in");
    out = o.memory.allocate(128, "out");
    o.memory.begin({1, 0});
    EXPECT_FALSE(touch(o.memory, in, 256, Access::write));
  }
  /// What a body ends with while the operations `open` run.
  std::optional<FaultKind> run(Operation operation, const std::string &body,
                               std::set<uint64_t> open = {}) {
    std::string first = asks ? "ld.global.b32 %r9, [%arg+128];" : "";
    auto module = moduleOf(textAround(first + body));
    Arguments arguments;
    arguments.add(in).add(out);
    o.open = std::move(open);
    o.memory.begin(operation);
    return kindOf(launch({*module,
                          *module->find("k"),
                          {1, 1, 1},
                          {32, 1, 1},
                          0,
                          arguments.bytes()},
                         o.memory));
  }
};

const std::string kOther = "xor.b32 %r2, %t, 1;"
                           "mad.wide.u32 %d1, %r2, 4, %in;";
const std::string kSecondHalf = "setp.ge.u32 %p1, %t, 16; @%p1 ";
// Each reads, or writes, word 16.
const std::string kReaders[] = {
    "ld.global.b32 %r1, [%arg];", kOther + "ld.global.b32 %r1, [%d1];",
    kSecondHalf + "ld.global.b32 %r1, [%arg];", "ld.global.b32 %r1, [%in+64];"};
const std::string kWriters[] = {
    "st.global.b32 [%arg], %t;", kOther + "st.global.b32 [%d1], %t;",
    "setp.eq.u32 %p1, %t, 3; @%p1 st.global.b32 [%in+64], %t;"};

/// Of readers in streams 1 and 2 either may still run, whichever stream the
/// writer is in.
void expectReadersToCount(bool asks, const std::string &first,
                          const std::string &second,
                          const std::string &writer) {
  struct Case {
    unsigned stream; ///< of the writer
    std::set<uint64_t> open;
  };
  for (const Case &each : {Case{3, {2}}, Case{3, {3}}, Case{2, {2}},
                           Case{1, {3}}, Case{3, {}}, Case{2, {}}}) {
    Row row(asks);
    EXPECT_FALSE(row.run({2, 1}, first));
    EXPECT_FALSE(row.run({3, 2}, second, {2}));
    std::optional<FaultKind> race;
    if (!each.open.empty())
      race = FaultKind::operationRace;
    EXPECT_EQ(row.run({4, each.stream}, writer, each.open), race)
        << first << " and " << second << ", written by " << writer;
  }
}

TEST(Operations, ReadersOfSeveralStreamsInARow) {
  for (const std::string &first : kReaders)
    for (const std::string &second : kReaders)
      for (const std::string &writer : kWriters)
        for (bool asks : {false, true})
          expectReadersToCount(asks, first, second, writer);
}

/// Each reader's writer is noted, too, and a writer of one half is told from
/// the readers of the other.
void expectHalvesAndWriters(bool asks) {
  Row row(asks);
  EXPECT_FALSE(row.run({2, 1}, kSecondHalf + "ld.global.b32 %r1, [%arg];"));
  EXPECT_FALSE(row.run({3, 2}, kReaders[0], {2}));
  EXPECT_FALSE(row.run({4, 3},
                       "setp.lt.u32 %p1, %t, 16; @%p1 "
                       "st.global.b32 [%arg], %t;",
                       {2}));
  EXPECT_EQ(row.run({5, 3}, kWriters[0], {2}), FaultKind::operationRace);
  for (const std::string &writer : kWriters)
    for (const std::string &reader : kReaders) {
      Row other(asks);
      EXPECT_FALSE(other.run({2, 1}, reader));
      EXPECT_FALSE(other.run({3, 2}, writer));
      EXPECT_EQ(other.run({4, 1}, reader, {3}), FaultKind::operationRace)
          << writer << " read by " << reader;
      EXPECT_FALSE(other.run({5, 3}, reader));
    }
}

TEST(Operations, HalvesAndWritersOfARow) {
  expectHalvesAndWriters(false);
  expectHalvesAndWriters(true);
}

TEST(Operations, KernelsAreOperations) {
  Ordered o;
  auto module = moduleOf(
      textAround("ld.global.b32 %r1, [%arg]; st.global.b32 [%mine], %r1;"));
  Address a = o.memory.allocate(128, "a"), b = o.memory.allocate(128, "b");
  Arguments arguments;
  arguments.add(a).add(b);
  Launch what{*module, *module->find("k"), {1, 1, 1}, {32, 1, 1},
              0,       arguments.bytes()};
  o.memory.begin({1, 0});
  EXPECT_FALSE(touch(o.memory, a, 128, Access::write));
  o.memory.begin({2, 0});
  EXPECT_FALSE(launch(what, o.memory));
  o.open = {1};
  o.memory.begin({3, 1});
  EXPECT_EQ(kindOf(launch(what, o.memory)), FaultKind::operationRace);
  // The host, or a copy, after a kernel that still runs.
  o.open = {2};
  o.memory.begin({4, 1});
  EXPECT_EQ(touch(o.memory, b, 4, Access::read), FaultKind::operationRace);
  EXPECT_EQ(touch(o.memory, a, 4, Access::write), FaultKind::operationRace);
  EXPECT_FALSE(touch(o.memory, a, 4, Access::read));
}

TEST(Operations, TagsRunOutWithoutFalseAlarms) {
  Memory memory;
  Address a = memory.allocate(4, "a");
  for (uint64_t id = 1; id < (1u << 20) + 100; ++id)
    memory.begin({id, 0});
  EXPECT_FALSE(touch(memory, a, 4, Access::write));
  memory.setOrder([](uint64_t) { return false; });
  memory.begin({7, 1});
  EXPECT_EQ(touch(memory, a, 4, Access::write), FaultKind::operationRace);
}

/// Some bytes of a large range keep what they had, others have the word, and a
/// page that is written is nobody else's.
template <class T> void expectRepeated(T value, T other) {
  const size_t count = (kRepeated + (3 << 20) + 40) / sizeof(T);
  const size_t skipped = 5, before = count - 9;
  Zeroed<T> all;
  all.reset(count);
  repeat(all.begin(), count, other);
  repeat(all.begin() + skipped, before - skipped, value);
  for (size_t k : {size_t(0), skipped - 1, before, count - 1})
    EXPECT_EQ(all[k], other) << k;
  size_t wrong = 0;
  for (size_t k = skipped; k < before; ++k)
    wrong += all[k] != value;
  EXPECT_EQ(wrong, 0u);
  const size_t middle = count / 2;
  all[middle] = other;
  EXPECT_EQ(
      size_t(std::count(all.begin() + skipped, all.begin() + before, other)),
      1u);
}

TEST(Repeat, LargeRanges) {
  expectRepeated<uint64_t>(0x0123456789abcdef, ~uint64_t(0));
  expectRepeated<uint64_t>(0, 7);
  expectRepeated<uint8_t>(0x5a, 0xff);
}

/// What is noted of a large allocation at once is noted of each part.
TEST(Operations, OfLargeAllocations) {
  Memory memory;
  const size_t bytes = 2 * kRepeated + 6;
  Address a = memory.allocate(bytes, "a");
  memory.setOrder([](uint64_t) { return false; });
  memory.begin({1, 0});
  EXPECT_FALSE(touch(memory, a + 2, bytes - 4, Access::write));
  EXPECT_EQ(touch(memory, a, 2, Access::read), FaultKind::uninitialised);
  EXPECT_EQ(touch(memory, a + bytes - 2, 2, Access::read),
            FaultKind::uninitialised);
  memory.begin({2, 1});
  EXPECT_FALSE(touch(memory, a, 2, Access::write));
  for (Address at : {a + 2, a + bytes / 2, a + bytes - 4}) {
    EXPECT_EQ(touch(memory, at, 2, Access::read), FaultKind::operationRace);
    EXPECT_EQ(touch(memory, at, 2, Access::write), FaultKind::operationRace);
  }
}

TEST(Globals, LiveAsLongAsTheirModule) {
  auto module = moduleOf(".version 8.0\n.target sm_90\n.address_size 64\n"
                         ".global .align 4 .b32 g[3] = {1, 2, 3};\n");
  Memory memory;
  Address at;
  {
    Globals globals(*module, memory);
    const Globals::Place *place = globals.find("g");
    ASSERT_TRUE(place);
    EXPECT_EQ(place->bytes, 12u);
    at = place->address;
    EXPECT_FALSE(touch(memory, at, 12, Access::read));
    EXPECT_EQ(globals.find("h"), nullptr);
  }
  EXPECT_EQ(touch(memory, at, 12, Access::read), FaultKind::useAfterFree);
}

} // namespace
} // namespace mtc::ptx
