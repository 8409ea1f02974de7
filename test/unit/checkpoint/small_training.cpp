//===- small_training.cpp - a small training ------------------------------===//

#include "test/unit/checkpoint/small_training.h"

#include "runtime/comm/threads/run_threads.h"
#include "runtime/tensor/compute_scope.h"
#include "test/unit/exec/schedule_builder.h"

#include <cstring>
#include <fstream>

using namespace meshplan;

namespace {

constexpr double rate = 0.25, momentum = 0.5;

/// Adds trained parameters one after the other.
class Builder {
public:
  explicit Builder(const SmallPlan &plan) : plan(plan) {
    builder.program().name = "step";
    builder.program().role = artifact::ProgramRole::step;
    lr = setting("optimizer.lr", rate);
    step = setting("step", 1);
    if (plan.isStacked) {
      dims = {{plan.modules, {"dp"}}, {plan.extent}};
      train("l.w", plan.dtype, plan.master);
      auto &pieces = builder.program().parameters.back()->pieces = std::make_unique<artifact::WeightPiecesT>();
      pieces->before = {"l."};
      pieces->after = {".w"};
      pieces->sizes = {plan.extent};
      pieces->dim = 1;
      pieces->count = plan.modules;
      dims = {{plan.extent, {"dp"}}};
    }
    for (int64_t module = 0; module < plan.modules && !plan.isStacked; ++module)
      train("l." + std::to_string(module) + ".w", plan.dtype, plan.master);
    if (plan.modules == 0)
      train(plan.name, plan.dtype, plan.master);
    if (plan.inPieces) {
      auto &pieces = builder.program().parameters.back()->pieces = std::make_unique<artifact::WeightPiecesT>();
      pieces->before = {"first", "second"};
      pieces->after = {"", ""};
      pieces->sizes = {3, plan.extent - 3};
    }
    if (plan.hasFrozen && plan.isBaseTrained) {
      train(plan.baseName, DType::f32, {});
    } else if (plan.hasFrozen) {
      freeze(builder.parameter(baseNames(), dims, plan.isInteger ? DType::i64 : DType::f32));
      builder.program().parameters.back()->buffer = plan.isBuffer;
    }
  }

  void write(const std::string &path) const { builder.write(path); }

private:
  std::vector<std::string> baseNames() const {
    return plan.otherBaseName.empty() ? std::vector{plan.baseName} : std::vector{plan.baseName, plan.otherBaseName};
  }

  void freeze(int) { builder.program().parameters.back()->trainable = false; }

  int setting(const std::string &name, double number) {
    auto &setting = *builder.program().settings.emplace_back(std::make_unique<artifact::SettingT>());
    setting.name = name;
    setting.number = number;
    return setting.value = builder.value({});
  }

  int state(const std::string &parameter, const std::string &kind, DType dtype, bool copies) {
    auto &state = *builder.program().states.emplace_back(std::make_unique<artifact::StateT>());
    state.name = parameter + "." + kind;
    state.parameter = parameter;
    state.copies = copies;
    return state.value = builder.value(dims, dtype);
  }

  void update(int value, int target) {
    auto &update = *builder.program().updates.emplace_back(std::make_unique<artifact::UpdateT>());
    update.value = value;
    update.target = target;
  }

  void overwrites(std::vector<int> values) {
    builder.program().instructions.back()->action.AsCompute()->overwrites = std::move(values);
  }

  static artifact::ArgT flagArg(std::string name, bool flag) {
    artifact::ArgT arg;
    arg.kind = artifact::ArgKind::boolean;
    arg.name = std::move(name);
    arg.bools = {flag};
    return arg;
  }

  void train(const std::string &name, DType dtype, std::optional<DType> master) {
    DType changed = master.value_or(dtype);
    int gradient = builder.input("gradient of " + name, dims, changed);
    int parameter = builder.parameter({name}, dims, dtype), held = parameter;
    builder.program().parameters.back()->trainable = true;
    if (master)
      held = state(name, "master", *master, true);
    int made = change(name, held, gradient, changed);
    update(made, held);
    if (master)
      roundInto(parameter, made, dtype);
  }

  int change(const std::string &name, int held, int gradient, DType dtype) {
    int made = builder.value(dims, dtype);
    std::vector<artifact::ArgT> args{tensorArg("parameter", held), tensorArg("gradient", gradient)};
    if (plan.optimizer == "plain") {
      args.push_back(tensorArg("learning_rate", lr));
      args.push_back(realArg("weight_decay", 0));
      builder.compute("meshplan.sgd", std::move(args), {made});
      overwrites({held});
      return made;
    }
    int buffer = state(name, "momentum_buffer", dtype, false), newBuffer = builder.value(dims, dtype);
    for (artifact::ArgT arg : {tensorArg("momentum", buffer), tensorArg("learning_rate", lr), tensorArg("step", step),
                               realArg("rate", momentum), realArg("dampening", 0), realArg("weight_decay", 0)})
      args.push_back(std::move(arg));
    args.push_back(flagArg("nesterov", false));
    builder.compute("meshplan.sgd_momentum", std::move(args), {made, newBuffer});
    overwrites({held, buffer});
    update(newBuffer, buffer);
    return made;
  }

  void roundInto(int parameter, int made, DType dtype) {
    int rounded = builder.value(dims, dtype), assigned = builder.value(dims, dtype);
    builder.compute("aten._to_copy.default", {tensorArg("self", made), dtypeArg("dtype", dtype)}, {rounded});
    builder.compute("meshplan.assign", {tensorArg("self", parameter), tensorArg("source", rounded)}, {assigned});
    overwrites({parameter});
    update(assigned, parameter);
  }

  const SmallPlan &plan;
  ScheduleBuilder builder{{{"dp", plan.ranks}}};
  std::vector<TestDim> dims{{plan.extent, {"dp"}}}; // of what is added next
  int lr = -1, step = -1;
};

} // namespace

Artifact meshplan::scheduleOf(const SmallPlan &plan) {
  TemporaryDirectory folder;
  Builder(plan).write(folder / "a.sched");
  auto loaded = loadSchedule(folder / "a.sched");
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  return *std::move(loaded);
}

Expectation meshplan::behindStep(int64_t step) {
  Expectation expected;
  for (int64_t i = 0; i < step; ++i) {
    expected.momentum = momentum * expected.momentum + 1;
    expected.parameter -= rate * expected.momentum;
  }
  return expected;
}

Status OnesFeed::read(const FeedRequest &request, std::span<std::byte> out) const {
  int64_t size = dtypeSize(request.dtype);
  const double one = 1;
  const int64_t whole = 1;
  for (size_t offset = 0; offset < out.size(); offset += size)
    if (isFloat(request.dtype))
      convertFloats(reinterpret_cast<const std::byte *>(&one), DType::f64, &out[offset], request.dtype, 1);
    else
      std::memcpy(&out[offset], &whole, size);
  return Status();
}

Status meshplan::onRank(const Artifact &artifact, World &world, const TrainingBody &body) {
  ComputeScope scope(1);
  MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner runner,
                            ProgramRunner::create(artifact, *artifact.schedule().programs()->Get(0), world));
  MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(OnesFeed()));
  return body(world, runner);
}

Status meshplan::onRanks(const Artifact &artifact, const TrainingBody &body) {
  int64_t ranks = worldSizeOf(meshSizesOf(artifact.schedule(), *artifact.schedule().programs()->Get(0)));
  return rootCause(runThreads(ranks, {.timeout = std::chrono::seconds(60)},
                              [&](World &world) { return onRank(artifact, world, body); }));
}

Status meshplan::trainAndSave(const SmallPlan &plan, const std::string &folder, int64_t steps, TrainingState state) {
  Artifact artifact = scheduleOf(plan);
  return onRanks(artifact, [&](World &world, ProgramRunner &runner) -> Status {
    MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(OnesFeed()));
    MESHPLAN_ASSIGN_OR_RETURN(CheckpointWriter writer, CheckpointWriter::open(world, {.folder = folder}));
    for (int64_t step = 0; step < steps; ++step)
      MESHPLAN_RETURN_IF_ERROR(runner.run());
    MESHPLAN_RETURN_IF_ERROR(writer.start(runner, state));
    return writer.finish();
  });
}

std::vector<double> meshplan::elementsOf(const std::string &path, const std::string &name) {
  auto source = TensorSource::open(path);
  EXPECT_TRUE(source.ok()) << source.status().message();
  const StoredTensor *tensor = source ? source->find(name) : nullptr;
  if (!tensor)
    return {};
  std::vector<double> elements(elementCount(tensor->shape));
  Status read =
      source->read(*tensor, wholeTensor(tensor->shape), DType::f64, std::as_writable_bytes(std::span(elements)));
  EXPECT_TRUE(read.ok()) << read.message();
  return elements;
}

void meshplan::writeWeights(const std::string &path, int64_t extent, float first) {
  auto writer = SafetensorsWriter::create(path, std::vector<TensorSpec>{{"base", DType::f32, {extent}}});
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  std::vector<float> elements(extent);
  elements.front() = first;
  ASSERT_TRUE(
      writer->write("base", wholeTensor(std::vector<int64_t>{extent}), std::as_bytes(std::span(elements))).ok());
  ASSERT_TRUE(writer->commit().ok());
}

void meshplan::writeText(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}
