//===- number_text.cpp - foreign numbers in the form of the language ------===//

#include "compiler/adopt/number_text.h"
#include "llvm/ADT/STLExtras.h"
#include <charconv>
#include <cmath>

using namespace meshplan;
using llvm::StringRef;

std::optional<double> meshplan::parseNumber(StringRef text) {
  std::string digits = text.trim().str();
  llvm::erase(digits, '_');
  double number = 0;
  if (digits.empty() || StringRef(digits).getAsDouble(number) || !std::isfinite(number))
    return std::nullopt;
  return number;
}

std::string meshplan::numberText(double number) {
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
