//===- opcodes.cpp - which decoder an opcode has --------------------------===//
#include "test/cuda/ptx/families/families.h"

#include <map>

namespace mtc::ptx {
namespace {

bool isHalf(std::optional<Type> type) {
  return type == Type::f16 || type == Type::f16x2 || type == Type::bf16 ||
         type == Type::bf16x2;
}

/// The family is said by the type, which stands last.
template <Decoder OfInteger, Decoder OfFloat, Decoder OfHalf>
void byType(Builder &b) {
  auto type = b.lastType();
  if (isHalf(type))
    return OfHalf(b);
  if (type && (isWideFloat(*type) || type == Type::f32x2))
    return OfFloat(b);
  OfInteger(b);
}

void noInteger(Builder &b) { b.expectType({Type::f32, Type::f64}); }

const std::map<std::string_view, Decoder> kDecoders = {
    {"add", byType<integerAdd, floatAdd, halfAdd>},
    {"sub", byType<integerSub, floatSub, halfSub>},
    {"mul", byType<integerMul, floatMul, halfMul>},
    {"mad", byType<integerMad, floatFma, noInteger>},
    {"fma", byType<noInteger, floatFma, halfFma>},
    {"div", byType<integerDiv, floatDiv, noInteger>},
    {"min", byType<integerMin, floatMin, halfMin>},
    {"max", byType<integerMax, floatMax, halfMax>},
    {"abs", byType<integerAbs, floatAbs, halfAbs>},
    {"neg", byType<integerNeg, floatNeg, halfNeg>},
    {"rem", decodeRem},
    {"sad", decodeSad},
    {"mul24", decodeMul24},
    {"mad24", decodeMad24},
    {"dp4a", decodeDp4a},
    {"dp2a", decodeDp2a},
    {"addc", decodeAddc},
    {"subc", decodeSubc},
    {"madc", decodeMadc},
    {"and", decodeAnd},
    {"or", decodeOr},
    {"xor", decodeXor},
    {"not", decodeNot},
    {"cnot", decodeCnot},
    {"shl", decodeShl},
    {"shr", decodeShr},
    {"lop3", decodeLop3},
    {"popc", decodePopc},
    {"clz", decodeClz},
    {"brev", decodeBrev},
    {"bfind", decodeBfind},
    {"fns", decodeFns},
    {"bfe", decodeBfe},
    {"bfi", decodeBfi},
    {"bmsk", decodeBmsk},
    {"szext", decodeSzext},
    {"shf", decodeShf},
    {"prmt", decodePrmt},
    {"sqrt", decodeSqrt},
    {"rcp", decodeRcp},
    {"copysign", decodeCopysign},
    {"testp", decodeTestp},
    {"rsqrt", decodeRsqrt},
    {"sin", decodeSin},
    {"cos", decodeCos},
    {"lg2", decodeLg2},
    {"ex2", decodeEx2},
    {"tanh", decodeTanh},
    {"cvt", decodeCvt},
    {"setp", decodeSetp},
    {"set", decodeSet},
    {"selp", decodeSelp},
    {"slct", decodeSlct},
    {"mov", decodeMov},
    {"cvta", decodeCvta},
    {"isspacep", decodeIsspacep},
    {"ld", decodeLd},
    {"ldu", decodeLd},
    {"st", decodeSt},
    {"prefetch", decodePrefetch},
    {"prefetchu", decodePrefetch},
    {"atom", decodeAtom},
    {"red", decodeRed},
    {"shfl", decodeShfl},
    {"vote", decodeVote},
    {"match", decodeMatch},
    {"activemask", decodeActivemask},
    {"redux", decodeRedux},
    {"elect", decodeElect},
    {"mma", decodeMma},
    {"ldmatrix", decodeLdmatrix},
    {"stmatrix", decodeStmatrix},
    {"movmatrix", decodeMovmatrix},
    {"wgmma", decodeWgmma},
    {"setmaxnreg", decodeSetmaxnreg},
    {"cp", decodeCp},
    {"bra", decodeBra},
    {"brx", decodeBrx},
    {"ret", decodeRet},
    {"exit", decodeExit},
    {"trap", decodeTrap},
    {"brkpt", decodeTrap},
    {"call", decodeCall},
    {"bar", decodeBar},
    {"barrier", decodeBarrier},
    {"fence", decodeFence},
    {"membar", decodeMembar},
    {"nanosleep", decodeNanosleep},
};

} // namespace

Decoder decoderOf(std::string_view opcode) {
  auto it = kDecoders.find(opcode);
  return it == kDecoders.end() ? nullptr : it->second;
}

} // namespace mtc::ptx
