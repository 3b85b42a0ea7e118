#!/bin/sh
# make_ptx.sh [FOLDER [ELEMENT_dDIM...]]
#
# Compiles the attention kernels to FOLDER/attention_ELEMENT_dDIM.ptx, ELEMENT
# bf16 or f16, DIM 32, 64, 96, 128 or 256. Without arguments it makes again what
# is checked in beside this file, which must come out equal with the nvcc that
# the files name. Lines that say nothing are left out: a third of the bytes.
set -e
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
folder=${1:-$here/ptx}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- bf16_d32 bf16_d64 bf16_d128 f16_d64
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
version=$("$nvcc" --version | sed -n 's/.*, V//p')
mkdir -p "$folder"
for instance; do
  out=$folder/attention_$instance.ptx
  "$nvcc" -std=c++20 --expt-relaxed-constexpr -arch=sm_80 -ptx "-I$root" \
    "-DMTC_ELEMENT=${instance%_d*}" "-DMTC_HEAD_DIM=${instance#*_d}" \
    "$here/attention.cu" -o "$out.whole"
  {
    echo "// made by make_ptx.sh with nvcc $version; do not edit"
    sed -e 's/^[[:space:]]*//' -e '/^\/\//d' -e '/^$/d' "$out.whole"
  } >"$out"
  rm "$out.whole"
done
