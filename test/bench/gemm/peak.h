//===- peak.h - what a processor multiplies with registers alone *- C++ -*-===//
#ifndef MTC_TEST_BENCH_GEMM_PEAK_H
#define MTC_TEST_BENCH_GEMM_PEAK_H

/// Does some milliseconds of multiplications and additions in fp32, or of
/// bf16 in fp32; returns how many.
double peakWork(bool isBf16);

#endif // MTC_TEST_BENCH_GEMM_PEAK_H
