//===- float_bits.cpp - where integers are bits of a float ----------------===//
#include "float_bits.h"

#include "instruction_text.h"

#include <algorithm>
#include <cctype>

using namespace mtc::test;

namespace {

using Names = std::vector<std::string>;

struct Flow {
  InstructionText text;
  Names writes, reads;
};

bool isLoad(const std::string &operation) {
  return isOneOf(operation, {"ld", "ldu", "ldmatrix", "atom"}) &&
         !operation.starts_with("ld.param");
}

/// What it answers is no part of what it reads.
bool isAnswer(const std::string &operation) {
  return isOneOf(operation, {"setp", "set", "testp", "vote"});
}

/// Its floats are in memory, and its registers are addresses, too; or they
/// become floats only here.
bool readsOthers(const std::string &operation) {
  return isOneOf(operation, {"ld", "ldu", "st", "red", "atom", "wgmma", "cvt"});
}

bool hasFloatNumber(std::string_view operands) {
  for (size_t i = 0; i + 1 < operands.size(); ++i) {
    bool starts =
        i == 0 || !std::isalnum(static_cast<unsigned char>(operands[i - 1]));
    char type = static_cast<char>(
        std::tolower(static_cast<unsigned char>(operands[i + 1])));
    if (starts && operands[i] == '0' && (type == 'f' || type == 'd'))
      return true;
  }
  return false;
}

/// One function, whose registers no other one has.
class Function {
public:
  void add(InstructionText text) {
    Names writes = namesIn(text.destination), reads = namesIn(text.sources);
    flows.push_back({std::move(text), std::move(writes), std::move(reads)});
  }

  void finish(FloatBits &found) {
    for (const Flow &flow : flows)
      seed(flow);
    for (size_t known = 0; known != floats.size();) {
      known = floats.size();
      for (const Flow &flow : flows)
        if (!isAnswer(flow.text.operation) && readsFloat(flow))
          floats.insert(flow.writes.begin(), flow.writes.end());
    }
    for (const Flow &flow : flows)
      if (readsFloat(flow)) {
        found.readers.insert(flow.text.line);
        if (cuts(flow))
          found.cutters.insert(flow.text.line);
      }
    flows.clear();
    floats.clear();
    read.clear();
  }

private:
  void seed(const Flow &flow) {
    const std::string &operation = flow.text.operation;
    read.insert(flow.reads.begin(), flow.reads.end());
    bool ofFloats = isOfFloats(operation);
    if (isLoad(operation) || hasFloatNumber(flow.text.sources) ||
        (ofFloats && !isAnswer(operation)))
      floats.insert(flow.writes.begin(), flow.writes.end());
    if (ofFloats && !readsOthers(operation))
      floats.insert(flow.reads.begin(), flow.reads.end());
  }

  bool readsFloat(const Flow &flow) const {
    return std::ranges::any_of(
        flow.reads, [&](const auto &name) { return floats.contains(name); });
  }

  bool cuts(const Flow &flow) const {
    return isOneOf(flow.text.operation, {"mov"}) &&
           flow.text.destination.starts_with("{") &&
           std::ranges::any_of(flow.writes, [&](const auto &name) {
             return !read.contains(name);
           });
  }

  std::vector<Flow> flows;
  std::set<std::string> floats, read;
};

} // namespace

FloatBits mtc::test::floatBitsOf(const std::vector<std::string> &lines) {
  FloatBits found;
  Function function;
  for (InstructionText &each : instructionsOf(lines)) {
    if (each.operation.starts_with(".")) {
      bool begins = each.operation == ".visible" ||
                    each.operation == ".entry" || each.operation == ".func";
      if (begins)
        function.finish(found);
      continue;
    }
    function.add(std::move(each));
  }
  function.finish(found);
  return found;
}
