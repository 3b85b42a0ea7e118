//===- populate.cpp - pages of arenas, ahead of their use -----------------===//

#include "runtime/device/cpu/populate.h"

#include "runtime/kernels/cpu/team.h"

#include <algorithm>
#include <atomic>
#include <sys/mman.h>
#include <vector>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace mtc::runtime {
namespace {

/// What one call asks for: some milliseconds of work.
constexpr int64_t kPieceBytes = 16 << 20;

struct Piece {
  char *base;
  int64_t bytes;
};

std::vector<Piece> piecesOf(const ArenaViews &arenas) {
  std::vector<Piece> pieces;
  for (const ArenaView &arena : arenas)
    for (int64_t at = 0; at < arena.bytes; at += kPieceBytes)
      pieces.push_back({static_cast<char *>(arena.base) + at,
                        std::min(kPieceBytes, arena.bytes - at)});
  return pieces;
}

} // namespace

void populate(const ArenaViews &arenas, int64_t threads,
              const PopulateProgress &done) {
  std::vector<Piece> pieces = piecesOf(arenas);
  auto count = static_cast<int64_t>(pieces.size());
  int64_t all = 0;
  for (const Piece &piece : pieces)
    all += piece.bytes;
  std::atomic<int64_t> sum = 0;
  onTeam(threads, [&](int64_t part, int64_t parts) {
    Part own = partOf(count, part, parts);
    for (int64_t i = own.begin; i < own.end; ++i) {
      if (madvise(pieces[i].base, static_cast<size_t>(pieces[i].bytes),
                  MADV_POPULATE_WRITE) != 0)
        return;
      int64_t now = sum += pieces[i].bytes;
      if (part == 0 && done)
        done(now, all);
    }
  });
}

} // namespace mtc::runtime
