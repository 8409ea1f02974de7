//===- settings.h - numbers that a run sets per step ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_NUMBERS_SETTINGS_H
#define MESHPLAN_RUNTIME_EXEC_NUMBERS_SETTINGS_H

#include "runtime/artifact/artifact.h"
#include "runtime/tensor/tensor.h"

#include <map>
#include <optional>
#include <string>

namespace meshplan {

/// The factor of a learning rate at a step, counted from 0 (see RateSchedule in the schema).
double rateFactor(const artifact::RateSchedule &schedule, int64_t step);

/// The settings of one program: learning rates, the seed of its random numbers, the step number, and so on.
class Settings {
public:
  /// `program` must outlive the settings.
  explicit Settings(const artifact::Program &program) : program(program) {}

  /// Overrides the number of a setting; the factor of its schedule still applies. "step" is the number of the first
  /// step, from which later ones follow. `notFound` for an unknown name, and for "microbatch" and "optimizer.step",
  /// which follow from the run. `invalid` for a seed that is not a whole number from 0 to 2^53 - 1, a first step that
  /// is not one from 1 to 2^31 - 1, a loss scale that isLossScale refuses, and a rate that is negative or not finite.
  Status set(std::string_view name, double number);

  /// The number of the running microbatch, counted from 0.
  void setMicrobatch(int64_t number) { microbatch = number; }

  /// The number of steps so far that changed nothing; "optimizer.step" does not count them.
  void setSkipped(int64_t steps) { skipped = steps; }

  /// The number of the setting with this name at a step, counted from 0; nullopt if there is none.
  std::optional<double> find(std::string_view name, int64_t step) const;

  /// The number of a setting at a step, counted from 0.
  double numberAt(const artifact::Setting &setting, int64_t step) const;

  /// The tensor of a setting at a step, counted from 0, minus `less`.
  Expected<Tensor> tensorAt(const artifact::Setting &setting, int64_t step, double less = 0) const;

  /// Writes the tensors of all settings at a step, counted from 0, to the table of values.
  Status write(int64_t step, std::span<Tensor> values) const;

private:
  const artifact::Program &program;
  std::map<std::string, double, std::less<>> given;
  int64_t microbatch = 0, skipped = 0;
  int64_t firstStep = 1;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_NUMBERS_SETTINGS_H
