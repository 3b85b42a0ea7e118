//===- metrics_test.cpp - lines of logs and of progress -------------------===//

#include "runtime/base/json.h"
#include "runtime/train/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fcntl.h>
#include <unistd.h>

namespace mtc::runtime::test {
namespace {

TEST(Metrics, LogLineRoundTrips) {
  StepRecord record{3, 0.1f, 1.0 / 3, 3e-4f, 384, 1234.5, 0.25};
  record.samples = 12;
  record.residentBytes = 4096;
  record.time = 1.5;
  char buffer[512];
  EXPECT_EQ(formatStep(record, buffer),
            "{\"step\": 3, \"loss\": 0.1, \"grad_norm\": 0.3333333333333333, "
            "\"lr\": 0.0003, \"tokens\": 384, \"tokens_per_s\": 1234.5, "
            "\"step_ms\": 0.25, \"samples\": 12, \"resident_bytes\": 4096, "
            "\"time\": 1.5}\n");
  record.loss = INFINITY;
  EXPECT_NE(formatStep(record, buffer).find("\"loss\": null"),
            std::string::npos);
  char small[10];
  EXPECT_EQ(formatStep(record, small).size(), 10u);
  record.gradNorm = -NAN;
  record.notFinite = "gradient of a\"b\xff\n";
  record.badParameter = "w";
  EXPECT_EQ(formatStep(record, buffer),
            "{\"step\": 3, \"loss\": null, \"grad_norm\": null, "
            "\"lr\": 0.0003, \"tokens\": 384, \"tokens_per_s\": 1234.5, "
            "\"step_ms\": 0.25, \"samples\": 12, \"resident_bytes\": 4096, "
            "\"time\": 1.5, \"not_finite\": \"gradient of "
            "a\\\"b\xef\xbf\xbd\\n\", \"bad_parameter\": \"w\"}\n");
}

/// Keys and examples of a table against a line that was written with it.
template <typename Record>
void expectLike(std::span<const LogField<Record>> fields,
                std::string_view line) {
  Json json = Json::parse(line);
  EXPECT_EQ(json.size(), fields.size());
  for (const LogField<Record> &field : fields)
    EXPECT_STREQ(Json::parse(field.example).type_name(),
                 json.at(field.key).type_name())
        << field.key;
}

TEST(Metrics, TablesSayWhatIsWritten) {
  char buffer[512];
  expectLike(
      stepFields(),
      formatStep({3, 1.5f, 1, 1, 1, 1.5, 1.5, 65536.5, 2, "loss", "w", 3, 1.5,
                  0.5, 4096, 1.5, JsonText{"{\"forward\": [1, 2, 3]}"}, 16},
                 buffer));
  expectLike(evaluationFields(),
             formatEvaluation({7, 1.5, 4.5, 2, 3, "x"}, buffer));
  EXPECT_EQ(formatEvaluation({7, NAN, NAN, 2, 3, "loss"}, buffer),
            "{\"step\": 7, \"eval_loss\": null, \"perplexity\": null, "
            "\"batches\": 2, \"first_sample\": 3, "
            "\"not_finite\": \"loss\"}\n");
  EXPECT_EQ(formatEvaluation({7, 0.5, 1.5, 2, 3, ""}, buffer),
            "{\"step\": 7, \"eval_loss\": 0.5, \"perplexity\": 1.5, "
            "\"batches\": 2, \"first_sample\": 3}\n");
}

TEST(Metrics, ProgressLine) {
  StepRecord record{40, 5.43215f, 1, 1, 1, 1000, 1500};
  char buffer[256];
  EXPECT_EQ(formatProgress(record, 100, buffer),
            "step 40/100  loss 5.4321  1000 tokens/s  ETA 1m30s  grad norm "
            "1.000  lr 1.00e+00");
  record.tflops = 0.0123;
  record.mfu = 0.456;
  record.residentBytes = 30 << 20;
  EXPECT_EQ(formatProgress(record, 100, buffer),
            "step 40/100  loss 5.4321  1000 tokens/s  ETA 1m30s  grad norm "
            "1.000  lr 1.00e+00  0.0123 TFLOP/s a rank  MFU 45.6 %  30 MiB");
}

TEST(Metrics, AFailingLogStopsNothing) {
  int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  StepLog log;
  log.attach(full, "/dev/full");
  log.line("x\n");
  close(full);
  EXPECT_EQ(log.dropped(), 1);
  EXPECT_EQ(log.status().code(), StatusCode::writeFailed);
  EXPECT_NE(log.status().message().find("1 of 1 lines"), std::string::npos)
      << log.status().message();
}

TEST(Metrics, AFullPipeHoldsNobodyUp) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  fcntl(ends[1], F_SETPIPE_SZ, 4096);
  StepLog log;
  log.attach(ends[1], "pipe");
  std::string page(4095, 'x');
  log.line(page + "\n");
  for (int i = 0; i < 1000; ++i) // only the first one waits
    log.line("no room\n");
  EXPECT_EQ(log.dropped(), 1000);
  std::string found(4096, '\0');
  ASSERT_EQ(read(ends[0], found.data(), found.size()), 4096);
  log.line("room\n");
  ASSERT_EQ(read(ends[0], found.data(), found.size()), 5);
  EXPECT_EQ(log.dropped(), 1000);
  EXPECT_NE(log.status().message().find("nobody takes its lines"),
            std::string::npos);
  close(ends[0]);
  close(ends[1]);
}

TEST(Metrics, NamesOfControlCharactersFitALine) {
  std::string name(252, '\x01');
  StepRecord record;
  record.notFinite = record.badParameter = name;
  char buffer[kLongestLine];
  EXPECT_TRUE(Json::accept(formatStep(record, buffer)));
}

TEST(Metrics, AHeaderIsWholeHoweverLongTheRecipeIs) {
  std::string recipe = Json({{"data", std::string(300'000, 'x')}}).dump();
  RunRecord record;
  record.recipe.text = recipe;
  std::string line = formatRun(record);
  ASSERT_TRUE(Json::accept(line));
  EXPECT_EQ(Json::parse(line)["recipe"], Json::parse(recipe));
}

} // namespace
} // namespace mtc::runtime::test
