//===- megatron_line.cpp - a step as Megatron-LM prints it ----------------===//

#include "runtime/train/megatron_line.h"

#include "runtime/base/fixed_text.h"

#include <string>

namespace mtc::runtime {
std::string_view formatMegatron(const StepRecord &record,
                                const MegatronFacts &facts,
                                std::span<char> buffer) {
  char date[32] = "";
  std::tm local = {};
  localtime_r(&facts.now, &local);
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &local);
  bool failed = !record.notFinite.empty();
  FixedText line(buffer);
  line.add(" [{}] iteration {:8d}/{:8d} |", date, record.step, facts.steps);
  line.add(" consumed samples: {:12d} |", record.samples);
  line.add(" elapsed time per iteration (ms): {:.1f} |", record.milliseconds);
  if (record.tflops)
    line.add(" throughput per GPU (TFLOP/s/GPU): {:.1f} |", *record.tflops);
  line.add(" learning rate: {:.6E} |", record.lr);
  line.add(" global batch size: {:5d} |", facts.batch);
  line.add(" lm loss: {:.6E} |", facts.loss);
  line.add(" loss scale: {:.1f} |", record.lossScale.value_or(1));
  line.add(" grad norm: {:.3f} |", record.gradNorm);
  line.add(" number of skipped iterations: {:3d} |", facts.skipped);
  line.add(" number of nan iterations: {:3d} |\n", failed ? 1 : 0);
  return line.view();
}

std::string_view formatMegatronTimes(const TimesOverRanks &times, int64_t level,
                                     std::span<char> buffer) {
  FixedText line(buffer);
  line.add("(min, max) time across ranks (ms):\n");
  for (size_t i = 0; i < timeParts().size(); ++i) {
    const TimesOverRanks::Part &part = times.parts[i];
    if (isOfLevel(timeParts()[i], level) && part.largest > 0)
      line.add("    {:.<48}: ({:.2f}, {:.2f})\n",
               std::string(timeParts()[i].name) + ' ', part.least,
               part.largest);
  }
  return line.view();
}

} // namespace mtc::runtime
