//===- load.h - opens an MPI library ----------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_COMM_MPI_LOAD_H
#define MTC_RUNTIME_COMM_MPI_LOAD_H

#include "runtime/base/status.h"
#include "runtime/comm/mpi/engine.h"

#include <span>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// A library that engine.cpp is compiled for.
struct MpiLibrary {
  std::string_view
      name; ///< of `mtc run --mpi`; its engine is libmtc_mpi_NAME.so
  std::string_view title;
  std::string_view package; ///< of Debian, what to install
};

inline constexpr MpiLibrary kMpiLibraries[] = {
    {"mpich", "MPICH", "libmpich12"},
    {"openmpi", "Open MPI", "libopenmpi3"},
};

/// Null: no library has that name.
const MpiLibrary *mpiLibraryNamed(std::string_view name);

/// Opens the engine of a library in `folder`. It stays open to the end of the
/// process, as MPI can not begin twice. Errors: failed, with what to install.
Status loadMpi(const std::string &folder, const MpiLibrary &library,
               const MpiEngine *&out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_MPI_LOAD_H
