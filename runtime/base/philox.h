//===- philox.h - random words by their number -------------------*- C++ -*-===//
//
// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy
// as 1, 2, 3, 2011): four words of 32 bits from a counter of 128 and a key of 64.
// Nothing is carried from one word to the next, so that every rank makes those
// of its own elements.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_PHILOX_H
#define MESHPLAN_RUNTIME_BASE_PHILOX_H

#include <array>
#include <cstdint>
#include <span>

namespace meshplan {

/// The words of one operator at one step: no other number, step or seed gives the same.
struct RandomStream {
  uint64_t seed = 0;   ///< the key
  uint32_t number = 0; ///< of the operator: the third word of the counter
  uint32_t step = 0;   ///< the fourth
  uint64_t first = 0;  ///< words that are passed over
};

/// Of each round what words are multiplied by, and what is added to the words of the key behind it.
inline constexpr uint32_t philoxMultipliers[2] = {0xD2511F53, 0xCD9E8D57};
inline constexpr uint32_t philoxIncrements[2] = {0x9E3779B9, 0xBB67AE85};
inline constexpr int philoxRounds = 10;

/// The generator itself.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// Fills `words` with the words first, first + 1, ... of the stream. Word i is word n % 4 of counter n / 4, with n = i
/// + stream.first. Pure and thread safe.
void randomWords(const RandomStream &stream, uint64_t first, std::span<uint32_t> words);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_PHILOX_H
