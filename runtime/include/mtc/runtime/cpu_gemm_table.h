//===- cpu_gemm_table.h - which kernels of products are fastest -*- C++ -*-===//
//
// What `mtc tune` measured on a processor and `mtc compile --gemm-table` reads:
// for each product, by which of the kernels that a plan can name it is fastest.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CPU_GEMM_TABLE_H
#define MTC_RUNTIME_CPU_GEMM_TABLE_H

#include "mtc/runtime/descriptor.h"
#include "mtc/runtime/status.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// A product of a rank, but for what computes it.
struct CpuProduct {
  int64_t m = 0, n = 0, k = 0;
  bool ta = false, tb = false, adds = false; ///< adds: to what c holds
  MtcDtype ab = MTC_F32, c = MTC_F32;
  int64_t threads = 1;
  auto operator<=>(const CpuProduct &) const = default;
};

/// Of own, library and innerProduct, of which alone it may be asked, as tables
/// say it: "own", "onednn", "inner_product".
std::string_view nameOf(GemmKernel kernel);

/// The product of a row of a descriptor.
CpuProduct productOf(const GemmInfo &row, int64_t threads);

/// For people: "64 x 768 x 3072, b transposed, added, bf16 into f32, 2
/// threads".
std::string describe(const CpuProduct &product);

/// Of a product by our kernel whose op(b) was packed beforehand
/// (GemmKernel::ownPacked), in microseconds.
struct PackedTimes {
  double product = 0; ///< of a call
  double pack = 0;    ///< of packing op(b), which serves all calls of a step
};

struct TunedProduct {
  /// The fastest: own, library or innerProduct.
  GemmKernel kernel = GemmKernel::own;
  double ownMicroseconds = 0; ///< of a call
  /// Of oneDNN's matmul and of its inner_product. None: it has no such product,
  /// or none that allocates nothing, or nobody has measured it.
  std::optional<double> libraryMicroseconds, innerMicroseconds = {};
  /// None: nobody has measured it, as of a gradient of a weight, whose op(b) is
  /// no weight.
  std::optional<PackedTimes> packed = {};

  /// Whether a step of so many calls, one a microbatch, takes clearly less time
  /// if op(b) is packed once for all of them than by `otherwise`, one of the
  /// three above; none where times are not measured.
  std::optional<bool> packingPays(int64_t calls, GemmKernel otherwise) const;

  /// By one of the three above; none where it is not measured.
  std::optional<double> microseconds(GemmKernel by) const;
};

/// By product. Times are of one processor; they are true for other versions of
/// neither kernels.
struct CpuGemmTable {
  std::string processor; ///< as its maker calls it
  std::string isa;       ///< of kIsas
  std::string library;   ///< as mtc_gemm_library says
  int64_t own = 0;       ///< kOwnGemmVersion (gemm_own.h) of its maker
  std::map<CpuProduct, TunedProduct> rows;

  /// Whether it is for plans of this instruction set with these kernels;
  /// `file` is for errors. Errors: usage.
  Status check(const std::string &file, std::string_view isa,
               std::string_view library) const;
};

/// Errors: inputRejected, all of what is wrong at once.
Status readCpuGemmTable(const std::string &file, CpuGemmTable &out);
/// The text of such a file, JSON; rows in the order of their products.
std::string cpuGemmTableText(const CpuGemmTable &table);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CPU_GEMM_TABLE_H
