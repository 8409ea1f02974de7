//===- verify_program_test.cpp - rules of parameters, constants, ports ----===//

#include "test/unit/artifact/refused_schedule.h"

#include <cmath>

namespace meshplan {
namespace {

using artifact::ScheduleT;

using VerifyProgram = RefusedSchedule;

TEST_P(VerifyProgram, IsRefused) { expectRefusal("programs[0]: "); }

template <typename Table> Table &addCopy(std::vector<std::unique_ptr<Table>> &list) {
  return *list.emplace_back(std::make_unique<Table>(*list[0]));
}

artifact::InitT &give(ScheduleT &s) {
  auto &init = forwardOf(s).parameters[0]->init = std::make_unique<artifact::InitT>();
  init->kind = artifact::InitKind::given;
  return *init;
}

const WrongSchedule portCases[] = {
    {"ParameterNames", [](ScheduleT &s) { forwardOf(s).parameters[0]->names.clear(); }, "parameters[0]: no name"},
    {"ParameterNameTwice",
     [](ScheduleT &s) { forwardOf(s).parameters[0]->names[1] = forwardOf(s).parameters[0]->names[0]; },
     "parameters[0]: names[1]: the name 'lm_head.weight' twice"},
    {"ParameterValue", [](ScheduleT &s) { forwardOf(s).parameters[0]->value = 7; }, "parameters[0]: value 7 of 7"},
    {"ConstantValue", [](ScheduleT &s) { forwardOf(s).constants[0]->value = weight; },
     "constants[0]: value 0 is defined twice"},
    {"ConstantSize", [](ScheduleT &s) { forwardOf(s).constants[0]->data.pop_back(); },
     "constants[0]: 23 bytes of data, the value has 24"},
    {"InputName", [](ScheduleT &s) { forwardOf(s).inputs[0]->name = ""; }, "inputs[0]: no name"},
    {"InputValue", [](ScheduleT &s) { forwardOf(s).inputs[0]->value = -1; }, "inputs[0]: value -1 of 7"},
    {"OutputValue", [](ScheduleT &s) { forwardOf(s).outputs[0]->value = 100; }, "outputs[0]: value 100 of 7"},
    {"OutputFreed", [](ScheduleT &s) { forwardOf(s).outputs[0]->value = part; },
     "outputs[0]: value 5 is used after it was freed"},
    {"Memory", [](ScheduleT &s) { forwardOf(s).memory->peak = -1; }, "memory: a size is negative"},
    {"ParameterWithEmptyName", [](ScheduleT &s) { forwardOf(s).parameters[0]->names[0] = ""; },
     "parameters[0]: names[0]: no name"},
    {"ParameterNameOfAnother",
     [](ScheduleT &s) {
       artifact::ParameterT &parameter = addCopy(forwardOf(s).parameters);
       parameter.names = {"embed_tokens.weight"};
       parameter.value = sum;
     },
     "parameters[1]: names[0]: the name 'embed_tokens.weight' twice"},
    {"ParameterValueTwice", [](ScheduleT &s) { addCopy(forwardOf(s).parameters).names = {"other"}; },
     "parameters[1]: value 0 is defined twice"},
    {"ParameterValueNegative", [](ScheduleT &s) { forwardOf(s).parameters[0]->value = -1; },
     "parameters[0]: value -1 of 7"},
    {"GivenElements", [](ScheduleT &s) { give(s).data.assign(72 * 4 - 1, 0); },
     "parameters[0]: init: 287 bytes of data for 72 elements of f32"},
    {"GivenElementsMissing", [](ScheduleT &s) { give(s); },
     "parameters[0]: init: 0 bytes of data for 72 elements of f32"},
    {"GivenElementsOfAnotherType", [](ScheduleT &s) { give(s).dtype = artifact::DType::i32; },
     "parameters[0]: init: elements of i32, the value has f32"},
    {"GivenElementsOfNoType", [](ScheduleT &s) { give(s).dtype = static_cast<artifact::DType>(77); },
     "parameters[0]: init: dtype 77 does not exist"},
    {"PiecesOfAnotherExtent",
     [](ScheduleT &s) {
       auto &pieces = forwardOf(s).parameters[0]->pieces = std::make_unique<artifact::WeightPiecesT>();
       pieces->before = pieces->after = {"a"};
       pieces->sizes = {1};
     },
     "parameters[0]: pieces: its parts are less than dim 0"},
    {"ConstantValueMissing", [](ScheduleT &s) { forwardOf(s).constants[0]->value = 7; }, "constants[0]: value 7 of 7"},
    {"ConstantTooLong", [](ScheduleT &s) { forwardOf(s).constants[0]->data.push_back(0); },
     "constants[0]: 25 bytes of data, the value has 24"},
    {"ConstantOfNothing", [](ScheduleT &s) { valueOf(s, table).dims[0]->extent = 0; },
     "constants[0]: 24 bytes of data, the value has 0"},
    {"ConstantOfAnotherDType", [](ScheduleT &s) { valueOf(s, table).dtype = artifact::DType::boolean; },
     "constants[0]: 24 bytes of data, the value has 3"},
    {"InputNameTwice", [](ScheduleT &s) { addCopy(forwardOf(s).inputs).value = sum; }, "inputs[1]: the name 'x' twice"},
    {"InputIsAConstant", [](ScheduleT &s) { forwardOf(s).inputs[0]->value = table; },
     "inputs[0]: value 1 is defined twice"},
    {"OutputNameTwice", [](ScheduleT &s) { addCopy(forwardOf(s).outputs); }, "outputs[1]: the name 'logits' twice"},
    {"OutputPartial", [](ScheduleT &s) { forwardOf(s).outputs[0]->value = product; }, "outputs[0]: value 3 is partial"},
    {"InputPartial",
     [](ScheduleT &s) {
       valueOf(s, input).partial = artifact::Reduction::max;
       valueOf(s, input).partial_axes = {artifact::AxisRef(0, 1, 2)};
       valueOf(s, input).dims[0]->axes.clear();
     },
     "inputs[0]: value 2 is partial"},
    {"OutputName", [](ScheduleT &s) { forwardOf(s).outputs[0]->name = ""; }, "outputs[0]: no name"},
    {"MemoryOfParameters", [](ScheduleT &s) { forwardOf(s).memory->parameters = INT64_MIN; },
     "memory: a size is negative"},
    {"MemoryOfConstants", [](ScheduleT &s) { forwardOf(s).memory->constants = -1; }, "memory: a size is negative"},
    {"MemoryOfTheHost", [](ScheduleT &s) { forwardOf(s).memory->host_peak = -1; }, "memory: a size is negative"},
    {"MemoryOfHostParameters", [](ScheduleT &s) { forwardOf(s).memory->host_parameters = -1; },
     "memory: a size is negative"},
    {"MemoryOfHostStates", [](ScheduleT &s) { forwardOf(s).memory->host_states = -1; }, "memory: a size is negative"},
    {"MemoryOfInputs", [](ScheduleT &s) { forwardOf(s).memory->inputs = -1; }, "memory: a size is negative"},
};

INSTANTIATE_TEST_SUITE_P(Ports, VerifyProgram, testing::ValuesIn(portCases), nameOfCase);

TEST(VerifyProgramOf, WhatMayBeLeftOut) {
  ScheduleT schedule = buildSchedule();
  artifact::ProgramT &program = forwardOf(schedule);
  program.memory.reset();
  program.outputs.clear();
  EXPECT_EQ(verificationError(schedule), "");
  program.instructions.clear();
  program.constants.clear();
  program.parameters.clear();
  program.inputs.clear();
  program.values.clear();
  EXPECT_EQ(verificationError(schedule), "");
}

TEST(VerifyProgramOf, GivenElementsMayBeOfAnotherFloatingPointType) {
  ScheduleT schedule = buildSchedule();
  artifact::InitT &init = give(schedule);
  init.dtype = artifact::DType::f64;
  init.data.assign(72 * 8, 0);
  EXPECT_EQ(verificationError(schedule), "");
}

TEST(VerifyProgramOf, OneValueMayBeSeveralOutputsOrAnInput) {
  ScheduleT schedule = buildSchedule();
  addCopy(forwardOf(schedule).outputs).name = "again";
  artifact::PortT &passed = addCopy(forwardOf(schedule).outputs);
  passed.name = "x";
  passed.value = input;
  EXPECT_EQ(verificationError(schedule), "");
}

TEST(VerifyProgramOf, ReferenceProgramRunsOnDevicesOfItsOwn) {
  ScheduleT schedule = buildSchedule();
  auto reference = std::make_unique<artifact::ProgramT>();
  reference->name = "reference";
  reference->role = artifact::ProgramRole::reference;
  reference->devices.push_back(std::make_unique<artifact::AxisT>());
  reference->devices[0]->name = "one";
  reference->devices[0]->size = 1;
  schedule.programs.push_back(std::move(reference));
  EXPECT_EQ(verificationError(schedule), "");
  schedule.programs[1]->name = "forward";
  EXPECT_EQ(verificationError(schedule), "programs[1]: the name 'forward' twice");
}

TEST(VerifyProgramOf, DevicesOfItsOwnReplaceTheMesh) {
  ScheduleT schedule = buildSchedule();
  auto &program = *schedule.programs.emplace_back(std::make_unique<artifact::ProgramT>());
  program.name = "reference";
  program.role = artifact::ProgramRole::reference;
  program.values.push_back(std::make_unique<artifact::ValueT>(valueOf(schedule, weight)));
  auto &axis = *program.devices.emplace_back(std::make_unique<artifact::AxisT>());
  axis.name = "one";
  axis.size = 1;
  EXPECT_EQ(verificationError(schedule), "programs[1]: values[0]: dims[1]: axes[0]: axis 1 of a mesh with 1 axes");
}

/// A state, a setting and an update of the parameter by the sum, with the layout of value `sum`.
void addTraining(ScheduleT &s) {
  artifact::ProgramT &program = forwardOf(s);
  auto add = [&](const artifact::ValueT &like) {
    program.values.push_back(std::make_unique<artifact::ValueT>(like));
    return static_cast<int>(program.values.size() - 1);
  };
  auto state = std::make_unique<artifact::StateT>();
  state->name = "w.state";
  state->parameter = "w";
  state->value = add(valueOf(s, sum));
  auto setting = std::make_unique<artifact::SettingT>();
  setting->name = "lr";
  artifact::ValueT scalar;
  scalar.dtype = artifact::DType::f64;
  setting->value = add(scalar);
  auto update = std::make_unique<artifact::UpdateT>();
  update->value = sum;
  update->target = state->value;
  program.states.push_back(std::move(state));
  program.settings.push_back(std::move(setting));
  program.updates.push_back(std::move(update));
}

TEST(VerifyTraining, AcceptsWhatFits) {
  ScheduleT schedule = buildSchedule();
  addTraining(schedule);
  EXPECT_EQ(verificationError(schedule), "");
}

/// The message after the program's name, for a change to what addTraining adds.
std::string trainingError(const std::function<void(artifact::ProgramT &)> &change) {
  ScheduleT schedule = buildSchedule();
  addTraining(schedule);
  change(forwardOf(schedule));
  return verificationError(schedule);
}

TEST(VerifyTraining, States) {
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) { p.states[0]->name = ""; }), "programs[0]: states[0]: no name");
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) { p.states[0]->value = weight; }),
            "programs[0]: states[0]: value 0 is defined twice");
}

TEST(VerifyTraining, Settings) {
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) { p.values.back()->dtype = artifact::DType::f32; }),
            "programs[0]: settings[0]: value 8 is not an f64 scalar");
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) {
              p.settings[0]->schedule = std::make_unique<artifact::RateScheduleT>();
              p.settings[0]->schedule->kind = artifact::RateKind(9);
            }),
            "programs[0]: settings[0]: a learning rate schedule of kind 9, which does not exist");
}

/// The error about a learning rate schedule, without the program and the setting.
std::string scheduleError(artifact::RateKind kind, int64_t warmup, int64_t steps, int64_t decay, double min = 0) {
  std::string error = trainingError([&](artifact::ProgramT &p) {
    artifact::RateScheduleT &schedule = *(p.settings[0]->schedule = std::make_unique<artifact::RateScheduleT>());
    schedule.kind = kind;
    schedule.warmup = warmup;
    schedule.steps = steps;
    schedule.decay = decay;
    schedule.min = min;
  });
  const std::string place = "programs[0]: settings[0]: ";
  return error.starts_with(place) ? error.substr(place.size()) : error;
}

TEST(VerifyTraining, LearningRateSchedules) {
  using artifact::RateKind;
  EXPECT_EQ(scheduleError(RateKind::constant, 3, 0, 0), "");
  EXPECT_EQ(scheduleError(RateKind::linear, 3, 4, 0, 1), "");
  EXPECT_EQ(scheduleError(RateKind::linear, 4, 4, 0), "") << "a warm-up may take the whole training";
  EXPECT_EQ(scheduleError(RateKind::wsd, 0, 4, 4), "");
  EXPECT_EQ(scheduleError(RateKind::wsd, 1, 4, 3), "");
  EXPECT_EQ(scheduleError(RateKind::linear, 5, 4, 0), "a learning rate schedule of warmup 5, decay 0 and steps 4");
  EXPECT_EQ(scheduleError(RateKind::cosine, 0, -1, 0), "a learning rate schedule of warmup 0, decay 0 and steps -1");
  EXPECT_EQ(scheduleError(RateKind::constant, -1, 0, 0), "a learning rate schedule of warmup -1, decay 0 and steps 0");
  EXPECT_EQ(scheduleError(RateKind::wsd, 0, 4, 0), "a learning rate schedule of warmup 0, decay 0 and steps 4");
  EXPECT_EQ(scheduleError(RateKind::wsd, 2, 4, 3), "a learning rate schedule of warmup 2, decay 3 and steps 4");
  EXPECT_EQ(scheduleError(RateKind::wsd, INT64_MAX, 4, INT64_MAX),
            "a learning rate schedule of warmup 9223372036854775807, decay 9223372036854775807 and steps 4");
  EXPECT_EQ(scheduleError(RateKind::linear, 0, 4, 0, 1.5), "a learning rate that ends at 1.5 of itself");
  EXPECT_EQ(scheduleError(RateKind::linear, 0, 4, 0, std::nan("")), "a learning rate that ends at nan of itself");
}

TEST(VerifyTraining, Updates) {
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) { p.updates[0]->value = 100; }),
            "programs[0]: updates[0]: value 100 of 9");
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) { p.updates[0]->target = input; }),
            "programs[0]: updates[0]: value 2 is not a parameter, state or accumulator, or is updated twice");
  EXPECT_EQ(trainingError(
                [](artifact::ProgramT &p) { p.updates.push_back(std::make_unique<artifact::UpdateT>(*p.updates[0])); }),
            "programs[0]: updates[1]: value 7 is not a parameter, state or accumulator, or is updated twice");
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) { p.values[7]->dims[0]->axes.clear(); }),
            "programs[0]: updates[0]: dim 0 is sharded differently");
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) { p.values[7]->dims[0]->extent += 6; }),
            "programs[0]: updates[0]: the global shape changes");
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) { p.values[7]->host = true; }),
            "programs[0]: updates[0]: value 4 is in another memory than value 7");
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) { p.memory->states = -1; }),
            "programs[0]: memory: a size is negative");
}

/// The message after the program's name, for a change to it in which an instruction produces the gradient of the
/// parameter: value 9.
std::string gradientError(const std::function<void(artifact::ProgramT &)> &change) {
  ScheduleT schedule = buildSchedule();
  addTraining(schedule);
  artifact::ProgramT &program = forwardOf(schedule);
  program.parameters[0]->trainable = true;
  program.values.push_back(std::make_unique<artifact::ValueT>(*program.values[weight]));
  auto gradient = std::make_unique<artifact::GradientT>();
  gradient->value = static_cast<int32_t>(program.values.size() - 1);
  gradient->parameter = weight;
  artifact::ComputeT compute;
  compute.target = "aten.relu.default";
  compute.outputs = {gradient->value};
  append(schedule, compute);
  program.gradients.push_back(std::move(gradient));
  change(program);
  return verificationError(schedule);
}

TEST(VerifyTraining, Gradients) {
  EXPECT_EQ(gradientError([](artifact::ProgramT &) {}), "");
  EXPECT_EQ(gradientError([](artifact::ProgramT &p) { p.gradients[0]->value = 100; }),
            "programs[0]: gradients[0]: value 100 of 10");
  EXPECT_EQ(gradientError([](artifact::ProgramT &p) { p.parameters[0]->trainable = false; }),
            "programs[0]: gradients[0]: value 0 is not a trained parameter, or already has a gradient");
  EXPECT_EQ(gradientError([](artifact::ProgramT &p) {
              p.gradients.push_back(std::make_unique<artifact::GradientT>(*p.gradients[0]));
            }),
            "programs[0]: gradients[1]: value 0 is not a trained parameter, or already has a gradient");
  EXPECT_EQ(gradientError([](artifact::ProgramT &p) { p.gradients[0]->value = input; }),
            "programs[0]: gradients[0]: value 2 has another shape than the parameter");
}

TEST(VerifyTraining, GradientsAreMadeByInstructions) {
  EXPECT_EQ(gradientError([](artifact::ProgramT &p) { p.gradients[0]->value = weight; }),
            "programs[0]: gradients[0]: no instruction produces value 0")
      << "the parameter is given";
  EXPECT_EQ(gradientError([](artifact::ProgramT &p) {
              p.values[input] = std::make_unique<artifact::ValueT>(*p.values[weight]);
              p.gradients[0]->value = input;
            }),
            "programs[0]: gradients[0]: no instruction produces value 2")
      << "so is the input";
  EXPECT_EQ(gradientError([](artifact::ProgramT &p) { p.instructions.pop_back(); }),
            "programs[0]: gradients[0]: no instruction produces value 9")
      << "nothing defines it";
  EXPECT_EQ(gradientError([](artifact::ProgramT &p) {
              auto &instruction = *p.instructions.emplace_back(std::make_unique<artifact::InstructionT>());
              artifact::FreeT action;
              action.values = {9};
              instruction.action.Set(std::move(action));
            }),
            "")
      << "it may be freed before the end";
}

TEST(VerifyTraining, Loss) {
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) { p.loss = "l"; }), "programs[0]: loss: there is no output 'l'");
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) { p.loss = p.outputs[0]->name; }),
            "programs[0]: loss: output 'logits' is not one float");
}

TEST(VerifyTraining, Guard) {
  auto guarded = [](artifact::ProgramT &p, const std::string &output) -> artifact::GuardT & {
    p.guard = std::make_unique<artifact::GuardT>();
    p.guard->output = output;
    return *p.guard;
  };
  EXPECT_EQ(trainingError([&](artifact::ProgramT &p) { guarded(p, "n"); }),
            "programs[0]: guard: there is no output 'n'");
  EXPECT_EQ(trainingError([&](artifact::ProgramT &p) { guarded(p, "logits"); }),
            "programs[0]: guard: output 'logits' is not one i64");
  for (auto [growth, backoff, interval] : {std::tuple(0.5, 0.5, 10), {2, 1, 10}, {2, 0, 10}, {2, 0.5, -1}})
    EXPECT_THAT(trainingError([&, growth = growth, backoff = backoff, interval = interval](artifact::ProgramT &p) {
                  artifact::GuardT &guard = guarded(p, "logits");
                  guard.growth = growth;
                  guard.backoff = backoff;
                  guard.interval = interval;
                }),
                testing::HasSubstr("guard: a scale of the loss that grows by"));
}

TEST(VerifyTraining, InitialValues) {
  auto errorOf = [](artifact::InitKind kind, double low, double high, double std) {
    return trainingError([&](artifact::ProgramT &p) {
      p.parameters[0]->init = std::make_unique<artifact::InitT>();
      p.parameters[0]->init->kind = kind;
      p.parameters[0]->init->low = low;
      p.parameters[0]->init->high = high;
      p.parameters[0]->init->std = std;
    });
  };
  using Kind = artifact::InitKind;
  EXPECT_EQ(errorOf(Kind::constant, 0, 0, 0), "");
  EXPECT_EQ(errorOf(Kind::uniform, -1, 1, 0), "");
  EXPECT_EQ(errorOf(Kind::normal, 0, 0, 1), "");
  EXPECT_EQ(errorOf(Kind::truncated_normal, -1, 1, 1), "");
  std::string init = "programs[0]: parameters[0]: init: ";
  EXPECT_EQ(errorOf(Kind(9), 0, 0, 0), init + "kind 9 does not exist");
  EXPECT_EQ(errorOf(Kind::uniform, 1, 1, 0), init + "from 1 to 1");
  EXPECT_EQ(errorOf(Kind::truncated_normal, 2, 1, 1), init + "from 2 to 1");
  EXPECT_EQ(errorOf(Kind::normal, 0, 0, 0), init + "a standard deviation of 0");
  EXPECT_EQ(errorOf(Kind::truncated_normal, 0, 1, -1), init + "a standard deviation of -1");
  EXPECT_EQ(errorOf(Kind::uniform, 0, INFINITY, 0), init + "a number is not one of f32");
  EXPECT_EQ(errorOf(Kind::uniform, 0, 1e39, 0), init + "a number is not one of f32");
  EXPECT_EQ(errorOf(Kind::truncated_normal, 9, 10, 1), init + "from 9 to 10, with mean 0 and deviation 1");
}

TEST(VerifyTraining, WhereAParameterIsPlaced) {
  EXPECT_EQ(trainingError([](artifact::ProgramT &p) { p.parameters[0]->origin = 100; }),
            "programs[0]: parameters[0]: origin 100 of 1");
}

} // namespace
} // namespace meshplan
