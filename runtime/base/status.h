//===- status.h - errors of the runtime as values ---------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_STATUS_H
#define MTC_RUNTIME_BASE_STATUS_H

#include "mtc/runtime/status.h"

#endif // MTC_RUNTIME_BASE_STATUS_H
