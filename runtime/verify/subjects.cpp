//===- subjects.cpp - subjects of a comparison ----------------------------===//
//
// A subject is a value that ranks and reference both have. Subjects are in the order of the computation: outputs,
// gradients, their norm, master weights, parameters. What deviates first is then the nearest to the cause: a wrong
// gradient makes a wrong parameter, and not reversed.
//
//===----------------------------------------------------------------------===//

#include "runtime/verify/subjects.h"

#include "runtime/artifact/sharding.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/exec/walk.h"

#include <algorithm>
#include <map>

using namespace meshplan;

std::string_view meshplan::kindName(SubjectKind kind) {
  switch (kind) {
  case SubjectKind::output:
    return "output";
  case SubjectKind::gradient:
    return "gradient";
  case SubjectKind::norm:
    return "gradient norm";
  case SubjectKind::master:
    return "master";
  case SubjectKind::parameter:
    break;
  }
  return "parameter";
}

Expected<const artifact::Program *> meshplan::verifiedProgram(const artifact::Schedule &schedule) {
  auto step = findProgram(schedule, artifact::ProgramRole::step);
  return step ? step : findProgram(schedule, artifact::ProgramRole::forward);
}

static bool isHalf(const artifact::Program &program, int value) {
  DType dtype = dtypeOf(program.values()->Get(value)->dtype());
  return dtype == DType::f16 || dtype == DType::bf16;
}

/// True if a model has 16-bit parameters or converts to 16-bit floats, as autocast does.
static bool hasHalfNumbers(const artifact::Program &program) {
  for (flatbuffers::uoffset_t i = 0; i < program.values()->size(); ++i)
    if (isHalf(program, static_cast<int>(i)))
      return true;
  return false;
}

namespace {

class SubjectList {
public:
  SubjectList(const artifact::Program &program, bool isOfHalf) : program(program), isOfHalf(isOfHalf) {
    for (const artifact::Parameter &parameter : elementsOf(program.parameters())) {
      parameters[parameter.value()] = &parameter;
    }
    for (const artifact::Update &update : elementsOf(program.updates()))
      updates[update.target()] = update.value();
  }

  void addOutputs();
  Status addGradients();
  void addNorm();
  Status addChanged();

  std::vector<Subject> list;

private:
  void add(SubjectKind kind, const std::string &name, int value) {
    list.push_back({.kind = kind, .name = name, .value = value, .made = value, .isHalf = isOfHalf});
  }
  void addOf(const artifact::Parameter &parameter, SubjectKind kind, int value) {
    add(kind, parameter.names()->Get(0)->str(), value);
    list.back().placed = parameter.origin();
  }
  void addStep(SubjectKind kind, const artifact::Gradient &gradient, const OptimizerCall &call, int value);

  const artifact::Program &program;
  bool isOfHalf;                                         // the reference has numbers of 16 bits
  std::map<int, const artifact::Parameter *> parameters; // parameters by value
  std::map<int, int> updates;                            // updated values, by target
};

} // namespace

/// Outputs that are gradients are compared as gradients.
void SubjectList::addOutputs() {
  auto isGradient = [&](int value) {
    for (const artifact::Gradient &gradient : elementsOf(program.gradients()))
      if (gradient.value() == value)
        return true;
    return false;
  };
  // Neither the count of a guarded step nor the tokens of experts are results of the model.
  auto isOfGuard = [&](const artifact::Port &output) {
    return program.guard() && output.name()->string_view() == program.guard()->output()->string_view();
  };
  for (const artifact::Port &output : elementsOf(program.outputs()))
    if (!isGradient(output.value()) && !isOfGuard(output) && !output.experts())
      add(SubjectKind::output, output.name()->str(), output.value());
}

Status SubjectList::addGradients() {
  for (const artifact::Gradient &each : elementsOf(program.gradients()))
    addOf(*parameters.at(each.parameter()), SubjectKind::gradient, each.value());
  bool trains = program.role() == artifact::ProgramRole::step;
  // Without a list of gradients, neither these nor parameters would be compared.
  if (trains && (!program.gradients() || program.gradients()->size() == 0))
    return Status(StatusCode::invalid, "program 'step' does not say which values are gradients; help: compile the plan "
                                       "again, with this version");
  return Status();
}

void SubjectList::addNorm() {
  if (std::optional<Clipping> clipping = clippingOf(program))
    add(SubjectKind::norm, "of all", clipping->squaredNorm);
}

void SubjectList::addStep(SubjectKind kind, const artifact::Gradient &gradient, const OptimizerCall &call, int value) {
  addOf(*parameters.at(gradient.parameter()), kind, value);
  list.back().optimizer = call.numbers;
  list.back().gradient = gradient.value();
  list.back().held = call.held;
  // The updated value, since no instruction produces the parameter itself.
  list.back().made = updates.at(value);
  list.back().isHalf = isHalf(program, value);
}

/// Master weights first, then parameters.
Status SubjectList::addChanged() {
  // A parameter with a master weight is the rounding of it, so a wrong master is the cause and comes first.
  for (SubjectKind kind : {SubjectKind::master, SubjectKind::parameter})
    for (const artifact::Gradient &gradient : elementsOf(program.gradients())) {
      const artifact::State *master = masterOf(program, gradient.parameter());
      int value = kind == SubjectKind::parameter ? gradient.parameter() : master ? master->value() : -1;
      MESHPLAN_ASSIGN_OR_RETURN(std::optional<OptimizerCall> call, optimizerOf(program, gradient));
      if (!call || !updates.contains(value))
        continue;
      addStep(kind, gradient, *call, value);
      if (master)
        (kind == SubjectKind::master ? list.back().name : list.back().master) = master->name()->str();
    }
  return Status();
}

Expected<std::vector<Subject>> meshplan::subjectsOf(const artifact::Program &program,
                                                    const artifact::Program &reference) {
  // The order is that of the computation, so that the first deviation in a report is nearest to its cause.
  SubjectList subjects(program, hasHalfNumbers(reference));
  subjects.addOutputs();
  MESHPLAN_RETURN_IF_ERROR(subjects.addGradients());
  subjects.addNorm();
  MESHPLAN_RETURN_IF_ERROR(subjects.addChanged());
  return std::move(subjects.list);
}
