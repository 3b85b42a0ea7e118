//===- messages_test.cpp - proofs, frames, greetings ----------------------===//

#include "runtime/rendezvous/failure.h"
#include "runtime/rendezvous/frame.h"
#include "runtime/rendezvous/hello.h"
#include "runtime/rendezvous/sha256.h"

#include <gtest/gtest.h>

using namespace mtc::runtime;

namespace {

std::string digits(const Sha256 &proof) {
  std::string text;
  for (uint8_t byte : proof) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// FIPS 180-4's example, its neighbours, and Python's hashlib for a long one.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(digits(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a3961"
                                   "77a9cb410ff61f20015ad");
  EXPECT_EQ(digits(sha256("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934"
            "ca495991b7852b855");
  EXPECT_EQ(digits(sha256(std::string(1000, 'a'))),
            "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

// RFC 4231, cases 2 and 6.
TEST(Sha256, KnownProofs) {
  EXPECT_EQ(digits(hmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(digits(hmacSha256(
                std::string(131, '\xaa'),
                "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Frames, ComeInAnyPieces) {
  std::string stream = packFrame(FrameKind::gather, "one") +
                       packFrame(FrameKind::heartbeat, "") +
                       packFrame(FrameKind::finish, std::string(5000, 'x'));
  for (size_t piece : {size_t(1), size_t(2), size_t(7), stream.size()}) {
    FrameReader reader;
    std::vector<Frame> found;
    for (size_t at = 0; at < stream.size(); at += piece) {
      reader.add(std::string_view(stream).substr(at, piece));
      std::optional<Frame> frame;
      while (reader.next(frame).ok() && frame)
        found.push_back(*frame);
    }
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].payload, "one");
    EXPECT_EQ(found[1].kind, FrameKind::heartbeat);
    EXPECT_EQ(found[2].payload, std::string(5000, 'x'));
  }
}

// What came is never more than a frame and what one read brings.
TEST(Frames, AreTakenBeforeMoreIsRead) {
  FrameReader reader(100);
  reader.add(packFrame(FrameKind::gather, std::string(98, 'x')));
  EXPECT_FALSE(reader.full());
  reader.add("x");
  EXPECT_TRUE(reader.full());
  std::optional<Frame> frame;
  EXPECT_TRUE(reader.next(frame).ok());
  EXPECT_TRUE(frame && frame->payload.size() == 98);
  EXPECT_FALSE(reader.full());
}

TEST(Frames, WhatIsNoneIsAnError) {
  for (std::string text : {"GET / HTTP/1.1\r\n", "\xff\xff\xff\xff?",
                           std::string("\0\0\0\0x", 5).c_str()}) {
    FrameReader reader(4096);
    reader.add(text + std::string(8, '\0'));
    std::optional<Frame> frame;
    EXPECT_EQ(reader.next(frame).code(), StatusCode::inputRejected);
  }
  FrameReader large(4096);
  large.add(packFrame(FrameKind::gather, std::string(4096, 'x')));
  std::optional<Frame> frame;
  EXPECT_FALSE(large.next(frame).ok());
}

const Member kMember{3, 8, "plan", "bundle", "node7"};

TEST(Hello, IsReadAsItWasSaid) {
  std::string hello =
      packHello(kMember, std::string(16, 'n'), "asked", "secret");
  Member found;
  std::string nonce;
  EXPECT_EQ(readHello(hello, "asked", "secret", found, nonce),
            HelloProof::good);
  EXPECT_EQ(found.rank, 3);
  EXPECT_EQ(found.world, 8);
  EXPECT_EQ(found.plan, "plan");
  EXPECT_EQ(found.bundle, "bundle");
  EXPECT_EQ(found.host, "node7");
  EXPECT_EQ(nonce, std::string(16, 'n'));
  EXPECT_EQ(readHello(hello, "asked", "another", found, nonce),
            HelloProof::otherSecret);
  // What was overheard is no answer to another challenge.
  EXPECT_EQ(readHello(hello, "again", "secret", found, nonce),
            HelloProof::otherSecret);
}

TEST(Hello, NoBitMayChange) {
  std::string hello =
      packHello(kMember, std::string(16, 'n'), "asked", "secret");
  for (size_t bit = 0; bit < hello.size() * 8; ++bit) {
    std::string changed = hello;
    changed[bit / 8] = char(changed[bit / 8] ^ (1 << (bit % 8)));
    Member found;
    std::string nonce;
    EXPECT_NE(readHello(changed, "asked", "secret", found, nonce),
              HelloProof::good);
  }
  for (size_t length = 0; length < hello.size(); ++length) {
    Member found;
    std::string nonce;
    EXPECT_NE(
        readHello(hello.substr(0, length), "asked", "secret", found, nonce),
        HelloProof::good);
  }
}

TEST(Hello, BothSidesProveThemselves) {
  std::string welcome = packWelcome("mine", "yours", "secret");
  EXPECT_TRUE(isWelcome(welcome, "mine", "yours", "secret"));
  EXPECT_FALSE(isWelcome(welcome, "mine", "yours", "another"));
  EXPECT_FALSE(isWelcome(welcome, "other", "yours", "secret"));
  EXPECT_FALSE(isWelcome("", "mine", "yours", "secret"));
}

TEST(Hello, NamesAllThatDiffers) {
  Member other = kMember;
  other.host = "node8";
  other.rank = 4;
  EXPECT_TRUE(checkSameJob(kMember, other).ok());
  other.world = 4;
  other.plan = "another";
  Status status = checkSameJob(kMember, other);
  EXPECT_EQ(status.code(), StatusCode::communication);
  EXPECT_EQ(status.message(),
            "rank 4 on node8 is of another job than rank 0 on node7: it has 4 "
            "ranks and not 8 and the plan another and not plan; start all "
            "ranks with one bundle");
}

TEST(Failures, AreToldByWhereOneIs) {
  Failure failure{1, {StatusCode::communication, "they disagree"}, {1, 2}};
  Failure found;
  ASSERT_TRUE(readFailure(packFailure(failure), found));
  EXPECT_EQ(verdictOf(found, 2, "rank 1").message(), "they disagree");
  EXPECT_EQ(verdictOf(found, 2, "rank 1").code(), StatusCode::communication);
  EXPECT_EQ(verdictOf(found, 0, "rank 1").message(), "rank 1 aborted");
  EXPECT_EQ(verdictOf(found, 0, "rank 1").code(), StatusCode::peerDied);
  std::string packed = packFailure(failure);
  for (size_t length = 0; length < packed.size(); ++length)
    EXPECT_FALSE(readFailure(packed.substr(0, length), found));
}

} // namespace
