//===- time_text.h - times in messages --------------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_TIME_TEXT_H
#define MESHPLAN_COMPILER_SUPPORT_TIME_TEXT_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>

namespace meshplan {

/// The count in the largest fitting unit, each `base` times the one before. One decimal, except in the first unit.
std::string countText(llvm::ArrayRef<const char *> units, double base, int64_t count);

/// "1.5 ms": nanoseconds with a unit and one decimal, exact below a microsecond.
std::string timeText(int64_t nanoseconds);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_TIME_TEXT_H
