//===- program_names.h - names that the compiler gives ----------*- C++ -*-===//
//
// Names that the compiler writes into programs and by which the runtime finds what they name. Settings of a program,
// and the dim of inputs that counts samples. A setting or a dim of another name has no meaning to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_PROGRAM_NAMES_H
#define MESHPLAN_RUNTIME_SCHEMA_PROGRAM_NAMES_H

#include <string_view>

namespace meshplan::program_names {

/// Settings: the number of the step, from 1; the same without the steps that a guard has skipped; the seed of random
/// numbers; the number of the microbatch, from 0; the factor of the loss.
inline constexpr std::string_view step = "step", optimizerStep = "optimizer.step", seed = "seed",
                                  microbatch = "microbatch", lossScale = "loss_scale";

/// The dim of an input that counts samples: the plan names it so.
inline constexpr std::string_view batchDim = "batch";

} // namespace meshplan::program_names

#endif // MESHPLAN_RUNTIME_SCHEMA_PROGRAM_NAMES_H
