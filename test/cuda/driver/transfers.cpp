//===- transfers.cpp - copies and memsets, checked ------------------------===//
#include "test/cuda/driver/transfers.h"

namespace mtc::standin {
namespace {

bool fits(Driver &driver, uint64_t address, size_t bytes) {
  const Range *range = driver.space.find(address);
  return range && bytes <= range->bytes - (address - range->base);
}

/// *pageable: memory that the driver does not know.
bool isSide(Driver &driver, Side side, uint64_t address, size_t bytes,
            bool *pageable) {
  *pageable = !driver.space.find(address);
  if (!*pageable)
    return fits(driver, address, bytes);
  // What only ends in known memory cannot be copied as a whole.
  return side != Side::device && address != 0 &&
         !driver.space.meets(address, bytes);
}

} // namespace

std::unique_ptr<CopyWork> makeCopy(Driver &driver, Side toSide, uint64_t to,
                                   Side fromSide, uint64_t from, size_t bytes) {
  auto made = std::make_unique<CopyWork>();
  if (!isSide(driver, toSide, to, bytes, &made->toPageable) ||
      !isSide(driver, fromSide, from, bytes, &made->fromPageable))
    return nullptr;
  made->to = to;
  made->from = from;
  made->bytes = bytes;
  made->toSide = toSide;
  made->fromSide = fromSide;
  return made;
}

std::unique_ptr<FillWork> makeFill(Driver &driver, uint64_t to, unsigned value,
                                   unsigned elementBytes, size_t width,
                                   size_t height, size_t pitch) {
  if (elementBytes != 1 && elementBytes != 2 && elementBytes != 4)
    return nullptr;
  // A pitch is a multiple of the element and no less than a row.
  if (height > 1 && (pitch % elementBytes || pitch / elementBytes < width))
    return nullptr;
  if (to % elementBytes || width > SIZE_MAX / 8 ||
      !fits(driver, to, (height - 1) * pitch + width * elementBytes))
    return nullptr;
  auto fill = std::make_unique<FillWork>();
  fill->to = to;
  fill->value = value;
  fill->elementBytes = elementBytes;
  fill->width = width;
  fill->height = height;
  fill->pitch = height > 1 ? pitch : 0;
  return fill;
}

} // namespace mtc::standin
