//===- module.h - a program's text, checked and decoded ---------*- C++ -*-===//
//
// What ptxas would refuse is refused here, by line: an instruction, modifier
// or type that is unknown or does not fit is never skipped.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_MODULE_H
#define MTC_TEST_CUDA_PTX_MODULE_H

#include "test/cuda/ptx/fault.h"
#include "test/cuda/ptx/memory.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::ptx {

/// What a caller wants refused beyond what is illegal.
struct Rules {
  bool refuseFlushToZero = false; ///< .ftz: subnormals are values
  bool refuseApproximate = false; ///< .approx, .full: errors are unspecified
  /// add, sub and mul of floats without a rounding: ptxas may contract them.
  bool refuseContractable = false;
  unsigned target = 90; ///< of the device, as sm_90: higher targets are refused
};

/// Why a text is no program.
struct Problem {
  int line; ///< from 1; 0: of the text as a whole
  std::string sentence;
  std::string text; ///< that line, without margins
};

/// "line 7: sentence\n  text", one after the other.
std::string describe(const std::vector<Problem> &problems);

struct Parameter {
  std::string name;
  uint32_t offset; ///< within the bytes of a launch
  uint32_t bytes;
  bool pointer; ///< declared .ptr, or a number of 64 bits
};

/// What a launch of a kernel needs to know.
struct KernelFacts {
  std::string name;
  int line = 0;
  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0;
  uint32_t sharedBytes = 0; ///< of its variables, without dynamic ones
  uint32_t localBytes = 0;  ///< per thread
  /// .reqntid and .maxntid; x is 0: not there.
  Extent requiredBlock{0, 0, 0}, largestBlock{0, 0, 0};
  bool dynamicShared = false; ///< declares shared memory of an open size
};

struct Program; // decoded, of decode/program.h

/// Immutable once made; kernels point into it.
class Module {
public:
  /// Null if the text has a problem; then `problems` has all that were found.
  /// Any text may be given, also none that was ever a program.
  static std::unique_ptr<const Module> fromText(std::string_view text,
                                                const Rules &rules,
                                                std::vector<Problem> &problems);
  ~Module();

  /// In the order of the text.
  const std::vector<KernelFacts> &kernels() const;
  /// Null: no kernel has the name.
  const KernelFacts *find(std::string_view name) const;

  const Program &program() const { return *program_; }

private:
  explicit Module(std::unique_ptr<const Program> program);
  std::unique_ptr<const Program> program_;
};

/// Where the global and constant variables of a module are in a memory. They
/// live as long as this, which the memory outlives.
class Globals {
public:
  Globals(const Module &module, Memory &memory);
  ~Globals();
  Globals(const Globals &) = delete;
  Globals &operator=(const Globals &) = delete;

  struct Place {
    std::string name;
    Address address; ///< 0: no global or constant variable
    size_t bytes;
  };
  /// Of each variable of the program, by its number.
  const std::vector<Place> &places() const { return places_; }
  /// Null: no such variable.
  const Place *find(std::string_view name) const;

private:
  Memory &memory_;
  std::vector<Place> places_;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MODULE_H
