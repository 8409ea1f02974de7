//===- number_text.h - numbers in messages and reports ----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_NUMBER_TEXT_H
#define MESHPLAN_COMPILER_SUPPORT_NUMBER_TEXT_H

#include <string>

namespace meshplan {

/// The shortest text, of at least six significant digits without trailing zeros, that a plan or a JSON file parses to
/// this number: "0.1", "1e-05".
std::string numberText(double number);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_NUMBER_TEXT_H
