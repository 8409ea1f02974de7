//===- diagnostics_json.h - errors as programs read them ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_DIAGNOSTICS_JSON_H
#define MESHPLAN_COMPILER_SUPPORT_DIAGNOSTICS_JSON_H

#include "compiler/support/diagnostics.h"
#include "llvm/Support/JSON.h"

namespace meshplan {

/// The diagnostics of a severity, in order: file, line, column, message, notes (with the same four keys) and help (a
/// list). `file` is null where there is none; `line` and `column` are null where the message is about a whole file.
/// Bytes that are not UTF-8 become U+FFFD.
llvm::json::Array diagnosticsToJson(const Diagnostics &diagnostics, Severity severity);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_DIAGNOSTICS_JSON_H
