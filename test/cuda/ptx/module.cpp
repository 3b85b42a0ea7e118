//===- module.cpp - a program's text, checked and decoded -----------------===//
#include "test/cuda/ptx/module.h"

#include "test/cuda/ptx/decode/decode.h"
#include "test/cuda/ptx/syntax/lexer.h"
#include "test/cuda/ptx/syntax/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mtc::ptx {

std::string describe(const std::vector<Problem> &problems) {
  std::string all;
  for (const Problem &each : problems)
    all += each.line > 0 ? fmt::format("line {}: {}\n  {}\n", each.line,
                                       each.sentence, each.text)
                         : each.sentence + "\n";
  return all;
}

Module::Module(std::unique_ptr<const Program> program)
    : program_(std::move(program)) {}
Module::~Module() = default;

std::unique_ptr<const Module> Module::fromText(std::string_view text,
                                               const Rules &rules,
                                               std::vector<Problem> &problems) {
  size_t before = problems.size();
  Tree tree = parse(text, problems);
  std::unique_ptr<Program> program;
  // What a statement means is of no interest where another cannot be read.
  if (problems.size() == before)
    program = decode(std::move(tree), rules, problems);
  Lines lines(text);
  for (size_t k = before; k < problems.size(); ++k)
    problems[k].text = lines.at(problems[k].line);
  if (problems.size() > before)
    return nullptr;
  program->text = text;
  for (int line = 1; line <= lines.count(); ++line)
    program->lines.emplace_back(lines.at(line));
  return std::unique_ptr<const Module>(new Module(std::move(program)));
}

const std::vector<KernelFacts> &Module::kernels() const {
  return program_->kernels;
}

const KernelFacts *Module::find(std::string_view name) const {
  for (const KernelFacts &each : kernels())
    if (each.name == name)
      return &each;
  return nullptr;
}

Globals::Globals(const Module &module, Memory &memory) : memory_(memory) {
  const auto &variables = module.program().variables;
  for (const Variable &each : variables) {
    bool isGlobal =
        each.space == Space::global || each.space == Space::constant;
    places_.push_back({each.name, 0, each.bytes});
    if (isGlobal && each.bytes)
      places_.back().address = memory.allocate(each.bytes, each.name);
  }
  for (size_t k = 0; k < variables.size(); ++k) {
    Address base = places_[k].address;
    if (!base)
      continue;
    // Without values in the text they are zeros.
    std::vector<std::byte> image = variables[k].image;
    image.resize(variables[k].bytes);
    for (const Variable::Relocation &each : variables[k].relocations) {
      Address target = places_[each.variable].address + uint64_t(each.offset);
      std::memcpy(image.data() + each.at, &target, 8);
    }
    memory.initialise(base, image);
    if (variables[k].space == Space::constant)
      memory.protect(base);
  }
}

Globals::~Globals() {
  for (const Place &each : places_)
    if (each.address)
      (void)memory_.release(each.address);
}

const Globals::Place *Globals::find(std::string_view name) const {
  for (const Place &each : places_)
    if (each.name == name && each.address)
      return &each;
  return nullptr;
}

} // namespace mtc::ptx
