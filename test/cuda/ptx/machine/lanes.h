//===- lanes.h - one function on all lanes of a warp ------------*- C++ -*-===//
//
// A handler is made of the types of its operands and a function on values.
// With all lanes taking part it is a plain loop, which compilers turn into
// vector instructions; otherwise lanes that do not take part keep what they
// had. The function must bear any operands: of lanes that do not take part,
// too.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_LANES_H
#define MTC_TEST_CUDA_PTX_MACHINE_LANES_H

#include "test/cuda/ptx/machine/warp.h"

#include <type_traits>

namespace mtc::ptx {

/// A register of 16 bits has a slot of 32, whose upper half means nothing.
template <class T>
using Slot = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 8, uint64_t,
    std::conditional_t<sizeof(T) == 4, uint32_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;

template <class T> T fromSlot(Slot<T> slot) {
  return __builtin_bit_cast(T, Bits<T>(slot));
}
template <class T> Slot<T> toSlot(T value) {
  return Slot<T>(__builtin_bit_cast(Bits<T>, value));
}

template <class D, class F>
void eachLane(Warp &warp, uint32_t place, F function) {
  Slot<D> *to = warp.slots<Slot<D>>(place);
  if (warp.active == kAllLanes) {
    for (int l = 0; l < kLanes; ++l)
      to[l] = toSlot<D>(function(l));
    return;
  }
  for (int l = 0; l < kLanes; ++l) {
    Slot<D> made = toSlot<D>(function(l));
    to[l] = warp.selected[l] ? made : to[l];
  }
}

template <class D, class A, class F>
bool unary(Warp &warp, const Instruction &i) {
  const Slot<A> *a = warp.slots<Slot<A>>(i.from[0]);
  eachLane<D>(warp, i.to[0], [&](int l) { return D(F()(fromSlot<A>(a[l]))); });
  return true;
}

template <class D, class A, class B, class F>
bool binary(Warp &warp, const Instruction &i) {
  const Slot<A> *a = warp.slots<Slot<A>>(i.from[0]);
  const Slot<B> *b = warp.slots<Slot<B>>(i.from[1]);
  eachLane<D>(warp, i.to[0], [&](int l) {
    return D(F()(fromSlot<A>(a[l]), fromSlot<B>(b[l])));
  });
  return true;
}

template <class D, class A, class B, class C, class F>
bool ternary(Warp &warp, const Instruction &i) {
  const Slot<A> *a = warp.slots<Slot<A>>(i.from[0]);
  const Slot<B> *b = warp.slots<Slot<B>>(i.from[1]);
  const Slot<C> *c = warp.slots<Slot<C>>(i.from[2]);
  eachLane<D>(warp, i.to[0], [&](int l) {
    return D(F()(fromSlot<A>(a[l]), fromSlot<B>(b[l]), fromSlot<C>(c[l])));
  });
  return true;
}

/// The same of four, the last ones of one type.
template <class D, class A, class B, class F>
bool quaternary(Warp &warp, const Instruction &i) {
  const Slot<A> *a = warp.slots<Slot<A>>(i.from[0]);
  const Slot<A> *b = warp.slots<Slot<A>>(i.from[1]);
  const Slot<B> *c = warp.slots<Slot<B>>(i.from[2]);
  const Slot<B> *d = warp.slots<Slot<B>>(i.from[3]);
  eachLane<D>(warp, i.to[0], [&](int l) {
    return D(F()(fromSlot<A>(a[l]), fromSlot<A>(b[l]), fromSlot<B>(c[l]),
                 fromSlot<B>(d[l])));
  });
  return true;
}

/// A handler by type: calls make(T{}) with the C++ type of an integer or bits
/// of 16, 32 or 64 bits; null of another.
template <class Make> Handler byInteger(Type type, Make make) {
  switch (type) {
  case Type::u16:
  case Type::b16:
    return make(uint16_t());
  case Type::u32:
  case Type::b32:
    return make(uint32_t());
  case Type::u64:
  case Type::b64:
    return make(uint64_t());
  case Type::s16:
    return make(int16_t());
  case Type::s32:
    return make(int32_t());
  case Type::s64:
    return make(int64_t());
  default:
    return nullptr;
  }
}

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_LANES_H
