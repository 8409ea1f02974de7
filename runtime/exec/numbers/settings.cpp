//===- settings.cpp - numbers that a run sets per step --------------------===//

#include "runtime/exec/numbers/settings.h"

#include "runtime/artifact/vector_range.h"
#include "runtime/schema/loss_scale.h"
#include "runtime/schema/program_names.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

using namespace meshplan;

/// Falls from 1 at p = 0 to 0 at p = 1.
static double descent(artifact::RateKind kind, double p) {
  return kind == artifact::RateKind::cosine ? (1 + std::cos(std::numbers::pi * p)) / 2 : 1 - p;
}

double meshplan::rateFactor(const artifact::RateSchedule &schedule, int64_t step) {
  // Step 0 already has a rate above zero, and the last step of the warm-up has the full rate: a warm-up of 4 has the
  // factors 1/4, 2/4, 3/4 and 1.
  if (step < schedule.warmup())
    return static_cast<double>(step + 1) / static_cast<double>(schedule.warmup());
  if (schedule.kind() == artifact::RateKind::constant)
    return 1;
  // `wsd` (warm-up, stable, decay) stays at 1 and falls only in the last `decay` steps; the other kinds fall from the
  // end of the warm-up. Of 100 steps with a warm-up of 10, `cosine` falls from step 10 on, `wsd` with a decay of 20
  // from step 80 on.
  bool isLate = schedule.kind() == artifact::RateKind::wsd;
  int64_t length = isLate ? schedule.decay() : schedule.steps() - schedule.warmup();
  int64_t begin = schedule.steps() - length;
  // After the last step nothing is divided: a warm-up of all steps leaves no step to fall in.
  double p = step >= schedule.steps()
                 ? 1
                 : static_cast<double>(std::max<int64_t>(step - begin, 0)) / static_cast<double>(length);
  return schedule.min() + (1 - schedule.min()) * descent(schedule.kind(), p);
}

/// Checks that a number is whole, at least `least` and below 2^bits.
static Status checkWhole(std::string_view name, double number, int64_t least, int bits) {
  if (number >= static_cast<double>(least) && number < std::ldexp(1.0, bits) && number == std::floor(number))
    return Status();
  return Status::error(StatusCode::invalid, "the setting '", name, "' is ", number, ", it must be a whole number from ",
                       least, " to ", (int64_t(1) << bits) - 1);
}

/// Checks what a plan may specify.
static Status checkRate(std::string_view name, double number) {
  if (name == program_names::lossScale && !isLossScale(number))
    return Status::error(StatusCode::invalid, "the setting 'loss_scale' is ", number, ", it must be a number ",
                         lossScaleRange);
  if (std::isfinite(number) && number >= 0)
    return Status();
  return Status::error(StatusCode::invalid, "the setting '", name, "' is ", number,
                       ", it must be a finite number, at least 0");
}

Status Settings::set(std::string_view name, double number) {
  std::string names;
  bool countsSteps = false;
  for (const artifact::Setting &setting : elementsOf(program.settings())) {
    std::string_view known = setting.name()->string_view();
    if (known == program_names::microbatch)
      continue;
    // A learning rate with a schedule depends on the step, so "step" can be set too.
    bool isStep = known == program_names::step || known == program_names::optimizerStep;
    countsSteps |= isStep || setting.schedule();
    if (isStep)
      continue;
    if (known == name) {
      MESHPLAN_RETURN_IF_ERROR(name == program_names::seed ? checkWhole(name, number, 0, 53) : checkRate(name, number));
      given.insert_or_assign(std::string(name), number);
      return Status();
    }
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  if (countsSteps && name == program_names::step) {
    MESHPLAN_RETURN_IF_ERROR(checkWhole(name, number, 1, 31));
    firstStep = static_cast<int64_t>(number);
    return Status();
  }
  if (countsSteps)
    names += (names.empty() ? "" : ", ") + std::string(program_names::step);
  return Status::error(StatusCode::notFound, "the program has no setting '", name, "'; it has ",
                       names.empty() ? "none" : names);
}

double Settings::numberAt(const artifact::Setting &setting, int64_t step) const {
  std::string_view name = setting.name()->string_view();
  step += firstStep - 1;
  if (name == program_names::step)
    return static_cast<double>(step + 1);
  // A skipped step does not update the optimizer's averages, so its bias correction must not count it.
  if (name == program_names::optimizerStep)
    return static_cast<double>(step + 1 - skipped);
  if (name == program_names::microbatch)
    return static_cast<double>(microbatch);
  auto own = given.find(name);
  double number = own == given.end() ? setting.number() : own->second;
  return setting.schedule() ? number * rateFactor(*setting.schedule(), step) : number;
}

std::optional<double> Settings::find(std::string_view name, int64_t step) const {
  for (const artifact::Setting &setting : elementsOf(program.settings()))
    if (setting.name()->string_view() == name)
      return numberAt(setting, step);
  return std::nullopt;
}

Expected<Tensor> Settings::tensorAt(const artifact::Setting &setting, int64_t step, double less) const {
  double number = numberAt(setting, step) - less;
  // On the host even for a run on a GPU: kernels take the number as an argument, and nothing waits for a copy.
  MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, allocateHostTensor({}, DType::f64));
  std::memcpy(tensor.data(), &number, sizeof number);
  return tensor;
}

Status Settings::write(int64_t step, std::span<Tensor> values) const {
  for (const artifact::Setting &setting : elementsOf(program.settings())) {
    MESHPLAN_ASSIGN_OR_RETURN(values[setting.value()], tensorAt(setting, step));
  }
  return Status();
}
