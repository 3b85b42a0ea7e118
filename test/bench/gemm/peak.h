//===- peak.h - what a processor multiplies with registers alone *- C++ -*-===//
#ifndef MTC_TEST_BENCH_GEMM_PEAK_H
#define MTC_TEST_BENCH_GEMM_PEAK_H

/// Does some milliseconds of multiplications and additions in fp32, or of
/// bf16 in fp32, by tiles if asked for, which the process must be allowed to
/// use; returns how many.
double peakWork(bool isBf16, bool byTiles);

#endif // MTC_TEST_BENCH_GEMM_PEAK_H
