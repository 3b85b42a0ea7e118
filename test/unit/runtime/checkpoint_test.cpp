//===- checkpoint_test.cpp - what is whole, and what is damaged -----------===//

#include "runtime/base/checkpoint_names.h"
#include "runtime/base/digest.h"
#include "runtime/base/file_sums.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/commit.h"
#include "runtime/device/cpu/cpu_device.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <thread>

namespace fs = std::filesystem;

namespace mtc::runtime::test {
namespace {

constexpr int kRanks = 2;
constexpr int64_t kColumns = 6, kRows = 1366; // 64 KiB in two tensors

/// For pieces of which nothing is on a device.
Stream &onHost() {
  static CpuStream stream{ArenaViews{}};
  return stream;
}

/// Rank r has half of the columns of `param/w`, and a flat range of `m/w`.
class Ranks {
public:
  explicit Ranks(float first) : values_(kColumns * kRows / kRanks) {
    std::iota(values_.begin(), values_.end(), first);
  }
  Status write(const CheckpointPlace &place, int64_t step, int rank) {
    auto count = static_cast<int64_t>(values_.size());
    Box half{{0, rank * kColumns / kRanks}, {kRows, kColumns / kRanks}};
    Box all{{0, 0}, {kRows, kColumns}};
    std::vector<int64_t> shape{kRows, kColumns};
    return writeRank(
        place, step, rank, &onHost(),
        {{"param/w", shape, {}, half, 0, count, values_.data()},
         {"m/w", shape, {}, all, rank * count, count, values_.data()}});
  }

private:
  std::vector<float> values_;
};

Manifest ofStep(int64_t step) {
  Manifest manifest;
  manifest.position = {step, 16 * step, 512 * step, 0, 0, std::nullopt};
  manifest.model = "toy";
  manifest.optimizer = "adamw";
  manifest.planHash = "0123456789abcdef";
  manifest.mesh = "tp 2";
  manifest.recipe["lr"] = "0.001";
  return manifest;
}

/// A folder with a checkpoint of some steps.
class Checkpoints {
public:
  explicit Checkpoints(std::vector<int64_t> steps) {
    for (int64_t step : steps)
      save(step);
  }
  void save(int64_t step) {
    for (int rank = 0; rank < kRanks; ++rank)
      ASSERT_TRUE(
          Ranks(static_cast<float>(100 * step)).write(place, step, rank).ok());
    Manifest manifest = ofStep(step);
    Status status = commitCheckpoint(place, kRanks, manifest);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::string newest() const {
    NewestWhole found;
    Status status = findNewestWhole(folder.path(), found);
    return status.ok() ? fs::path(found.checkpoint.folder).filename().string()
                       : status.message();
  }
  std::vector<std::string> files(int64_t step) const {
    std::vector<std::string> found;
    for (const auto &entry : fs::directory_iterator(place.folder(step)))
      found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    return found;
  }

  TemporaryFolder folder;
  CheckpointPlace place{folder.path(), "nonce"};
};

Status openAndVerify(const std::string &folder) {
  Checkpoint checkpoint;
  Status status = Checkpoint::open(folder, checkpoint);
  return status.ok() ? checkpoint.verify() : status;
}

TEST(CheckpointNames, AreOfOneStepEach) {
  EXPECT_EQ(stepFolder(7), "step-00000007");
  EXPECT_EQ(stepOfFolder("step-00000007"), 7);
  EXPECT_EQ(stepOfFolder(stepFolder(123456789012)), 123456789012);
  for (const char *name :
       {"step-7", "step-0000007", "step-000000007", "step--0000007", "step-",
        "step-00000007.tmp-x", "step-99999999999999999999", "Step-00000007"})
    EXPECT_FALSE(stepOfFolder(name)) << name;
  EXPECT_TRUE(isTemporaryFolder(temporaryFolder(7, "x")));
  EXPECT_FALSE(isTemporaryFolder("step-00000007"));
  EXPECT_FALSE(isTemporaryFolder("mine.tmp-x"));
}

TEST(FileSums, AreOfChunks) {
  std::string bytes(static_cast<size_t>(2 * kSumChunk + 5), 'x');
  SumsOfWrites running;
  running.add({bytes.data(), 3});
  running.add({bytes.data() + 3, bytes.size() - 3});
  FileSums sums = running.finish();
  EXPECT_EQ(sums.bytes, static_cast<int64_t>(bytes.size()));
  ASSERT_EQ(sums.digests.size(), 3u);
  EXPECT_EQ(sums.digests[0], sums.digests[1]);
  FileSums read;
  ASSERT_TRUE(parseSums(textOf(sums), "sums", read).ok());
  EXPECT_EQ(read, sums);
  TemporaryFolder folder;
  writeFile(folder.path("f"), bytes);
  EXPECT_TRUE(checkSums(folder.path("f"), sums).ok());
  bytes[static_cast<size_t>(kSumChunk) + 1] ^= 1;
  writeFile(folder.path("f"), bytes);
  EXPECT_NE(checkSums(folder.path("f"), sums)
                .message()
                .find("bytes 4194304 to 8388607"),
            std::string::npos);
}

TEST(Manifest, ReadsWhatItWrites) {
  Manifest manifest = ofStep(3), read;
  manifest.sums = {"a", "b"};
  manifest.tensors["param/w"] = {2, 3};
  EXPECT_EQ(textOf(manifest).find("skipped"), std::string::npos);
  EXPECT_EQ(textOf(manifest).find("orders"), std::string::npos);
  manifest.orders["32"] = {{"seed", "7"}, {"data", "9 tokens of u8"}};
  manifest.position.skippedSteps = 1;
  manifest.position.skippedSamples = 16;
  manifest.position.scaler = ScalerState{0x1p20, 3, -1};
  std::string text = textOf(manifest);
  ASSERT_TRUE(parseManifest(text, "m", read).ok());
  EXPECT_EQ(textOf(read), text);
  EXPECT_EQ(read.position, manifest.position);
  EXPECT_EQ(read.tensors, manifest.tensors);
  EXPECT_EQ(read.orders, manifest.orders);
}

/// A manifest's text with another version, in which lines with `without` lack.
std::string olderText(const Manifest &manifest, int version,
                      const std::string &without) {
  std::string text, line;
  std::istringstream lines(textOf(manifest));
  while (std::getline(lines, line))
    if (line.starts_with(" \"version\""))
      text += " \"version\": " + std::to_string(version) + ",\n";
    else if (line.find(without) == line.npos)
      text += line + "\n";
  size_t digest = text.rfind("\"\n}\n") - 32;
  text.replace(digest, 32, 32, '0');
  return text.replace(digest, 32, digestOf(text));
}

TEST(Manifest, OlderOnesAreOfAdamw) {
  Manifest manifest = ofStep(3), read;
  manifest.optimizer = "lion";
  Status status =
      parseManifest(olderText(manifest, 2, "\"optimizer\""), "m", read);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read.optimizer, "adamw");
  status = parseManifest(olderText(manifest, 3, "\"optimizer\""), "m", read);
  EXPECT_NE(status.message().find("'optimizer' is missing"), std::string::npos)
      << status.message();
}

TEST(Checkpoint, HasWhatRanksWrote) {
  Checkpoints saved({1});
  Checkpoint checkpoint;
  ASSERT_TRUE(Checkpoint::open(saved.place.folder(1), checkpoint).ok());
  EXPECT_TRUE(checkpoint.verify().ok());
  EXPECT_EQ(checkpoint.elements(), 2 * kColumns * kRows);
  TensorReader reader;
  ASSERT_TRUE(TensorReader::open(checkpoint.pieces, "param/w", reader).ok());
  // Row 0: columns 0 to 2 of rank 0, then those of rank 1.
  float row[kColumns];
  ASSERT_TRUE(reader.read(0, kColumns, row).ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(row[i], 100.0f + static_cast<float>(i));
    EXPECT_EQ(row[i + 3], 100.0f + static_cast<float>(i));
  }
  ASSERT_TRUE(TensorReader::open(checkpoint.pieces, "m/w", reader).ok());
  int64_t half = kColumns * kRows / 2;
  ASSERT_TRUE(reader.read(half - 3, kColumns, row).ok()); // of both ranks
  auto last = static_cast<float>(100 + half - 1);
  EXPECT_EQ(std::vector<float>(row, row + kColumns),
            (std::vector<float>{last - 2, last - 1, last, 100, 101, 102}));
}

TEST(Checkpoint, WithoutRoomNothingIsWritten) {
  TemporaryFolder folder;
  CheckpointPlace place{folder.path(), "1", int64_t{1} << 60};
  Status status = Ranks(0).write(place, 1, 0);
  EXPECT_EQ(status.code(), StatusCode::writeFailed);
  EXPECT_NE(status.message().find("nothing is written"), std::string::npos);
  EXPECT_FALSE(fs::exists(place.meanwhile(1)));
  place.bytes = 1;
  EXPECT_TRUE(Ranks(0).write(place, 1, 0).ok());
}

TEST(Checkpoint, IsNoneUntilAllRanksWrote) {
  Checkpoints saved({1});
  ASSERT_TRUE(Ranks(0).write(saved.place, 2, 0).ok());
  Manifest manifest = ofStep(2);
  Status status = commitCheckpoint(saved.place, kRanks, manifest);
  EXPECT_EQ(status.code(), StatusCode::writeFailed) << status.message();
  EXPECT_EQ(saved.folder.files(), 1u) << "what one rank wrote is gone";
  // Both ranks write the same half.
  ASSERT_TRUE(Ranks(0).write(saved.place, 2, 0).ok());
  fs::copy(saved.place.meanwhile(2) + "/" + rankFile(0),
           saved.place.meanwhile(2) + "/" + rankFile(1));
  fs::copy(saved.place.meanwhile(2) + "/" + sumsFile(0),
           saved.place.meanwhile(2) + "/" + sumsFile(1));
  manifest = ofStep(2);
  status = commitCheckpoint(saved.place, kRanks, manifest);
  EXPECT_NE(status.message().find("by two ranks"), std::string::npos);
  EXPECT_EQ(saved.newest(), "step-00000001");
}

TEST(Checkpoint, OfTheSameStepReplacesADamagedOne) {
  Checkpoints saved({1, 2});
  fs::remove(saved.place.folder(2) + "/" + kManifestFile);
  EXPECT_EQ(saved.newest(), "step-00000001");
  saved.save(2);
  EXPECT_EQ(saved.newest(), "step-00000002");
  EXPECT_EQ(saved.folder.files(), 2u);
}

TEST(Checkpoint, TheNewestWholeOneIsFound) {
  Checkpoints saved({1, 2, 3});
  fs::resize_file(saved.place.folder(3) + "/" + rankFile(1), 100);
  fs::rename(saved.place.folder(2), saved.place.folder(4)); // of another step
  NewestWhole found;
  ASSERT_TRUE(findNewestWhole(saved.folder.path(), found).ok());
  EXPECT_EQ(found.checkpoint.folder, saved.place.folder(1));
  ASSERT_EQ(found.rejected.size(), 2u);
  EXPECT_NE(found.rejected[0].find("it is of step 2"), std::string::npos);
  EXPECT_NE(found.rejected[1].find(rankFile(1)), std::string::npos);
  ASSERT_TRUE(findNewestWhole(saved.folder.path("none"), found).ok());
  EXPECT_TRUE(found.checkpoint.folder.empty() && found.rejected.empty());
}

/// Whoever opens it, and however: so do listings, `prune` and `--load`.
TEST(Checkpoint, OneOfAnotherStepThanItsNameIsNotWhole) {
  Checkpoints saved({2});
  fs::rename(saved.place.folder(2), saved.place.folder(4));
  fs::create_directory_symlink(saved.place.folder(4),
                               saved.folder.path("latest"));
  for (const std::string &path :
       {saved.place.folder(4), saved.place.folder(4) + "/",
        saved.folder.path("latest"), saved.folder.path("latest") + "/."}) {
    Status status = openAndVerify(path);
    EXPECT_EQ(status.code(), StatusCode::inputRejected) << path;
    EXPECT_NE(status.message().find("expected step 4, as its name says, and "
                                    "it is of step 2"),
              std::string::npos)
        << status.message();
  }
  fs::create_directory_symlink(saved.place.folder(4), saved.place.folder(2));
  EXPECT_TRUE(openAndVerify(saved.place.folder(2)).ok()) << "by that name";
  fs::rename(saved.place.folder(4), saved.folder.path("best"));
  EXPECT_TRUE(openAndVerify(saved.folder.path("best")).ok()) << "no step's";
}

TEST(Checkpoint, OldOnesAndUnfinishedOnesGo) {
  Checkpoints saved({1, 2, 3});
  ASSERT_TRUE(pruneCheckpoints(saved.place, 3, 2).ok());
  std::vector<int64_t> steps;
  ASSERT_TRUE(listSteps(saved.folder.path(), steps).ok());
  EXPECT_EQ(steps, (std::vector<int64_t>{2, 3}));
  ASSERT_TRUE(Ranks(0).write(saved.place, 4, 0).ok());
  fs::create_directory(saved.folder.path("mine.tmp-x"));
  ASSERT_TRUE(removeTemporaries(saved.folder.path()).ok());
  EXPECT_EQ(saved.folder.files(), 3u) << "two checkpoints, and the user's";
}

TEST(Checkpoint, LaterOnesThatARunDidNotGoOnFromAreNotCounted) {
  Checkpoints saved({1, 2, 5}); // it went on from 1, as 5 was damaged
  ASSERT_TRUE(pruneCheckpoints(saved.place, 2, 1).ok());
  std::vector<int64_t> steps;
  ASSERT_TRUE(listSteps(saved.folder.path(), steps).ok());
  EXPECT_EQ(steps, (std::vector<int64_t>{2, 5}));
}

std::vector<int64_t> stepsOf(const Checkpoints &saved) {
  std::vector<int64_t> steps;
  EXPECT_TRUE(listSteps(saved.folder.path(), steps).ok());
  return steps;
}

TEST(Checkpoint, OneThatIsReadStaysUntilItIsNot) {
  Checkpoints saved({1, 2, 3});
  Checkpoint read;
  ASSERT_TRUE(Checkpoint::open(saved.place.folder(1), read).ok());
  ASSERT_TRUE(pruneCheckpoints(saved.place, 3, 1).ok());
  EXPECT_EQ(stepsOf(saved), (std::vector<int64_t>{1, 3}));
  EXPECT_TRUE(read.verify().ok());
  read.hold.letGo();
  ASSERT_TRUE(pruneCheckpoints(saved.place, 3, 1).ok());
  EXPECT_EQ(stepsOf(saved), (std::vector<int64_t>{3}));
}

TEST(Checkpoint, TheOneThatIsFoundIsHeld) {
  Checkpoints saved({1, 2});
  NewestWhole found;
  ASSERT_TRUE(findNewestWhole(saved.folder.path(), found).ok());
  saved.save(3);
  ASSERT_TRUE(pruneCheckpoints(saved.place, 3, 1).ok());
  EXPECT_EQ(stepsOf(saved), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(found.checkpoint.verify().ok());
}

TEST(Checkpoint, WhoComesWhileOneIsRemovedHoldsNone) {
  Checkpoints saved({1});
  CheckpointHold alone, other;
  ASSERT_TRUE(CheckpointHold::takeAlone(saved.place.folder(1), alone));
  EXPECT_FALSE(CheckpointHold::takeAlone(saved.place.folder(1), other));
  std::thread removal([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    fs::rename(saved.place.folder(1), saved.folder.path("gone"));
    alone.letGo();
  });
  CheckpointHold late = CheckpointHold::take(saved.place.folder(1));
  removal.join();
  // Nobody holds the file, by whatever name.
  EXPECT_TRUE(CheckpointHold::takeAlone(saved.folder.path("gone"), other));
  EXPECT_TRUE(isGone(saved.place.folder(1)));
}

/// A folder in which the newest is always new, and the one before it goes.
TEST(Checkpoint, ThereIsAlwaysANewestWholeOne) {
  Checkpoints saved({1});
  std::atomic<bool> done = false;
  std::thread run([&] {
    for (int64_t step = 2; !done; ++step) {
      saved.save(step);
      ASSERT_TRUE(pruneCheckpoints(saved.place, step, 1).ok());
    }
  });
  for (int i = 0; i < 100; ++i) {
    NewestWhole found;
    Status status = findNewestWhole(saved.folder.path(), found);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(found.rejected.empty()) << found.rejected.front();
    EXPECT_FALSE(found.checkpoint.folder.empty());
    Status again = found.checkpoint.verify();
    EXPECT_TRUE(again.ok()) << again.message();
  }
  done = true;
  run.join();
}

/// Every n-th bit of every file; MTC_EVERY_BIT=1: each of half a million.
TEST(Checkpoint, AFlippedBitIsFound) {
  Checkpoints saved({1});
  size_t stride = std::getenv("MTC_EVERY_BIT") ? 1 : 997, flips = 0, bit = 0;
  for (const std::string &path : saved.files(1)) {
    std::string bytes;
    ASSERT_TRUE(readWholeFile(path, bytes).ok());
    for (; bit < 8 * bytes.size(); bit += stride, ++flips) {
      std::string damaged = bytes;
      damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
      writeFile(path, damaged);
      EXPECT_EQ(openAndVerify(saved.place.folder(1)).code(),
                StatusCode::inputRejected)
          << path << ", bit " << bit;
    }
    bit -= 8 * bytes.size();
    writeFile(path, bytes);
  }
  EXPECT_TRUE(openAndVerify(saved.place.folder(1)).ok());
  EXPECT_GE(flips, (size_t{64} << 10) * 8 / stride);
  RecordProperty("flips", static_cast<int>(flips));
}

TEST(Checkpoint, ACutFileIsFound) {
  Checkpoints saved({1});
  for (const std::string &path : saved.files(1)) {
    std::string bytes;
    ASSERT_TRUE(readWholeFile(path, bytes).ok());
    for (size_t size = 0; size < bytes.size();
         size += size < 2000 ? 13 : 4096) {
      writeFile(path, bytes.substr(0, size));
      EXPECT_EQ(openAndVerify(saved.place.folder(1)).code(),
                StatusCode::inputRejected)
          << path << " of " << size << " bytes";
    }
    writeFile(path, bytes + "x");
    EXPECT_EQ(openAndVerify(saved.place.folder(1)).code(),
              StatusCode::inputRejected)
        << path << " with one byte more";
    writeFile(path, bytes);
  }
}

} // namespace
} // namespace mtc::runtime::test
