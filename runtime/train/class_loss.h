//===- class_loss.h - the structure of a class loss -------------*- C++ -*-===//
//
// Analyses the class losses of a program without backward pass (`eval`): whether the loss is the logarithm of a
// perplexity, and why it may be NaN.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TRAIN_CLASS_LOSS_H
#define MESHPLAN_RUNTIME_TRAIN_CLASS_LOSS_H

#include "runtime/artifact/artifact.h"
#include "runtime/dataset/dataset.h"

namespace meshplan {

/// True if an output is a mean of the cross entropies of targets and nothing else: not scaled, not added to other
/// terms, without class weights and label smoothing. False if the program does not show this.
bool isMeanCrossEntropy(const artifact::Program &program, std::string_view output);

/// Explains a NaN loss of the batch at this position of the data, if all targets of the batch, or of one of its
/// microbatches, are ignored: "every target of the batch is ignored: all of 'labels' is -100". Else empty.
std::string textOfIgnored(const artifact::Program &program, const Dataset &data, int64_t position);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_CLASS_LOSS_H
