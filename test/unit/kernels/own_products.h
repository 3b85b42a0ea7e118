//===- own_products.h - products by OwnGemm in tests ------------*- C++ -*-===//
//
// Random operands of a product, what it makes of them at the edge of what may
// be read and written, and what is told of the blocks of one that is continued.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_UNIT_KERNELS_OWN_PRODUCTS_H
#define MTC_TEST_UNIT_KERNELS_OWN_PRODUCTS_H

#include "runtime/kernels/cpu/gemm_own.h"

#include "mtc/runtime/isa.h"
#include "test/unit/half.h"

#include <gtest/gtest.h>
#include <random>
#include <span>
#include <string>

namespace mtc::test {

using namespace mtc::runtime;

/// Memory that ends where no page is, and begins somewhere in one, with no page
/// in front of that. Pages go from one to the next, as the system would clear
/// new ones each time: what lies there is somebody else's.
class Guarded {
public:
  explicit Guarded(size_t bytes);
  explicit Guarded(const std::vector<std::byte> &from) : Guarded(from.size()) {
    std::memcpy(begin, from.data(), bytes);
  }
  ~Guarded();
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;

  std::vector<std::byte> copy() const { return {begin, begin + bytes}; }
  std::byte *begin;
  size_t bytes;

private:
  std::span<std::byte> pages; ///< all but the one behind
};

/// Of this processor.
inline const std::string_view kBest =
    *std::find_if(std::begin(kIsas), std::end(kIsas), processorHas);

/// Those that this processor has.
std::vector<std::string_view> isasHere();

/// Those of them that have bits of their own of such operands, and what has the
/// bits of others.
std::vector<std::string_view> isasOfBits(MtcDtype ab);

struct Types {
  MtcDtype ab, c;
};
inline constexpr Types kTypes[] = {{MTC_F32, MTC_F32},
                                   {MTC_BF16, MTC_F32},
                                   {MTC_BF16, MTC_BF16},
                                   {MTC_F16, MTC_F32},
                                   {MTC_F16, MTC_F16}};

/// Whether AVX2 and AVX-512 have the same bits.
inline bool isWidened(const GemmDesc &d) { return d.ab != MTC_BF16; }

struct Operands {
  std::vector<float> a, b, c;
};

Operands operandsOf(const GemmDesc &d, std::mt19937 &rng);

/// The same product with op(b) stored the other way, [n, k].
Operands withTurnedB(const GemmDesc &d, const Operands &x);

/// op(b) as it lies behind `pack`, in memory that had `poison` before and ends
/// where that does; packing has left alone what is in front.
std::vector<std::byte> packed(const GemmDesc &d, const Operands &x,
                              std::string_view isa, int threads,
                              std::byte poison = std::byte{0xff});

/// What c has behind the product; what beta 0 must not read is NaN before. For
/// ownPacked `packers` threads pack op(b). One that counts adds to *squares.
std::vector<std::byte> product(const GemmDesc &d, const Operands &x,
                               std::string_view isa, int threads,
                               int packers = 1, NormSum *squares = nullptr,
                               SecondLevel cache = secondLevelHere());

/// The same bits as `expected`, each seen once and finished by what continues
/// the product.
void expectContinued(const GemmDesc &d, const Operands &x, std::string_view isa,
                     int threads, const std::vector<std::byte> &expected,
                     int packers = 1, SecondLevel cache = secondLevelHere());

/// For messages.
std::string name(const GemmDesc &d);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_KERNELS_OWN_PRODUCTS_H
