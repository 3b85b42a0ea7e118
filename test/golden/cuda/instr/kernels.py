#!/usr/bin/env python3
"""Writes the PTX of the kernels of instr.jsonl, one file a module, or prints that of some:

    python3 kernels.py FOLDER      # as the results were made of: ptx/ and the runner's list
    python3 kernels.py - NAME...   # to the terminal

A kernel has four input and four output arrays and the number of elements. Thread i loads element i of
its inputs into %a %b %c %e (%a0 %a1 .. where an element has several registers), runs the body and stores
%x %y %z %w. An input or output with `!` is loaded or stored by the body, through %pa or %qx. Predicates
are bytes in memory.
"""

import collections
import json
import pathlib
import re
import sys

IN, OUT = "abce", "xyzw"
BITS = {"pred": 8, "b8": 8, "f16": 16, "f16x2": 32, "b128": 128,
        **{kind + str(bits): bits for kind in "bus" for bits in (16, 32, 64)}, "f32": 32, "f64": 64}
HEAD = (".param .u64 i0, .param .u64 i1, .param .u64 i2, .param .u64 i3, "
        ".param .u64 o0, .param .u64 o1, .param .u64 o2, .param .u64 o3, .param .u32 n")
SCRATCH = (".reg .pred %go, %p, %q; .reg .b32 %i, %t, %u, %lane; "
           ".reg .b64 %ad, %bd, %cd, %pa, %pb, %pc, %pe, %qx, %qy, %qz, %qw;")
LINE = "mov.u32 %i, %ctaid.x; mov.u32 %t, %ntid.x; mov.u32 %u, %tid.x; mad.lo.u32 %i, %i, %t, %u;"
GRID = """mov.u32 %i, %ctaid.z; mov.u32 %t, %nctaid.y; mov.u32 %u, %ctaid.y; mad.lo.u32 %i, %i, %t, %u; \
mov.u32 %t, %nctaid.x; mov.u32 %u, %ctaid.x; mad.lo.u32 %i, %i, %t, %u;
mov.u32 %t, %ntid.z; mov.u32 %u, %tid.z; mad.lo.u32 %i, %i, %t, %u; \
mov.u32 %t, %ntid.y; mov.u32 %u, %tid.y; mad.lo.u32 %i, %i, %t, %u; \
mov.u32 %t, %ntid.x; mov.u32 %u, %tid.x; mad.lo.u32 %i, %i, %t, %u;"""


def operand(token):
    """[!]kind[*registers]/register type"""
    manual, kind, per, reg = re.fullmatch(r"(!?)([^*/]+)(?:\*(\d+))?/(\w+)", token).groups()
    return bool(manual), kind, int(per or 1), reg


def memory(reg):
    return reg if reg[0] == "f" and reg != "f16" and reg != "f16x2" else f"b{BITS[reg]}"


def kernel(variant):
    lines = [variant["decl"]] if variant.get("decl") else []
    lines += [f".visible .entry {variant['name']}({HEAD})", "{", SCRATCH]
    ins = [operand(token) for token in variant["ins"]]
    outs = [operand(token) for token in variant["outs"]]
    named = lambda letter, j, per: f"%{letter}{j}" if per > 1 else f"%{letter}"
    for letters, operands in ((IN, ins), (OUT, outs)):
        for letter, (_, _, per, reg) in zip(letters, operands):
            lines.append(f".reg .{reg} " + ", ".join(named(letter, j, per) for j in range(per)) + ";")
    if variant.get("extra"):
        lines.append(variant["extra"])
    lines += [GRID if variant.get("by_grid") else LINE,
              "ld.param.u32 %t, [n]; setp.ge.u32 %go, %i, %t; @%go bra DONE;"]
    for k, (manual, _, per, reg) in enumerate(ins):
        size, letter = BITS[reg] // 8, IN[k]
        lines.append(f"ld.param.u64 %ad, [i{k}]; cvta.to.global.u64 %ad, %ad; mad.wide.u32 %p{letter}, %i, {size * per}, %ad;")
        if manual:
            continue
        if reg == "pred":
            lines.append(f"ld.global.u8 %t, [%p{letter}]; setp.ne.u32 %{letter}, %t, 0;")
            continue
        lines += [f"ld.global.{memory(reg)} {named(letter, j, per)}, [%p{letter}+{j * size}];" for j in range(per)]
    for k, (_, _, per, reg) in enumerate(outs):
        lines.append(f"ld.param.u64 %ad, [o{k}]; cvta.to.global.u64 %ad, %ad; mad.wide.u32 %q{OUT[k]}, %i, {BITS[reg] // 8 * per}, %ad;")
    lines += ["//<", variant["body"], "//>"]
    for k, (manual, _, per, reg) in enumerate(outs):
        size, letter = BITS[reg] // 8, OUT[k]
        for j in range(0 if manual else per):
            if reg == "pred":
                lines.append(f"selp.b32 %t, 1, 0, {named(letter, j, per)}; st.global.u8 [%q{letter}+{j}], %t;")
            else:
                lines.append(f"st.global.{memory(reg)} [%q{letter}+{j * size}], {named(letter, j, per)};")
    return "\n".join(lines + ["DONE: ret;", "}"]) + "\n"


def listed(variant):
    """name module n seed grid block, inputs (kind registers bits), outputs (registers bits)"""
    grid = variant.get("grid", [(variant["n"] + 127) // 128, 1, 1])
    words = [variant["name"], variant["module"], variant["n"], variant["seed"], *grid, *variant.get("block", [128, 1, 1])]
    ins, outs = ([operand(token) for token in variant[key]] for key in ("ins", "outs"))
    words.append(len(ins))
    for _, kind, per, reg in ins:
        words += [kind, per, BITS[reg]]
    words.append(len(outs))
    for _, _, per, reg in outs:
        words += [per, 1 if reg == "pred" else BITS[reg]]
    return " ".join(map(str, words))


def variants():
    here = pathlib.Path(__file__).parent
    return [json.loads(line) for line in open(here / "instr.jsonl")]


def main():
    if sys.argv[1] == "-":
        for variant in variants():
            if variant["name"] in sys.argv[2:]:
                print(kernel(variant))
        return
    modules = collections.defaultdict(list)
    for variant in variants():
        modules[variant["module"]].append(variant)
    folder = pathlib.Path(sys.argv[1])
    (folder / "ptx").mkdir(parents=True, exist_ok=True)
    (folder / "instr.list").write_text("".join(listed(v) + "\n" for v in variants()))
    for name, members in modules.items():
        text = f".version {members[0]['version']}\n.target sm_90\n.address_size 64\n"
        (folder / "ptx" / f"{name}.ptx").write_text(text + "".join(f"//@ {v['name']}\n{kernel(v)}" for v in members))


if __name__ == "__main__":
    main()
