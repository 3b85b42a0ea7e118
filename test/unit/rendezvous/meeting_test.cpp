//===- meeting_test.cpp - who may come, and who may not -------------------===//

#include "job.h"

#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

using namespace mtc::runtime;
using namespace mtc::test;
using namespace std::chrono_literals;

namespace {

/// A stranger that connects and sends bytes; closed at its end.
class Stranger {
public:
  explicit Stranger(int port, const std::string &says = "") {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_port = htons(uint16_t(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr *>(&at), sizeof at), 0);
    (void)!send(fd_, says.data(), says.size(), MSG_NOSIGNAL);
  }
  /// False: it is closed.
  bool say(const std::string &bytes) {
    return send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0;
  }
  /// What `say` waits for, of any thread, is over.
  void hangUp() { shutdown(fd_, SHUT_RDWR); }
  Stranger(Stranger &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Stranger() {
    if (fd_ >= 0)
      close(fd_);
  }

private:
  int fd_ = -1;
};

/// All ranks of the job meet, whatever else happens at the port.
void expectMeeting(Job &job, const std::vector<int> &ranks) {
  job.run(ranks, [&](int rank) {
    Job::Channel channel;
    Status status = job.open(rank, channel);
    EXPECT_TRUE(status.ok()) << rank << ": " << status.message();
    if (channel)
      channel->finish({});
  });
}

TEST(Meeting, StrangersDisturbNobody) {
  Job job(3);
  std::vector<Stranger> strangers;
  strangers.emplace_back(job.port(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  strangers.emplace_back(job.port(), std::string(1 << 16, '\xff'));
  strangers.emplace_back(job.port(), std::string("\0\0\0\0", 4));
  strangers.emplace_back(job.port(), packFrame(FrameKind::hello, "MTCR"));
  strangers.emplace_back(job.port(), packFrame(FrameKind::finish, "bye"));
  strangers.emplace_back(job.port(), std::string("\x40\0\0", 3)); // and waits
  for (int i = 0; i < 60; ++i) // more than may wait
    strangers.emplace_back(job.port());
  expectMeeting(job, job.all());
}

// What lies there may be without end.
TEST(Meeting, StrangersAreReadAFrameAtATime) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  std::string much = packFrame(FrameKind::hello, std::string(4000, 'x'));
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(send(ends[1], much.data(), much.size(), MSG_DONTWAIT),
              ssize_t(much.size()));
  Connection link(ends[0], kMostHelloBytes);
  link.receive();
  int left = 0;
  ioctl(link.fd(), FIONREAD, &left);
  EXPECT_GT(left, 0);
  size_t frames = 0;
  for (int turn = 0; turn < 20; ++turn, link.receive())
    while (link.next())
      ++frames;
  EXPECT_EQ(frames, 10u);
  close(ends[1]);
}

TEST(Meeting, WhoNeverPausesHoldsNobodyUp) {
  Job job(2);
  // A frame that is not whole until the end of time.
  Stranger stranger(job.port(), std::string("\0\x10\0\0\2", 5));
  std::thread endless([&] {
    while (stranger.say(std::string(1 << 16, 'x')))
      ;
  });
  expectMeeting(job, job.all());
  stranger.hangUp(); // behind the meeting nobody may read what it says
  endless.join();
}

TEST(Meeting, WhoEndsIsNamed) {
  Job job(3);
  job.options().timeout = 700ms;
  std::thread goes([&] {
    std::atomic<bool> stop{false};
    MeetOptions impatient = job.options();
    impatient.stop = &stop;
    std::thread first([&] {
      Job::Channel channel;
      EXPECT_FALSE(job.open(job.member(1), impatient, channel).ok());
    });
    std::this_thread::sleep_for(200ms);
    stop = true;
    first.join();
  });
  Job::Channel channel;
  Status status = job.open(0, channel);
  goes.join();
  EXPECT_NE(status.message().find("missing: 1, 2"), std::string::npos);
  EXPECT_NE(
      status.message().find("rank 1 on host0: ended before all were here"),
      std::string::npos)
      << status.message();
}

TEST(Meeting, TheEndOfTheFirstIsSaid) {
  Job job(3);
  std::thread first([&] {
    // One that is killed closes and says nothing.
    Connection link;
    int fd = -1;
    std::string from, nonce, challenge;
    while ((fd = acceptNext(job.listening(), from)) < 0)
      std::this_thread::sleep_for(1ms);
    link = Connection(fd, kMostHelloBytes);
    ASSERT_TRUE(makeNonce(challenge).ok());
    link.send(FrameKind::challenge, packChallenge(challenge));
    std::optional<Frame> frame;
    for (; !frame; frame = link.next())
      link.receive();
    Member other;
    ASSERT_EQ(readHello(frame->payload, challenge, "secret", other, nonce),
              HelloProof::good);
    link.send(FrameKind::welcome, packWelcome(nonce, challenge, "secret"));
  });
  Connection link;
  Status status = meetFirst(job.member(1), job.options(), link);
  first.join();
  EXPECT_EQ(status.code(), StatusCode::peerDied);
  EXPECT_NE(status.message().find("rank 0 at 127.0.0.1, port "),
            std::string::npos);
  EXPECT_NE(status.message().find("ended, or its host is gone, while rank 1"),
            std::string::npos)
      << status.message();
}

// Of what rank 0 offers only some may be of a network that this host is in.
TEST(Meeting, AddressesAreTriedInTurn) {
  Job job(2);
  job.options().address = "127.0.0.2"; // where nobody listens
  job.options().others = {"127.0.0.3", "127.0.0.1"};
  EXPECT_EQ(placeOf(job.options()),
            "127.0.0.2 or 127.0.0.3 or 127.0.0.1, port " +
                std::to_string(job.port()));
  expectMeeting(job, job.all());
}

TEST(Meeting, TheMissingAreNamed) {
  Job job(5);
  job.options().timeout = 300ms;
  job.run({0, 2}, [&](int rank) {
    Job::Channel channel;
    Status status = job.open(rank, channel);
    std::string text = "expected 5 ranks at 127.0.0.1, port " +
                       std::to_string(job.port()) +
                       ", within 0 s, missing: 1, 3, 4; here are "
                       "0 on host0, 2 on host1";
    if (rank == 0) {
      EXPECT_EQ(status.code(), StatusCode::peerDied);
      EXPECT_EQ(status.message(), text);
    } else {
      EXPECT_EQ(status.message(), "rank 0 says: " + text);
    }
  });
}

TEST(Meeting, NobodyListens) {
  Job job(2);
  MeetOptions options = job.options();
  options.timeout = 100ms;
  int fd = -1;
  ASSERT_TRUE(listenAt("127.0.0.1", 0, fd).ok());
  options.port = portOf(fd);
  close(fd);
  Connection link;
  // Shorter than what is granted on top: nothing answers at all.
  Status status = meetFirst(job.member(1), options, link);
  EXPECT_EQ(status.code(), StatusCode::peerDied);
  EXPECT_NE(status.message().find("rank 1 cannot reach rank 0 at 127.0.0.1"),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("refused"), std::string::npos);
}

TEST(Meeting, AnotherSecretIsRejectedAndTheJobGoesOn) {
  Job job(2);
  MeetOptions wrong = job.options();
  wrong.secret = "another";
  std::thread intruder([&] {
    Job::Channel channel;
    Status status = job.open(job.member(1), wrong, channel);
    EXPECT_EQ(status.code(), StatusCode::communication);
    EXPECT_NE(status.message().find("rank 1 on host0 has another secret"),
              std::string::npos)
        << status.message();
  });
  std::thread late([&] {
    intruder.join();
    expectMeeting(job, {1});
  });
  expectMeeting(job, {0});
  late.join();
}

TEST(Meeting, ARejectionIsSaidOnBothSides) {
  Job job(2);
  job.options().timeout = 500ms;
  MeetOptions wrong = job.options();
  wrong.secret = "another";
  std::thread intruder([&] {
    Job::Channel channel;
    EXPECT_FALSE(job.open(job.member(1), wrong, channel).ok());
  });
  Job::Channel channel;
  Status status = job.open(0, channel);
  intruder.join();
  EXPECT_NE(status.message().find("missing: 1"), std::string::npos);
  EXPECT_NE(status.message().find("rejected 127.0.0.1: rank 1 on host0 has "
                                  "another secret"),
            std::string::npos)
      << status.message();
}

TEST(Meeting, AnotherPlanEndsBothSides) {
  Job job(2);
  job.run(job.all(), [&](int rank) {
    Member self = job.member(rank);
    if (rank == 1)
      self.bundle = "stale";
    Job::Channel channel;
    Status status = job.open(self, job.options(), channel);
    EXPECT_EQ(status.code(), StatusCode::communication);
    EXPECT_NE(status.message().find("a bundle with the digest stale and not "
                                    "bundle"),
              std::string::npos)
        << status.message();
  });
}

TEST(Meeting, ARankComesOnce) {
  Job job(3);
  std::atomic<int> rejected{0};
  std::thread twice([&] {
    job.run({1, 1}, [&](int rank) {
      Job::Channel channel;
      Status status = job.open(rank, channel);
      if (status.ok())
        return channel->finish({});
      ++rejected;
      EXPECT_NE(status.message().find("is here already"), std::string::npos)
          << status.message();
    });
  });
  std::thread late([&] {
    std::this_thread::sleep_for(300ms);
    expectMeeting(job, {2});
  });
  expectMeeting(job, {0});
  twice.join();
  late.join();
  EXPECT_EQ(rejected, 1);
}

// Who begins again while others are waited for has its place.
TEST(Meeting, WhoGoesMayComeAgain) {
  Job job(3);
  std::thread others([&] {
    MeetOptions impatient = job.options();
    std::atomic<bool> stop{false};
    impatient.stop = &stop;
    std::thread first([&] {
      Job::Channel channel;
      EXPECT_EQ(job.open(job.member(1), impatient, channel).code(),
                StatusCode::interrupted);
    });
    std::this_thread::sleep_for(300ms);
    stop = true;
    first.join();
    std::this_thread::sleep_for(200ms);
    expectMeeting(job, {1, 2});
  });
  expectMeeting(job, {0});
  others.join();
}

TEST(Meeting, RankLists) {
  EXPECT_EQ(rankList({}), "");
  EXPECT_EQ(rankList({3}), "3");
  EXPECT_EQ(rankList({1, 2, 4, 5, 6, 9}), "1, 2, 4 to 6, 9");
}

} // namespace
