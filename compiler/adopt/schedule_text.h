//===- schedule_text.h - how a learning rate changes ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_SCHEDULE_TEXT_H
#define MESHPLAN_COMPILER_ADOPT_SCHEDULE_TEXT_H

#include <cstdint>
#include <optional>
#include <string>

namespace meshplan {

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

#endif // MESHPLAN_COMPILER_ADOPT_SCHEDULE_TEXT_H
