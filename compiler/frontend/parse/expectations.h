//===- expectations.h - the text of syntax errors ----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_FRONTEND_PARSE_EXPECTATIONS_H
#define MESHPLAN_COMPILER_FRONTEND_PARSE_EXPECTATIONS_H

#include "llvm/ADT/StringRef.h"

#include "antlr4-runtime.h"

#include <string>

namespace meshplan {

/// `'tp'`, `end of line`, `end of file`.
std::string describeToken(const antlr4::Token &token);

/// `a name`, `a number or '('`; empty if too many tokens are possible.
std::string describeExpected(const antlr4::misc::IntervalSet &expected, const antlr4::dfa::Vocabulary &vocabulary);

/// `the form is 'mesh NAME = SIZE, ...'` for the statement that contains `context`; empty if there is none.
std::string statementForm(const antlr4::RuleContext *context);

std::string entryForm();
std::string planForm();

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_PARSE_EXPECTATIONS_H
