#!/bin/sh
# make_ptx.sh [FOLDER [ELEMENT_dDIM...]]
#
# Compiles the attention kernels to FOLDER/attention_ELEMENT_dDIM.ptx, ELEMENT
# bf16, f16 or f32, DIM 32, 64, 96, 128 or 256; d64_sm_90a are those by
# warpgroups. Without arguments it makes again what
# is checked in beside this file, which must come out equal with the nvcc that
# the files name.
set -e
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/ptx}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- bf16_d32 bf16_d64 bf16_d96 bf16_d128 bf16_d256 \
  f16_d64 f16_d128 f16_d256 f32_d32 f32_d64 f32_d96 f32_d128 f32_d256 \
  bf16_d64_sm_90a f16_d64_sm_90a
for instance; do
  dim=${instance#*_d} options=
  case $instance in
  f32_*) source=floats ;;
  *_sm_90a) source=groups dim=64 options=-arch=sm_90a ;;
  *) source=attention ;;
  esac
  "$here/../common/make_ptx.sh" "$here/$source.cu" \
    "$folder/attention_$instance.ptx" \
    "-DMTC_ELEMENT=${instance%%_d*}" "-DMTC_HEAD_DIM=$dim" $options
done
