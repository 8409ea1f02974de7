//===- scalars.h - numbers of a step -----------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TRAIN_SCALARS_H
#define MESHPLAN_RUNTIME_TRAIN_SCALARS_H

#include "runtime/exec/program_runner.h"

namespace meshplan {

/// The number that an output of one element has behind a run. `notFound` where the program has no such output;
/// `invalid` where it has more elements or no numbers of floating point.
Expected<double> scalarOutput(const Executor &executor, std::string_view name);

/// Samples that a step takes: the first extent of each input. `invalid`, with both inputs, where they differ, and where
/// no input has dims.
Expected<int64_t> samplesOf(const artifact::Program &program);

/// Tokens of a step: the elements of the largest input of integers with samples and positions; 0 where there is none.
int64_t tokensOf(const artifact::Program &program);

/// The learning rates of the next step, by the name of their setting.
std::vector<std::pair<std::string, double>> ratesOf(ProgramRunner &runner);

/// The largest of what the ranks have, number by number, on every rank.
Status takeLargest(Group &hosts, std::span<double> numbers, const char *what);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_SCALARS_H
