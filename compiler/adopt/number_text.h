//===- number_text.h - foreign numbers in the form of the language -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_NUMBER_TEXT_H
#define MESHPLAN_COMPILER_ADOPT_NUMBER_TEXT_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace meshplan {

/// Parses a number as Python does ("1.0e-5", "1_000", ".1"); empty if the text is not a finite number.
std::optional<double> parseNumber(llvm::StringRef text);

/// The shortest text of the number in the language: "0.1", "3e-4".
std::string numberText(double number);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_NUMBER_TEXT_H
