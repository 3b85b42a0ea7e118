//===- hosts.h - what moves inside hosts and between them -------*- C++ -*-===//
#ifndef MTC_COMPILER_HOSTS_H
#define MTC_COMPILER_HOSTS_H

#include "compiler/plan.h"

#include <nlohmann/json.hpp>

namespace mtc::compiler {

/// For a plan whose config has ranks_per_host: rank r lies on host
/// r / ranks_per_host. Per group of ranks, and for "pp" the sends between
/// stages: how many there are, how many cross hosts, and per kind of call the
/// bytes that all ranks send in one step of training, to ranks of their host
/// and to those of others. Collectives count as rings in rank order: an
/// all-reduce of n bytes over g ranks sends 2·n·(g-1)/g along each edge of the
/// ring, an all-gather or a reduce-scatter half of that. "warnings" are
/// sentences.
nlohmann::ordered_json hostsReport(const BundlePlan &plan);

/// The same for people; a line per group and kind.
std::string hostsText(const nlohmann::ordered_json &hosts);

} // namespace mtc::compiler
#endif // MTC_COMPILER_HOSTS_H
