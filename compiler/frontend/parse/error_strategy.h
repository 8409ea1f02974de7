//===- error_strategy.h - syntax errors in the user's words ------*- C++ -*-===//
//
// Turns ANTLR's recognition errors into diagnostics and continues with the next statement, so that one run reports
// every wrong statement, once.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_PARSE_ERROR_STRATEGY_H
#define MESHPLAN_COMPILER_FRONTEND_PARSE_ERROR_STRATEGY_H

#include "compiler/support/diagnostics.h"

#include "antlr4-runtime.h"

namespace meshplan {

class PlanErrorStrategy final : public antlr4::DefaultErrorStrategy {
public:
  PlanErrorStrategy(int32_t file, Diagnostics &diagnostics) : file(file), diagnostics(diagnostics) {}

  void reportError(antlr4::Parser *parser, const antlr4::RecognitionException &error) override;
  void recover(antlr4::Parser *parser, std::exception_ptr error) override;
  antlr4::Token *recoverInline(antlr4::Parser *parser) override;
  void sync(antlr4::Parser *parser) override;

private:
  void reportMismatch(antlr4::Parser &parser, const antlr4::Token &found, const antlr4::misc::IntervalSet &expected);
  void reportNoAlternative(antlr4::Parser &parser, const antlr4::Token &start, const antlr4::Token &found);

  int32_t file;
  Diagnostics &diagnostics;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_PARSE_ERROR_STRATEGY_H
