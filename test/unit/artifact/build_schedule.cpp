//===- build_schedule.cpp - a small valid artifact ------------------------===//

#include "test/unit/artifact/build_schedule.h"

#include "runtime/schema/checksum.h"

#include <cstring>

namespace meshplan {

namespace {

const artifact::AxisRef dp(0, 1, 2), tp(1, 1, 3);

template <typename T> std::unique_ptr<T> make(T table) { return std::make_unique<T>(std::move(table)); }

std::unique_ptr<artifact::AxisT> makeAxis(const char *name, int64_t size) {
  artifact::AxisT axis;
  axis.name = name;
  axis.size = size;
  return make(std::move(axis));
}

std::unique_ptr<artifact::DimT> makeDim(int64_t extent, std::vector<artifact::AxisRef> axes = {}) {
  artifact::DimT dim;
  dim.extent = extent;
  dim.axes = std::move(axes);
  return make(std::move(dim));
}

template <typename... Dims> std::unique_ptr<artifact::ValueT> makeValue(artifact::DType dtype, Dims... dims) {
  artifact::ValueT value;
  value.dtype = dtype;
  (value.dims.push_back(std::move(dims)), ...);
  return make(std::move(value));
}

std::unique_ptr<artifact::PortT> makePort(const char *name, int value) {
  artifact::PortT port;
  port.name = name;
  port.value = value;
  return make(std::move(port));
}

std::unique_ptr<artifact::CommunicatorT> makeCommunicator(const char *name, const artifact::AxisRef &axis) {
  artifact::CommunicatorT communicator;
  communicator.name = name;
  communicator.axes = {axis};
  return make(std::move(communicator));
}

template <typename Fill> std::unique_ptr<artifact::ArgT> makeArg(artifact::ArgKind kind, const Fill &fill) {
  artifact::ArgT arg;
  arg.kind = kind;
  fill(arg);
  return make(std::move(arg));
}

void addValues(artifact::ProgramT &program) {
  using artifact::DType;
  auto &values = program.values;
  values.push_back(makeValue(DType::f32, makeDim(12), makeDim(6, {tp})));
  values.push_back(makeValue(DType::i64, makeDim(3)));
  values.push_back(makeValue(DType::f32, makeDim(8, {dp}), makeDim(6, {tp})));
  values.push_back(makeValue(DType::f32, makeDim(8, {dp}), makeDim(12)));
  values.back()->partial = artifact::Reduction::sum;
  values.back()->partial_axes = {tp};
  values.push_back(makeValue(DType::f32, makeDim(8, {dp}), makeDim(12)));
  values.push_back(makeValue(DType::f32, makeDim(8, {dp}), makeDim(12, {tp})));
  values.push_back(makeValue(DType::f32, makeDim(8, {dp}), makeDim(12)));
  values[part]->dims[1]->parts = {{8, 2, 1}, {4, 2, 1}};
}

void addPorts(artifact::ProgramT &program) {
  artifact::ParameterT parameter;
  parameter.names = {"lm_head.weight", "embed_tokens.weight"};
  parameter.value = weight;
  program.parameters.push_back(make(std::move(parameter)));
  artifact::ConstantT constant;
  constant.name = "table";
  constant.value = table;
  constant.data.assign(24, 1);
  program.constants.push_back(make(std::move(constant)));
  program.inputs.push_back(makePort("x", input));
  program.outputs.push_back(makePort("logits", whole));
}

artifact::ComputeT makeLinear() {
  using artifact::ArgKind;
  artifact::ComputeT compute;
  compute.target = "aten.linear.default";
  compute.outputs = {product, -1};
  auto &args = compute.args;
  args.push_back(makeArg(ArgKind::value, [](auto &arg) { arg.values = {input}; }));
  args.push_back(makeArg(ArgKind::value_list, [](auto &arg) { arg.values = {weight, -1, table}; }));
  args.push_back(makeArg(ArgKind::none, [](auto &) {}));
  args.push_back(makeArg(ArgKind::integer, [](auto &arg) { arg.ints = {artifact::IntExpr(0, input, 1, 1, 0)}; }));
  args.push_back(makeArg(ArgKind::int_list, [](auto &arg) {
    arg.ints = {artifact::IntExpr(4, -1, 0, 0, 0), artifact::IntExpr(0, part, 1, 0, 1)};
  }));
  args.push_back(makeArg(ArgKind::real, [](auto &arg) { arg.reals = {0.5}; }));
  args.push_back(makeArg(ArgKind::boolean, [](auto &arg) { arg.bools = {true}; }));
  args.push_back(makeArg(ArgKind::string, [](auto &arg) { arg.text = "none"; }));
  args.push_back(makeArg(ArgKind::dtype, [](auto &arg) { arg.dtype = artifact::DType::bf16; }));
  return compute;
}

artifact::StartT makeStart(artifact::CollectiveKind kind, int from, int to, int sequence) {
  artifact::StartT start;
  start.kind = kind;
  start.communicator = 1;
  start.input = from;
  start.output = to;
  start.sequence = sequence;
  return start;
}

artifact::WaitT makeWait(int sequence) {
  artifact::WaitT wait;
  wait.sequence = sequence;
  return wait;
}

artifact::FreeT makeFree(int value) {
  artifact::FreeT free;
  free.values = {value};
  return free;
}

void addInstructions(artifact::ScheduleT &schedule) {
  append(schedule, makeLinear());
  artifact::StartT reduce = makeStart(artifact::CollectiveKind::all_reduce, product, sum, 0);
  reduce.reduction = artifact::Reduction::sum;
  append(schedule, reduce);
  append(schedule, makeWait(0));
  append(schedule, makeFree(product));
  artifact::SliceT slice;
  slice.input = sum;
  slice.output = part;
  append(schedule, slice);
  artifact::StartT gather = makeStart(artifact::CollectiveKind::all_gather, part, whole, 1);
  gather.dim = 1;
  append(schedule, gather);
  append(schedule, makeWait(1));
  append(schedule, makeFree(part));
  forwardOf(schedule).instructions[linear]->origin = 0;
}

} // namespace

artifact::ScheduleT buildSchedule() {
  artifact::ScheduleT schedule;
  schedule.format = artifactFormat;
  schedule.plan_name = "test";
  schedule.device = "cpu";
  schedule.mesh.push_back(makeAxis("dp", 2));
  schedule.mesh.push_back(makeAxis("tp", 3));
  schedule.communicators.push_back(makeCommunicator("dp", dp));
  schedule.communicators.push_back(makeCommunicator("tp", tp));
  artifact::SourceT source;
  source.file = "test.plan";
  schedule.sources.push_back(make(std::move(source)));
  artifact::OriginT origin;
  origin.plan = 0;
  schedule.origins.push_back(make(std::move(origin)));
  artifact::ProgramT program;
  program.name = "forward";
  addValues(program);
  addPorts(program);
  program.memory = make(artifact::MemoryT());
  schedule.programs.push_back(make(std::move(program)));
  addInstructions(schedule);
  return schedule;
}

std::vector<uint64_t> pack(const artifact::ScheduleT &schedule, size_t &size) {
  flatbuffers::FlatBufferBuilder builder;
  artifact::FinishScheduleBuffer(builder, artifact::CreateSchedule(builder, &schedule));
  size = builder.GetSize() + sizeof(Checksum);
  std::vector<uint64_t> words(size / sizeof(uint64_t) + 1);
  std::memcpy(words.data(), builder.GetBufferPointer(), builder.GetSize());
  seal(std::as_writable_bytes(std::span(words)).first(size));
  return words;
}

void seal(std::span<std::byte> file) {
  std::span<const uint8_t> content = contentOf({reinterpret_cast<const uint8_t *>(file.data()), file.size()});
  Checksum checksum = checksumOf(content);
  std::memcpy(file.data() + content.size(), checksum.data(), checksum.size());
}

std::string verificationError(const artifact::ScheduleT &schedule) {
  size_t size;
  std::vector<uint64_t> bytes = pack(schedule, size);
  return verifySchedule(std::as_bytes(std::span(bytes)).first(size)).status().message();
}

artifact::ProgramT &forwardOf(artifact::ScheduleT &schedule) { return *schedule.programs[0]; }

artifact::ValueT &valueOf(artifact::ScheduleT &schedule, TestValue value) { return *forwardOf(schedule).values[value]; }

artifact::ArgT &argOf(artifact::ScheduleT &schedule, size_t index) {
  return *forwardOf(schedule).instructions[linear]->action.AsCompute()->args[index];
}

artifact::StartT &startOf(artifact::ScheduleT &schedule, TestInstruction instruction) {
  return *forwardOf(schedule).instructions[instruction]->action.AsStart();
}

} // namespace meshplan
