//===- spec.h - what the model is -------------------------------*- C++ -*-===//
//
// A model spec as written in a TOML file. It says nothing about devices: that
// is the strategy. Every choice that the format knows is parsed; what cannot be
// compiled yet is named by `unsupported`, and the compiler rejects it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_MODELS_SPEC_H
#define MTC_MODELS_SPEC_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/diagnostics.h"
#include "models/settings.h"

namespace mtc::models {

enum class NormKind { layerNorm, rmsNorm };
enum class NormPlacement { pre, post };
/// gelu is the tanh form of GPT-2; geluErf the exact one.
enum class MlpKind { gelu, geluErf, relu, swiglu, geglu };
enum class QkvKind { fused, separate };
enum class PositionKind { learned, rope, none };

/// Key `[norm]`. A layer norm has scale and bias, an RMS norm only a scale.
struct NormSpec {
  NormKind kind = NormKind::layerNorm;
  NormPlacement placement = NormPlacement::pre;
  double eps = 1e-5;
};

/// Key `[mlp]`.
struct MlpSpec {
  MlpKind kind = MlpKind::gelu;
  bool bias = true;
};

/// Key `[attention]`. `bias` is that of both projections.
struct AttentionSpec {
  QkvKind qkv = QkvKind::fused;
  bool bias = true;
  bool causal = true;
};

/// Key `[dropout]`: probabilities of dropping, in [0, 1).
struct DropoutSpec {
  double embedding = 0; ///< of the sum of token and position embeddings
  double attention = 0; ///< of the attention probabilities
  double hidden = 0;    ///< after attention and after the MLP
};

/// Key `[init]`: normal with `std`; with `scaledOutput`, attn.out and mlp.down
/// have std / sqrt(2 * layers), as GPT-2 has.
struct InitSpec {
  double std = 0.02;
  bool scaledOutput = true;
};

/// A model. Sizes are numbers of elements of the unpartitioned model.
struct ModelSpec {
  std::string name;
  int64_t vocab = 0; ///< real entries
  /// >= vocab; entries from `vocab` on take no probability. Fixed by the model,
  /// never by tp (contract N7): `padded_vocab`, or the next multiple of
  /// `vocab_multiple`, or `vocab`.
  int64_t paddedVocab = 0;
  int64_t vocabMultiple = 1;
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kvHeads = 0; ///< divides heads; equal to it if not given
  int64_t headDim = 0; ///< hidden / heads if not given
  int64_t ffn = 0;
  /// The longest sequence: rows of learned positions. Strategies may choose a
  /// shorter one (`seq_length`), which reads the first of them.
  int64_t maxSeq = 0;
  PositionKind positions = PositionKind::learned;
  bool tied = true; ///< the head is the token embedding, transposed
  NormSpec norm;
  MlpSpec mlp;
  AttentionSpec attention;
  DropoutSpec dropout;
  InitSpec init;
  /// Where it is written: the file, and the lines of its keys and tables but
  /// those that are set from outside.
  std::string file;
  std::map<std::string, int, std::less<>> lines;

  int64_t queriesPerKvHead() const { return heads / kvHeads; }
};

/// Parses a spec, with what `settings` say of the model in the place of its
/// keys. `file` is its name in messages. All errors are reported, in the order
/// of the lines, as class usage.
Parsed<ModelSpec> parseModelSpec(std::string_view text, const std::string &file,
                                 const Settings &settings = {});

/// Reads and parses a file; class inputRejected if it cannot be read.
Parsed<ModelSpec> loadModelSpec(const std::string &path,
                                const Settings &settings = {});

/// What the importer cannot build yet. Empty: everything in the spec is built.
std::vector<Unbuilt> unsupported(const ModelSpec &spec);

/// The spec with the names and nesting of its file, every default filled in.
nlohmann::ordered_json toJson(const ModelSpec &spec);

} // namespace mtc::models
#endif // MTC_MODELS_SPEC_H
