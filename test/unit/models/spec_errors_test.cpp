//===- spec_errors_test.cpp - specs that are wrong ------------------------===//

#include "support.h"

using namespace mtc::models;
using test::BadInput;
using test::withLine;

// Line 1 is `name`.
static const std::string good = "name = \"m\"\n"
                                "vocab = 250\n"
                                "layers = 4\n"
                                "hidden = 64\n"
                                "heads = 4\n"
                                "ffn = 256\n"
                                "max_seq = 32\n"
                                "tied = true\n"
                                "[norm]\n"
                                "eps = 1e-5\n"
                                "[dropout]\n"
                                "hidden = 0.1\n"
                                "[init]\n"
                                "std = 0.02\n";

static std::string with(const char *line, const char *by) {
  return withLine(good, line, by);
}

static const BadInput specInputs[] = {
    {"MisspelledKey", with("hidden = 64", "hiden = 64"),
     "f:4: unknown key 'hiden', did you mean 'hidden'?\n"},
    {"UnknownKey", with("tied = true", "banana = 1"),
     "f:8: unknown key 'banana', expected one of: name, vocab, padded_vocab, "
     "vocab_multiple, layers, hidden, heads, kv_heads, head_dim, ffn, max_seq, "
     "positions, tied, norm, mlp, attention, dropout, init\n"},
    {"MisspelledKeyInTable", with("eps = 1e-5", "esp = 1e-5"),
     "f:10: unknown key 'norm.esp', did you mean 'eps'?\n"},
    {"MisspelledTable", with("[dropout]", "[dropuot]"),
     "f:11: unknown key 'dropuot', did you mean 'dropout'?\n"},
    {"Missing", with("ffn = 256", ""),
     "f:1: key 'ffn': is missing; it has no default\n"},
    {"Text", with("layers = 4", "layers = \"4\""),
     "f:3: key 'layers': expected an integer in [1, 65535], found a string "
     "\"4\"\n"},
    {"Fraction", with("layers = 4", "layers = 4.5"),
     "f:3: key 'layers': expected an integer in [1, 65535], found a number "
     "4.5\n"},
    {"Zero", with("layers = 4", "layers = 0"),
     "f:3: key 'layers': expected an integer in [1, 65535], found an integer "
     "0; the nearest valid value is 1\n"},
    {"TooMany", with("layers = 4", "layers = 70000"),
     "f:3: key 'layers': expected an integer in [1, 65535], found an integer "
     "70000; the nearest valid value is 65535\n"},
    {"Negative", with("vocab = 250", "vocab = -1"),
     "f:2: key 'vocab': expected an integer in [1, 1048576], found an integer "
     "-1; the nearest valid value is 1\n"},
    {"List", with("max_seq = 32", "max_seq = [32]"),
     "f:7: key 'max_seq': expected an integer in [1, 1048576], found a list\n"},
    {"BooleanAsInteger", with("tied = true", "tied = 1"),
     "f:8: key 'tied': expected true or false, found an integer 1\n"},
    {"BooleanAsText", with("tied = true", "tied = \"yes\""),
     "f:8: key 'tied': expected true or false, found a string \"yes\"\n"},
    {"NameIsNumber", with("name = \"m\"", "name = 3"),
     "f:1: key 'name': expected a string, found an integer 3\n"},
    {"NameIsPath", with("name = \"m\"", "name = \"a/b\""),
     "f:1: key 'name': expected letters, digits, '-', '_' and '.', not "
     "starting with '.', found a string \"a/b\"\n"},
    {"NameIsEmpty", with("name = \"m\"", "name = \"\""),
     "f:1: key 'name': expected letters, digits, '-', '_' and '.', not "
     "starting with '.', found a string \"\"\n"},
    {"HeadsDoNotDivide", with("heads = 4", "heads = 5"),
     "f:5: key 'heads': expected a divisor of hidden = 64 (head_dim is not "
     "given), found an integer 5; the nearest valid values are 4 or 8\n"},
    {"KvHeadsDoNotDivide", with("tied = true", "kv_heads = 3"),
     "f:8: key 'kv_heads': expected a divisor of heads = 4, found an integer "
     "3; the nearest valid values are 2 or 4\n"},
    {"PaddingTooSmall", with("tied = true", "padded_vocab = 249"),
     "f:8: key 'padded_vocab': expected at least vocab = 250, found an integer "
     "249; the nearest valid value is 250\n"},
    {"TwoPaddings", with("tied = true", "padded_vocab = 256\nvocab_multiple=8"),
     "f:9: key 'vocab_multiple': contradicts padded_vocab; give one of the "
     "two\n"},
    {"Choice", with("tied = true", "positions = \"learnt\""),
     "f:8: key 'positions': expected one of learned, rope, none, found a "
     "string \"learnt\", did you mean 'learned'?\n"},
    {"ChoiceInTable", with("eps = 1e-5", "kind = \"layernorm\""),
     "f:10: key 'norm.kind': expected one of layer_norm, rms_norm, found a "
     "string \"layernorm\", did you mean 'layer_norm'?\n"},
    {"ChoiceIsNumber", with("eps = 1e-5", "placement = 1"),
     "f:10: key 'norm.placement': expected one of pre, post, found an integer "
     "1\n"},
    {"DropoutOfOne", with("hidden = 0.1", "hidden = 1.0"),
     "f:12: key 'dropout.hidden': expected a number in [0, 1), found a number "
     "1\n"},
    {"DropoutIsNan", with("hidden = 0.1", "hidden = nan"),
     "f:12: key 'dropout.hidden': expected a number in [0, 1), found a number "
     "nan\n"},
    {"DropoutIsText", with("hidden = 0.1", "hidden = \"0.1\""),
     "f:12: key 'dropout.hidden': expected a number in [0, 1), found a string "
     "\"0.1\"\n"},
    {"EpsIsZero", with("eps = 1e-5", "eps = 0.0"),
     "f:10: key 'norm.eps': expected a number in (0, 1), found a number 0\n"},
    {"StdIsInfinite", with("std = 0.02", "std = inf"),
     "f:14: key 'init.std': expected a number in (0, 100), found a number "
     "inf\n"},
    {"TableIsNumber", with("tied = true", "mlp = 3"),
     "f:8: key 'mlp': expected a table, found an integer 3\n"},
    {"OddRope", with("tied = true", "head_dim = 7\npositions = \"rope\""),
     "f:8: key 'head_dim': rope expects an even head_dim, found 7; the nearest "
     "valid values are 6 or 8\n"},
    {"HugeQkv",
     withLine(with("hidden = 64", "hidden = 1048576"), "tied = true",
              "head_dim = 1048576"),
     "f:5: key 'heads': expected a qkv weight of at most 2^42 elements, found "
     "1048576 x 12 x 1048576\n"},
    {"Syntax", with("heads = 4", "heads = = 4"), "f:5: not valid TOML: "},
    {"DuplicateKey", with("heads = 4", "hidden = 4"), "f:5: not valid TOML: "},
    {"All",
     withLine(
         withLine(with("layers = 4", "layers = 0"), "tied = true", "tied = 0"),
         "eps = 1e-5", "epss = 1e-5"),
     "f:3: key 'layers': expected an integer in [1, 65535], found an integer "
     "0; the nearest valid value is 1\n"
     "f:8: key 'tied': expected true or false, found an integer 0\n"
     "f:10: unknown key 'norm.epss', did you mean 'eps'?\n"},
};

TEST(SpecErrors, Base) {
  EXPECT_EQ(render(parseModelSpec(good, "f").diagnostics), "");
}

TEST(SpecErrors, Table) {
  for (const BadInput &input : specInputs) {
    auto parsed = parseModelSpec(input.text, "f");
    std::string found = render(parsed.diagnostics);
    std::string expected = input.rendered;
    // The words after this are the TOML parser's.
    if (expected.ends_with("not valid TOML: "))
      found.resize(std::min(found.size(), expected.size()));
    EXPECT_EQ(found, expected) << input.name;
    EXPECT_EQ(exitCode(parsed.diagnostics), expected.empty() ? 0 : 2)
        << input.name;
  }
}
