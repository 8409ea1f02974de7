//===- damage_step.cpp - artifacts of a compiler with a defect ------------===//
//
// See README.md.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/artifact.h"
#include "runtime/schema/checksum.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

using namespace meshplan;

namespace {

class Damage {
public:
  explicit Damage(artifact::ScheduleT &schedule) : schedule(schedule) {
    for (auto &each : schedule.programs)
      if (each->name == "step")
        program = each.get();
  }

  /// False if there is nothing to damage.
  bool apply(const std::string &kind, const std::string &name) {
    if (!program)
      return false;
    if (kind == "skip-reduction")
      return skipReduction(name);
    if (kind == "other-group")
      return narrowGroup(name);
    if (kind == "scale-attention")
      return scaleAttention();
    if (kind == "skip-gathered")
      return skipGathered(name);
    return kind == "skip-clipping" && skipClipping();
  }

private:
  artifact::ParameterT *parameterOf(const std::string &name) {
    for (auto &parameter : program->parameters)
      if (std::ranges::find(parameter->names, name) != parameter->names.end())
        return parameter.get();
    return nullptr;
  }

  artifact::GradientT *gradientOf(const std::string &name) {
    artifact::ParameterT *parameter = parameterOf(name);
    for (auto &gradient : program->gradients)
      if (parameter && gradient->parameter == parameter->value)
        return gradient.get();
    return nullptr;
  }

  artifact::StartT *reductionOf(const artifact::GradientT &gradient) {
    for (auto &instruction : program->instructions)
      if (artifact::StartT *start = instruction->action.AsStart();
          start && start->output == gradient.value && start->kind == artifact::CollectiveKind::all_reduce)
        return start;
    return nullptr;
  }

  bool skipReduction(const std::string &name);
  bool narrowGroup(const std::string &name);
  bool scaleAttention();
  bool skipClipping();
  bool skipGathered(const std::string &name);
  void replace(int32_t from, int32_t to);

  artifact::ScheduleT &schedule;
  artifact::ProgramT *program = nullptr;
};

} // namespace

/// Readers of `from` read `to` instead, and its lifetime is extended accordingly.
void Damage::replace(int32_t from, int32_t to) {
  for (auto &instruction : program->instructions) {
    if (artifact::FreeT *free = instruction->action.AsFree()) {
      std::erase(free->values, to);
      std::ranges::replace(free->values, from, to);
    }
    if (artifact::ComputeT *compute = instruction->action.AsCompute())
      for (auto &arg : compute->args)
        std::ranges::replace(arg->values, from, to);
  }
  for (auto &gradient : program->gradients)
    if (gradient->value == from)
      gradient->value = to;
}

bool Damage::skipReduction(const std::string &name) {
  artifact::GradientT *gradient = gradientOf(name);
  artifact::StartT *start = gradient ? reductionOf(*gradient) : nullptr;
  if (!start)
    return false;
  int32_t addend = start->input, sum = start->output, sequence = start->sequence;
  program->values[addend]->partial = artifact::Reduction::none;
  program->values[addend]->partial_axes.clear();
  std::erase_if(program->instructions, [&](const auto &instruction) {
    const artifact::StartT *own = instruction->action.AsStart();
    const artifact::WaitT *wait = instruction->action.AsWait();
    return (own && own->sequence == sequence) || (wait && wait->sequence == sequence);
  });
  replace(sum, addend);
  return true;
}

bool Damage::narrowGroup(const std::string &name) {
  artifact::GradientT *gradient = gradientOf(name);
  artifact::StartT *start = gradient ? reductionOf(*gradient) : nullptr;
  if (!start || schedule.communicators[start->communicator]->axes.size() < 2)
    return false;
  int64_t axis = schedule.communicators[start->communicator]->axes.front().axis();
  for (size_t i = 0; i < schedule.communicators.size(); ++i) {
    const auto &axes = schedule.communicators[i]->axes;
    if (axes.size() != 1 || axes.front().axis() != axis)
      continue;
    start->communicator = static_cast<int32_t>(i);
    program->values[start->input]->partial_axes = axes;
    return true;
  }
  return false;
}

bool Damage::scaleAttention() {
  for (auto &instruction : program->instructions)
    if (artifact::ComputeT *compute = instruction->action.AsCompute();
        compute && compute->target == "meshplan.attention_backward")
      for (auto &arg : compute->args)
        if (arg->name == "scale") {
          arg->reals[0] *= 1.01;
          return true;
        }
  return false;
}

bool Damage::skipClipping() {
  bool isDone = false;
  for (auto &instruction : program->instructions)
    if (artifact::ComputeT *compute = instruction->action.AsCompute(); compute && !compute->overwrites.empty())
      isDone |= std::erase_if(compute->args, [](const auto &arg) { return arg->name == "factor"; }) > 0;
  return isDone;
}

bool Damage::skipGathered(const std::string &name) {
  artifact::ParameterT *parameter = parameterOf(name);
  for (auto &instruction : program->instructions)
    if (artifact::ComputeT *compute = instruction->action.AsCompute();
        parameter && compute && compute->target == "meshplan.assign" && compute->overwrites[0] == parameter->value)
      for (auto &arg : compute->args)
        if (arg->name == "source") {
          arg->values = {parameter->value};
          return true;
        }
  return false;
}

static void write(const artifact::ScheduleT &schedule, const std::string &path) {
  flatbuffers::FlatBufferBuilder builder;
  artifact::FinishScheduleBuffer(builder, artifact::CreateSchedule(builder, &schedule));
  std::vector<uint8_t> bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  Checksum checksum = checksumOf(bytes);
  bytes.insert(bytes.end(), checksum.begin(), checksum.end());
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

int main(int count, char **words) {
  if (count < 4 || count > 5) {
    std::fprintf(stderr, "usage: damage-step KIND IN.sched OUT.sched [NAME]\n");
    return 2;
  }
  auto artifact = loadSchedule(words[2]);
  if (!artifact) {
    std::fprintf(stderr, "damage-step: error: %s\n", artifact.status().message().c_str());
    return 1;
  }
  artifact::ScheduleT schedule;
  artifact->schedule().UnPackTo(&schedule);
  if (!Damage(schedule).apply(words[1], count == 5 ? words[4] : "")) {
    std::fprintf(stderr, "damage-step: error: program 'step' has nothing to damage so\n");
    return 1;
  }
  write(schedule, words[3]);
  return 0;
}
