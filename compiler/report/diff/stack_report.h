//===- stack_report.h - one parameter for the modules of a list -*- C++ -*-===//
//
// A plan that divides the modules of a list by `expert` or `within` has one parameter for those of all modules, and one
// that does not has them apart. To be compared, the second gets the parameters of the first.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_REPORT_DIFF_STACK_REPORT_H
#define MESHPLAN_COMPILER_REPORT_DIFF_STACK_REPORT_H

#include "compiler/report/report.h"

namespace meshplan {

/// `list`.`leaf` is the parameter of `list`.0.`leaf`, `list`.1.`leaf` and so on.
struct StackedParameter {
  std::string list, leaf;
  int64_t modules = 0;
};

/// Replaces the parameters of the modules, and settings of them and of the modules, by those of the stacked parameter
/// and of the list. Does nothing if the report has not all of the parameters.
void stackReport(Report &report, const StackedParameter &stacked);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_DIFF_STACK_REPORT_H
