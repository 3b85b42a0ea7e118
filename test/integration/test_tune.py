"""Products of a CPU by a table of `mtc tune`.

A table has each product of the bundle once. Of one that names oneDNN for one shape, the
plan does so there and nowhere else, and trains as with oneDNN throughout and with our own
kernels: losses within what another order of sums explains. Of one that says where packing a
weight once a step pays, a plan with `prepack` packs there and nowhere else. Tables that are for something
else are refused, and so are bundles of two kinds, and IR that asks for a table where none
is read any more.

usage: test_tune.py BIN_DIR GOLDEN_DIR
"""

import json
import math
import os
import subprocess
import sys
import tempfile

import corpus
import precision
import safetensors
from layouts import GLOBAL_BATCH, SINGLE, Layout
from run_layout import Mtc, Report
from test_goldens import F32, check_run
from tune_tables import (CORES, INFEASIBLE, KEY, OPTIONS, REJECTED, SPEC, USAGE, PackingTester, by, products,
                         read, write)

SHIPPED = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))), "models", "gemm_tables")
sys.path.insert(0, SHIPPED)
import make  # which measured the tables  # pylint: disable=wrong-import-position


class Tester(PackingTester):
    def __init__(self, folder, goldens):
        self.mtc, self.report, self.folder, self.goldens = Mtc(), Report(), folder, goldens
        self.bundle = self.mtc.compile(SPEC, SINGLE, self.path("rule"), OPTIONS)
        self.table = self.path("table.json")

    def path(self, name):
        return os.path.join(self.folder, name)

    def imported(self, table, *options, name="imported.mlir"):
        """IR that asks for `table`."""
        file = self.path(name)
        self.mtc.call("compile", SPEC, *SINGLE.options(), *OPTIONS, "--gemm-table", table,
                      *options, "--compile-to", "import", "-o", file)
        return file

    def expect_refusal(self, what, arguments, code, *words):
        done = self.mtc.call(*arguments, check=False)
        self.report.expect(done.returncode == code and all(w in done.stderr for w in words),
                           f"{what}: expected code {code} with {words}, found "
                           f"{done.returncode}: {done.stderr}")

    def compile_with(self, table, *options):
        return ["compile", SPEC, *SINGLE.options(), *OPTIONS, "--gemm-table", table,
                "--json", *options, "-o", self.path("tuned")]

    def check_table(self):
        said = self.mtc.call("tune", self.bundle, "-o", self.table, "--rounds", 1).stdout
        rows = read(self.table)["products"]
        found = [tuple(row[key] for key in KEY) for row in rows]
        self.report.expect(sorted(found) == sorted(products(self.mtc, self.bundle)),
                           f"expected the plan's products, each once, found {found}")
        has_times = {row[key] is not None for row in rows
                     for key in ("onednn_us", "inner_product_us")}
        self.report.expect(has_times == {read(self.table)["isa"] != "x86-64-v3"},
                           f"expected times of oneDNN's with AVX-512 only, found {rows}")
        self.report.expect(len(said.splitlines()) == len(rows),
                           f"expected a line for each product, found {said}")
        # All but gradients of weights.
        packed = [row["packed_us"] is not None and row["pack_us"] is not None for row in rows]
        self.report.expect(packed == [not row["adds"] and not row["a_transposed"]
                                      for row in rows] and any(packed)
                           and said.count(" us, packing ") == packed.count(True),
                           f"expected times with a packed b where that may be a weight, found "
                           f"{rows}, {said}")
        quiet = self.mtc.call("tune", self.bundle, "-o", self.table, "--rounds", 1, "-q")
        self.report.expect(quiet.stdout == "", f"-q: found {quiet.stdout}")

    def check_one_shape(self):
        """The forward product of one layer's up."""
        table = read(self.table)
        chosen = None
        for row in table["products"]:
            by(row, "own")
            if not chosen and not row["a_transposed"] and row["n"] > row["k"]:
                by(row, "onednn")
                chosen = tuple(row[key] for key in KEY)
        file = write(self.path("one.json"), table)
        report = json.loads(self.mtc.call(*self.compile_with(file)).stdout)["gemm_table"]
        self.report.expect(report["by_table_onednn"] > 0 and report["by_rule"] == 0
                           and report["by_table"] > report["by_table_onednn"]
                           and report["processor"] == table["processor"],
                           f"expected all products by the table, found {report}")
        found = products(self.mtc, self.path("tuned"))
        self.report.expect({key for key, kernel in found.items() if kernel is None} == {chosen},
                           f"expected {chosen} by oneDNN alone, found {found}")
        check_run(self.mtc, self.report, self.path("tuned"),
                  os.path.join(self.goldens, "tied-1"), self.path("run"),
                  "one product by oneDNN", 5, F32)

    def check_inner_product(self):
        """Every product: forwards and gradients of inputs forward, gradients of weights
        backward; stored in the first microbatch and added in the others."""
        layout = Layout(micro_batch=2)
        bundle = self.mtc.compile(SPEC, layout, self.path("inner"), OPTIONS)
        file = self.path("inner.json")
        self.mtc.call("tune", bundle, "-o", file, "--rounds", 1, "-q")
        table = read(file)
        for row in table["products"]:
            by(row, "inner_product")
        arguments = ["compile", SPEC, *layout.options(), *OPTIONS, "--gemm-table",
                     write(file, table), "-o", bundle]
        said = self.mtc.call(*arguments).stdout
        report = json.loads(self.mtc.call(*arguments, "--json").stdout)
        found = products(self.mtc, bundle)
        directions = {(key[3], key[5]) for key in found}
        self.report.expect(set(found.values()) == {"inner_product"}
                           and directions == {(False, False), (True, False), (True, True)},
                           f"expected all products by inner_product, found {found}")
        counts = report["products"]
        self.report.expect(counts["own"] == 0
                           and counts["onednn"] == counts["onednn_inner_product"] > 0
                           and f"0 by kernels of our own, {counts['onednn']} by oneDNN, "
                           f"{counts['onednn']} of them by its inner_product" in said,
                           f"expected them in the report, found {counts}, {said}")
        table = report["gemm_table"]
        self.report.expect(table["by_table"] == table["by_table_onednn"]
                           == table["by_table_inner_product"] > 0,
                           f"expected all by the table, found {table}")
        golden = os.path.join(self.goldens, "tied-1")
        check_run(self.mtc, self.report, bundle, golden, self.path("run"),
                  "all products by inner_product", 5, F32)
        for wide in [bundle] * (CORES > 1) + [
                self.mtc.compile(SPEC, layout, self.path("matmul"),
                                 ["--threads-per-rank", 2, "--gemm", "onednn"])]:
            self.check_team(wide, golden)
        # Without AVX-512 oneDNN's kernels allocate.
        older = {**read(self.table), "isa": "x86-64-v3"}
        for row in older["products"]:
            by(row, "inner_product")
        self.expect_refusal("inner_product with AVX2", self.compile_with(
            write(self.path("older.json"), older), "--isa", "x86-64-v3"), INFEASIBLE,
            "older.json: ", "expected a kernel that has this product under x86-64-v3 on this "
            "machine, found inner_product")

    def check_team(self, bundle, golden):
        """Kernels of oneDNN's are wrong, or hang, with fewer threads than they were planned
        for: a limit is refused, and what OpenMP thinks of the machine's load does not count."""
        arguments = ["run", bundle, "--data", os.path.join(golden, "data.bin"), "--data-type", "u8",
                     "--steps", 2, "--quiet"]
        os.environ["OMP_THREAD_LIMIT"] = "1"
        self.expect_refusal("a limit of threads", arguments, INFEASIBLE, "products of onednn: "
                            "expected the plan's 2 threads per rank, found that OpenMP gives 1",
                            "OMP_THREAD_LIMIT", "--gemm own")
        del os.environ["OMP_THREAD_LIMIT"]
        os.environ["OMP_DYNAMIC"] = "true"
        check_run(self.mtc, self.report, bundle, golden, self.path("run"), "OMP_DYNAMIC", 5, F32)
        del os.environ["OMP_DYNAMIC"]

    def check_microbatches(self):
        """A gradient of a weight is looked up as most microbatches of a step make it: added
        where there are several, stored where there is one."""
        layout = Layout(micro_batch=2)
        bundle = self.mtc.compile(SPEC, layout, self.path("few"), OPTIONS)
        file = self.path("adds.json")
        self.mtc.call("tune", bundle, "-o", file, "--rounds", 1, "-q")
        table = read(file)
        for row in table["products"]:
            by(row, "onednn" if row["adds"] else "own")
        write(file, table)
        for batch in (layout.micro_batch, GLOBAL_BATCH):
            self.mtc.compile(SPEC, layout, bundle, [*OPTIONS, "--gemm-table", file],
                             batch=batch)
            found = products(self.mtc, bundle)
            stored = {key: kernel for key, kernel in found.items() if key[3] and not key[5]}
            expected = {None} if batch == GLOBAL_BATCH else {"own_streamed"}
            self.report.expect(stored and set(stored.values()) == expected,
                               f"{batch} samples: expected gradients of weights by {expected}, "
                               f"found {stored}")

    def check_lengths(self):
        """The table has products of one of two lengths: its own by oneDNN, and the program
        asks for that library."""
        file = self.path("one.json")
        self.mtc.call("compile", SPEC, *SINGLE.options(), *OPTIONS, "--seq", "16,32",
                      "--gemm-table", file, "-o", self.path("lengths"))
        found = list(products(self.mtc, self.path("lengths")).values())
        self.report.expect(found.count(None) == 1,
                           f"two lengths: expected one product by oneDNN, found {found}")

    def check_norms(self):
        """A table gives oneDNN the gradients of weights of one of two lengths, which then are
        counted behind its products: a step has the norm of its gradients, whichever length it
        and the step before have."""
        table = read(self.table)
        for row in table["products"]:
            if row["a_transposed"]:
                by(row, "onednn")
        data, bundle = self.path("data.bin"), self.path("norms")
        corpus.write(data)
        self.mtc.call("compile", SPEC, *SINGLE.options(), *OPTIONS, "--seq", "16,32",
                      "--gemm-table", write(self.path("gradients.json"), table), "-o", bundle)
        for first, then in ((16, 32), (32, 16)):
            out = self.path(f"norms-{first}")
            log = self.mtc.run(bundle, ["--data", data, "--data-type", "u8", "--steps", 2, "--seq",
                                        f"{first}:1, {then}"], out, dumps=("grads@2",))
            gradients = safetensors.read(os.path.join(out, "grads@2.safetensors"))
            norm = math.sqrt(math.fsum(x * x for tensor in gradients.values() for x in tensor.values()))
            self.report.expect(abs(log[1]["grad_norm"] / norm - 1) < 1e-12,
                               f"{then} tokens behind {first}: expected the norm {norm}, found "
                               f"{log[1]['grad_norm']}")

    def check_rule(self):
        """Products that the table lacks go by the rule, whichever it is."""
        table = read(self.table)
        table["products"] = [row for row in table["products"] if not row["a_transposed"]][:1]
        by(table["products"][0], "own")
        file = write(self.path("few.json"), table)
        for rule, others in (("own", {"own", "own_streamed"}), ("onednn", {None})):
            done = self.mtc.call(*self.compile_with(file, "--gemm", rule))
            report = json.loads(done.stdout)["gemm_table"]
            found = products(self.mtc, self.path("tuned"))
            first = tuple(table["products"][0][key] for key in KEY)
            self.report.expect(found.pop(first) == "own" and set(found.values()) == others
                               and report["by_table"] > 0 and report["by_rule"] > 0,
                               f"{rule}: expected others by the rule, found {found}, {report}")

    def check_refusals(self):
        def edited(name, **changes):
            return write(self.path(name), {**read(self.table), **changes})
        refuse = self.expect_refusal
        refuse("another instruction set", self.compile_with(edited("isa", isa="x86-64-v9")),
               USAGE, "isa: expected a table for x86-64-v", "found one for x86-64-v9",
               "mtc tune")
        refuse("another oneDNN", self.compile_with(edited("library", onednn="9.9.9")),
               USAGE, "oneDNN 9.9.9", "mtc tune")
        refuse("a table of GPUs", self.compile_with(write(self.path("gpu"),
                                                               {"gemm_table": 2})),
               REJECTED, "expected a table of products of CPUs, found one of GPUs")
        refuse("no table", self.compile_with(self.path("none.json")), REJECTED, "none.json")
        refuse("no JSON", self.compile_with(os.path.join(self.bundle, "programs", "stage0")),
               REJECTED, "stage0")
        refuse("a plan for GPUs", self.compile_with(self.table, "--target", "cuda:sm_90"),
               INFEASIBLE, "target = cpu with gemm_table", "mtc run")
        refuse("a GPU of a bundle for CPUs",
               ["tune", self.bundle, "-o", self.path("x"), "--device", 0], USAGE,
               "--device: expected bundles for GPUs")
        refuse("algorithms of a bundle for CPUs",
               ["tune", self.bundle, "-o", self.path("x"), "--algorithms", 3], USAGE,
               "--algorithms: expected bundles for GPUs")
        gpu = self.mtc.compile(SPEC, SINGLE, self.path("gpu.mtc"), ["--target", "cuda:sm_90"])
        refuse("two kinds", ["tune", self.bundle, gpu, "-o", self.path("x")], USAGE,
               "gpu.mtc: expected a bundle for the CPU", "found one for GPUs")
        self.report.expect(not os.path.exists(self.path("x")), "a refused tune wrote a file")

    def check_notes(self):
        """IR says by an absolute path which table it is of; who does not follow that is
        refused, and errors of the table name the IR."""
        table, bundle = self.path("one.json"), self.path("noted")
        plan = self.imported(os.path.relpath(table))
        with open(plan, encoding="utf-8") as text:
            ir = text.read()
        note = f'mtc.gemm_table = "{os.path.realpath(table)}"'
        self.report.expect(ir.count(note) == 1, f"expected {note} in IR, found {ir[:500]}")
        # Behind a link, where .. is not the folder that the link stands in.
        os.makedirs(self.path("deep/strategies"))
        os.symlink(self.path("deep/strategies"), self.path("s"))
        linked = os.path.realpath(write(self.path("deep/one.json"), read(table)))
        with open(self.imported(self.path("s/../one.json"), name="linked.mlir"),
                  encoding="utf-8") as text:
            self.report.expect(f'mtc.gemm_table = "{linked}"' in text.read(),
                               f"expected {linked} in IR")
        behind = self.path("behind.mlir")
        opt = os.path.join(os.path.dirname(self.mtc.program), "mtc-opt")
        subprocess.run([opt, plan, "--mtc-compile", "-o", behind], check=True)
        self.expect_refusal("a table that was never read", ["compile", behind, "-o", bundle],
                            INFEASIBLE, "behind.mlir' asks for a table", "mtc.gemm_table: expected IR "
                            "in front of store-gradients", "one.json", "remove the attribute")
        def edited(name, found):
            with open(self.path(name), "w", encoding="utf-8") as text:
                text.write(ir.replace(note, found))
            return ["compile", self.path(name), "-o", bundle]
        self.expect_refusal("a note that is a number",
                            edited("number.mlir", "mtc.gemm_table = 5 : i64"), INFEASIBLE,
                            "number.mlir' asks for a table", "mtc.gemm_table: expected the "
                            "path of a table in quotes, found 5 : i64")
        self.expect_refusal("a table that is gone",
                            edited("gone.mlir", 'mtc.gemm_table = "gone.json"'), REJECTED,
                            "gone.mlir' asks for a table of products (mtc.gemm_table): ",
                            "gone.json")
        two = self.imported(table, "--seq", "16,32", name="two.mlir")
        with open(two, encoding="utf-8") as text:
            ir = text.read()
        with open(two, "w", encoding="utf-8") as text:
            text.write(ir.replace(note, 'mtc.gemm_table = "other.json"', 1))
        self.expect_refusal("two tables", ["compile", two, "-o", bundle], INFEASIBLE,
                            "expected one table for all plans, found", "other.json")
        def with_note(name, *options):
            plan = self.path(name)
            self.mtc.call("compile", SPEC, *SINGLE.options(), *OPTIONS, *options,
                          "--compile-to", "import", "-o", plan)
            with open(plan, encoding="utf-8") as text:
                ir = text.read()
            with open(plan, "w", encoding="utf-8") as text:
                text.write(ir.replace("module attributes {", f"module attributes {{{note}, ", 1))
            return ["compile", plan, "-o", bundle]
        self.expect_refusal("a note around plans", with_note("around.mlir", "--seq", "16,32"),
                            INFEASIBLE, "mtc.gemm_table: expected it on each plan", "one.json")
        self.expect_refusal("a note of a GPU", with_note("gpu.mlir", "--target", "cuda:sm_90"),
                            INFEASIBLE, "mtc.gemm_table: expected target = cpu, found cuda")
        self.report.expect(not os.path.exists(bundle), "a refused compile wrote a bundle")

    def check_report(self):
        """It says what computes products, also of IR that has no table any more."""
        plan = self.path("chosen.mlir")
        self.mtc.call("compile", self.imported(self.path("one.json")), "--compile-to",
                      "store-gradients", "-o", plan)
        said = self.mtc.call("compile", plan, "-o", self.path("chosen")).stdout
        rows = len(products(self.mtc, self.path("chosen")))
        self.report.expect(f"products       {rows - 1} by kernels of our own, 1 by oneDNN" in said
                           and "table " not in said,
                           f"expected 1 of {rows} products by oneDNN, found {said}")
        table = read(self.table)
        table["products"][0]["k"] = 1 << 30
        table["products"] = table["products"][:1]
        by(table["products"][0], "own")
        arguments = self.compile_with(write(self.path("others.json"), table))
        arguments.remove("--json")
        said = self.mtc.call(*arguments).stdout
        self.report.expect("others.json: note: it has none of the plan's products" in said
                           and "products       by kernels of our own\n" in said,
                           f"a table of other products: found {said}")

    def check_continued(self):
        """What a kernel continues stays ours, whatever the table says."""
        table = read(self.table)
        for row in table["products"]:
            by(row, "onednn")
        file = write(self.path("all.json"), table)
        pointwise = ["--gemm-epilogues", "pointwise"]
        counts = []
        for options in (), ("--gemm-table", file):
            plan = self.path("continued.mlir")
            self.mtc.call("compile", SPEC, *SINGLE.options(), *OPTIONS, *pointwise, *options,
                          "--compile-to", "assign-streams", "-o", plan)
            with open(plan, encoding="utf-8") as text:
                counts.append(sum("rt.launch" in line and " continues " in line for line in text))
        self.report.expect(counts[0] > 0 and counts[0] == counts[1],
                           f"expected as many kernels that continue products, found {counts}")
        said = json.loads(self.mtc.call(*self.compile_with(file, *pointwise)).stdout)
        found = said["gemm_table"]
        self.report.expect(found["continued"] == counts[0] and found["by_rule"] == 0
                           and found["by_table"] == found["by_table_onednn"] + counts[0],
                           f"expected {counts[0]} products to stay ours, found {found}")

    def check_search(self):
        """mtc lint and `recompute = fit` plan with the table: without it they would not
        see that there is none."""
        inputs = [SPEC, *SINGLE.options(), *OPTIONS, "--gemm-table", self.path("none.json")]
        self.expect_refusal("lint", ["lint", *inputs], REJECTED, "none.json")
        self.expect_refusal("fit", ["compile", *inputs, "--recompute", "fit", "--device-memory",
                                    "1GiB", "--compile-to", "import", "-o", self.path("x")],
                            REJECTED, "none.json")

    def check_shipped(self):
        """Each table that comes with mtc is one of these kernels', is found by its name, and
        has all products of a case that it was made for."""
        names = self.mtc.call("help", "gemm-tables").stdout.split()
        self.report.expect(names, "expected tables that come with mtc, found none")
        mine = read(self.table)
        for number, name in enumerate(names):
            shipped = read(os.path.join(SHIPPED, name + ".json"))
            self.report.expect(shipped["own_kernels"] == mine["own_kernels"],
                               f"{name}: of version {shipped['own_kernels']} of our kernels, "
                               f"expected {mine['own_kernels']}: measure it again "
                               "(models/gemm_tables/make.py), or remove it")
            arguments = ["compile", "gpt2-124m", "--mbs", 1, "--gbs", 2, "--seq", 256,
                         "--dtype", name.split("-")[-1], "--threads-per-rank", 2,
                         "--isa", shipped["isa"], "--gemm-table", name, "--json", "-o",
                         self.path("shipped")]
            is_for_here = precision.has_flag(
                "avx512_bf16" if name.endswith("bf16") else "avx512f")
            if shipped["onednn"] != mine["onednn"] or not is_for_here:
                self.expect_refusal(name, arguments, USAGE, "mtc tune")
                continue
            # The products of types are alike: each table has a part of the cases.
            for case, options in list(make.cases(name.split("-")[-1]))[number::len(names)]:
                found = json.loads(self.mtc.call(
                    "compile", *options, "--isa", shipped["isa"], "--gemm-table", name,
                    "--json", "-o", self.path("shipped")).stdout)["gemm_table"]
                self.report.expect(found["by_table"] > 0 and found["by_rule"] == 0
                                   and found["processor"] == shipped["processor"],
                                   f"{name}: {case}: expected all products by it, found "
                                   f"{found}")
        # Only beside the strategy, not where mtc was started.
        elsewhere = self.path("elsewhere/s.toml")
        os.makedirs(os.path.dirname(elsewhere))
        with open(elsewhere, "w", encoding="utf-8") as text:
            text.write('gemm_table = "table.json"\n')
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            self.expect_refusal("a table of the working folder", [
                "compile", SPEC, *SINGLE.options(), *OPTIONS, "--strategy", elsewhere, "-o",
                self.path("x")], REJECTED, "elsewhere/table.json: expected a gemm_table file")
        finally:
            os.chdir(before)
        strategy = self.path("named.toml")
        with open(strategy, "w", encoding="utf-8") as text:
            text.write(f'gemm_table = "{names[0]}"\n')
        with open(self.imported(self.table, "--strategy", strategy), encoding="utf-8") as text:
            self.report.expect("table.json" in text.read(), "an option goes before a strategy")
        plan = self.path("named.mlir")
        compile_named = ["compile", SPEC, *SINGLE.options(), *OPTIONS, "--strategy", strategy,
                         "--compile-to", "import", "-o", plan]
        self.mtc.call(*compile_named)
        with open(plan, encoding="utf-8") as text:
            self.report.expect(f"gemm_tables/{names[0]}.json" in text.read(),
                               "expected the table of that name, which a strategy names")
        # One of that name beside the strategy goes before.
        beside = write(self.path(names[0]), mine)
        self.mtc.call(*compile_named)
        with open(plan, encoding="utf-8") as text:
            self.report.expect(f'"{os.path.realpath(beside)}"' in text.read(),
                               "expected the file beside the strategy")
        self.expect_refusal("a name that is none",
                            self.compile_with("zen5-f23"), REJECTED,
                            "expected a gemm_table file or one of: ", "did you mean 'zen5-f32'")

    def check_threads(self):
        bundle = self.mtc.compile(SPEC, SINGLE, self.path("wide"),
                                  ["--threads-per-rank", CORES + 1])
        self.expect_refusal("too many threads", ["tune", bundle, "-o", self.path("x")], USAGE,
                            f"wide: expected at most {CORES} threads a rank",
                            f"found {CORES + 1}", "--threads-per-rank")

    def check_strategy(self):
        """A path in a strategy begins where the strategy lies; IR that was saved before the
        choice says which table it is of."""
        strategy = self.path("s.toml")
        with open(strategy, "w", encoding="utf-8") as text:
            text.write('gemm_table = "one.json"\n')
        plan = self.path("lowered.mlir")
        self.mtc.call("compile", SPEC, *SINGLE.options(), *OPTIONS, "--strategy", strategy,
                      "--compile-to", "lower-calls", "-o", plan)
        bundle = self.path("again")
        self.mtc.call("compile", plan, "-o", bundle)
        found = list(products(self.mtc, bundle).values())
        self.report.expect(found.count(None) == 1,
                           f"by a strategy: expected one product by oneDNN, found {found}")

    def check_library(self):
        """Tables that name oneDNN."""
        self.check_one_shape()
        self.check_inner_product()
        self.check_microbatches()
        self.check_lengths()
        self.check_norms()
        self.check_rule()
        self.check_shipped()
        self.check_strategy()
        self.check_notes()
        self.check_report()
        self.check_continued()
        self.check_packing()
        self.check_search()


def main():
    os.environ["OMP_WAIT_POLICY"] = "passive"
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(folder, os.path.join(sys.argv[2], "gpt2"))
        tester.check_table()
        if precision.library_has("f32"):
            tester.check_library()
        else:
            print("  oneDNN has no kernels for plans on this processor")
        tester.check_threads()
        tester.check_refusals()
    return tester.report.finish("products by a table")


if __name__ == "__main__":
    sys.exit(main())
