#include "test/unit/kernels/own_products.h"

#include <algorithm>
#include <cmath>
#include <sys/mman.h>
#include <unistd.h>

namespace mtc::test {

namespace {

/// Pages that nobody has now, each run of them with one behind it that cannot
/// be touched.
std::vector<std::span<std::byte>> &freePages() {
  static std::vector<std::span<std::byte>> all;
  return all;
}

std::span<std::byte> newPages(size_t size) {
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  void *base = mmap(nullptr, size + page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(base, MAP_FAILED);
  auto *begin = static_cast<std::byte *>(base);
  EXPECT_EQ(mprotect(begin + size, page, PROT_NONE), 0);
  return {begin, size};
}

/// The fewest that are enough.
std::span<std::byte> takePages(size_t size) {
  auto &all = freePages();
  auto best = all.end();
  for (auto it = all.begin(); it != all.end(); ++it)
    if (it->size() >= size && (best == all.end() || it->size() < best->size()))
      best = it;
  if (best == all.end())
    return newPages(size);
  std::span<std::byte> taken = *best;
  all.erase(best);
  return taken;
}

} // namespace

Guarded::Guarded(size_t bytes) : bytes(bytes) {
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  size_t needed = (bytes + page - 1) / page * page;
  pages = takePages(needed);
  begin = pages.data() + pages.size() - bytes;
  if (pages.size() > needed) {
    EXPECT_EQ(mprotect(pages.data(), pages.size() - needed, PROT_NONE), 0);
  }
}

Guarded::~Guarded() {
  EXPECT_EQ(mprotect(pages.data(), pages.size(), PROT_READ | PROT_WRITE), 0);
  freePages().push_back(pages);
}

std::vector<std::string_view> isasHere() {
  std::vector<std::string_view> all;
  std::copy_if(std::begin(kIsas), std::end(kIsas), std::back_inserter(all),
               processorHas);
  return all;
}

std::vector<std::string_view> isasOfBits(MtcDtype ab) {
  std::vector<std::string_view> own;
  for (std::string_view isa : isasHere())
    if (ab == MTC_BF16 && isaIncludes(isa, "x86-64-v4-bf16"))
      own.push_back(isa);
  return own.empty() ? std::vector{kBest} : own;
}

Operands operandsOf(const GemmDesc &d, std::mt19937 &rng) {
  auto draw = [&](MtcDtype type, int64_t count) {
    std::vector<float> x(static_cast<size_t>(count));
    for (float &v : x)
      v = float(int32_t(rng())) * 0x1p-31f;
    return roundedTo(type, x);
  };
  return {draw(d.ab, d.m * d.k), draw(d.ab, d.k * d.n), draw(d.c, d.m * d.n)};
}

Operands withTurnedB(const GemmDesc &d, const Operands &x) {
  Operands turned = x;
  for (int64_t l = 0; l < d.k; ++l)
    for (int64_t j = 0; j < d.n; ++j)
      turned.b[size_t(j * d.k + l)] = x.b[size_t(l * d.n + j)];
  return turned;
}

std::vector<std::byte> packed(const GemmDesc &d, const Operands &x,
                              std::string_view isa, int threads,
                              std::byte poison) {
  constexpr int64_t kBorder = 64;
  Guarded b(storedAs(d.ab, x.b));
  OwnGemm own(d, threads, isa);
  EXPECT_EQ(own.packedBytes() % 64, 0);
  Guarded to(size_t(kBorder + own.packedBytes()));
  std::fill_n(to.begin, to.bytes, poison);
  own.pack(b.begin, reinterpret_cast<float *>(to.begin + kBorder));
  std::vector<std::byte> all = to.copy();
  EXPECT_EQ(std::count(all.begin(), all.begin() + kBorder, poison), kBorder);
  return {all.begin() + kBorder, all.end()};
}

/// op(b) as `d.kernel` reads it.
static std::vector<std::byte> readOf(const GemmDesc &d, const Operands &x,
                                     std::string_view isa, int packers) {
  return d.kernel == GemmKernel::ownPacked ? packed(d, x, isa, packers)
                                           : storedAs(d.ab, x.b);
}

std::vector<std::byte> product(const GemmDesc &d, const Operands &x,
                               std::string_view isa, int threads, int packers,
                               NormSum *squares, SecondLevel cache) {
  std::vector<float> before = x.c;
  if (d.beta == 0)
    std::fill(before.begin(), before.end(), NAN);
  // A row more in front of c: it must stay as it is.
  before.insert(before.begin(), size_t(d.n), 42.0f);
  Guarded a(storedAs(d.ab, x.a)), b(readOf(d, x, isa, packers)),
      c(storedAs(d.c, before));
  OwnGemm own(d, threads, isa, cache);
  // The kernels want it 64-aligned, so its end is where it is.
  EXPECT_EQ(own.scratchBytes() % 64, 0);
  Guarded scratch(size_t(own.scratchBytes()));
  std::memset(scratch.begin, 0xff, scratch.bytes); // NaN
  size_t row = c.bytes / size_t(d.m + 1);
  own.run(a.begin, b.begin, c.begin + row,
          reinterpret_cast<float *>(scratch.begin), {}, squares);
  std::vector<std::byte> all = c.copy();
  std::vector<std::byte> border(all.begin(), all.begin() + int64_t(row));
  EXPECT_EQ(border, storedAs(d.c, std::vector<float>(size_t(d.n), 42.0f)));
  return {all.begin() + int64_t(row), all.end()};
}

namespace {
/// What is told of the blocks of a product that is continued.
struct Seen {
  const GemmDesc &d;
  const std::byte *c;
  std::vector<std::byte> copied; ///< of c, when its block was finished
  std::vector<int> times;        ///< that each element was in a block
};

void see(void *argument, int64_t row, int64_t rowEnd, int64_t column,
         int64_t columnEnd) {
  Seen &seen = *static_cast<Seen *>(argument);
  size_t bytes = seen.copied.size() / seen.times.size();
  EXPECT_EQ(row % kPanelRows, 0);
  EXPECT_EQ(column % 8, 0); // blocks of four random words are not cut
  for (int64_t i = row; i < rowEnd; ++i)
    for (int64_t j = column; j < columnEnd; ++j) {
      auto at = size_t(i * seen.d.n + j);
      ++seen.times[at];
      std::memcpy(&seen.copied[at * bytes], seen.c + at * bytes, bytes);
    }
}

} // namespace

void expectContinued(const GemmDesc &d, const Operands &x, std::string_view isa,
                     int threads, const std::vector<std::byte> &expected,
                     int packers, SecondLevel cache) {
  Guarded a(storedAs(d.ab, x.a)), b(readOf(d, x, isa, packers)),
      c(storedAs(d.c, x.c));
  OwnGemm own(d, threads, isa, cache);
  Guarded scratch(size_t(own.scratchBytes()));
  Seen seen{d, c.begin, std::vector<std::byte>(c.bytes),
            std::vector<int>(size_t(d.m * d.n))};
  own.run(a.begin, b.begin, c.begin, reinterpret_cast<float *>(scratch.begin),
          {see, &seen});
  ASSERT_EQ(seen.times, std::vector<int>(seen.times.size(), 1));
  ASSERT_EQ(seen.copied, expected);
  ASSERT_EQ(c.copy(), expected);
}

std::string name(const GemmDesc &d) {
  return "m=" + std::to_string(d.m) + " n=" + std::to_string(d.n) +
         " k=" + std::to_string(d.k) + " ta=" + std::to_string(d.ta) +
         " tb=" + std::to_string(d.tb) + " beta=" + std::to_string(d.beta) +
         " ab=" + std::to_string(d.ab) + " c=" + std::to_string(d.c);
}

} // namespace mtc::test
