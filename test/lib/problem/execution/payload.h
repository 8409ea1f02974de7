//===- payload.h - elements whose sums are known ----------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_PAYLOAD_H
#define MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_PAYLOAD_H

#include <cstdint>
#include <initializer_list>
#include <span>

namespace meshplan::scheduling {

/// A number for a list of numbers; lists that differ have different ones, except by chance.
inline uint64_t mix(std::initializer_list<uint64_t> numbers) {
  uint64_t mixed = 0;
  for (uint64_t number : numbers) {
    mixed = (mixed ^ number) + 0x9e3779b97f4a7c15; // splitmix64
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    mixed ^= mixed >> 31;
  }
  return mixed;
}

/// The elements first, first + step, first + 2 step, ... of a buffer; sums wrap around. The sum of such buffers is one,
/// too, so that what an all-reduce must give is known without adding elements.
struct Payload {
  uint64_t first = 0, step = 0;

  /// A payload of its own for each list of numbers.
  static Payload of(std::initializer_list<uint64_t> numbers) {
    uint64_t first = mix(numbers);
    return {first, mix({first})};
  }

  Payload operator+(Payload other) const { return {first + other.first, step + other.step}; }

  void fill(std::span<uint64_t> elements) const {
    uint64_t next = first;
    for (uint64_t &element : elements) {
      element = next;
      next += step;
    }
  }

  bool isIn(std::span<const uint64_t> elements) const {
    uint64_t next = first;
    for (uint64_t element : elements) {
      if (element != next)
        return false;
      next += step;
    }
    return true;
  }
};

} // namespace meshplan::scheduling

#endif // MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_PAYLOAD_H
