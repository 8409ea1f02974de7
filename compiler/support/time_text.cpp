//===- time_text.cpp - times in messages ----------------------------------===//

#include "compiler/support/time_text.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

std::string meshplan::countText(llvm::ArrayRef<const char *> units, double base, int64_t count) {
  size_t unit = 0;
  auto value = static_cast<double>(count);
  // A value that one decimal would round up to the base is printed in the next unit.
  for (; value >= (unit ? base - 0.05 : base) && unit + 1 < units.size(); ++unit)
    value /= base;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

std::string meshplan::timeText(int64_t nanoseconds) { return countText({"ns", "us", "ms", "s"}, 1000, nanoseconds); }
