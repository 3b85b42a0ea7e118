#!/bin/sh
# make_ptx.sh [FOLDER]
#
# Compiles the kernels of the norm to FOLDER/norm.ptx. Without arguments it makes
# again what is checked in beside this file, which must come out equal with the
# nvcc that the file names.
set -e
here=$(cd "$(dirname "$0")" && pwd)
# Without -fmad nvcc would contract what hosts compute in two roundings.
exec "$here/../common/make_ptx.sh" "$here/norm.cu" "${1:-$here/ptx}/norm.ptx" \
  -fmad=false
