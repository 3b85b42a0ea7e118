#!/usr/bin/env python3
"""Each lint accepts a small tree without faults and names a planted one."""

import os
import pathlib
import subprocess
import sys
import tempfile

LINT = pathlib.Path(sys.argv[1])

# A tree that every lint accepts.
CLEAN = {
    "dialects/tfm/Ops.td": 'def Tfm_AddOp : Tfm_Op<"add"> {\n'
                           '  let summary = "sum";\n'
                           '  let description = [{ Example: `tfm.add` }];\n}\n',
    "dialects/tfm/Attrs.td": 'def M : I32EnumAttr<"M", "mode", [I32EnumAttrCase<"A", 0>, '
                             'I32EnumAttrCase<"B", 1>]> {\n'
                             '  let description = [{\n    Text.\n  }];\n}\n'
                             'def Mesh : AttrDef<Dialect, "Mesh"> {\n'
                             '  let summary = "mesh";\n'
                             '  let description = [{\n    Example: `#m<1>`\n  }];\n}\n',
    "passes/Passes.td": 'def LowerToLLVM : MtcPass<"lower-to-llvm"> {\n'
                        '  let summary = "to llvm";\n  let description = [{\n'
                        '    Why.\n\n    Input:\n    ```\n    a\n    ```\n\n'
                        '    Output, in `@f`:\n    ```\n    b\n    ```\n  }];\n}\n',
    "passes/codegen/LowerToLLVM.cpp": '#include "mtc/runtime/abi.h"\n'
                                      '#include "llvm/IR/Module.h"\n',
    "passes/plan/CMakeLists.txt": "mtc_passes(mtc_passes_plan Plan.cpp)\n",
    "passes/pipeline/CMakeLists.txt": "mtc_passes(mtc_passes_pipeline P.cpp)\n",
    "passes/target/CMakeLists.txt": "mtc_passes(mtc_target target.cpp)\n",
    "passes/verify/CMakeLists.txt": "mtc_passes(mtc_passes_verify a.cpp)\n"
                                    "target_link_libraries(mtc_passes_verify PUBLIC\n"
                                    "  mtc_target LLVM)\n",
    "models/strategy.h": '#include "mtc/runtime/mesh.h"\n',
    "runtime/base/status.cpp": '#include "runtime/base/status.h"\n#include <vector>\n',
    "docs/a.md": "see docs/b.md; an url: https://example.org/" "home/page\n",
}

# lint, file, its faulty content, a word of the message
FAULTS = [
    ("layering", "runtime/base/status.cpp", '#include "llvm/ADT/X.h"\n', "llvm/ADT/X.h"),
    ("layering", "runtime/base/status.cpp", '#  include <mlir/IR/X.h>\n', "mlir/IR/X.h"),
    ("layering", "runtime/base/status.cpp", '#include "compiler/x.h"\n', "compiler/x.h"),
    ("layering", "runtime/train/t.cpp", '#include "runtime/device/cpu/cpu_device.h"\n',
     "cpu_device.h"),
    ("layering", "dialects/tfm/T.cpp", '#include "passes/Passes.h"\n', "passes/Passes.h"),
    ("layering", "dialects/tfm/T.cpp", '#include "dialects/dist/D.h"\n', "dist/D.h"),
    ("layering", "passes/model/M.cpp", '#include "mtc/runtime/abi.h"\n', "abi.h"),
    ("layering", "passes/plan/M.cpp", '#include "compiler/x.h"\n', "compiler/x.h"),
    ("layering", "passes/verify/v.cpp", '#include "passes/plan/Cluster.h"\n', "Cluster.h"),
    ("layering", "passes/verify/CMakeLists.txt", "mtc_passes(mtc_passes_verify a.cpp)\n"
     "target_link_libraries(mtc_passes_verify PUBLIC mtc_passes_plan)\n", "mtc_passes_plan"),
    # The folder around one that it may include.
    ("layering", "passes/verify/CMakeLists.txt", "mtc_passes(mtc_passes_verify a.cpp)\n"
     "target_link_libraries(mtc_passes_verify PUBLIC mtc_passes_pipeline)\n",
     "mtc_passes_pipeline"),
    ("layering", "models/m.cpp", '#include "passes/Passes.h"\n', "passes/Passes.h"),
    ("layering", "models/m.cpp", '#include "passes/pipeline/schedules/check.h"\n', "check.h"),
    ("layering", "models/m.cpp", '#include "mtc/runtime/abi.h"\n', "abi.h"),
    ("layering", "passes/pipeline/schedules/s.cpp", '#include "mlir/IR/X.h"\n', "mlir"),
    ("names", "passes/Passes.td", 'def LowerToLLVM : MtcPass<"lower-llvm"> {}\n', "flag"),
    ("names", "passes/Passes.td", 'def Fuse : MtcPass<"fuse"> {}\n', "Fuse.cpp"),
    ("names", "dialects/tfm/Ops.td", 'def A : Tfm_Op<"add"> {\n'
     '  let description = [{ Example }];\n}\n', "summary"),
    ("names", "dialects/tfm/Ops.td", 'def A : Tfm_Op<"add"> {\n'
     '  let summary = "sum";\n  let description = [{ none }];\n}\n', "example"),
    ("names", "dialects/tfm/Ops.td", "", "definitions of ops"),
    ("names", "dialects/tfm/Ops.td", 'def A : Tfm_Op<"add"> {\n'
     '  let summary = "sum";\n  let description = [{Example: `a`\n\n    b\n  }];\n}\n',
     "line of its own"),
    ("names", "dialects/tfm/Ops.td", 'def SubOp : Tfm_Binary<"sub"> {\n}\n', "op sub"),
    ("names", "dialects/tfm/Attrs.td", 'def Mesh : AttrDef<Dialect, "Mesh"> {\n'
     '  let summary = "mesh";\n}\n', "attribute Mesh: expected a description"),
    ("names", "dialects/tfm/Attrs.td", 'def T : TypeDef<Dialect, "T"> {\n'
     '  let description = [{Example: `!t`}];\n}\n', "type T: expected a summary"),
    ("names", "dialects/tfm/Attrs.td", 'def M : I32EnumAttr<"M", "mode", '
     '[I32EnumAttrCase<"A", 0>, I32EnumAttrCase<"B", 1>]> {\n}\n',
     "enum M: expected a description"),
    ("names", "passes/Passes.td", 'def LowerToLLVM : MtcPass<"lower-to-llvm"> {\n'
     '  let summary = "to llvm";\n  let description = [{\n    Why.\n\n'
     '    Input:\n    ```\n    a\n    ```\n  }];\n}\n', "pass lower-to-llvm: expected 'Output"),
    ("size", "runtime/base/long.cpp", "\n" * 601, "601"),
    ("format", "runtime/base/wide.cpp", "int  two = 2;\n", "wide.cpp"),
    ("words", "docs/a.md", "look into /" "tmp/x\n", "docs/a.md:1"),
    ("words", "docs/a.md", "\n`/" "home`\n", "docs/a.md:2"),
    ("words", "runtime/a.cpp", 'open("/' 'root/x")\n', "runtime/a.cpp:1"),
]


def lint(name, tree):
    with tempfile.TemporaryDirectory() as folder:
        for path, content in tree.items():
            file = pathlib.Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        result = subprocess.run(
            [sys.executable, "-B", LINT / f"check_{name}.py", folder],
            capture_output=True, text=True,  # no git there, whatever lies above
            env={**os.environ, "GIT_CEILING_DIRECTORIES": str(pathlib.Path(folder).parent)})
        return result.returncode, result.stdout + result.stderr


def main():
    failures = 0
    for name in ("layering", "names", "size", "words"):
        code, output = lint(name, CLEAN)
        if code != 0:
            failures += 1
            print(f"{name}: expected no complaint of a clean tree, found\n{output}")
    for name, path, content, word in FAULTS:
        code, output = lint(name, {**CLEAN, path: content})
        if code != 1 or word not in output:
            failures += 1
            print(f"{name}: expected '{word}' in a complaint of {path}, "
                  f"found exit code {code}\n{output}")
    print(f"{len(FAULTS)} planted faults, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
