//===- weights.cpp - parts of a corpus, and weights of several ------------===//

#include "runtime/data/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace mtc::runtime {
namespace {

/// A number of a split, spaces around it.
bool parseShare(std::string_view text, double &out) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && rest == text.data() + text.size() &&
         std::isfinite(out) && out >= 0;
}

} // namespace

double weightSum(std::span<const double> weights) {
  size_t n = weights.size();
  if (n < 8) {
    double sum = 0;
    for (double weight : weights)
      sum += weight;
    return sum;
  }
  if (n > 128) {
    size_t half = n / 2;
    half -= half % 8;
    return weightSum(weights.first(half)) + weightSum(weights.subspan(half));
  }
  double c[8];
  std::copy_n(weights.begin(), 8, c);
  size_t i = 8;
  for (; i < n - n % 8; i += 8)
    for (size_t j = 0; j < 8; ++j)
      c[j] += weights[i + j];
  double sum =
      ((c[0] + c[1]) + (c[2] + c[3])) + ((c[4] + c[5]) + (c[6] + c[7]));
  for (; i < n; ++i)
    sum += weights[i];
  return sum;
}

std::vector<double> normalized(std::span<const double> weights) {
  double sum = weightSum(weights);
  std::vector<double> out(weights.begin(), weights.end());
  for (double &weight : out)
    weight /= sum;
  return out;
}

Status Split::parse(std::string_view text, Split &out) {
  Status rejected{StatusCode::usage,
                  fmt::format("split '{}': expected one to three shares of at "
                              "least 0, not all 0, for training, evaluation "
                              "and tests, such as \"969,30,1\"",
                              text)};
  std::vector<double> shares;
  for (std::string_view rest = text.empty() ? "1" : text;;) {
    size_t comma = rest.find(',');
    if (!parseShare(rest.substr(0, comma), shares.emplace_back()))
      return rejected;
    if (comma == std::string_view::npos)
      break;
    rest.remove_prefix(comma + 1);
  }
  double all = 0;
  for (double share : shares)
    all += share;
  if (shares.size() > 3 || all <= 0 || !std::isfinite(all))
    return rejected;
  shares.resize(3);
  shares = normalized(shares);
  for (size_t i = 0; i < 3; ++i)
    out.ends_[i + 1] = out.ends_[i] + shares[i];
  return Status::okay();
}

SequenceRange Split::of(SplitPart part, int64_t sequences) const {
  auto at = static_cast<size_t>(part);
  if (ends_[at + 1] <= ends_[at])
    return {};
  auto bound = [&](double share) {
    auto nearest = static_cast<int64_t>(
        std::nearbyint(share * static_cast<double>(sequences)));
    return std::min(nearest, sequences); // the sum of shares may exceed 1
  };
  return {bound(ends_[at]), bound(ends_[at + 1])};
}

int64_t blendTarget(int64_t samples, double weight) {
  return static_cast<int64_t>(std::ceil(static_cast<double>(samples) * weight));
}

int64_t blendSupply(int64_t samples, double weight) {
  return static_cast<int64_t>(std::ceil(
      static_cast<double>(blendTarget(samples, weight)) * (1 + 0.005)));
}

BlendDealer::Dealt BlendDealer::next() {
  double i = std::max(static_cast<double>(dealt_), 1.0);
  size_t best = 0;
  double most = weights_[0] * i - static_cast<double>(counts_[0]);
  for (size_t d = 1; d < weights_.size(); ++d) {
    double lack = weights_[d] * i - static_cast<double>(counts_[d]);
    if (lack > most) {
      most = lack;
      best = d;
    }
  }
  ++dealt_;
  return {static_cast<int64_t>(best), counts_[best]++};
}

} // namespace mtc::runtime
