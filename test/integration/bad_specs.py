"""Specs, strategies and recipes that are wrong, or do not fit each other."""

import os

from bad_case import Case

USAGE, REJECTD, INFEASIBLE = 2, 3, 4
GOOD = """name = "tiny"
vocab = 64
layers = 2
hidden = 32
heads = 4
ffn = 64
max_seq = 16
"""


def with_files(**texts):
    """strategy="...": writes strategy.toml."""
    def make(place):
        for name, text in texts.items():
            place.write(name + ".toml", text)
    return make


def spec(name, text, says, code=USAGE):
    return Case(name, ["compile", "spec.toml", "--gbs", 2, "-o", "out"], code,
                ["spec.toml", *says], with_files(spec=text))


def strategy(name, text, says, code=USAGE):
    return Case(name, ["compile", "tiny.toml", "--strategy", "strategy.toml",
                       "-o", "out"], code, says, with_files(strategy=text))


def options(name, given, says, code=INFEASIBLE):
    return Case(name, ["compile", "tiny.toml", *given.split(), "-o", "out"], code,
                says)


def schedule(name, lines, says, code=INFEASIBLE, options="--gbs 2 --pp 2"):
    """A schedule in a file, of two microbatches."""
    return Case("schedule: " + name,
                ["compile", "tiny.toml", *options.split(), "--schedule", "./mine",
                 "-o", "out"], code, ["mine", *says],
                lambda place: place.write("mine", lines))


def recipe(name, text, says, code=USAGE):
    return Case(name, ["run", "one", "--recipe", "recipe.toml", "--quiet"], code,
                says, with_files(recipe=text))


def folder(name):
    return lambda place: place.write(name + "/inside", "")


SPECS = [
    spec("spec: unknown key", GOOD.replace("hidden", "hiden"),
         ["spec.toml:4", "unknown key 'hiden'", "did you mean 'hidden'?"]),
    spec("spec: wrong type", GOOD.replace("= 4", '= "four"'),
         ["spec.toml:5", "'heads'", "an integer", "four"]),
    spec("spec: impossible value", GOOD.replace("layers = 2", "layers = 0"),
         ["'layers'", "[1, 65535]", "0", "nearest valid value is 1"]),
    spec("spec: heads do not divide hidden", GOOD.replace("heads = 4", "heads = 5"),
         ["'heads'", "a divisor of hidden = 32", "5", "4 or 8"]),
    spec("spec: contradictory", GOOD + "padded_vocab = 64\nvocab_multiple = 8\n",
         ["'vocab_multiple'", "contradicts padded_vocab", "give one of the two"]),
    spec("spec: padded below the vocabulary", GOOD + "padded_vocab = 60\n",
         ["'padded_vocab'", "at least vocab = 64", "60"]),
    spec("spec: dropout of one", GOOD + "[dropout]\nhidden = 1.0\n",
         ["'dropout.hidden'", "[0, 1)", "1"]),
    spec("spec: unknown kind", GOOD + "[mlp]\nkind = \"gleu\"\n",
         ["'mlp.kind'", "one of gelu", "gleu", "did you mean 'gelu'?"]),
    spec("spec: what is not built", GOOD + "[norm]\nplacement = \"post\"\n",
         ["norm.placement = \"post\"", "use \"pre\""]),
    spec("spec: keys missing", "name = \"tiny\"\nvocab = 64\n",
         ["'layers'", "'hidden'", "'heads'", "'ffn'", "'max_seq'", "is missing"]),
    spec("spec: all that is wrong, at once",
         GOOD.replace("= 2\n", "= -2\n").replace("heads = 4", "heads = true")
         .replace("ffn", "fnn") + "positions = \"sines\"\n[norm]\neps = nan\n",
         ["'layers'", "-2", "'heads'", "true", "'fnn'", "'ffn'", "sines",
          "'norm.eps'", "nan"]),
    spec("spec: broken TOML", GOOD.replace("heads = 4", "heads = "),
         ["spec.toml:5", "not valid TOML"]),
    spec("spec: thousands of problems", "".join(f"key{i} = 1\n" for i in range(5000)),
         ["unknown key 'key0'", "unknown key 'key12'", "... and 49", "more lines"]),
    spec("spec: a key that would colour the terminal", GOOD + '"k\\u001b[31m" = 1\n',
         ["unknown key 'k\\x1b[31m'"]),
    Case("spec: a pipe", ["compile", "fifo", "--gbs", 2, "-o", "out"], REJECTD,
         ["fifo", "expected a regular file", "a pipe (FIFO)"],
         lambda place: os.mkfifo(place.path("fifo"))),
    options("no samples of a step", "--mbs 2 --dp 2",
            ["global_batch_size, the samples of a step", "micro_batch_size * dp = 4",
             "none", "--gbs 4"]),
    spec("spec: empty", "", ["'name'", "is missing"]),
    spec("spec: bytes that are no text", "\0\1\2", ["not valid TOML"]),
    spec("spec: a name that leaves the folder", GOOD.replace("tiny", "../tiny"),
         ["'name'", "../tiny", "letters, digits"]),
    Case("spec: no such file", ["compile", "absent.toml", "--gbs", 2, "-o", "out"],
         REJECTD, ["absent.toml", "expected a spec file or one of"]),
    Case("spec: a folder", ["compile", "folder", "--gbs", 2, "-o", "out"], REJECTD,
         ["folder", "expected a regular file", "a folder"], folder("folder")),
    Case("spec: a name nearly right", ["compile", "gpt2-naon", "--gbs", 2, "-o", "out"],
         REJECTD, ["gpt2-naon", "did you mean 'gpt2-nano'?"]),
]

STRATEGIES = [
    strategy("strategy: all that is wrong, at once",
             "tpp = 2\npp = 0\nschedule = \"1f2b\"\nzero = 3\nglobal_batch_size = 2\n",
             ["'tpp'", "'pp'", "[1, 65536]", "1f2b", "did you mean '1f1b'?", "'zero'",
              "[0, 2]"]),
    Case("spec and strategy: both wrong, both reported",
         ["compile", "spec.toml", "--strategy", "strategy.toml", "--dp", "x", "-o",
          "out"], USAGE, ["spec.toml", "'layers'", "strategy.toml", "'dpp'", "--dp",
                          "\"x\""],
         with_files(spec=GOOD.replace("= 2\n", "= 0\n"), strategy="dpp = 1\n")),
    strategy("strategy: broken TOML", "tp = 2\npp = [\n",
             ["strategy.toml:", "not valid TOML"]),
    *[strategy("strategy: nested too deep, " + name, "tp = 2\n" + text,
               ["strategy.toml:2", "expected keys and lists of at most 64 levels, found more"])
      for name, text in (("a key", "a." * 40000 + "b = 1\n"),
                         ("a table", "[" + "a." * 40000 + "b]\n"),
                         ("a list of tables", "[[" + "a." * 40000 + "b]]\n"),
                         ("behind quotes", 'x = {a = """""""", ' + "a." * 40000 + "b = 1}\n"),
                         ("lists", "x = " + "[" * 40000 + "\n"),
                         ("tables in each other", "x = " + "{a.b = " * 40000 + "\n"))],
    Case("strategy: no such file", ["compile", "tiny.toml", "--strategy", "no.toml",
                                    "-o", "out"], REJECTD,
         ["no.toml", "expected a strategy file or one of", "tp2-pp2-dp2"]),
    Case("strategy: a name nearly right",
         ["compile", "tiny.toml", "--strategy", "tp2-pp2-dp", "-o", "out"], REJECTD,
         ["did you mean 'tp2-pp2-dp2'"]),
    Case("strategy: a folder", ["compile", "tiny.toml", "--strategy", "folder",
                                "-o", "out"], REJECTD,
         ["folder", "expected a regular file, found a folder"],
         folder("folder")),
    strategy("strategy: a pattern without a name",
             "global_batch_size = 2\n[[override]]\npattern = \"\"\n"
             "shard = { ffn = \"none\" }\n", ["'override.pattern'", "parameter name"]),
    strategy("strategy: a pattern that no parameter has",
             "global_batch_size = 2\n[[override]]\npattern = \"layer.*.mlp\"\n"
             "shard = { ffn = \"none\" }\n", ["layer.*.mlp", "a pattern that a parameter has", "such as"],
             INFEASIBLE),
    strategy("strategy: an override of an axis that no such parameter has",
             "global_batch_size = 2\n[[override]]\npattern = \"layers.*.norm1.scale\"\n"
             "shard = { vocab = \"none\" }\n",
             ["axes of parameters that match, such as", "(embed), found 'vocab'"],
             INFEASIBLE),
    strategy("strategy: a type of parameters that there are none of",
             "global_batch_size = 2\n[[override]]\npattern = \"*.norms.*\"\n"
             "dtype = \"f32\"\n", ["*.norms.*", "a pattern that a parameter has", "such as"],
             INFEASIBLE),
    strategy("strategy: a parameter in half of a type",
             "global_batch_size = 2\n[[override]]\npattern = \"*\"\ndtype = \"f16\"\n",
             ["strategy.toml:4", "'override.dtype'", "f32, fp16, bf16", "did you mean"]),
    strategy("strategy: parameters in bf16 in a model in f32",
             "global_batch_size = 2\n[[override]]\npattern = \"*\"\ndtype = \"bf16\"\n",
             ["dtype = f32, or that of the strategy", "dtype = bf16 of '*'", "nearest:"],
             INFEASIBLE),
    strategy("strategy: gathered biases",
             "global_batch_size = 2\n[[override]]\npattern = \"*.bias\"\n"
             "gather_output = true\n",
             ["gather_output of weights that something is multiplied by"], INFEASIBLE),
    strategy("strategy: two dimensions over tp",
             "tp = 2\nglobal_batch_size = 2\n[shard]\nembed = \"tp\"\n",
             ["expected one dimension of a parameter over tp, found embed and ffn of ",
              "mlp.up.weight'", "nearest: shard.ffn = none, or an override"],
             INFEASIBLE),
    strategy("strategy: an axis that is none",
             "global_batch_size = 2\n[shard]\nhead = \"tp\"\n",
             ["'shard.head'", "did you mean 'heads'?"]),
    strategy("strategy: an axis of the mesh that is none",
             "global_batch_size = 2\n[shard]\nheads = \"pp\"\n",
             ["'shard.heads'", "tp, cp, dp, none", "pp"]),
    options("tp that divides nothing", "--gbs 2 --tp 3",
            ["heads % tp == 0", "heads = 4, tp = 3", "ffn % tp == 0",
             "padded_vocab % tp == 0", "tp = 2 or 4"]),
    options("tp above the heads", "--gbs 2 --tp 8", ["heads = 4, tp = 8", "tp = 4"]),
    options("batch sizes that do not divide", "--gbs 6 --mbs 2 --dp 2",
            ["global_batch_size % (micro_batch_size * dp) == 0", "global_batch_size = 6",
             "4 or 8"]),
    schedule("a word that is no slot", "F0 F1 B0 B1\n# B9\nF0 B0 Q1 B1\n",
             ["line 3", "Q1", "F3"], USAGE),
    schedule("a line too few", "F0 F1 B0 B1\n", ["pp = 2"], USAGE),
    schedule("a microbatch that there is not", "F0 F1 B0 B1\nF0 B0 F2 B2\n",
             ["line 2", "F2"], USAGE),
    schedule("slots that lack", "F0 F1 B0 B1\nF0 B0 F1\n", ["stage 1", "B"]),
    schedule("a backward before its forward", "F0 F1 B0 B1\nB0 F0 F1 B1\n",
             ["F0", "B0", "before"]),
    schedule("stages that wait for each other", "F0 B0 F1 B1\nF0 F1 B0 B1\n",
             ["stage 0: B0 waits for B0 of stage 1", "stage 1: F1 waits for F1 of stage 0"]),
    schedule("a group beside a file", "F0 F1 B0 B1\nF0 B0 F1 B1\n",
             ["microbatch_group", "leave it out"],
             options="--gbs 2 --pp 2 --microbatch-group 2"),
    schedule("chunks of one stage", "F0.0 F0.1 B0.1 B0.0 F1.0 F1.1 B1.1 B1.0\n",
             ["pp of 2 or more"], options="--gbs 2 --chunks 2"),
    Case("schedule: a pipe", ["compile", "tiny.toml", "--gbs", 2, "--schedule", "./mine",
                              "-o", "out"], REJECTD, ["mine", "a pipe (FIFO)"],
         lambda place: os.mkfifo(place.path("mine"))),
    schedule("whole and split backwards", "F0 F1 B0 B1\nF0 B0 F1 I1 W1\n",
             ["stage 1 chunk 0", "B in all microbatches", "found both"]),
    schedule("chunks that the strategy does not have",
             "F0 F1 B0 B1\nF0 F0.1 B0.1 B0\n", ["line 2", "chunk"], USAGE),
    Case("schedule: a file that is not there",
         ["compile", "tiny.toml", "--gbs", 2, "--schedule", "./nothing", "-o", "out"],
         REJECTD, ["nothing", "No such file"]),
    options("chunks without a schedule of them", "--gbs 4 --pp 2 --chunks 2 --stages 0,1,1,0",
            ["v=2", "interleaved-1f1b"]),
    options("interleaving of one chunk", "--gbs 4 --pp 2 --schedule interleaved-1f1b",
            ["v=1", "two chunks"]),
    options("interleaving of one stage",
            "--gbs 4 --chunks 2 --schedule interleaved-1f1b", ["p=1", "two stages"]),
    options("a group of microbatches that is too short",
            "--gbs 5 --pp 2 --chunks 2 --stages 0,1,1,0 --schedule interleaved-1f1b",
            ["m mod G = 1", "another m or G"]),
    options("a stage in the middle without a layer", "--gbs 4 --pp 3 --stages 1,0,1",
            ["layers_per_stage[i] >= 1", "i = 1"]),
    options("more virtual stages than layers",
            "--gbs 4 --pp 2 --chunks 2 --schedule interleaved-1f1b",
            ["layers >= pp * chunks", "layers = 2, pp = 2, chunks = 2"]),
    options("more stages than layers", "--gbs 2 --pp 4",
            ["layers >= pp", "layers = 2, pp = 4", "pp = 2"]),
    options("layers of stages that do not sum up",
            "--gbs 2 --pp 2 --layers-per-stage 2,3",
            ["layers_per_stage == layers", "a sum of 5, layers = 2", "[1, 1]"]),
    options("layers of too many stages", "--gbs 2 --pp 2 --layers-per-stage 1,1,1",
            ["3 entries, pp = 2", "a sum of 3"]),
    options("layers of stages that are no numbers",
            "--gbs 2 --pp 2 --layers-per-stage 1,x",
            ["--layers-per-stage", "position 2", "\"x\""], USAGE),
    options("longer than the positions", "--gbs 2 --seq 17",
            ["seq_length <= max_seq", "seq_length = 17, max_seq = 16"]),
    options("one of several lengths longer than the positions", "--gbs 2 --seq 8,17",
            ["seq_length <= max_seq", "seq_length = 17, max_seq = 16"]),
    options("one of several lengths that tp does not divide", "--gbs 2 --tp 2 --sp --seq 8,7",
            ["seq_length % tp == 0 with sequence_parallel", "seq_length = 7, tp = 2"]),
    options("a length twice", "--gbs 2 --seq 8,8",
            ["--seq", "or a list of such, each once", "8"], USAGE),
    options("a batch twice", "--gbs 8,8",
            ["--global-batch-size", "or a list of such, each once", "8"], USAGE),
    options("one of several batches that dp does not divide", "--gbs 8,7 --dp 2",
            ["global_batch_size % (micro_batch_size * dp) == 0", "global_batch_size = 7"]),
    options("several that do not fit", "--gbs 3 --dp 2 --tp 3 --pp 5 --seq 99",
            ["tp = 3", "dp = 2", "pp = 5", "seq_length = 99"]),
    options("unknown schedule", "--gbs 2 --schedule zb",
            ["--schedule", "expected one of gpipe, 1f1b", "\"zb\""], USAGE),
    options("unknown dtype", "--gbs 2 --dtype fp8",
            ["--dtype", "f32, fp16, bf16", "fp8"], USAGE),
    options("dtype that the instruction set has not",
            "--gbs 2 --gemm onednn --dtype bf16 --isa x86-64-v3",
            ["bf16", "x86-64-v4-bf16", "found x86-64-v3", "--gemm own", "--dtype f32"]),
    options("unknown instruction set", "--gbs 2 --isa avx9000",
            ["--isa", "x86-64-v4", "avx9000"], USAGE),
    options("memory that no unit measures", "--gbs 2 --device-memory 80parsecs",
            ["--device-memory", "80GiB", "80parsecs"], USAGE),
    options("memory that does not suffice", "--gbs 2 --device-memory 64KiB",
            ["65536 bytes per rank", "stage 0", "raise tp"]),
    options("a sequence that tp does not divide", "--gbs 2 --tp 2 --sp --seq 7",
            ["seq_length % tp == 0 with sequence_parallel", "seq_length = 7, tp = 2",
             "nearest: seq_length = 6 or 8"]),
    options("a sequence that is not cut in a head and a tail for each rank",
            "--gbs 2 --cp 3 --seq 16",
            ["seq_length % (2 * cp) == 0", "seq_length = 16, cp = 3",
             "nearest: seq_length = 12"]),
    options("the sequence kept whole", "--gbs 2 --cp 2 --shard.seq none",
            ["splitting 'seq' over 'none'", "use \"cp\""], USAGE),
    options("sequence parallelism, twice", "--gbs 2 --tp 2 --sp --sp",
            ["--sequence-parallel", "at most once"], USAGE),
    options("too many microbatches", "--gbs 200002 --dp 2 --zero 1",
            ["at most 100000 microbatches", "rows for each", "100001",
             "micro_batch_size = 2"]),
    options("numbers that overflow", "--gbs 99999999999999999999 --tp 2",
            ["--global-batch-size", "99999999999999999999"], USAGE),
]

RECIPES = [
    recipe("recipe: all that is wrong, at once",
           "data = \"data.bin\"\nstesp = 3\nlr = \"fast\"\nseed = -1\n",
           ["recipe.toml", "line 2: unknown key 'stesp'", "line 3: ", "expected one of", "steps", "'lr'", "a number",
            "fast", "'seed'", "-1"]),
    recipe("recipe: impossible values, at once",
           "data = \"data.bin\"\ndata_dtype = \"u8\"\nbeta1 = 1.5\nclip = -1\n"
           "decay = \"square\"\nwarmup_steps = -4\n",
           ["beta1: expected a number >= 0 and < 1", "1.5", "clip", "-1", "square",
            "warmup_steps", "-4"]),
    recipe("recipe: a rate below the default of min_lr", "data = \"data.bin\"\nlr = 1e-5\n",
           ["min_lr: expected at most lr 1e-05, found 3e-05 (its default)"]),
    recipe("recipe: lengths that are none", "data = \"data.bin\"\nseq = \"16:ten, 32\"\n",
           ["seq: expected lengths like \"512:1000, 1024\"", "found '16:ten, 32'"]),
    recipe("recipe: steps for the last length", "data = \"data.bin\"\nseq = \"16:9\"\n",
           ["seq: expected lengths like", "found '16:9'"]),
    recipe("recipe: another length than the bundle's", "data = \"data.bin\"\nseq = \"9\"\n",
           ["seq: expected lengths that the bundle was compiled for", "found 9",
            "--seq-length 9,"]),
    recipe("recipe: another batch than the bundle's",
           "data = \"data.bin\"\nglobal_batch_size = 9\n",
           ["global_batch_size: expected global batches that the bundle was compiled for",
            "found 9", "--gbs "]),
    recipe("recipe: a ramp that is none", "data = \"data.bin\"\nrampup_batch_size = \"1 1\"\n",
           ["rampup_batch_size: expected START INCREMENT SAMPLES like", "found '1 1'"]),
    recipe("recipe: a ramp that the bundle lacks",
           "data = \"data.bin\"\nrampup_batch_size = \"1 1 9\"\n",
           ["rampup_batch_size: expected", "found 1"]),
    recipe("recipe: broken TOML", "steps = \n", ["recipe.toml", "1", "TOML"]),
    recipe("recipe: nested too deep", "steps = 1\n" + "a." * 40000 + "b = 1\n",
           ["recipe.toml' line 2: expected keys and lists of at most 64 levels, found more"]),
    Case("recipe: no such file", ["run", "one", "--recipe", "no.toml"], REJECTD,
         ["no.toml", "No such file"]),
    Case("recipe: a folder", ["run", "one", "--recipe", "folder"], REJECTD,
         ["folder", "regular file"], folder("folder")),
]

CASES = SPECS + STRATEGIES + RECIPES
