//===- run_fixture.h - bundles of hand-written programs ---------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_RUNTIME_RUN_FIXTURE_H
#define MTC_TEST_UNIT_RUNTIME_RUN_FIXTURE_H

#include "mtc/runtime/run.h"
#include "runtime/base/digest.h"
#include "runtime/base/json.h"
#include "runtime/base/safetensors.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace mtc::runtime::test {

/// Makes bundles in a folder and runs them on 65 tokens (16 windows of 4).
class RunFixture : public testing::Test {
protected:
  void SetUp() override {
    std::vector<uint16_t> tokens(65);
    // No pattern: windows must differ from each other modulo 4 and 3.
    uint32_t state = 1;
    for (uint16_t &token : tokens) {
      state = state * 1664525u + 1013904223u;
      token = static_cast<uint16_t>(state >> 28);
    }
    writeValues(folder_.path("tokens"), tokens);
  }

  /// Writes a bundle of these programs, one per stage.
  std::string bundle(const std::vector<std::string> &names,
                     const std::string &hash) {
    std::string path = folder_.path("bundle-" + names.back() + hash);
    std::filesystem::create_directories(path + "/programs");
    std::string programs, files;
    for (size_t stage = 0; stage < names.size(); ++stage) {
      for (std::string name : {names[stage], names[stage] + ".so"}) {
        std::string to = path + "/programs/" + name;
        std::filesystem::copy_file(
            FAKE_DIR "/" + name, to,
            std::filesystem::copy_options::overwrite_existing);
        files += (files.empty() ? "" : ", ") + ("\"programs/" + name) +
                 "\": \"" + digestOf(readFile(to)) + "\"";
      }
      programs += (stage ? ", " : "") + std::string("{\"stage\": ") +
                  std::to_string(stage) + ", \"executable\": \"programs/" +
                  names[stage] + "\", \"shared\": \"programs/" + names[stage] +
                  ".so\"}";
    }
    writeFile(path + "/manifest.json",
              "{\"plan_hash\": \"" + hash +
                  "\", \"mesh\": {\"tp\": 1, \"cp\": 1, \"dp\": 2, \"pp\": " +
                  std::to_string(names.size()) + "}, \"programs\": [" +
                  programs + "], \"files\": {" + files + "}}");
    return path;
  }
  std::string onePipe() { return bundle({"fake_pp1"}, "00000000000000a1"); }
  std::string bf16() { return bundle({"fake_bf16"}, "00000000000000a1"); }
  std::string fp16() { return bundle({"fake_fp16"}, "00000000000000a1"); }
  std::string twoPipe() {
    return bundle({"fake_pp2_stage0", "fake_pp2_stage1"}, "00000000000000a2");
  }

  RunOptions options(const std::string &bundlePath, CommKind comm) {
    RunOptions o;
    o.bundle = bundlePath;
    o.comm = comm;
    o.strict = comm == CommKind::threads;
    o.recipe.steps = 5;
    o.recipe.lr = 0.5;
    o.recipe.min_lr = 0.1;
    o.recipe.seed = 11;
    o.recipe.clip = 0.25;
    o.recipe.data = folder_.path("tokens");
    o.progress = ProgressKind::none;
    return o;
  }

  /// One tensor of a safetensors file.
  std::vector<float> tensor(const std::string &path, const std::string &name) {
    SafetensorsFile file;
    Status status = SafetensorsFile::open(path, file);
    EXPECT_TRUE(status.ok()) << status.message();
    const TensorInfo *info = status.ok() ? file.find(name) : nullptr;
    EXPECT_NE(info, nullptr) << name;
    if (!info)
      return {};
    std::vector<float> out(static_cast<size_t>(info->bytes / 4));
    status = file.read(*info, 0, out.data(), info->bytes);
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  }

  /// The lines of a log: the header, and one of each step.
  std::vector<Json> linesOf(const std::string &path) {
    std::vector<Json> lines;
    std::istringstream text(readFile(path));
    for (std::string line; std::getline(text, line);) {
      Json &json = lines.emplace_back();
      EXPECT_TRUE(parseJson(line, "log", json).ok()) << line;
    }
    EXPECT_FALSE(lines.empty() || !lines.front().contains("header")) << path;
    return lines;
  }

  TemporaryFolder folder_;
};

} // namespace mtc::runtime::test
#endif // MTC_TEST_UNIT_RUNTIME_RUN_FIXTURE_H
