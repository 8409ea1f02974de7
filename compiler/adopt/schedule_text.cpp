//===- schedule_text.cpp - how a learning rate changes --------------------===//

#include "compiler/adopt/schedule_text.h"
#include "compiler/adopt/number_text.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace meshplan;

/// Rounds to twelve digits, so that a quotient of two short numbers has a short text.
static double rounded(double number) {
  double scale = std::pow(10.0, 11 - std::floor(std::log10(number)));
  return std::round(number * scale) / scale;
}

std::string meshplan::scheduleText(const ForeignSchedule &schedule, std::string &problem) {
  std::string kind = llvm::StringSwitch<std::string>(llvm::StringRef(schedule.style).lower())
                         .Cases({"constant", "linear", "cosine", "wsd"}, llvm::StringRef(schedule.style).lower())
                         .Default("");
  if (kind.empty()) {
    problem = "'" + schedule.style + "' is not a schedule of the language: use constant, linear, cosine or wsd";
    return "";
  }
  std::string options = schedule.warmup > 0 ? "warmup " + std::to_string(schedule.warmup) : "";
  if (kind == "constant")
    return options.empty() ? "" : "schedule constant { " + options + " }";
  if (!schedule.steps || (kind == "wsd" && !schedule.decay)) {
    problem = "a schedule needs the number of " + std::string(schedule.steps ? "steps that decay takes" : "steps");
    return "";
  }
  options += (options.empty() ? "" : "; ") + ("steps " + std::to_string(*schedule.steps));
  if (kind == "wsd")
    options += "; decay " + std::to_string(*schedule.decay);
  if (schedule.least > 0 && schedule.lr > 0)
    options += "; min " + numberText(rounded(schedule.least / schedule.lr));
  return "schedule " + kind + " { " + options + " }";
}
