//===- number_text.cpp - numbers in messages and reports ------------------===//

#include "compiler/support/number_text.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

std::string meshplan::numberText(double number) {
  std::string text;
  // 17 digits always parse to the same double, and fewer do for numbers that people write.
  for (int digits = 6; digits <= 17 && (text.empty() || std::strtod(text.c_str(), nullptr) != number); ++digits) {
    text.clear();
    llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, number);
  }
  return text;
}
