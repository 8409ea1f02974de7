//===- numbers.h - foreign numbers and schedules ----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_NUMBERS_H
#define MESHPLAN_COMPILER_ADOPT_NUMBERS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace meshplan {

/// Parses a number as Python does ("1.0e-5", "1_000", ".1"); empty if the text is not a finite number.
std::optional<double> parseNumber(llvm::StringRef text);

/// The shortest text of the number in the language: "0.1", "3e-4".
std::string planNumber(double number);

/// A schedule in the terms of Megatron and NeMo's recipes.
struct ForeignSchedule {
  std::string style; ///< constant, linear, cosine, WSD
  int64_t warmup = 0;
  std::optional<int64_t> steps;
  std::optional<int64_t> decay; ///< of WSD
  double lr = 0;
  double least = 0; ///< the lr after the last step
};

/// The option of an optimizer: "schedule cosine { warmup 10; steps 100; min 0.1 }". Empty for a constant lr without a
/// warmup. If a schedule was requested and cannot be expressed, `problem` says why.
std::string scheduleText(const ForeignSchedule &schedule, std::string &problem);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_NUMBERS_H
