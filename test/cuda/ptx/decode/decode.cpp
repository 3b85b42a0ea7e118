//===- decode.cpp - a tree to a program -----------------------------------===//
#include "test/cuda/ptx/decode/decode.h"

#include "test/cuda/ptx/decode/assignment.h"
#include "test/cuda/ptx/decode/builder.h"
#include "test/cuda/ptx/decode/layout.h"
#include "test/cuda/ptx/decode/watch.h"
#include "test/cuda/ptx/families/families.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

bool nothing(Warp &, const Instruction &) { return true; }

class KernelDecoder {
public:
  KernelDecoder(const Tree &tree, const Function &kernel, const Rules &rules,
                std::vector<Problem> &problems)
      : kernel_(kernel), problems_(problems),
        layout_(layoutOf(tree, kernel, problems)),
        frame_(kernel), context_{tree,   kernel,  rules, layout_.offsets,
                                 frame_, problems} {}

  void run(Program &program) {
    size_t before = problems_.size();
    for (const Statement &statement : kernel_.statements)
      decode(statement);
    // A text need not end with ret; labels may stand behind the last statement.
    Instruction end;
    end.run = nothing;
    end.flow = Flow::end;
    end.line = kernel_.statements.empty() ? kernel_.line
                                          : kernel_.statements.back().line;
    code_.instructions.push_back(end);
    uses_.push_back({});
    code_.tables = kernel_.targets;
    if (problems_.size() == before) {
      trackUnwritten(kernel_, uses_, frame_, code_);
      watchProducts(kernel_, uses_, code_);
    }
    for (Instruction &i : code_.instructions)
      i.straight = i.flow == Flow::plain && i.gather == Gather::none &&
                   !i.guarded && !i.tracked && !i.watched;
    for (uint32_t reg = 0; reg < kernel_.registers.size(); ++reg)
      code_.registers.push_back(
          {frame_.placeOf(reg), slotOf(kernel_.registers[reg].type)});
    code_.uses = std::move(uses_);
    frame_.finish(code_);
    program.kernels.push_back(std::move(layout_.facts));
    program.codes.push_back(std::move(code_));
  }

private:
  void decode(const Statement &statement) {
    Builder builder(context_, statement);
    if (Decoder decoder = decoderOf(statement.opcode))
      decoder(builder);
    else
      builder.problem(
          fmt::format("instruction '{}' is not known", statement.opcode));
    if (!builder.failed() && !builder.out.run)
      builder.problem(fmt::format("{}: no such form", statement.opcode));
    if (builder.product) {
      builder.out.target = uint32_t(code_.products.size());
      code_.products.push_back(std::move(*builder.product));
    }
    code_.instructions.push_back(builder.out);
    uses_.push_back({std::move(builder.reads), std::move(builder.writes),
                     std::move(builder.sums), std::move(builder.left),
                     statement.guarded ? int64_t(statement.guard) : -1});
  }

  const Function &kernel_;
  std::vector<Problem> &problems_;
  Layout layout_;
  Frame frame_;
  DecodeContext context_;
  Code code_;
  std::vector<RegisterUse> uses_;
};

} // namespace

std::unique_ptr<Program> decode(Tree tree, const Rules &rules,
                                std::vector<Problem> &problems) {
  auto program = std::make_unique<Program>();
  if (tree.target > rules.target)
    problems.push_back({0,
                        fmt::format("a program for sm_{} does not run on sm_{}",
                                    tree.target, rules.target),
                        {}});
  else if (tree.architectureSpecific && tree.target != rules.target)
    problems.push_back(
        {0,
         fmt::format("a program for sm_{}a runs on no other, found sm_{}",
                     tree.target, rules.target),
         {}});
  for (const Function &each : tree.functions)
    if (each.kernel && each.defined)
      KernelDecoder(tree, each, rules, problems).run(*program);
  program->variables = std::move(tree.variables);
  return program;
}

} // namespace mtc::ptx
