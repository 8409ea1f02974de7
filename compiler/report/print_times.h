//===- print_times.h - the estimated times of a report ----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_PRINT_TIMES_H
#define MESHPLAN_COMPILER_REPORT_PRINT_TIMES_H

#include "compiler/report/report.h"

namespace meshplan {

/// "22.9 ms on h100: 18.0 ms computing, 4.9 ms of communication exposed".
std::string timesText(const Report &report);

/// The section about the estimated time of a step; nothing if the report has none.
void printTimes(const Report &report, llvm::raw_ostream &stream);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_PRINT_TIMES_H
