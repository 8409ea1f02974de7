//===- write_program.cpp - writes a solution as a sched.program -----------===//
//
// The solution is a list of steps over indices of the problem. Each becomes an op of sched, in order, so that a program
// is a straight line that a rank executes. `values` maps each value of the function to the sched value that holds it.
//
// A program that a timeline runs several times has one body. instances.h says which operations only the first or only
// the last instance runs; their steps are written `when first` and `when last`. Those that an instance leaves to the
// next one (scheduling/defer.h) are written `when deferred`, and a `sched.resume` is where the next one runs them.

#include "compiler/transforms/schedule/write_program.h"
#include "compiler/sharding/storage/storages.h"
#include "compiler/transforms/schedule/program_estimates.h"
#include "compiler/transforms/schedule/program_writer.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"

using namespace mlir;
using meshplan::scheduling::Step;

namespace meshplan {

void ProgramWriter::writeArguments() {
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto names = plan::argAttr<plan::attr::Names>(function, index);
    // The artifact has a name for every argument.
    if (!names || names.empty())
      names = builder.getStrArrayAttr({("arg" + Twine(index)).str()});
    std::optional<plan::ArgumentKind> kind = plan::argumentKind(argument);
    if (kind == plan::ArgumentKind::state || kind == plan::ArgumentKind::setting ||
        kind == plan::ArgumentKind::accumulator) {
      values.map(argument, writeGiven(argument, cast<StringAttr>(names[0])));
      continue;
    }
    if (kind == plan::ArgumentKind::input) {
      auto input = sched::InputOp::create(builder, argument.getLoc(), typeOf(argument), cast<StringAttr>(names[0]),
                                          plan::argAttr<plan::attr::Dims>(function, index));
      values.map(argument, input.getResult());
      continue;
    }
    auto trainable = plan::argAttr<plan::attr::Trainable>(function, index);
    auto parameter = sched::ParameterOp::create(
        builder, argument.getLoc(), typeOf(argument), names, trainable && trainable.getValue(),
        kind == plan::ArgumentKind::buffer, plan::isOnHost(argument),
        dyn_cast_or_null<base::InitAttr>(plan::argAttr<plan::attr::Init>(function, index)),
        plan::argAttr<plan::attr::Pieces>(function, index));
    values.map(argument, parameter.getResult());
  }
}

Value ProgramWriter::writeGiven(BlockArgument argument, StringAttr name) {
  unsigned index = argument.getArgNumber();
  if (plan::argumentKind(argument) == plan::ArgumentKind::accumulator)
    return sched::StateOp::create(builder, argument.getLoc(), typeOf(argument), name, StringAttr(), UnitAttr(),
                                  plan::argAttr<plan::attr::Scratch>(function, index), UnitAttr());
  if (auto of = plan::argAttr<plan::attr::Of>(function, index)) {
    auto copies = plan::argAttr<plan::attr::Copies>(function, index);
    return sched::StateOp::create(builder, argument.getLoc(), typeOf(argument), name, of.getName(), copies, UnitAttr(),
                                  plan::isOnHost(argument) ? builder.getUnitAttr() : UnitAttr());
  }
  return sched::SettingOp::create(builder, argument.getLoc(), typeOf(argument), name,
                                  plan::argAttr<plan::attr::Value>(function, index),
                                  plan::argAttr<plan::attr::Schedule>(function, index));
}

void ProgramWriter::writeBuffers() {
  for (const Storage &storage : storagesOf(function))
    sched::BufferOp::create(builder, function.getLoc(), builder.getStringAttr(storage.name),
                            llvm::map_to_vector(storage.arguments, [&](Value each) { return values.lookup(each); }),
                            storage.isRegistered ? builder.getUnitAttr() : UnitAttr());
}

void ProgramWriter::writeConstants() {
  for (auto constant : function.getOps<plan::ConstantOp>()) {
    auto written = sched::ConstantOp::create(builder, constant.getLoc(), typeOf(constant.getResult()),
                                             constant.getNameAttr(), constant.getValue());
    values.map(constant.getResult(), written.getResult());
  }
}

base::When ProgramWriter::whenOf(size_t position) const {
  if (resumeOf[position])
    return base::When::deferred;
  switch (instances.occurrenceOf(position)) {
  case scheduling::Occurrence::first:
    return base::When::first;
  case scheduling::Occurrence::every:
    return base::When::always;
  case scheduling::Occurrence::last:
    return base::When::last;
  }
  llvm_unreachable("unknown occurrence");
}

void ProgramWriter::writeFrees(size_t position, size_t count) {
  for (base::When when : {base::When::always, base::When::first, base::When::last, base::When::deferred}) {
    SmallVector<Value> dead;
    sched::ResumeOp resume;
    for (size_t each = position; each < position + count; ++each)
      if (unsigned buffer = instances.solution.steps[each].index; instances.producers[buffer] && whenOf(each) == when) {
        dead.push_back(valueOf(buffer));
        resume = resumeOf[each];
      }
    if (dead.empty())
      continue;
    sched::FreeOp::create(builder, location, dead, base::WhenAttr::get(builder.getContext(), when));
    if (resume)
      resume.setSteps(resume.getSteps() + 1);
  }
}

void ProgramWriter::writeOperation(size_t position) {
  Step step = instances.solution.steps[position];
  Block &block = *builder.getInsertionBlock();
  Operation *before = block.empty() ? nullptr : &block.back();
  if (step.kind == scheduling::StepKind::run)
    writeRun(step.index);
  else if (step.kind == scheduling::StepKind::start)
    problem.operations[step.index].isCollective() ? writeStart(step.index) : writeTransfer(step.index);
  else
    writeWait(step.index);
  base::When when = whenOf(position);
  if (when == base::When::always)
    return;
  for (Operation *made = before ? before->getNextNode() : &block.front(); made; made = made->getNextNode()) {
    if (isa<sched::GradientOp>(made))
      continue;
    sched::setWhen(made, when);
    if (sched::ResumeOp resume = resumeOf[position])
      resume.setSteps(resume.getSteps() + 1);
  }
}

void ProgramWriter::writeResumes(size_t position) {
  sched::ResumeOp resume;
  for (const scheduling::Deferred &deferred : instances.deferred) {
    if (deferred.before != position)
      continue;
    // The steps are counted when they are written.
    if (!resume)
      resume = sched::ResumeOp::create(builder, location, builder.getI64IntegerAttr(0));
    for (size_t step : deferred.steps)
      resumeOf[step] = resume;
  }
}

void ProgramWriter::writeSteps() {
  ArrayRef<Step> steps = instances.solution.steps;
  for (size_t position = 0; position < steps.size();) {
    writeResumes(position);
    if (steps[position].kind == scheduling::StepKind::free) {
      // Adjacent frees become a single op.
      ArrayRef<Step> frees =
          steps.drop_front(position).take_while([](Step each) { return each.kind == scheduling::StepKind::free; });
      writeFrees(position, frees.size());
      position += frees.size();
    } else {
      // A free has no op of its own in the function; the step before it is why the buffer is dead.
      location = projection.operations[steps[position].index].front()->getLoc();
      writeOperation(position);
      ++position;
    }
  }
}

void ProgramWriter::writeOutputs() {
  Operation *end = function.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(end->getOperands())) {
    if (auto updated = plan::resultAttr<plan::attr::Updates>(function, index)) {
      sched::UpdateOp::create(builder, end->getLoc(), values.lookup(value), values.lookup(arguments[updated]));
      continue;
    }
    if (auto parameter = plan::resultAttr<plan::attr::GradientOf>(function, index))
      sched::GradientOp::create(builder, end->getLoc(), values.lookup(value), values.lookup(arguments[parameter]));
    auto name = plan::resultAttr<plan::attr::Name>(function, index);
    bool isLoss = plan::resultAttr<plan::attr::Loss>(function, index) != nullptr;
    sched::OutputOp::create(builder, end->getLoc(), name ? name : builder.getStringAttr(Twine(index)),
                            values.lookup(value), isLoss ? builder.getUnitAttr() : UnitAttr(),
                            plan::resultAttr<plan::attr::Experts>(function, index),
                            plan::resultAttr<plan::attr::Pairs>(function, index));
  }
}

void ProgramWriter::write(const ProgramEstimates &estimates) {
  ArrayAttr devices;
  if (plan::roleOf(function) == base::ProgramRole::reference)
    devices = builder.getArrayAttr({sched::MeshAxisAttr::get(builder.getContext(), "rank", 1)});
  auto program =
      sched::ProgramOp::create(builder, function.getLoc(), function.getSymName(), plan::roleOf(function), devices,
                               estimates.memory, estimates.time, plan::opAttr<plan::attr::Timeline>(function),
                               plan::opAttr<plan::attr::Guard>(function), estimates.peak);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&program.getBody());
  writeArguments();
  writeBuffers();
  writeConstants();
  writeSteps();
  writeOutputs();
}

void writeProgram(OpBuilder &builder, func::FuncOp function, const ProjectedFunction &projection,
                  const scheduling::Instances &instances, const ProgramEstimates &estimates, LayoutTable &layouts) {
  ProgramWriter(builder, function, projection, instances, layouts).write(estimates);
}

void writeDeclarations(OpBuilder &builder, plan::MeshOp mesh, const CommunicatorTable &communicators) {
  MLIRContext *context = builder.getContext();
  SmallVector<Attribute> axes;
  for (auto axis : mesh.getAxes().getAsRange<plan::MeshAxisAttr>())
    axes.push_back(sched::MeshAxisAttr::get(context, axis.getName(), axis.getSize()));
  sched::MeshOp::create(builder, mesh.getLoc(), builder.getArrayAttr(axes));
  for (const scheduling::Communicator &communicator : communicators.list()) {
    SmallVector<Attribute> digits;
    for (const meshplan::AxisRef &axis : communicator.axes)
      digits.push_back(sched::AxisAttr::get(context, axis.axis, axis.pre, axis.size));
    sched::CommunicatorOp::create(builder, mesh.getLoc(), communicator.name, builder.getArrayAttr(digits));
  }
}

} // namespace meshplan
