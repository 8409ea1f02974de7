//===- training.h - the statements of training -------------------*- C++ -*-===//
//
// The shared functions of this folder. Like all of binding, each reports errors and continues. Internal to binding.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BIND_TRAINING_TRAINING_H
#define MESHPLAN_COMPILER_FRONTEND_BIND_TRAINING_TRAINING_H

#include "compiler/frontend/bind/context.h"
#include "compiler/frontend/bind/option_reader.h"

namespace meshplan::bind {

/// The help for a plan without a loss, with the outputs of the model that may be one.
std::string lossHelp(const Context &context);

/// Reports a batch that microbatches and ranks do not divide evenly, and statements that contradict their mean.
void checkMicrobatches(const Context &context, const BoundPlan &plan);

/// Reports a batch that has no halves on each rank and in each microbatch.
void checkHalves(const Context &context, const BoundPlan &plan);

/// Fills precision. Requires the data blocks, the optimizer and bindTrainable.
void bindPrecision(const Context &context, const PrecisionStatement &statement, BoundPlan &plan);

/// The option `loss_scale` of precision.
OptionRule lossScaleRule(const Context &context, BoundPrecision &precision);

/// True if the optimizer has a state for the parameters of a group, besides a master.
bool keepsState(const BoundOptimizer &optimizer, const OptimizerGroup &group);

/// The option `offload` of data.
OptionRule offloadRule(const Context &context, BoundData &data);

/// Reports `offload` of tensors that cannot be on the host or do not exist. Requires all other statements of training.
void checkOffload(const Context &context, const BoundPlan &plan);

/// With a dynamic loss scale, steps with non-finite gradients are skipped, because the scale is adapted by them.
/// Reports a plan that stops at such steps, and warns of 16-bit gradients that are likely to underflow. Requires all
/// other statements of training.
void bindLossScale(const Context &context, BoundPlan &plan);

/// Fills trainable and the use of each parameter. Reports a parameter that two statements use differently, and an
/// optimizer without a parameter to train.
void bindTrainable(const Context &context, BoundPlan &plan);

/// Adds the reason why a parameter is not trained: the statement that names it, or the archive. Requires bindTrainable.
Diagnostic &explainUntrained(const Context &context, const BoundPlan &plan, size_t parameter, Diagnostic &diagnostic);

/// Reports data blocks and units without effect. Requires the data blocks and bindTrainable.
void checkDataUse(const Context &context, const BoundPlan &plan);

/// Reports data blocks whose `on` names weights of experts, over axes that divide the experts. Requires the styles and
/// the data blocks.
void checkDataOfExperts(const Context &context, const BoundPlan &plan);

/// Fills optimizer. Requires bindTrainable.
void bindOptimizer(const Context &context, const OptimizerStatement &statement, BoundPlan &plan);

/// The numbers of a group, and the range of each that the plan states, by the name of its option.
struct WrittenNumbers {
  OptimizerNumbers numbers;
  OptionRanges ranges;
};

/// PyTorch's defaults.
WrittenNumbers defaultNumbers(OptimizerKind kind);

/// Options that write numbers to `target`, which must outlive them.
std::vector<OptionRule> numberRules(const Context &context, OptimizerKind kind, WrittenNumbers &target);

/// Reports numbers that are valid alone but contradict each other. In a group, contradictions that the optimizer
/// already has are not reported again.
void checkNumbers(const Context &context, const WrittenNumbers &written, const WrittenNumbers *optimizer = nullptr);

/// `schedule cosine { ... }`; the option has one word. Nothing if the kind is unknown.
std::optional<LrSchedule> bindSchedule(const Context &context, const Option &option);

/// Fills init. Reports parameters that no entry names, or that two entries name.
void bindInit(const Context &context, const InitStatement &statement, BoundPlan &plan);

/// Fills overlap. Reports clauses that are wrong, repeated, or about gradients without training.
void bindOverlap(const Context &context, const OverlapStatement &statement, BoundPlan &plan);

/// The distribution of an entry of `init`. Reports an unknown distribution, one in a wrong form, and invalid numbers.
std::optional<InitialValues> bindDistribution(const Context &context, const InitEntry &entry);

/// Assigns each parameter to one data block, and checks the units of each block.
void assignParameters(const Context &context, BoundPlan &plan);

/// Fills the statements about tokens of experts.
void bindRoutings(const Context &context, BoundPlan &plan);

} // namespace meshplan::bind

#endif // MESHPLAN_COMPILER_FRONTEND_BIND_TRAINING_TRAINING_H
