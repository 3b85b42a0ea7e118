//===- bench_generated.cpp - kernels of a plan beside a copy --------------===//
//
// Compiles the kernels that a plan launches (IR of `--save-ir`, from
// outline-kernels on) for this machine, calls each with operands that rotate
// through memory, and prints the bytes that it has to move a second beside
// those of a copy by as many threads in the same run. With ROWS kernels have at
// most so many, and the same operands each time, which stay in caches: what
// their arithmetic takes.
//
//===----------------------------------------------------------------------===//
#include "compiler/register.h"
#include "harness.h"
#include "operand_count.h"
#include "passes/codegen/cpu_team.h"
#include "runtime/kernels/cpu/team.h"
#include "runtime/profile/limits.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/bit.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace mtc;

namespace {

/// Words of all sets of operands together: more than caches hold.
constexpr int64_t kRotated = 128 << 20;
constexpr int64_t kMostSets = 64;
/// Columns of a kernel that takes any number of them.
constexpr int64_t kDynamicCols = 4 << 20;

struct Options {
  std::string file, part;
  int threads = 2, repeats = 5;
  int64_t rows = 0; ///< kernels have no more, and one set of operands; 0: all
};

double secondsNow() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// Memory that all cases take in turn: fresh pages would cost more than calls.
class Arena {
public:
  void reset() { used = 0; }
  /// So many words, which `has` says are there.
  uint32_t *take(int64_t words) {
    uint32_t *start = memory.data() + used;
    used += (words + 31) / 16 * 16;
    return start;
  }
  bool has(int64_t words) const {
    return used + words <= static_cast<int64_t>(memory.size());
  }

private:
  int64_t used = 0;
  std::vector<uint32_t> memory = std::vector<uint32_t>(size_t(kRotated));
};

/// An operand of a kernel with so many columns.
struct OperandShape {
  rt::OperandAttr info;
  int64_t rows, cols;

  int64_t elements() const { return test::countOf(info, rows, cols); }
  int64_t bits() const { return info.getElement().getIntOrFloatBitWidth(); }
  int64_t words() const { return (elements() * bits() + 31) / 32; }
  /// Of a table, rows that are named.
  double bytesMoved(const rt::AccessKind &kind) const {
    double passes = kind.scratch ? 0 : kind.reads + kind.writes;
    return passes * double(std::min(elements(), rows * cols) * bits() / 8);
  }
};

/// Numbers in [0.5, 1), or numbers below `limit`.
void fill(uint32_t *words, OperandShape shape, int64_t limit) {
  Type element = shape.info.getElement();
  // Bits of a word that never change, and those that are drawn.
  uint32_t fixed = 0x38003800, drawn = 0x3ff03ff, state = 7;
  if (element.isInteger())
    fixed = 0, drawn = uint32_t(llvm::bit_floor(uint64_t(limit))) - 1;
  else if (element.isF32())
    fixed = 0x3f000000, drawn = 0x7fffff;
  else if (element.isBF16())
    fixed = 0x3f003f00, drawn = 0x7f007f;
  for (int64_t i = 0; i < shape.words(); ++i) {
    state = state * 1664525 + 1013904223;
    words[i] = fixed | ((state >> 8) & drawn);
  }
}

/// A kernel with all that its calls need.
class Case {
public:
  Case(rt::LaunchOp launch, rt::KernelOp kernel, void *function,
       const Options &options, Arena &arena)
      : function(function), threads(options.threads),
        workspace(size_t(codegen::teamWorkspace(kernel, threads) / 4) + 16) {
    int64_t cols = kernel.getCols(), words = 0, tableRows = 1 << 20;
    args.assign(kernel.getArgs(), 1);
    if (cols < 0)
      args.push_back(cols = kDynamicCols);
    auto infos = kernel.getOperandsInfo().getAsRange<rt::OperandAttr>();
    for (auto [info, kind] : llvm::zip(infos, kernel.getOperandAccesses())) {
      shapes.push_back({info, static_cast<int64_t>(kernel.getRows()), cols});
      bytes += shapes.back().bytesMoved(kind);
      words += shapes.back().words() + 32;
      if (info.getMode() == rt::Mode::Table)
        tableRows = std::min<int64_t>(tableRows, info.getExtent());
    }
    arena.reset();
    while (arena.has(words) &&
           std::ssize(sets) < (options.rows ? 1 : kMostSets))
      addSet(launch, tableRows, arena);
  }

  /// Seconds of a call, the best of the repeats.
  double best(int repeats) {
    run();
    double least = 1e30;
    for (int i = 0; i < repeats; ++i) {
      double start = secondsNow();
      run();
      least = std::min(least, secondsNow() - start);
    }
    return least / double(sets.size());
  }

  double bytes = 0; ///< that a call has to move

private:
  /// A buffer that is passed twice is there once.
  void addSet(rt::LaunchOp launch, int64_t tableRows, Arena &arena) {
    llvm::DenseMap<Value, void *> known;
    std::vector<void *> pointers;
    for (auto [buffer, shape] : llvm::zip(launch.getBuffers(), shapes)) {
      auto [found, isNew] = known.try_emplace(buffer, nullptr);
      if (isNew) {
        uint32_t *words = arena.take(shape.words());
        fill(words, shape, tableRows);
        found->second = words;
      }
      pointers.push_back(found->second);
    }
    sets.push_back(std::move(pointers));
  }

  void run() {
    for (const std::vector<void *> &operands : sets)
      if (threads == 1)
        test::call(function, operands, args);
      else
        runtime::onTeam(threads, [&](int64_t part, int64_t parts) {
          std::vector<int64_t> mine = args;
          mine.push_back(reinterpret_cast<int64_t>(workspace.data()));
          mine.insert(mine.end(), {part, parts});
          test::call(function, operands, mine);
        });
  }

  void *function;
  int threads;
  std::vector<uint32_t> workspace;
  std::vector<int64_t> args;
  std::vector<OperandShape> shapes;
  std::vector<std::vector<void *>> sets;
};

/// The launches whose kernels are different ones, by name.
std::vector<rt::LaunchOp> launchesOf(ModuleOp module, const Options &options) {
  std::vector<rt::LaunchOp> all;
  llvm::DenseSet<Operation *> seen;
  module.walk([&](rt::LaunchOp op) {
    auto *kernel = SymbolTable::lookupNearestSymbolFrom(op, op.getKernelAttr());
    if (kernel && seen.insert(kernel).second &&
        op.getKernel().contains(options.part))
      all.push_back(op);
  });
  return all;
}

std::string partOf(Location where) {
  std::string text;
  llvm::raw_string_ostream(text) << where;
  return text.substr(0, 60);
}

int bench(ModuleOp plan, const Options &options) {
  auto isa = codegen::hostIsa();
  if (!isa)
    return llvm::errs() << llvm::toString(isa.takeError()) << "\n", 1;
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(plan.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(kernels->getBody());
  std::vector<std::pair<rt::LaunchOp, rt::KernelOp>> cases;
  for (rt::LaunchOp launch : launchesOf(plan, options)) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<rt::KernelOp>(
        launch, launch.getKernelAttr());
    auto copy = cast<rt::KernelOp>(b.clone(*kernel));
    copy.setTiled(false); // whole, as behind its product
    copy.setSymName("k" + std::to_string(cases.size()));
    if (options.rows && static_cast<int64_t>(copy.getRows()) > options.rows)
      copy.setRows(options.rows);
    cases.emplace_back(launch, copy);
  }
  test::Library library(*kernels, *isa, options.threads);
  if (!library.loaded())
    return 1;
  double copy = runtime::measureLimits(options.threads).copy;
  std::printf("%d threads, copy %.1f GB/s\n%10s%10s%10s%8s  kernel\n",
              options.threads, copy * 1e-9, "us", "MB", "GB/s", "copy");
  Arena arena;
  for (auto [launch, kernel] : cases) {
    Case c(launch, kernel, library.find(kernel.getSymName().str()), options,
           arena);
    double took = c.best(options.repeats);
    std::printf("%10.1f%10.2f%10.1f%7.0f%%  %s %s\n", took * 1e6,
                c.bytes * 1e-6, c.bytes / took * 1e-9,
                100 * c.bytes / took / copy, launch.getKernel().str().c_str(),
                partOf(launch.getLoc()).c_str());
    std::fflush(stdout);
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "expected IR of a plan: bench_generated IR [THREADS "
                         "[PART OF A NAME [REPEATS [ROWS]]]]\n");
    return 2;
  }
  Options options{argv[1], argc > 3 ? argv[3] : ""};
  if (argc > 2)
    options.threads = std::atoi(argv[2]);
  if (argc > 4)
    options.repeats = std::atoi(argv[4]);
  if (argc > 5)
    options.rows = std::atoll(argv[5]);
  auto context = test::makeContext();
  DialectRegistry registry;
  compiler::registerDialects(registry);
  context->appendDialectRegistry(registry);
  auto plan = parseSourceFile<ModuleOp>(options.file, context.get());
  return plan ? bench(*plan, options) : 1;
}
