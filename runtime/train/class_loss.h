//===- class_loss.h - what a program's loss is made of -----------*- C++ -*-===//
//
// Losses of classes in a program without a backward pass (`eval`): whether the
// loss is a perplexity's logarithm, and why one may be no number.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TRAIN_CLASS_LOSS_H
#define MESHPLAN_RUNTIME_TRAIN_CLASS_LOSS_H

#include "runtime/artifact/artifact.h"
#include "runtime/dataset/dataset.h"

namespace meshplan {

/// True if an output is a mean of the cross entropies of targets, and nothing else: not scaled, added to others, of
/// weighted classes or smoothed labels. False where the program does not tell.
bool isMeanCrossEntropy(const artifact::Program &program, std::string_view output);

/// Why the loss of the batch at this position of the data is not a number, where all targets of it, or of one of its
/// microbatches, are such that do not count: "no target of the batch counts: all of 'labels' is -100". Else empty.
std::string textOfIgnored(const artifact::Program &program, const Dataset &data, int64_t position);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_CLASS_LOSS_H
