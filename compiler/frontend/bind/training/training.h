//===- training.h - the statements of training -------------------*- C++ -*-===//
//
// What the files of this folder give each other. Like all of binding, each
// function reports what is wrong and goes on. Internal to binding.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BIND_TRAINING_TRAINING_H
#define MESHPLAN_COMPILER_FRONTEND_BIND_TRAINING_TRAINING_H

#include "compiler/frontend/bind/context.h"
#include "compiler/frontend/bind/option_reader.h"

namespace meshplan::bind {

/// How to give a plan a loss, with the outputs of the model that can be one.
std::string lossHelp(const Context &context);

/// Reports a batch that microbatches and ranks do not divide evenly, and what contradicts their mean.
void checkMicrobatches(const Context &context, const BoundPlan &plan);

/// Fills precision. Needs the data blocks, the optimizer and what bindTrainable fills.
void bindPrecision(const Context &context, const PrecisionStatement &statement, BoundPlan &plan);

/// The option `loss_scale` of precision.
OptionRule lossScaleRule(const Context &context, BoundPrecision &precision);

/// True if the optimizer keeps something from step to step for the parameters of a group, besides a master.
bool keepsState(const BoundOptimizer &optimizer, const OptimizerGroup &group);

/// The option `offload` of data.
OptionRule offloadRule(const Context &context, BoundData &data);

/// Reports what cannot be kept on the host, or is not there. Needs all other statements of training.
void checkOffload(const Context &context, const BoundPlan &plan);

/// Makes steps with gradients that are not finite those by which a dynamic scale is found. Reports a plan that stops at
/// them; warns of gradients of 16 bits that are likely to vanish. Needs all other statements of training.
void bindLossScale(const Context &context, BoundPlan &plan);

/// Fills trainable and the use of each parameter. Reports a parameter that two statements use in two ways, and an
/// optimizer that has nothing to train.
void bindTrainable(const Context &context, BoundPlan &plan);

/// Says why a parameter is not trained: by the statement that names it, or by the archive. Needs what bindTrainable
/// fills.
Diagnostic &explainUntrained(const Context &context, const BoundPlan &plan, size_t parameter, Diagnostic &diagnostic);

/// Reports data blocks and units that do nothing. Needs the data blocks and what bindTrainable fills.
void checkDataUse(const Context &context, const BoundPlan &plan);

/// Fills optimizer. Needs what bindTrainable fills.
void bindOptimizer(const Context &context, const OptimizerStatement &statement, BoundPlan &plan);

/// The numbers of a group, and where the plan states each, by the name of its option.
struct WrittenNumbers {
  OptimizerNumbers numbers;
  OptionPlaces places;
};

/// PyTorch's defaults.
WrittenNumbers defaultNumbers(OptimizerKind kind);

/// Options that put numbers into `target`, which has to outlive them.
std::vector<OptionRule> numberRules(const Context &context, OptimizerKind kind, WrittenNumbers &target);

/// Reports numbers that are right one by one and contradict each other. Of a group, those that contradict each other
/// in the optimizer, too, are not reported again.
void checkNumbers(const Context &context, const WrittenNumbers &written, const WrittenNumbers *optimizer = nullptr);

/// A number as messages show it: `0.1`.
std::string numberText(double value);

/// `schedule cosine { ... }`; the option has one word. None where the kind is unknown.
std::optional<LrSchedule> bindSchedule(const Context &context, const Option &option);

/// Fills init. Reports parameters that no entry names, and those that two do.
void bindInit(const Context &context, const InitStatement &statement, BoundPlan &plan);

/// What the words of an entry of `init` mean. Reports an unknown distribution, one that is not of its form, and numbers
/// that none has.
std::optional<InitialValues> bindDistribution(const Context &context, const InitEntry &entry);

/// Gives each parameter to one data block, and checks the units of each.
void assignParameters(const Context &context, BoundPlan &plan);

} // namespace meshplan::bind

#endif // MESHPLAN_COMPILER_FRONTEND_BIND_TRAINING_TRAINING_H
