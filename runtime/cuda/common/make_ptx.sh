#!/bin/sh
# make_ptx.sh SOURCE PTX [OPTION...]
#
# Compiles SOURCE, a .cu file, to PTX, which is checked in. OPTIONs go to nvcc;
# without an -arch among them it is for sm_80 and newer.
# Lines that say nothing are left out: a third of the bytes.
set -e
root=$(cd "$(dirname "$0")/../../.." && pwd)
source=$1
out=$2
shift 2
case " $* " in *" -arch="*) ;; *) set -- "$@" -arch=sm_80 ;; esac
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
version=$("$nvcc" --version | sed -n 's/.*, V//p')
mkdir -p "$(dirname "$out")"
"$nvcc" -std=c++20 --expt-relaxed-constexpr -ptx "-I$root" \
  "-I$root/runtime/include" "$@" "$source" -o "$out.whole"
{
  echo "// made by make_ptx.sh with nvcc $version; do not edit"
  sed -e 's/^[[:space:]]*//' -e '/^\/\//d' -e '/^$/d' "$out.whole"
} >"$out"
rm "$out.whole"
