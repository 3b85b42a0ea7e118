#!/bin/sh
# make_ptx.sh [FOLDER [ELEMENT...]]
#
# Compiles the GEMM kernels to FOLDER/gemm_ELEMENT.ptx, ELEMENT f32, bf16 or f16.
# Without arguments it makes again what is checked in beside this file, which must
# come out equal with the nvcc that the files name.
set -e
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/ptx}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- f32 bf16 f16
for element; do
  "$here/../common/make_ptx.sh" "$here/gemm.cu" "$folder/gemm_$element.ptx" \
    "-DMTC_ELEMENT=$element"
done
