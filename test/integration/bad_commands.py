"""Command lines that mean nothing."""

import re

import precision
from bad_case import Broken, Case, silent

USAGE, REJECTD, INFEASIBLE = 2, 3, 4
RUN = ["run", "one", "--data", "data.bin", "--data-type", "u8", "--quiet"]
COMPILE = ["compile", "tiny.toml", "--gbs", 2, "-o", "out"]
PLAN = ["compile", "plan.mlir", "-o", "out"]


def plan(text="// mtc: phase model\nmodule {}\n"):
    return lambda place: place.write("plan.mlir", text)


def edited(text, *options):
    """The plan of `tiny.toml`, with one piece of its text replaced."""
    def make(place):
        ended = place.run(["compile", "tiny.toml", "--gbs", 2, *options, "--compile-to",
                           "plan-memory", "-o", "plan.mlir"])
        ir, count = re.subn(*text, place.read("plan.mlir").decode())
        if ended.code != 0 or count == 0:
            raise Broken(f"no plan to edit: {ended.err}")
        place.write("plan.mlir", ir)
    return make


def edited_bundle(text, *options):
    def make(place):
        edited(text, *options)(place)
        ended = place.run([*PLAN, "--from", "plan-memory"])
        if ended.code != 0:
            raise Broken(ended.err)
    return make


def lacking(*features):
    """On a processor whose C library hides these features; mtc asks that library. A
    processor that really lacks them needs no hiding: the case is the same."""
    hidden = ",".join("-" + feature for feature in features)
    tunables = {"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={hidden}"}
    return lambda place, command: place.run(command, environment=tunables)


ONEDNN = (r'onednn = "[^"]*"', 'onednn = "9.9.9"'), "--gemm", "onednn"
# Without AVX-512 no plan names oneDNN, and there is none to edit.
OF_THE_LIBRARY = [
    Case("plan: another oneDNN", ["run", "out", *RUN[2:]], INFEASIBLE,
         ["oneDNN 9.9.9", "found 2.", "compile it again on this host"],
         edited_bundle(*ONEDNN)),
    Case("plan: another oneDNN, threads", ["run", "out", *RUN[2:], "--comm", "threads"],
         INFEASIBLE, ["oneDNN 9.9.9", "found 2."], edited_bundle(*ONEDNN)),
] if precision.library_has("f32") else []
OF_THE_MACHINE = OF_THE_LIBRARY + [
    Case("plan: an instruction set that is none", [*PLAN, "--from", "plan-memory"],
         USAGE, ["isa", "expected one of x86-64-v4-amx", "x86-64-v9"],
         edited((r'isa = "[^"]*"', 'isa = "x86-64-v9"'))),
    Case("plan: ranks that cannot be", [*PLAN, "--from", "plan-memory"], INFEASIBLE,
         ["plan.mlir:", "expected 1 to 65536 ranks along tp, found 0"],
         edited((r"mesh = <tp = 1", "mesh = <tp = 0"))),
    Case("plan: a configuration that lacks a field", [*PLAN, "--from", "plan-memory"],
         INFEASIBLE, ["plan.mlir:", "found no sequence"],
         edited((r", sequence = \d+", ""))),
    Case("plan: a configuration of another kind", [*PLAN, "--from", "plan-memory"],
         INFEASIBLE, ["expected mtc.config to be #mtc.config<", "found {tp = 1"],
         edited((r"mtc\.config = .*>>", "mtc.config = {tp = 1 : i64}"))),
    Case("plan: cut short", [*PLAN, "--from", "plan-memory"], INFEASIBLE,
         ["plan.mlir", "expected IR"], edited((r"(?s)\A(.{9000}).*", r"\1"))),
    Case("more memory than the device has", [*COMPILE, "--pp", 2, "--device-memory", "1KiB"],
         INFEASIBLE, ["stage 0: expected at most 1024 bytes per rank (device_memory), found",
                      "stage 1: expected at most 1024 bytes", "raise tp, pp or zero"]),
    Case("no AVX-512: a plan for it by oneDNN",
         [*COMPILE, "--gemm", "onednn", "--isa", "x86-64-v4"], INFEASIBLE,
         ["isa", "expected one that this machine has", "x86-64-v4"],
         act=lacking("AVX512F")),
    Case("no AVX-512: bf16 by oneDNN", [*COMPILE, "--gemm", "onednn", "--dtype", "bf16"],
         INFEASIBLE,
         ["dtype bf16", "expected a processor with AVX-512-BF16", "--gemm own", "--dtype f32"],
         act=lacking("AVX512F")),
    Case("a plan for AVX2 by oneDNN",
         [*COMPILE, "--gemm", "onednn", "--isa", "x86-64-v3"], INFEASIBLE,
         ["isa: expected an instruction set with AVX-512", "found x86-64-v3", "--gemm own"]),
    Case("no AVX2: a bundle that needs it", RUN, INFEASIBLE,
         ["needs a CPU with x86-64-v", "this machine lacks", "compile the plan"],
         act=lacking("AVX2", "AVX512F")),
    Case("no AVX2: a bundle that needs it, threads", [*RUN, "--comm", "threads"],
         INFEASIBLE, ["needs a CPU with x86-64-v", "this machine lacks"],
         act=lacking("AVX2", "AVX512F")),
]

TOGETHER = ["--append", "--save-interval", 5, "--exit-interval", 5, "--max-restarts", 1,
            "--eval-first", 3, "--strict", "--trace-step", 1, "--profile-step-end", 2,
            "--dump", "gradients", "d", "--dump", "grads@0", "d"]
TOGETHER_SAYS = ["--append: expected --log", "--save-interval, --keep", "--exit-interval and",
                 "--max-restarts: expected", "--eval-first: expected", "--strict: expected",
                 "--trace-step: expected", "--profile-step-start and", "dump 'gradients': expected",
                 "dump 'grads@0': expected"]

CASES = OF_THE_MACHINE + [
    Case("no subcommand", [], USAGE, ["subcommand", "mtc --help"]),
    Case("unknown subcommand", ["complie", "tiny.toml"], USAGE,
         ["complie", "did you mean 'compile'?"]),
    Case("unknown subcommand, near nothing", ["frobnicate"], USAGE,
         ["frobnicate", "compile", "run", "inspect", "help"]),
    Case("unknown option", [*RUN, "--stesp", "3"], USAGE,
         ["--stesp", "did you mean '--steps'?", "mtc run --help"]),
    Case("unknown option of compile", [*COMPILE, "--micro-batch", 1], USAGE,
         ["--micro-batch", "did you mean '--micro-batch-size'?"]),
    Case("unknown option, near nothing", [*RUN, "--quux"], USAGE,
         ["--quux", "mtc run --help"]),
    Case("one argument too many", [*RUN, "another"], USAGE, ["another"]),
    Case("missing value", [*RUN, "--steps"], USAGE, ["--steps"]),
    Case("no bundle", ["run"], USAGE, ["bundle"]),
    Case("negative steps", [*RUN, "--steps", -3], USAGE,
         ["steps", "from 0 to 9223372036854775807", "-3"]),
    Case("steps beyond 64 bits", [*RUN, "--steps", 10 ** 21], USAGE,
         ["--steps", "from 0 to 9223372036854775807", f"'{10 ** 21}'"]),
    Case("steps as a power", [*RUN, "--steps", "1e21"], USAGE,
         ["--steps", "an integer", "'1e21'"]),
    Case("a seed beyond 64 bits", [*RUN, "--seed", 2 ** 64], USAGE,
         ["--seed", "from 0 to 18446744073709551615", f"'{2 ** 64}'"]),
    Case("two values that are no numbers", [*RUN, "--lr", "fast", "--clip", "1,5"], USAGE,
         ["--lr", "'fast'", "--clip", "'1,5'"]),
    Case("an option given twice", [*RUN, "--steps", 3, "--steps", 4], USAGE,
         ["--steps", "at most once", "2 times"]),
    Case("a rate below the lowest one", [*RUN, "--lr", "1e-5"], USAGE,
         ["min_lr", "at most lr 1e-05", "found 3e-05", "--min-lr"]),
    Case("steps and samples", [*RUN, "--steps", 3, "--samples", 40], USAGE,
         ["--steps and --samples", "expected one of them"]),
    Case("samples for no step", [*RUN, "--samples", 1, "--decay", "constant"], USAGE,
         ["samples: expected at least those of the first step, found 1"]),
    Case("a group that the bundle has not", [*RUN, "--groups", "slow: lr_scale 0.1"], USAGE,
         ["groups: expected groups that the bundle was compiled with (none)", "slow",
          "[[override]]"]),
    Case("Megatron-LM's rate of embeddings", [*RUN, "--decoupled-lr", "1e-4"], USAGE,
         ["--decoupled-lr", "[[override]]", "--groups"]),
    Case("Megatron-LM's options of the model and of texts",
         [*RUN, "--num-layers", 24, "--vocab-file", "vocab.json"], USAGE,
         ["--num-layers", "mtc help spec", "--vocab-file", "mtc data tokenize"]),
    Case("Megatron-LM's options of the strategy",
         [*RUN, "--data-parallel-size", 2, "--bf16"], USAGE,
         ["--data-parallel-size", "to mtc compile, give --dp", "--bf16: no option of mtc run"]),
    Case("an option of Megatron-LM that mtc does not know", [*RUN, "--moe-router-topk", 2],
         USAGE, ["--moe-router-topk", "mtc run --help"]),
    Case("a fall of WSD without a length", [*RUN, "--lr-decay-style", "WSD"], USAGE,
         ["decay wsd", "wsd_decay_steps"]),
    Case("a recipe that is none", [*RUN, "--recipe", "megatron-gpt9"], REJECTD,
         ["megatron-gpt9"]),
    Case("a time limit that is no number", [*RUN, "--timeout", "nan"], USAGE,
         ["--timeout", "expected 0, or a number from 1 to 1000000, found 'nan'"]),
    Case("an infinite time limit", [*RUN, "--timeout", "inf"], USAGE,
         ["--timeout", "a number from 1 to 1000000, found 'inf'"]),
    Case("a time limit that all would miss", [*RUN, "--timeout", "1e-9"], USAGE,
         ["--timeout", "a number from 1 to 1000000, found '1e-9'"]),
    *(Case(f"{option[2:]} of {value}", [*RUN, option, value], USAGE,
           [f"{option}: expected a number from {bounds}, found '{value}'"])
      for option, bounds, values in
      (("--heartbeat-timeout", "1 to 1000000", ("nan", "1e-9")),
       ("--rdzv-timeout", "1 to 1000000", ("0", "inf")),
       ("--exit-duration-in-mins", "1e-06 to 1000000", ("0", "nan")),
       ("--peak-tflops", "1e-06 to 1000000000", ("0", "inf")))
      for value in values),
    Case("a rank below 0", [*RUN, "--rank", -1, "--world", 2], USAGE,
         ["--rank: expected an integer from 0 to 2147483647, found '-1'"]),
    Case("more ranks than can be counted", [*RUN, "--rank", 0, "--world", 10 ** 12], USAGE,
         ["--world: expected an integer from 1 to 2147483647, found '1000000000000'"]),
    Case("evaluation of a power of batches", [*RUN, "--eval", "1e9"], USAGE,
         ["--eval", "an integer from 1", "'1e9'"]),
    Case("no steps and nothing to write", [*RUN, "--steps", 0], USAGE,
         ["steps >= 1", "found steps 0", "--save"]),
    Case("steps are a word", [*RUN, "--steps", "many"], USAGE, ["--steps", "many"]),
    Case("learning rate is not a number", [*RUN, "--lr", "nan"], USAGE,
         ["--lr", "a number >= 0", "'nan'"]),
    Case("eps of 0", [*RUN, "--eps", 0], USAGE, ["eps: expected a number >= 1e-45", "found 0"]),
    Case("infinite clipping", [*RUN, "--clip", "inf"], USAGE, ["clip", "inf"]),
    Case("clipping to what would be 0", [*RUN, "--clip", "1e-50"], USAGE,
         ["clip: expected 0, or a number >= 1e-45", "1e-50"]),
    Case("negative seed", [*RUN, "--seed", -1], USAGE, ["--seed", "-1"]),
    Case("unknown dump", [*RUN, "--steps", 2, "--dump", "gradients", "d"], USAGE,
         ["gradients", "expected init, logits, grads[@STEP] or params[@STEP]"]),
    Case("dump of a step that never comes",
         [*RUN, "--steps", 2, "--dump", "grads@7", "d"], USAGE,
         ["--dump grads@7", "up to 2"]),
    Case("trace of a step that never comes",
         [*RUN, "--steps", 2, "--trace", "t.json", "--trace-step", 7], USAGE,
         ["--trace-step", "1 to 2", "found 7"]),
    Case("trace of an evaluation",
         [*RUN, "--steps", 2, "--eval", 1, "--trace", "t.json"], USAGE,
         ["--trace", "an evaluation trains nothing"]),
    Case("a step to trace and no trace", [*RUN, "--steps", 2, "--trace-step", 1], USAGE,
         ["--trace-step", "--trace FILE"]),
    Case("dump of step 0", [*RUN, "--steps", 2, "--dump", "grads@0", "d"], USAGE,
         ["grads@0", "STEP from 1"]),
    Case("unknown communication", [*RUN, "--comm", "gloo"], USAGE,
         ["--comm", "gloo", "shm", "threads"]),
    Case("communication of GPUs", [*RUN, "--comm", "nccl"], USAGE,
         ["--comm nccl", "a bundle for GPUs", "--target cuda:sm_90"]),
    Case("strict without threads", [*RUN, "--strict"], USAGE,
         ["--strict", "--comm threads"]),
    Case("evaluation of no batch", [*RUN, "--eval", 0], USAGE, ["--eval", "0"]),
    Case("negative time limit", [*RUN, "--timeout", -1], USAGE, ["--timeout", "-1"]),
    Case("time limit of threads", [*RUN, "--comm", "threads", "--timeout", 5], USAGE,
         ["--timeout", "--comm shm"]),
    Case("all wrong options: of a run's outputs and ends", [*RUN, *TOGETHER], USAGE,
         TOGETHER_SAYS),
    Case("all wrong options: of a profile", ["profile", *RUN[1:], *TOGETHER], USAGE,
         TOGETHER_SAYS),
    Case("all wrong options: of an evaluation by threads",
         [*RUN, "--comm", "threads", "--eval", 1, "--checkpoints", "c", "--timeout", 5,
          "--max-restarts", 1, "--load", "ckpt", "--init-from", "w.safetensors", "--profile", 10,
          "--trace", "t.json"], USAGE,
         ["--checkpoints: an evaluation", "--timeout: expected --comm shm",
          "--max-restarts: expected", "expected no --init-from", "--profile: expected no --trace",
          "--profile: expected the name of a file"]),
    Case("all wrong options: with rules of the recipe",
         [*RUN, "--append", "--eval-data", "d.bin", "--lr", "1e-5", "--eps", 0], USAGE,
         ["error: --append: expected --log FILE with it\n  --eval-data: expected --eval-interval "
          "STEPS or --eval BATCHES with it\n  recipe:\n    eps: expected"]),
    Case("all wrong options: with a value that none can read",
         [*RUN, "--num-layers", 24, "--append", "--lr", "fast", "--min-lr", 1, "--eval-data",
          "d.bin", "--eval-interval", "often"], USAGE,
         ["error: --num-layers: no option", "\n  --append: ", "\n  --lr: expected a number",
          "\n  --eval-interval: expected an integer"], act=silent("min_lr", "--eval-data:")),
    Case("no output", ["compile", "tiny.toml", "--gbs", 2], USAGE,
         ["-o DIR", "bundle"]),
    Case("stop after an unknown phase", [*COMPILE, "--compile-to", "plan-memroy"],
         USAGE, ["--compile-to", "plan-memroy", "did you mean 'plan-memory'?"]),
    Case("print after an unknown phase", [*COMPILE, "--mlir-print-ir-after", "partiton"],
         USAGE, ["--mlir-print-ir-after", "partiton", "did you mean 'partition'?"]),
    Case("print after what gives no IR", [*COMPILE, "--mlir-print-ir-after", "link"], USAGE,
         ["--mlir-print-ir-after: expected a phase that runs", "found link"]),
    Case("print after a verifier that does not run",
         [*COMPILE, "--no-verify", "--mlir-print-ir-after", "verify-plan"], USAGE,
         ["--mlir-print-ir-after: expected a phase that runs", "found verify-plan"]),
    Case("print after a phase behind the last",
         [*COMPILE, "--compile-to", "partition", "--mlir-print-ir-after", "cut-stages"], USAGE,
         ["--mlir-print-ir-after: expected a phase from import to partition",
          "found cut-stages"]),
    Case("print after a phase that ran before",
         [*PLAN, "--mlir-print-ir-after", "partition"], USAGE,
         ["--mlir-print-ir-after: expected a phase from plan-memory to lower-to-llvm",
          "found partition"], edited((r"\A", ""))),
    Case("start after an unknown phase", [*PLAN, "--from", "sharding"], USAGE,
         ["--from", "sharding", "expected one of", "partition"], plan()),
    Case("IR of another phase than it says", [*PLAN, "--from", "plan-memory"],
         INFEASIBLE, ["mtc.phase", "--save-ir"], plan("module {}\n")),
    Case("IR without a configuration", [*PLAN, "--from", "import"], INFEASIBLE,
         ["mtc.config", "--save-ir"], plan("module {}\n")),
    Case("IR of another phase than --from says", [*PLAN, "--from", "partition"], USAGE,
         ["--from: expected plan-memory", "found partition"], edited((r"\A", ""))),
    Case("IR that names no phase", PLAN, USAGE, ["--from=PHASE", "plan.mlir"],
         plan("module {}\n")),
    Case("IR that is none", [*PLAN, "--from", "import"], INFEASIBLE,
         ["plan.mlir:1:1", "expected IR"], plan("this is no IR\n")),
    Case("no IR", ["compile", "absent.mlir", "-o", "out"], REJECTD,
         ["absent.mlir", "No such file"]),
    Case("a phase to start from, but a spec", [*COMPILE, "--from", "import"], USAGE,
         ["--from", ".mlir", "tiny.toml"]),
    Case("a strategy for IR", [*PLAN, "--from", "import", "--tp", 2], USAGE,
         ["strategy", "mtc.config"], plan()),
    Case("jobs out of range", [*COMPILE, "--jobs", 0], USAGE,
         ["--jobs: expected an integer from 1 to 1024, found '0'"]),
    Case("unknown help", ["help", "everything"], USAGE,
         ["everything", "a command",
          "spec, strategy, recipe, log, exit-codes, gemm-tables, phases, recipes, schedules, specs"]),
    Case("diff with one bundle", ["diff", "one"], USAGE, ["b is required", "mtc diff --help"]),
    Case("diff with what is no bundle", ["diff", "one", "data.bin"], REJECTD,
         ["data.bin", "expected a folder that `mtc compile` wrote"]),
    Case("inspect what is no program", ["inspect", "data.bin"], REJECTD,
         ["data.bin", "ELF"]),
    Case("inspect a folder that is no bundle", ["inspect", "."], REJECTD,
         ["manifest.json", "a folder that `mtc compile` wrote"]),
    Case("needs of what is no program", ["inspect", "data.bin", "--requires"],
         REJECTD, ["data.bin", "ELF"]),
]
