//===- graph.h - what sharding needs to know of a program -------*- C++ -*-===//
//
// A program as values, ops and rules in factors; no MLIR type, so that the
// algorithm can be tested without IR. docs/sharding.md has the method.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_SHARDING_GRAPH_H
#define MTC_PASSES_SHARDING_GRAPH_H

#include "passes/families/sharding_rule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::sharding {

/// State of a value on one mesh axis; d >= 0 means: split on dimension d. The
/// numbers are those of dist.sharding.
using State = int64_t;
inline constexpr State kReplicated = -1, kPartial = -2, kMax = -3;
inline bool isPartial(State s) { return s == kPartial || s == kMax; }

using Rule = families::ShardingRule;

struct Tensor {
  std::string name; ///< of a parameter (also as it is cast) or input, or empty
  std::vector<int64_t> shape; ///< global
  int64_t elementBytes = 4;
  int producer = -1;      ///< op, or -1 for an argument
  bool parameter = false; ///< as it is stored, or cast to another type
  int primal = -1; ///< the value whose cotangent or gradient this is, or -1
  /// Logical axis of each dimension, "" where unknown. Arguments have theirs
  /// from the start, others by labelAxes.
  std::vector<std::string> axes = {};
};

struct Op {
  std::string name;
  std::vector<int> operands, results; ///< values
  Rule rule;
  int64_t layer = 0;
  bool backward = false;
  bool isAdd = false; ///< n-ary sum: may be flattened and split
  int tag = -1;       ///< the caller's number; -1 if made here
  int copyOf = -1;    ///< tag of the op whose work this one does again, or -1
};

enum class OutputKind {
  Plain,   ///< must not be partial
  Loss,    ///< may be partial over axes that split the batch
  Gradient ///< lies as its parameter does; partial where that is whole
};
struct Output {
  int value;
  OutputKind kind = OutputKind::Plain;
  int parameter = -1; ///< of a gradient
};

/// Ops stand in topological order; values without producer are arguments.
struct Graph {
  std::vector<Tensor> values;
  std::vector<Op> ops;
  std::vector<Output> outputs;
};

/// One use of a value. `op` is -1 for an output; `index` is then the output's.
struct Use {
  int op;
  int index;
};
/// The uses of every value, in program order, outputs last.
std::vector<std::vector<Use>> usesOf(const Graph &graph);

/// Gives each dimension of each value its logical axis, as far as dimensions of
/// one factor have one, and cotangents those of their primals.
void labelAxes(Graph &graph);

/// Sets the producers anew after ops have moved.
void renumber(Graph &graph);

/// Bytes of the global value.
int64_t bytesOf(const Tensor &value);

/// Position of a factor, or kReplicated.
State dimOf(const std::string &factors, char factor);

/// True if an operand but no result carries the factor.
bool contracts(const Rule &rule, char factor);

/// What a split factor that operands have leaves of result `r`: a partial sum
/// (maximum) where that result lacks the factor, else its dimension. Of a
/// factor that no operand has: its dimension, or kReplicated.
State madeBy(const Rule &rule, char factor, size_t r);

/// True if the factor must stay whole.
bool isBlocked(const Rule &rule, char factor);

/// Whether every dimension of an op that is this factor has equal parts on so
/// many ranks. A factor may have two sizes: heads of keys stand for several of
/// queries.
bool isDivisible(const Graph &graph, const Op &op, char factor, int64_t ranks);

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_GRAPH_H
