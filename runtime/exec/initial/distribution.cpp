//===- distribution.cpp - random elements by position ---------------------===//
//
// Why the quantile function, and not a faster method? An element must follow from its own two words, so that a rank
// computes its shard alone. Box-Muller makes numbers in pairs, and rejection methods take a number of words that is
// known only afterwards.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/initial/distribution.h"

#include "runtime/base/philox.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

using namespace meshplan;

/// Number of elements drawn at a time, so that their random words stay in the first-level cache.
static constexpr size_t pieceLength = 1024;

namespace {

/// A quotient of two polynomials; coefficients in ascending order.
struct Quotient {
  std::array<double, 8> above, below;

  double at(double x) const { return polynomial(above, x) / polynomial(below, x); }

private:
  static double polynomial(const std::array<double, 8> &coefficients, double x) {
    double sum = 0;
    for (size_t i = coefficients.size(); i-- > 0;)
      sum = sum * x + coefficients[i];
    return sum;
  }
};

} // namespace

/// Approximations for |probability - 0.5| <= 0.425, and for the near and the far part of the tails.
static constexpr Quotient middle = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
     3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}};
static constexpr Quotient nearTail = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
     1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
static constexpr Quotient farTail = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};

double meshplan::normalQuantile(double probability) {
  // Above one half, 1 - p is exact, so the upper tail is as precise as the lower one. The constants 0.180625 (0.425
  // squared), 1.6 and 5 belong to the published approximations.
  double offset = probability - 0.5;
  if (std::abs(offset) <= 0.425)
    return offset * middle.at(0.180625 - offset * offset);
  double depth = std::sqrt(-std::log(offset < 0 ? probability : 1 - probability));
  double size = depth <= 5 ? nearTail.at(depth - 1.6) : farTail.at(depth - 5);
  return offset < 0 ? -size : size;
}

/// The normal distribution function, with full relative precision for small results.
static double normalPart(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// FNV-1a hash.
static uint64_t numberOf(std::string_view name) {
  uint64_t number = 0xcbf29ce484222325;
  for (unsigned char letter : name)
    number = (number ^ letter) * 0x100000001b3;
  return number;
}

ElementDraws::ElementDraws(const artifact::Init &init, uint64_t seed, std::string_view name)
    : kind(init.kind()), value(init.value()), low(init.low()), high(init.high()), mean(init.mean()),
      deviation(init.std()), seed(seed), name(numberOf(name)) {
  if (kind != artifact::InitKind::truncated_normal)
    return;
  // Bounds above the mean have probabilities near 1, where a double has few digits left: at 8 deviations the tail is
  // 6e-16, five steps of a double below 1. The mirrored bounds have probabilities near 0, with full relative precision.
  double from = (low - mean) / deviation, to = (high - mean) / deviation;
  isMirrored = from > 0;
  below = normalPart(isMirrored ? -to : from);
  inside = normalPart(isMirrored ? -from : to) - below;
}

double ElementDraws::fromUnit(double unit) const {
  switch (kind) {
  case artifact::InitKind::constant:
    return value;
  case artifact::InitKind::uniform:
    return low + (high - low) * unit;
  case artifact::InitKind::normal:
    return mean + deviation * normalQuantile(unit);
  case artifact::InitKind::truncated_normal: {
    // Inverse transform: `unit` selects a probability between those of the limits. Rounding may exceed a limit
    // slightly, so the result is clamped.
    double quantile = normalQuantile(below + inside * unit);
    return std::clamp(mean + deviation * (isMirrored ? -quantile : quantile), low, high);
  }
  case artifact::InitKind::given:
    break;
  }
  return 0;
}

void ElementDraws::draw(uint64_t first, std::span<double> out) const {
  if (kind == artifact::InitKind::constant) {
    std::ranges::fill(out, value);
    return;
  }
  // An initial element belongs to no step, so both free words of the counter take the hash of the name.
  RandomStream stream{seed, static_cast<uint32_t>(name), static_cast<uint32_t>(name >> 32)};
  std::array<uint32_t, 2 * pieceLength> words;
  for (size_t done = 0; done < out.size(); done += pieceLength) {
    std::span<double> piece = out.subspan(done, std::min(pieceLength, out.size() - done));
    randomWords(stream, 2 * (first + done), std::span(words).first(2 * piece.size()));
    // The midpoint of one of 2^52 equal intervals, so neither 0 nor 1, and symmetric about 1/2.
    for (size_t i = 0; i < piece.size(); ++i)
      piece[i] = fromUnit(
          std::ldexp(static_cast<double>(2 * (uint64_t(words[2 * i]) << 20 | words[2 * i + 1] >> 12) + 1), -53));
  }
}
