//===- families.h - decoders of instructions --------------------*- C++ -*-===//
//
// Each function decodes what its opcode stands for and sets the handler. The
// handlers of a family are in its file.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_FAMILIES_FAMILIES_H
#define MTC_TEST_CUDA_PTX_FAMILIES_FAMILIES_H

#include "test/cuda/ptx/decode/builder.h"

#include <string_view>

namespace mtc::ptx {

using Decoder = void (*)(Builder &);

/// Null: no such opcode.
Decoder decoderOf(std::string_view opcode);

// integer.cpp; each of a type that is no float
void integerAdd(Builder &b);
void integerSub(Builder &b);
void integerMul(Builder &b);
void integerMad(Builder &b);
void integerDiv(Builder &b);
void integerMin(Builder &b);
void integerMax(Builder &b);
void integerAbs(Builder &b);
void integerNeg(Builder &b);
void decodeRem(Builder &b);
void decodeSad(Builder &b);
// narrow_integer.cpp
void decodeMul24(Builder &b);
void decodeMad24(Builder &b);
void decodeDp4a(Builder &b);
void decodeDp2a(Builder &b);
bool pairedInteger(Builder &b); ///< add, sub, mul, min, max of .u16x2, .s16x2
// carry.cpp
void addCarry(Builder &b); ///< add.cc
void subCarry(Builder &b); ///< sub.cc
void madCarry(Builder &b); ///< mad.lo.cc
void decodeAddc(Builder &b);
void decodeSubc(Builder &b);
void decodeMadc(Builder &b);
// bits.cpp
void decodeAnd(Builder &b);
void decodeOr(Builder &b);
void decodeXor(Builder &b);
void decodeNot(Builder &b);
void decodeCnot(Builder &b);
void decodeShl(Builder &b);
void decodeShr(Builder &b);
void decodeLop3(Builder &b);
// bit_fields.cpp
void decodePopc(Builder &b);
void decodeClz(Builder &b);
void decodeBrev(Builder &b);
void decodeBfind(Builder &b);
void decodeFns(Builder &b);
void decodeBfe(Builder &b);
void decodeBfi(Builder &b);
void decodeBmsk(Builder &b);
void decodeSzext(Builder &b);
void decodeShf(Builder &b);
void decodePrmt(Builder &b);
// float.cpp, of f32 and f64
void floatAdd(Builder &b);
void floatSub(Builder &b);
void floatMul(Builder &b);
void floatFma(Builder &b);
void floatDiv(Builder &b);
// float_unary.cpp
void floatMin(Builder &b);
void floatMax(Builder &b);
void floatAbs(Builder &b);
void floatNeg(Builder &b);
void decodeSqrt(Builder &b);
void decodeRcp(Builder &b);
void decodeCopysign(Builder &b);
void decodeTestp(Builder &b);
// approximate.cpp; each of f32 and the small floats that have it
void decodeRsqrt(Builder &b);
void decodeSin(Builder &b);
void decodeCos(Builder &b);
void decodeLg2(Builder &b);
void decodeEx2(Builder &b);
void decodeTanh(Builder &b);
Handler approximateRcp(bool flush);
Handler approximateSqrt(bool flush);
Handler approximateDiv(bool flush);
// half.cpp, of f16, bf16 and pairs of them
void halfAdd(Builder &b);
void halfSub(Builder &b);
void halfMul(Builder &b);
void halfFma(Builder &b);
void halfMin(Builder &b);
void halfMax(Builder &b);
void halfAbs(Builder &b);
void halfNeg(Builder &b);
// convert.cpp
void decodeCvt(Builder &b);
// compare.cpp
void decodeSetp(Builder &b);
void decodeSet(Builder &b);
// select.cpp
void decodeSelp(Builder &b);
void decodeSlct(Builder &b);
// move.cpp
void decodeMov(Builder &b);
void decodeCvta(Builder &b);
void decodeIsspacep(Builder &b);
// load_store.cpp
void decodeLd(Builder &b);
void decodeSt(Builder &b);
void decodePrefetch(Builder &b);
// atomics.cpp
void decodeAtom(Builder &b);
void decodeRed(Builder &b);
// shuffle.cpp
void decodeShfl(Builder &b);
void decodeVote(Builder &b);
void decodeMatch(Builder &b);
void decodeActivemask(Builder &b);
void decodeRedux(Builder &b);
void decodeElect(Builder &b);
// matrix.cpp
void decodeMma(Builder &b);
// matrix_moves.cpp
void decodeLdmatrix(Builder &b);
void decodeStmatrix(Builder &b);
void decodeMovmatrix(Builder &b);
// warpgroup.cpp
void decodeWgmma(Builder &b);
void decodeSetmaxnreg(Builder &b);
// async_copy.cpp
void decodeCp(Builder &b);
// control.cpp
void decodeBra(Builder &b);
void decodeBrx(Builder &b);
void decodeRet(Builder &b);
void decodeExit(Builder &b);
void decodeTrap(Builder &b);
void decodeCall(Builder &b);
void decodeBar(Builder &b);
void decodeBarrier(Builder &b);
void decodeFence(Builder &b);
void decodeMembar(Builder &b);
void decodeNanosleep(Builder &b);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_FAMILIES_FAMILIES_H
