//===- numbers.cpp - foreign numbers and schedules ------------------------===//

#include "compiler/adopt/numbers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <charconv>
#include <cmath>

using namespace meshplan;
using llvm::StringRef;

std::optional<double> meshplan::parseNumber(StringRef text) {
  std::string digits = text.trim().str();
  // 1_000 is a number to YAML and to Python.
  llvm::erase(digits, '_');
  double number = 0;
  if (digits.empty() || StringRef(digits).getAsDouble(number) || !std::isfinite(number))
    return std::nullopt;
  return number;
}

std::string meshplan::planNumber(double number) {
  char buffer[64];
  auto [end, failure] = std::to_chars(std::begin(buffer), std::end(buffer), number);
  std::string text(buffer, end);
  // "3e-04": the language writes exponents without leading zeros.
  size_t exponent = text.find('e');
  if (exponent == std::string::npos)
    return text;
  size_t digits = exponent + 1;
  if (text[digits] == '+')
    text.erase(digits, 1);
  else if (text[digits] == '-')
    ++digits;
  while (digits + 1 < text.size() && text[digits] == '0')
    text.erase(digits, 1);
  return text;
}

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
    options += "; min " + planNumber(rounded(schedule.least / schedule.lr));
  return "schedule " + kind + " { " + options + " }";
}
