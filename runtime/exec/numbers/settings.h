//===- settings.h - numbers that a run gives its steps -----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_NUMBERS_SETTINGS_H
#define MESHPLAN_RUNTIME_EXEC_NUMBERS_SETTINGS_H

#include "runtime/artifact/artifact.h"
#include "runtime/tensor/tensor.h"

#include <map>
#include <optional>
#include <string>

namespace meshplan {

/// The factor of a learning rate at a step, counted from 0 (RateSchedule in the schema).
double rateFactor(const artifact::RateSchedule &schedule, int64_t step);

/// The settings of one program: learning rates, the seed of its random numbers, and the number of the step.
class Settings {
public:
  /// `program` must outlive the settings.
  explicit Settings(const artifact::Program &program) : program(program) {}

  /// Gives a setting another number than the schedule has; its factor stays. Of "step" it is the number of the first
  /// step, from which the others follow. `notFound` for an unknown name and
  /// for "microbatch" and "optimizer.step", which follow from the run; `invalid` for a seed that is no whole number
  /// from 0 to 2^53 - 1, for a first step that is none from 1 to 2^31 - 1, and for a rate that is negative or not
  /// finite.
  Status set(std::string_view name, double number);

  /// The number of the microbatch that runs, counted from 0.
  void setMicrobatch(int64_t number) { microbatch = number; }

  /// Of the steps so far, as many have changed nothing: "optimizer.step" does not count them.
  void setSkipped(int64_t steps) { skipped = steps; }

  /// The number that a setting of this name has at a step, counted from 0; nothing if there is none.
  std::optional<double> find(std::string_view name, int64_t step) const;

  /// The number that a setting has at a step, counted from 0.
  double numberAt(const artifact::Setting &setting, int64_t step) const;

  /// The tensor of a setting at a step, counted from 0, less a number.
  Expected<Tensor> tensorAt(const artifact::Setting &setting, int64_t step, double less = 0) const;

  /// Puts the tensors of all settings at a step, counted from 0, into the table of values.
  Status write(int64_t step, std::span<Tensor> values) const;

private:
  const artifact::Program &program;
  std::map<std::string, double, std::less<>> given;
  int64_t microbatch = 0, skipped = 0;
  int64_t firstStep = 1;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_NUMBERS_SETTINGS_H
