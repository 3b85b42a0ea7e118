//===- repeat.cpp - large ranges full of one word -------------------------===//
#include "test/cuda/ptx/repeat.h"

#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace mtc::ptx {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kFile = 1 << 20;

/// A file without a name that is full of one word.
struct WordFile {
  explicit WordFile(uint64_t word) : file(memfd_create("word", MFD_CLOEXEC)) {
    void *all = MAP_FAILED;
    if (file >= 0 && ftruncate(file, kFile) == 0)
      all = mmap(nullptr, kFile, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (all == MAP_FAILED) {
      if (file >= 0)
        close(file);
      throw std::bad_alloc();
    }
    std::fill_n(static_cast<uint64_t *>(all), kFile / sizeof word, word);
    munmap(all, kFile);
  }
  WordFile(const WordFile &) = delete;
  WordFile &operator=(const WordFile &) = delete;
  ~WordFile() { close(file); } // mappings keep it

  int file;
};

void map(std::byte *begin, size_t bytes, int file) {
  int kind =
      MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE | (file < 0 ? MAP_ANONYMOUS : 0);
  if (mmap(begin, bytes, PROT_READ | PROT_WRITE, kind, file, 0) == MAP_FAILED)
    throw std::bad_alloc();
}

/// Whole pages.
void mapAll(std::byte *begin, size_t bytes, uint64_t word) {
  if (word == 0)
    return map(begin, bytes, -1);
  WordFile file(word);
  for (size_t done = 0; done < bytes; done += kFile)
    map(begin + done, std::min(kFile, bytes - done), file.file);
}

void write(std::byte *begin, std::byte *end, uint64_t word) {
  for (std::byte *at = begin; at != end; ++at)
    *at = std::byte(word >> 8 * (reinterpret_cast<uintptr_t>(at) % 8));
}

} // namespace

void repeatWord(void *begin, size_t bytes, uint64_t word) {
  auto *from = static_cast<std::byte *>(begin), *to = from + bytes;
  auto page = [](std::byte *at, size_t over) {
    return at + over - (reinterpret_cast<uintptr_t>(at) + over) % kPage;
  };
  std::byte *first = page(from, kPage - 1), *last = page(to, 0);
  if (first >= last)
    return write(from, to, word);
  write(from, first, word);
  mapAll(first, size_t(last - first), word);
  write(last, to, word);
}

} // namespace mtc::ptx
