//===- format.h - the canonical form of a plan -------------------*- C++ -*-===//
//
// `meshplan fmt`. Two spaces for each level, one statement on a line, at most
// one blank line in a row, values of consecutive entries and comments after
// consecutive lines in one column, lines up to 120 characters broken after
// commas. A block that stands on one line and fits stays there. Comments are kept.
//
// Formatting a formatted plan changes nothing, and both mean the same.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_FORMAT_H
#define MESHPLAN_COMPILER_FRONTEND_FORMAT_H

#include "compiler/support/diagnostics.h"

#include <optional>
#include <string>

namespace meshplan {

/// The canonical text of a plan, reserved statements included. Reports syntax
/// errors; then the result is empty.
std::optional<std::string> formatPlan(const SourceBuffer &source, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_FORMAT_H
