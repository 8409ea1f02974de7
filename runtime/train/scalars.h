//===- scalars.h - scalars of a step ----------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TRAIN_SCALARS_H
#define MESHPLAN_RUNTIME_TRAIN_SCALARS_H

#include "runtime/exec/program_runner.h"
#include "runtime/train/report.h"

namespace meshplan {

/// The value of a one-element output after a run. `notFound` if the program has no such output; `invalid` if it has
/// more elements or is not a float.
Expected<double> scalarOutput(const Walk &walk, std::string_view name);

/// The tokens of each layer of experts after a run of a step.
Expected<std::vector<ExpertReport>> expertsOf(const Walk &walk);

/// The number of samples of a step: the first extent of each input. `invalid`, with both inputs, if they differ, and if
/// no input has dims.
Expected<int64_t> samplesOf(const artifact::Program &program);

/// The number of tokens of a step: the elements of the largest two-dimensional integer input; 0 if there is none.
int64_t tokensOf(const artifact::Program &program);

/// The learning rates of the next step, by name of the setting.
std::vector<std::pair<std::string, double>> ratesOf(ProgramRunner &runner);

/// The elementwise maximum over the ranks, on every rank.
Status takeLargest(Group &hosts, std::span<double> numbers, const char *what);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_SCALARS_H
