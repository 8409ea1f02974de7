//===- verify_program_test.cpp - rules of parameters, constants, ports ----===//

#include "test/unit/artifact/refused_schedule.h"

namespace meshplan {
namespace {

using artifact::ScheduleT;

using VerifyProgram = RefusedSchedule;

TEST_P(VerifyProgram, IsRefused) { expectRefusal("programs[0]: "); }

template <typename Table> Table &addCopy(std::vector<std::unique_ptr<Table>> &list) {
  return *list.emplace_back(std::make_unique<Table>(*list[0]));
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
  program.values.push_back(std::make_unique<artifact::ValueT>(valueOf(schedule, weight)));
  auto &axis = *program.devices.emplace_back(std::make_unique<artifact::AxisT>());
  axis.name = "one";
  axis.size = 1;
  EXPECT_EQ(verificationError(schedule), "programs[1]: values[0]: dims[1]: axes[0]: axis 1 of a mesh with 1 axes");
}

} // namespace
} // namespace meshplan
