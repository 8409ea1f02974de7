#include "test/unit/exec/schedule_builder.h"

#include "runtime/schema/checksum.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>

using namespace meshplan;

ScheduleBuilder::ScheduleBuilder(std::vector<std::pair<std::string, int64_t>> mesh) {
  table.format = artifactFormat;
  table.device = "cpu";
  for (auto &[name, size] : mesh) {
    auto &axis = *table.mesh.emplace_back(std::make_unique<artifact::AxisT>());
    axis.name = name;
    axis.size = size;
  }
  table.programs.emplace_back(std::make_unique<artifact::ProgramT>())->name = "forward";
}

int64_t ScheduleBuilder::worldSize() const {
  int64_t size = 1;
  for (const auto &axis : table.mesh)
    size *= axis->size;
  return size;
}

int64_t ScheduleBuilder::sizeOf(const std::vector<std::string> &names) const {
  int64_t size = 1;
  for (const std::string &name : names)
    size *= axis(name).size();
  return size;
}

artifact::AxisRef ScheduleBuilder::axis(const std::string &name) const {
  size_t first = name.find(':'), second = name.rfind(':');
  for (size_t i = 0; i < table.mesh.size(); ++i)
    if (table.mesh[i]->name == name.substr(0, first))
      return first == std::string::npos
                 ? artifact::AxisRef(static_cast<int64_t>(i), 1, table.mesh[i]->size)
                 : artifact::AxisRef(static_cast<int64_t>(i), std::stoll(name.substr(first + 1, second - first - 1)),
                                     std::stoll(name.substr(second + 1)));
  ADD_FAILURE() << "no axis " << name;
  return {};
}

std::vector<artifact::AxisRef> ScheduleBuilder::axes(const std::vector<std::string> &names) const {
  std::vector<artifact::AxisRef> list;
  for (const std::string &name : names)
    list.push_back(axis(name));
  return list;
}

int ScheduleBuilder::value(std::vector<TestDim> dims, DType dtype, std::vector<std::string> partial,
                           artifact::Reduction reduction) {
  auto &value = *program().values.emplace_back(std::make_unique<artifact::ValueT>());
  value.dtype = static_cast<artifact::DType>(dtype);
  for (TestDim &dim : dims) {
    auto &table = *value.dims.emplace_back(std::make_unique<artifact::DimT>());
    table.extent = dim.extent;
    table.axes = axes(dim.axes);
    table.unit = dim.parts.empty() ? dim.unit : 1;
    for (int64_t part : dim.parts)
      table.parts.emplace_back(part, dim.unit, 1);
  }
  value.partial = partial.empty() ? artifact::Reduction::none : reduction;
  value.partial_axes = axes(partial);
  return static_cast<int>(program().values.size()) - 1;
}

int ScheduleBuilder::input(std::string name, std::vector<TestDim> dims, DType dtype) {
  auto &port = *program().inputs.emplace_back(std::make_unique<artifact::PortT>());
  port.name = name;
  return port.value = value(dims, dtype);
}

int ScheduleBuilder::flat(int value, std::vector<std::string> names) {
  program().values[value]->flat_axes = axes(names);
  return value;
}

int ScheduleBuilder::routed(int value, artifact::RoutedKind kind, int dims, int64_t slots) {
  auto &routed = program().values[value]->routed = std::make_unique<artifact::RoutedT>();
  routed->kind = kind;
  routed->dims = dims;
  routed->slots = slots;
  return value;
}

int ScheduleBuilder::parameter(std::vector<std::string> names, std::vector<TestDim> dims, DType dtype) {
  auto &parameter = *program().parameters.emplace_back(std::make_unique<artifact::ParameterT>());
  parameter.names = names;
  return parameter.value = value(dims, dtype);
}

int ScheduleBuilder::constant(std::string name, std::vector<TestDim> dims, DType dtype,
                              std::span<const std::byte> whole) {
  auto &constant = *program().constants.emplace_back(std::make_unique<artifact::ConstantT>());
  constant.name = name;
  auto *bytes = reinterpret_cast<const uint8_t *>(whole.data());
  constant.data.assign(bytes, bytes + whole.size());
  return constant.value = value(dims, dtype);
}

void ScheduleBuilder::output(std::string name, int value) {
  auto &port = *program().outputs.emplace_back(std::make_unique<artifact::PortT>());
  port.name = name;
  port.value = value;
}

template <typename Action> void ScheduleBuilder::add(Action action) {
  auto &instruction = *program().instructions.emplace_back(std::make_unique<artifact::InstructionT>());
  instruction.action.Set(std::move(action));
  instruction.origin = currentOrigin;
}

void ScheduleBuilder::compute(std::string target, std::vector<artifact::ArgT> args, std::vector<int> outputs) {
  artifact::ComputeT action;
  action.target = target;
  for (artifact::ArgT &arg : args)
    action.args.push_back(std::make_unique<artifact::ArgT>(std::move(arg)));
  action.outputs = outputs;
  add(std::move(action));
}

int ScheduleBuilder::communicator(const std::vector<std::string> &names) {
  std::string joined;
  for (const std::string &name : names)
    joined += (joined.empty() ? "" : ", ") + name;
  for (size_t i = 0; i < table.communicators.size(); ++i)
    if (table.communicators[i]->name == joined)
      return static_cast<int>(i);
  auto &communicator = *table.communicators.emplace_back(std::make_unique<artifact::CommunicatorT>());
  communicator.name = joined;
  communicator.axes = axes(names);
  return static_cast<int>(table.communicators.size()) - 1;
}

int ScheduleBuilder::packed(std::vector<int> members) {
  auto &value = *program().values.emplace_back(std::make_unique<artifact::ValueT>());
  value.dtype = program().values[members.front()]->dtype;
  value.members = std::move(members);
  return static_cast<int>(program().values.size()) - 1;
}

artifact::StartT ScheduleBuilder::startOf(Kind kind, const std::vector<std::string> &axes, int like, int input,
                                          int output) {
  artifact::StartT start;
  start.kind = kind;
  start.communicator = communicator(axes);
  start.input = input;
  start.output = output;
  bool reduces = kind == Kind::all_reduce || kind == Kind::reduce_scatter;
  start.reduction = reduces ? program().values[like]->partial : artifact::Reduction::none;
  start.sequence = nextSequence;
  return start;
}

void ScheduleBuilder::wait() {
  artifact::WaitT wait;
  wait.sequence = nextSequence++;
  add(std::move(wait));
}

int ScheduleBuilder::pack(std::vector<int> inputs, bool inPlace) {
  artifact::PackRunT action;
  action.inputs = inputs;
  action.output = packed(inputs);
  action.in_place = inPlace;
  int output = action.output;
  add(std::move(action));
  return output;
}

void ScheduleBuilder::unpack(int input, std::vector<int> outputs, std::vector<int> targets, bool inPlace) {
  artifact::UnpackRunT action;
  action.input = input;
  action.outputs = std::move(outputs);
  action.targets = std::move(targets);
  action.in_place = inPlace;
  add(std::move(action));
}

/// True if the pieces of a dim are not adjacent in the tensor, or one of its dims has parts.
static bool isInner(const artifact::ValueT &value, int dim) {
  for (int outer = 0; outer < dim; ++outer)
    if (value.dims[outer]->extent > 1)
      return true;
  return dim >= 0 && std::ranges::any_of(value.dims, [](const auto &each) { return !each->parts.empty(); });
}

void ScheduleBuilder::collective(Kind kind, std::vector<std::string> axes, int input, int output, int dim,
                                 int fromDim) {
  int split = kind == Kind::reduce_scatter || kind == Kind::all_to_all ? dim : -1;
  int grown = kind == Kind::all_to_all ? fromDim : kind == Kind::all_gather ? dim : -1;
  bool isPacked = !program().values[input]->routed;
  bool packs = isPacked && isInner(*program().values[input], split);
  bool unpacks = isPacked && isInner(*program().values[output], grown);
  artifact::StartT start =
      startOf(kind, axes, input, packs ? pack({input}) : input, unpacks ? packed({output}) : output);
  start.dim = dim;
  start.from_dim = fromDim;
  int received = start.output;
  add(std::move(start));
  wait();
  if (unpacks)
    unpack(received, {output});
}

void ScheduleBuilder::exchange(std::vector<std::string> axes, int input, int output, int counts) {
  artifact::StartT start = startOf(Kind::all_to_all, axes, input, input, output);
  start.counts = counts;
  add(std::move(start));
  wait();
}

void ScheduleBuilder::bucket(Kind kind, std::vector<std::string> axes, std::vector<int> inputs,
                             std::vector<int> outputs, std::vector<int> targets, InBuffer inBuffer) {
  bool isOne = inputs.size() == 1;
  int sent = isOne ? inputs.front() : pack(inputs, inBuffer.inputs);
  int received = isOne ? outputs.front() : packed(outputs);
  artifact::StartT start = startOf(kind, axes, inputs.front(), sent, received);
  if (isOne && !targets.empty())
    start.target = targets.front();
  if (!isOne && inBuffer.targets)
    start.target = targets == inputs && inBuffer.inputs ? sent : pack(targets, /*inPlace=*/true);
  add(std::move(start));
  wait();
  if (!isOne)
    unpack(received, outputs, inBuffer.targets ? std::vector<int>() : targets, inBuffer.targets);
}

void ScheduleBuilder::accumulator(std::string name, int value) {
  auto &accumulator = *program().accumulators.emplace_back(std::make_unique<artifact::AccumulatorT>());
  accumulator.name = name;
  accumulator.value = value;
  accumulator.scratch = true;
}

void ScheduleBuilder::buffer(std::string name, std::vector<int> values, bool registered) {
  auto &buffer = *program().buffers.emplace_back(std::make_unique<artifact::BufferT>());
  buffer.name = name;
  buffer.values = values;
  buffer.registered = registered;
}

void ScheduleBuilder::slice(int input, int output) {
  artifact::SliceT action;
  action.input = input;
  action.output = output;
  add(std::move(action));
}

void ScheduleBuilder::onHost(int value) { program().values[value]->host = true; }

void ScheduleBuilder::copy(int input, int output, int target) {
  artifact::CopyT action;
  action.input = input;
  action.output = output;
  action.target = target;
  action.sequence = nextSequence;
  add(std::move(action));
  wait();
}

void ScheduleBuilder::free(std::vector<int> values) {
  artifact::FreeT action;
  action.values = values;
  add(std::move(action));
}

void ScheduleBuilder::origin(std::string module, int line, std::string text) {
  auto &source = *table.sources.emplace_back(std::make_unique<artifact::SourceT>());
  source.file = "test.plan";
  source.line = line;
  source.column = 3;
  source.text = text;
  auto &origin = *table.origins.emplace_back(std::make_unique<artifact::OriginT>());
  origin.plan = static_cast<int>(table.sources.size()) - 1;
  origin.module_ = module;
  currentOrigin = static_cast<int>(table.origins.size()) - 1;
}

void ScheduleBuilder::write(const std::string &path) const {
  flatbuffers::FlatBufferBuilder builder;
  artifact::FinishScheduleBuffer(builder, artifact::Schedule::Pack(builder, &table));
  Checksum checksum = checksumOf({builder.GetBufferPointer(), builder.GetSize()});
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize())
      .write(reinterpret_cast<const char *>(checksum.data()), checksum.size());
}

static artifact::ArgT makeArg(std::string name, artifact::ArgKind kind) {
  artifact::ArgT arg;
  arg.name = name;
  arg.kind = kind;
  return arg;
}

artifact::ArgT meshplan::tensorArg(std::string name, int value) {
  artifact::ArgT arg = makeArg(name, artifact::ArgKind::value);
  arg.values = {value};
  return arg;
}

artifact::ArgT meshplan::tensorsArg(std::string name, std::vector<int> values) {
  artifact::ArgT arg = makeArg(name, artifact::ArgKind::value_list);
  arg.values = values;
  return arg;
}

artifact::ArgT meshplan::integerArg(std::string name, artifact::IntExpr integer) {
  artifact::ArgT arg = makeArg(name, artifact::ArgKind::integer);
  arg.ints = {integer};
  return arg;
}

artifact::ArgT meshplan::integersArg(std::string name, std::vector<artifact::IntExpr> integers) {
  artifact::ArgT arg = makeArg(name, artifact::ArgKind::int_list);
  arg.ints = integers;
  return arg;
}

artifact::ArgT meshplan::realArg(std::string name, double real) {
  artifact::ArgT arg = makeArg(name, artifact::ArgKind::real);
  arg.reals = {real};
  return arg;
}

artifact::ArgT meshplan::dtypeArg(std::string name, DType dtype) {
  artifact::ArgT arg = makeArg(name, artifact::ArgKind::dtype);
  arg.dtype = static_cast<artifact::DType>(dtype);
  return arg;
}
