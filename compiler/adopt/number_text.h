//===- number_text.h - numbers of others as the language has them -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_NUMBER_TEXT_H
#define MESHPLAN_COMPILER_ADOPT_NUMBER_TEXT_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace meshplan {

/// A number as Python reads it ("1.0e-5", "1_000", ".1"); empty if the text is none, or not finite.
std::optional<double> parseNumber(llvm::StringRef text);

/// As the language writes it, with no digit more than it needs: "0.1", "3e-4".
std::string numberText(double number);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_NUMBER_TEXT_H
