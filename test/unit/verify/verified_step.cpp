//===- verified_step.cpp - a small step and its reference -----------------===//

#include "test/unit/verify/verified_step.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace meshplan;

ScheduleBuilder meshplan::referenceAlone() {
  ScheduleBuilder builder({{"one", 1}});
  int x = builder.input("x", {{4}}, DType::f32), w = builder.parameter({"w", "tied"}, {{4}}, DType::f32);
  int product = builder.value({{4}}, DType::f32), loss = builder.value({}, DType::f32);
  builder.origin("", 3, "loss");
  builder.compute("aten.mul.Tensor", {tensorArg("self", w), tensorArg("other", x)}, {product});
  builder.compute("aten.sum.default", {tensorArg("self", product)}, {loss});
  builder.free({product});
  builder.output("loss", loss);
  artifact::ProgramT &program = builder.program();
  program.parameters[0]->trainable = true;
  program.loss = "loss";
  program.name = "reference";
  program.role = artifact::ProgramRole::reference;
  auto &devices = *program.devices.emplace_back(std::make_unique<artifact::AxisT>());
  devices.name = "rank";
  devices.size = 1;
  return builder;
}

void VerifiedStep::addHeld(Held kind) {
  bool isWhole = kind != Held::parameter;
  std::vector<TestDim> dims{{4, isWhole ? std::vector<std::string>() : std::vector<std::string>{"dp"}}};
  w = held = builder.parameter({"w", "tied"}, dims, kind == Held::master ? DType::bf16 : DType::f32);
  if (!isWhole)
    return;
  held = builder.value({{4, {"dp"}}}, DType::f32);
  if (kind == Held::part)
    return builder.slice(w, held);
  auto &state = *step().states.emplace_back(std::make_unique<artifact::StateT>());
  state.name = "w.master";
  state.value = held;
  state.parameter = "w";
  state.copies = true;
}

void VerifiedStep::addStored(Held kind) {
  stored = changed;
  if (kind == Held::parameter)
    return;
  DType dtype = kind == Held::master ? DType::bf16 : DType::f32;
  int rounded = changed, whole = builder.value({{4}}, dtype);
  if (kind == Held::master) {
    rounded = builder.value({{4, {"dp"}}}, dtype);
    builder.compute("aten._to_copy.default", {tensorArg("self", changed), dtypeArg("dtype", dtype)}, {rounded});
  }
  builder.collective(Kind::all_gather, {"dp"}, rounded, whole, 0);
  stored = builder.value({{4}}, dtype);
  builder.compute("meshplan.assign", {tensorArg("self", w), tensorArg("source", whole)}, {stored});
  call("meshplan.assign").overwrites = {w};
}

void VerifiedStep::addUpdate(int value, int target) {
  auto &update = *step().updates.emplace_back(std::make_unique<artifact::UpdateT>());
  update.value = value;
  update.target = target;
}

VerifiedStep::VerifiedStep(bool hasReference, Held heldKind) {
  x = builder.input("x", {{4, {"dp"}}}, DType::f32);
  addHeld(heldKind);
  int product = builder.value({{4, {"dp"}}}, DType::f32), addend = builder.value({}, DType::f32, {"dp"});
  loss = builder.value({}, DType::f32);
  gradient = builder.value({{4, {"dp"}}}, DType::f32);
  int squares = builder.value({}, DType::f32, {"dp"});
  squared = builder.value({}, DType::f32), factor = builder.value({}, DType::f32);
  rate = builder.value({}, DType::f64), changed = builder.value({{4, {"dp"}}}, DType::f32);
  builder.origin("head", 3, "loss");
  builder.compute("aten.mul.Tensor", {tensorArg("self", held), tensorArg("other", x)}, {product});
  builder.compute("aten.sum.default", {tensorArg("self", product)}, {addend});
  builder.collective(Kind::all_reduce, {"dp"}, addend, loss);
  builder.compute("aten.relu.default", {tensorArg("self", x)}, {gradient});
  builder.compute("meshplan.square_sum", {tensorArg("self", gradient)}, {squares});
  builder.collective(Kind::all_reduce, {"dp"}, squares, squared);
  builder.compute("meshplan.clip_factor", {tensorArg("squared_norm", squared), realArg("limit", 0.5)}, {factor});
  builder.compute("meshplan.sgd",
                  {tensorArg("parameter", held), tensorArg("gradient", gradient), tensorArg("learning_rate", rate),
                   tensorArg("factor", factor), realArg("weight_decay", 0.25)},
                  {changed});
  addStored(heldKind);
  builder.output("loss", loss);
  for (auto &instruction : builder.program().instructions)
    if (auto *start = instruction->action.AsStart())
      start->reduction = artifact::Reduction::sum;
  call("meshplan.sgd").overwrites = {held};
  artifact::ProgramT &program = step();
  program.name = "step";
  program.role = artifact::ProgramRole::step;
  program.loss = "loss";
  program.parameters[0]->trainable = true;
  program.parameters[0]->origin = 0;
  auto &setting = *program.settings.emplace_back(std::make_unique<artifact::SettingT>());
  setting.name = "optimizer.lr";
  setting.value = rate;
  setting.number = 0.1;
  addUpdate(stored, w);
  if (heldKind == Held::master)
    addUpdate(changed, held);
  auto &own = *program.gradients.emplace_back(std::make_unique<artifact::GradientT>());
  own.value = gradient;
  own.parameter = w;
  if (hasReference)
    builder.schedule().programs.push_back(std::move(referenceAlone().schedule().programs[0]));
}

artifact::ComputeT &VerifiedStep::call(const std::string &target) {
  for (auto &instruction : step().instructions)
    if (auto *compute = instruction->action.AsCompute(); compute && compute->target == target)
      return *compute;
  throw std::logic_error("no call of " + target);
}

void VerifiedStep::guard() {
  auto &list = step().instructions;
  auto end = static_cast<ptrdiff_t>(list.size());
  int count = builder.value({}, DType::i64, {"dp"}), all = builder.value({}, DType::i64);
  builder.compute("meshplan.nonfinite_count", {tensorArg("self", gradient)}, {count});
  builder.collective(Kind::all_reduce, {"dp"}, count, all);
  list[list.size() - 2]->action.AsStart()->reduction = artifact::Reduction::sum;
  artifact::ComputeT &optimizer = call("meshplan.sgd");
  optimizer.args.push_back(std::make_unique<artifact::ArgT>(tensorArg("nonfinite", all)));
  auto place = std::ranges::find_if(list, [&](const auto &each) { return each->action.AsCompute() == &optimizer; });
  std::rotate(place, list.begin() + end, list.end());
  builder.output("nonfinite", all);
  step().guard = std::make_unique<artifact::GuardT>();
  step().guard->output = "nonfinite";
}

void VerifiedStep::takeWholeBatch(int64_t count) { step().values[x]->dims.front()->extent *= count; }

Artifact meshplan::artifactAfter(const std::function<void(VerifiedStep &)> &change, Held held) {
  VerifiedStep step(/*hasReference=*/true, held);
  change(step);
  TemporaryDirectory folder;
  step.write(folder / "a.sched");
  auto artifact = loadSchedule(folder / "a.sched");
  EXPECT_TRUE(artifact.ok()) << artifact.status().message();
  return *std::move(artifact);
}
