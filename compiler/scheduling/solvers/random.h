//===- random.h - random numbers that every host has ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLVERS_RANDOM_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLVERS_RANDOM_H

#include <cstdint>

namespace meshplan::scheduling {

/// A linear congruential generator (Knuth, MMIX). Distributions of the standard library differ between hosts.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) { below(1); }

  /// 0 to end - 1.
  unsigned below(unsigned end) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>((state >> 33) % end);
  }

private:
  uint64_t state;
};

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLVERS_RANDOM_H
