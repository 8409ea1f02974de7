//===- describe_program.cpp - a program of an artifact as text ------------===//
//
// The text is for people; nothing reads it again. A value is written with its type where it is made, and by its number
// where it is read:
//
//   program step role step timeline step 0 to 3
//     parameter v0 f32[8 over tp, 4] trainable 'w'
//     v2 f32[2, 8 over tp] = aten.linear.default(input=v1, weight=v0)  origin 3
//     v3 f32[2, 8] = start 0 all_gather v2 dim 1 over tp
//     wait 0
//
// The file may be one that the runtime refuses, so indices are checked before they are followed, and kinds that do not
// exist are printed as numbers.
//
//===----------------------------------------------------------------------===//

#include "compiler/target/artifact/describe_program.h"
#include "compiler/support/parts_clause.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace meshplan;
using llvm::raw_ostream;

namespace {
class ProgramDescriber {
public:
  ProgramDescriber(const artifact::Schedule &schedule, const artifact::Program &program, raw_ostream &stream)
      : schedule(schedule), program(program), stream(stream) {
    bool own = program.devices() && program.devices()->size() > 0;
    mesh = own ? program.devices() : schedule.mesh();
  }

  void describe();

private:
  void describeTimeline();
  void describeMemory();
  void describeGivenValues();
  void describeInit(const artifact::Init &init);
  void describePieces(const artifact::WeightPieces &pieces);
  void describeInstruction(const artifact::Instruction &instruction);
  void describeCompute(const artifact::Compute &compute);
  void describePack(const artifact::PackRun &pack);
  void describeUnpack(const artifact::UnpackRun &unpack);
  void describeStart(const artifact::Start &start);
  void describeCopy(const artifact::Copy &copy);
  void describeArgument(const artifact::Arg &arg);
  void describeInteger(const artifact::IntExpr &expression, int64_t microbatchScale);
  /// "v3 f32[8 over dp, 28]".
  void describeValue(int32_t index);
  /// The elements of a vector, separated by commas.
  template <typename Vector, typename Visitor> void list(const Vector *vector, Visitor visit) {
    const char *separator = "";
    forEach(vector, [&](auto item) {
      stream << separator;
      separator = ", ";
      visit(item);
    });
  }

  const artifact::Schedule &schedule;
  const artifact::Program &program;
  const MeshAxes *mesh;
  raw_ostream &stream;
};
} // namespace

void ProgramDescriber::describeValue(int32_t index) {
  stream << 'v' << index;
  if (index < 0 || index >= static_cast<int32_t>(program.values()->size()))
    return;
  const artifact::Value &value = *program.values()->Get(index);
  stream << ' ' << artifact::EnumNameDType(value.dtype());
  if (value.members() && value.members()->size() > 0) {
    stream << " packed(";
    list(value.members(), [&](int32_t member) { stream << 'v' << member; });
    stream << ')';
    return;
  }
  stream << '[';
  list(value.dims(), [&](const artifact::Dim *dim) {
    if (!textOf(dim->name()).empty())
      stream << textOf(dim->name()) << '=';
    stream << dim->extent();
    if (dim->axes() && dim->axes()->size() > 0)
      stream << " over " << describeAxes(dim->axes(), mesh);
    llvm::SmallVector<DimPart> parts;
    if (dim->parts())
      for (const artifact::DimPart *part : *dim->parts())
        parts.emplace_back(part->extent(), part->unit(), part->repeat());
    printElementGroups(stream, dim->unit(), parts, dim->repeat());
  });
  stream << ']';
  if (value.partial() != artifact::Reduction::none)
    stream << " partial " << artifact::EnumNameReduction(value.partial()) << " over "
           << describeAxes(value.partial_axes(), mesh);
  if (value.flat_axes() && value.flat_axes()->size() > 0)
    stream << " flat over " << describeAxes(value.flat_axes(), mesh);
  if (const artifact::Routed *routed = value.routed())
    stream << " routed " << artifact::EnumNameRoutedKind(routed->kind()) << " by " << routed->dims() << " dims, "
           << routed->slots() << " slots";
  if (value.routed() && value.routed()->reserve() > 0)
    stream << ", reserve " << value.routed()->reserve();
  if (value.host())
    stream << " on the host";
}

/// constant + scale * offset(v0, 1) + scale * extent(v0, 1) + scale * microbatch * extent(v0, 1)
void ProgramDescriber::describeInteger(const artifact::IntExpr &expression, int64_t microbatchScale) {
  if (expression.value() < 0) {
    stream << expression.constant();
    return;
  }
  const char *separator = "";
  if (expression.constant() != 0) {
    stream << expression.constant();
    separator = " + ";
  }
  auto term = [&](int64_t scale, const char *what) {
    if (scale == 0)
      return;
    stream << separator;
    separator = " + ";
    if (scale != 1)
      stream << scale << " * ";
    stream << what << "(v" << expression.value() << ", " << expression.dim() << ')';
  };
  term(expression.offset_scale(), "offset");
  term(expression.extent_scale(), "extent");
  term(microbatchScale, "microbatch * extent");
}

void ProgramDescriber::describeArgument(const artifact::Arg &arg) {
  auto value = [&](int32_t index) {
    if (index < 0)
      stream << "none";
    else
      stream << 'v' << index;
  };
  auto integer = [&, index = 0u](const artifact::IntExpr *expression) mutable {
    describeInteger(*expression, arg.microbatch_scales() ? arg.microbatch_scales()->Get(index++) : 0);
  };
  auto real = [&](double number) { stream << llvm::format("%.17g", number); };
  auto boolean = [&](uint8_t flag) { stream << (flag ? "true" : "false"); };
  if (!textOf(arg.name()).empty())
    stream << textOf(arg.name()) << '=';
  switch (arg.kind()) {
  case artifact::ArgKind::none:
    stream << "none";
    return;
  case artifact::ArgKind::string:
    stream << '\'' << textOf(arg.text()) << '\'';
    return;
  case artifact::ArgKind::dtype:
    stream << artifact::EnumNameDType(arg.dtype());
    return;
  case artifact::ArgKind::value:
    return list(arg.values(), value);
  case artifact::ArgKind::integer:
    return list(arg.ints(), integer);
  case artifact::ArgKind::real:
    return list(arg.reals(), real);
  case artifact::ArgKind::boolean:
    return list(arg.bools(), boolean);
  default:
    break;
  }
  stream << '[';
  list(arg.values(), value);
  list(arg.ints(), integer);
  list(arg.reals(), real);
  list(arg.bools(), boolean);
  stream << ']';
}

void ProgramDescriber::describeCompute(const artifact::Compute &compute) {
  list(compute.outputs(), [&](int32_t output) {
    if (output < 0)
      stream << '_';
    else
      describeValue(output);
  });
  stream << " = " << textOf(compute.target()) << '(';
  list(compute.args(), [&](const artifact::Arg *arg) { describeArgument(*arg); });
  stream << ')';
  if (compute.overwrites() && compute.overwrites()->size() > 0) {
    stream << " overwrites ";
    list(compute.overwrites(), [&](int32_t value) { stream << 'v' << value; });
  }
}

void ProgramDescriber::describePack(const artifact::PackRun &pack) {
  describeValue(pack.output());
  stream << " = pack ";
  list(pack.inputs(), [&](int32_t value) { stream << 'v' << value; });
  if (pack.in_place())
    stream << " in place";
}

void ProgramDescriber::describeUnpack(const artifact::UnpackRun &unpack) {
  list(unpack.outputs(), [&](int32_t value) { describeValue(value); });
  stream << " = unpack v" << unpack.input();
  if (unpack.in_place())
    stream << " in place";
  if (unpack.targets() && unpack.targets()->size() > 0) {
    stream << " into ";
    list(unpack.targets(), [&](int32_t value) { stream << 'v' << value; });
  }
}

void ProgramDescriber::describeStart(const artifact::Start &start) {
  describeValue(start.output());
  stream << " = start " << start.sequence() << ' ' << artifact::EnumNameCollectiveKind(start.kind()) << " v"
         << start.input();
  if (start.target() >= 0)
    stream << " into v" << start.target();
  if (start.counts() >= 0)
    stream << " by v" << start.counts();
  if (start.from_dim() >= 0)
    stream << " from " << start.from_dim();
  if (start.dim() >= 0)
    stream << " dim " << start.dim();
  if (start.reduction() != artifact::Reduction::none)
    stream << ' ' << artifact::EnumNameReduction(start.reduction());
  bool known = schedule.communicators() && start.communicator() >= 0 &&
               start.communicator() < static_cast<int32_t>(schedule.communicators()->size());
  stream << " over ";
  if (known)
    stream << textOf(schedule.communicators()->Get(start.communicator())->name());
  else
    stream << '#' << start.communicator();
  if (start.bytes() > 0)
    stream << ", " << start.bytes() << " bytes of " << artifact::EnumNamePurpose(start.purpose());
  if (start.subject() && start.subject()->size() > 0)
    stream << " of '" << textOf(start.subject()) << "'";
}

void ProgramDescriber::describeCopy(const artifact::Copy &copy) {
  describeValue(copy.output());
  stream << " = copy " << copy.sequence() << " v" << copy.input();
  if (copy.target() >= 0)
    stream << " into v" << copy.target();
}

void ProgramDescriber::describeInstruction(const artifact::Instruction &instruction) {
  stream << "  ";
  if (instruction.when() != artifact::When::always)
    stream << artifact::EnumNameWhen(instruction.when()) << ": ";
  switch (instruction.action_type()) {
  case artifact::Action::Compute:
    describeCompute(*instruction.action_as_Compute());
    break;
  case artifact::Action::Start:
    describeStart(*instruction.action_as_Start());
    break;
  case artifact::Action::Copy:
    describeCopy(*instruction.action_as_Copy());
    break;
  case artifact::Action::Wait:
    stream << "wait " << instruction.action_as_Wait()->sequence();
    break;
  case artifact::Action::Slice:
    describeValue(instruction.action_as_Slice()->output());
    stream << " = slice v" << instruction.action_as_Slice()->input();
    break;
  case artifact::Action::PackRun:
    describePack(*instruction.action_as_PackRun());
    break;
  case artifact::Action::UnpackRun:
    describeUnpack(*instruction.action_as_UnpackRun());
    break;
  case artifact::Action::Free:
    stream << "free ";
    list(instruction.action_as_Free()->values(), [&](int32_t value) { stream << 'v' << value; });
    break;
  case artifact::Action::Resume:
    stream << "resume " << instruction.action_as_Resume()->steps();
    break;
  default:
    stream << "action " << static_cast<int>(instruction.action_type());
    break;
  }
  if (instruction.origin() >= 0)
    stream << "  origin " << instruction.origin();
  stream << '\n';
}

void ProgramDescriber::describeMemory() {
  const artifact::Memory *memory = program.memory();
  if (!memory)
    return;
  stream << "  memory parameters " << memory->parameters() << " constants " << memory->constants() << " inputs "
         << memory->inputs() << " states " << memory->states() << " peak " << memory->peak() << '\n';
  if (memory->host_peak() > 0)
    stream << "  memory of the host parameters " << memory->host_parameters() << " states " << memory->host_states()
           << " peak " << memory->host_peak() << '\n';
}

void ProgramDescriber::describeInit(const artifact::Init &init) {
  stream << " init " << artifact::EnumNameInitKind(init.kind());
  for (auto [name, number] : {std::pair("value", init.value()),
                              {"low", init.low()},
                              {"high", init.high()},
                              {"mean", init.mean()},
                              {"std", init.std()}})
    if (number != 0)
      stream << ' ' << name << ' ' << llvm::format("%.17g", number);
  if (init.data())
    stream << ' ' << artifact::EnumNameDType(init.dtype()) << ' ' << init.data()->size() << " bytes";
}

/// `pieces dim 1 48 'experts.' * '.w1', 48 'experts.' * '.w3' stacked 4`
void ProgramDescriber::describePieces(const artifact::WeightPieces &pieces) {
  stream << " pieces dim " << pieces.dim();
  for (flatbuffers::uoffset_t i = 0; pieces.sizes() && i < pieces.sizes()->size(); ++i)
    stream << (i == 0 ? " " : ", ") << pieces.sizes()->Get(i) << " '" << textOf(pieces.before()->Get(i)) << "' '"
           << textOf(pieces.after()->Get(i)) << '\'';
  if (pieces.count() > 0)
    stream << " stacked " << pieces.count();
}

void ProgramDescriber::describeGivenValues() {
  forEach(program.parameters(), [&](const artifact::Parameter *parameter) {
    stream << "  parameter ";
    describeValue(parameter->value());
    stream << (parameter->trainable() ? " trainable" : "") << (parameter->buffer() ? " buffer" : "");
    forEach(parameter->names(), [&](const flatbuffers::String *name) { stream << " '" << textOf(name) << '\''; });
    if (const artifact::Init *init = parameter->init())
      describeInit(*init);
    if (const artifact::WeightPieces *pieces = parameter->pieces())
      describePieces(*pieces);
    if (parameter->origin() >= 0)
      stream << "  origin " << parameter->origin();
    stream << '\n';
  });
  forEach(program.constants(), [&](const artifact::Constant *constant) {
    stream << "  constant ";
    describeValue(constant->value());
    stream << " '" << textOf(constant->name()) << "' " << constant->data()->size() << " bytes\n";
  });
  forEach(program.inputs(), [&](const artifact::Port *input) {
    stream << "  input ";
    describeValue(input->value());
    stream << " '" << textOf(input->name()) << "'\n";
  });
  forEach(program.states(), [&](const artifact::State *state) {
    stream << "  state ";
    describeValue(state->value());
    stream << " '" << textOf(state->name()) << "' of '" << textOf(state->parameter()) << "'\n";
  });
  forEach(program.accumulators(), [&](const artifact::Accumulator *accumulator) {
    stream << "  accumulator ";
    describeValue(accumulator->value());
    stream << " '" << textOf(accumulator->name()) << (accumulator->scratch() ? "' scratch\n" : "'\n");
  });
  forEach(program.buffers(), [&](const artifact::Buffer *buffer) {
    stream << "  buffer '" << textOf(buffer->name()) << "' of ";
    list(buffer->values(), [&](int32_t value) { stream << 'v' << value; });
    stream << (buffer->registered() ? " registered\n" : "\n");
  });
  forEach(program.settings(), [&](const artifact::Setting *setting) {
    stream << "  setting ";
    describeValue(setting->value());
    stream << " '" << textOf(setting->name()) << "' " << llvm::format("%.17g", setting->number());
    if (const artifact::RateSchedule *schedule = setting->schedule())
      stream << ' ' << artifact::EnumNameRateKind(schedule->kind()) << " warmup " << schedule->warmup() << " steps "
             << schedule->steps() << " decay " << schedule->decay() << " min "
             << llvm::format("%.17g", schedule->min());
    stream << '\n';
  });
}

/// " timeline count0 0 to 3, step 0 to 3"
void ProgramDescriber::describeTimeline() {
  auto *instances = program.timeline();
  flatbuffers::uoffset_t size = instances ? instances->size() : 0;
  const char *separator = " timeline ";
  for (flatbuffers::uoffset_t begin = 0, end = 1; begin < size; begin = end++) {
    const artifact::Instance &first = *instances->Get(begin);
    // A step of 64 microbatches has 64 instances, or 128 with two programs: consecutive microbatches are one range.
    while (end < size && instances->Get(end)->program() == first.program() &&
           instances->Get(end)->microbatch() == first.microbatch() + static_cast<int32_t>(end - begin))
      ++end;
    stream << separator;
    separator = ", ";
    if (first.program() >= 0 && first.program() < static_cast<int32_t>(schedule.programs()->size()))
      stream << textOf(schedule.programs()->Get(first.program())->name());
    else
      stream << '#' << first.program();
    stream << ' ' << first.microbatch();
    if (end - begin > 1)
      stream << " to " << instances->Get(end - 1)->microbatch();
  }
}

void ProgramDescriber::describe() {
  stream << "program " << textOf(program.name());
  if (program.role() != artifact::ProgramRole::forward)
    stream << " role " << artifact::EnumNameProgramRole(program.role());
  describeTimeline();
  if (mesh == program.devices())
    forEach(mesh, [&](const artifact::Axis *axis) { stream << ' ' << textOf(axis->name()) << '=' << axis->size(); });
  stream << '\n';
  describeMemory();
  describeGivenValues();
  forEach(program.instructions(), [&](const artifact::Instruction *instruction) { describeInstruction(*instruction); });
  forEach(program.outputs(), [&](const artifact::Port *output) {
    bool isLoss = textOf(output->name()) == textOf(program.loss());
    stream << "  output v" << output->value() << " '" << textOf(output->name()) << (isLoss ? "' loss" : "'");
    for (size_t index = 0; output->experts() && index < output->experts()->size(); ++index)
      stream << (index == 0 ? " experts of '" : ", '") << textOf(output->experts()->Get(index)) << "' ("
             << output->pairs()->Get(index) << " pairs)";
    stream << '\n';
  });
  forEach(program.updates(), [&](const artifact::Update *update) {
    stream << "  update v" << update->target() << " to v" << update->value() << '\n';
  });
  forEach(program.gradients(), [&](const artifact::Gradient *gradient) {
    stream << "  gradient v" << gradient->value() << " of v" << gradient->parameter() << '\n';
  });
}

void meshplan::describeProgram(const artifact::Schedule &schedule, const artifact::Program &program,
                               raw_ostream &stream) {
  ProgramDescriber(schedule, program, stream).describe();
}
