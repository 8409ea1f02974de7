//===- program_verifier.cpp - verifier of a whole program -----------------===//
//
// Rules have labels (P: names and numbers, L: lifetimes, T: tokens, W: instances) that reappear in
// test/dialect/sched/program_verifier.mlir.
//
// A program is a list without branches, so one walk in order decides everything. Of a program that runs once all steps
// are walked. A program that a timeline runs several times has three lists of steps, which are walked one after the
// other: those of the first instance, of an instance between the first and the last, and of the last; all instances
// between are alike. What a valid program guarantees to the runtime:
//
//   P6              all ranks start the same collectives and copies in the same order
//   L1, L2, L6      no value is used after it was freed or overwritten, or freed twice
//   L4, L7          what a collective or a copy in flight reads is neither freed nor overwritten
//   L3, L5          what the run owns is not freed; everything else is, or is an output or an update
//   W1, W4          the same holds in instances before the last one
//   W2              of what outlives them, instances before the last one change accumulators only
//   W6, W7, W8      what an instance defers is resumed, once, before its values are defined by the next one
//   W9              what the first instance makes for all is changed by no other, and freed by the last
//
// What is not decided by the order of steps has verifiers of its own (program_rules.h): T1, that each collective is
// waited for once, is one of the steps' own rules.
//
//===----------------------------------------------------------------------===//

#include "dialect/sched/program_rules.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::sched;

namespace {
/// Walks the steps of the instances of a program in order and records what each step may rely on.
class ProgramVerifier {
public:
  explicit ProgramVerifier(ProgramOp program);

  /// Walks an instance, which comes after those that were walked before it.
  LogicalResult verify(bool isFirst, bool isLast);

  /// True if a later instance depends on what an earlier one has left to it.
  bool isLinked() const { return !deferred.empty() || hasFirst; }

private:
  bool runs(Operation &step) const;
  LogicalResult verifyResume(ResumeOp resume);
  void leave();
  LogicalResult takeBack(Operation &step);
  LogicalResult verifyStep(Operation &step);
  LogicalResult verifyInstance(Operation &step);
  LogicalResult verifyOverwritten(Operation &step);
  LogicalResult overwrite(Operation &step, Value value);
  void follow(Operation &step);
  LogicalResult verifyBuffer(BufferOp buffer);
  LogicalResult verifyInPlace(PackOp pack);
  /// The rules of what is started and waited for, a collective or a copy.
  LogicalResult verifyInFlight(Operation &step, int64_t sequence);
  LogicalResult verifyFree(FreeOp free);
  LogicalResult verifyEnd();

  ProgramOp program;
  SmallVector<Operation *> deferred;  ///< steps, in their order
  bool hasFirst = false;              ///< there are steps `when first`
  bool isFirst = true, isLast = true; ///< the instance that is walked
  bool isResuming = false;            ///< the step is one of the instance before
  size_t resumed = 0;                 ///< of `deferred`
  DenseMap<Value, unsigned> left;     ///< by value: steps that use it, of the instance before, to be resumed
  int64_t nextSequence = 0;
  /// The free of each value that has been freed.
  DenseMap<Value, FreeOp> freed;
  /// The buffer that contains each value, and the position in it; also of values that were written in place of one.
  DenseMap<Value, std::pair<BufferOp, size_t>> buffers;
  /// The step that has overwritten each value.
  DenseMap<Value, Operation *> overwritten;
  /// The collectives and copies in flight, by the values that they read.
  DenseMap<Value, SmallVector<Operation *, 1>> inFlight;
};
} // namespace

/// The tensors whose memory a value is: itself, or those that are packed in place.
static SmallVector<Value> tensorsIn(Value value) {
  auto pack = value.getDefiningOp<PackOp>();
  return pack && pack.getInPlace() ? SmallVector<Value>(pack.getTensors()) : SmallVector<Value>{value};
}

/// What a collective or a copy in flight reads: its input, and the tensors in which the input is.
static SmallVector<Value> readBy(Operation *started) {
  auto start = dyn_cast<StartOp>(started);
  Value input = start ? start.getInput() : cast<CopyOp>(started).getInput();
  SmallVector<Value> read = tensorsIn(input);
  if (!llvm::is_contained(read, input))
    read.push_back(input);
  return read;
}

/// What a step reads, writes in place or frees.
static SmallVector<Value> usedBy(Operation &step) {
  SmallVector<Value> used(step.getOperands());
  if (auto start = dyn_cast<StartOp>(step)) {
    llvm::append_range(used, tensorsIn(start.getInput()));
    if (start.getTarget())
      llvm::append_range(used, tensorsIn(start.getTarget()));
  }
  return used;
}

ProgramVerifier::ProgramVerifier(ProgramOp program) : program(program) {
  for (Operation &step : program.getBody().front())
    if (whenOf(&step) == base::When::deferred)
      deferred.push_back(&step);
    else
      hasFirst |= whenOf(&step) == base::When::first;
}

/// True for what a run makes, and has to free.
static bool isMade(Value value) { return isa<ComputeOp, SliceOp, WaitOp, PackOp, UnpackOp>(value.getDefiningOp()); }

/// True for what the first instance makes, for itself or for all.
static bool isMadeFirst(Value value) { return whenOf(value.getDefiningOp()) == base::When::first; }

static bool isUpdate(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return isa<UpdateOp>(user); });
}

/// What a deferred step uses, makes or waits for.
static SmallVector<Value> neededBy(Operation &step) {
  SmallVector<Value> needed = usedBy(step);
  llvm::append_range(needed, step.getResults());
  if (auto wait = dyn_cast<WaitOp>(step))
    llvm::append_range(needed, readBy(wait.getToken().getDefiningOp()));
  return needed;
}

LogicalResult ProgramVerifier::verify(bool isFirstInstance, bool isLastInstance) {
  isFirst = isFirstInstance;
  isLast = isLastInstance;
  resumed = isFirst ? deferred.size() : 0;
  size_t resumes = 0;
  for (auto resume : program.getBody().getOps<ResumeOp>()) {
    if (program.getRole() == base::ProgramRole::microbatch) // W5
      return resume.emitOpError("runs only in the last instance of a timeline, which is none of this program");
    resumes += resume.getSteps();
  }
  if (resumes != deferred.size()) // W6
    return program.emitOpError() << "resumes " << resumes << " steps, but defers " << deferred.size();
  for (Operation &step : program.getBody().front()) {
    if (auto resume = dyn_cast<ResumeOp>(step)) {
      if (!isFirst && failed(verifyResume(resume)))
        return failure();
    } else if (runs(step) && failed(verifyStep(step))) {
      return failure();
    }
  }
  if (failed(verifyEnd()))
    return failure();
  leave();
  return success();
}

template <typename OpType> static void eraseIf(DenseMap<Value, OpType> &map, function_ref<bool(Value, OpType)> isOver) {
  SmallVector<Value> over;
  for (auto [value, step] : map)
    if (isOver(value, step))
      over.push_back(value);
  for (Value value : over)
    map.erase(value);
}

/// Ends an instance: what was freed and overwritten is made and written again, but what only the first one makes. What
/// is in flight stays.
void ProgramVerifier::leave() {
  eraseIf<FreeOp>(freed, [](Value value, FreeOp) { return !isMadeFirst(value); });
  nextSequence = 0;
  eraseIf<Operation *>(overwritten, [](Value value, Operation *step) {
    if (isMadeFirst(value))
      return false;
    auto start = dyn_cast<StartOp>(step);
    return !start || whenOf(start.getWait()) != base::When::deferred;
  });
  for (Operation *step : deferred)
    for (Value value : neededBy(*step))
      if (!isMadeFirst(value))
        ++left[value];
}

/// The steps of the instance before. They may do what every instance may.
LogicalResult ProgramVerifier::verifyResume(ResumeOp resume) {
  bool wasLast = std::exchange(isLast, false);
  isResuming = true;
  for (uint64_t count = 0; count < resume.getSteps(); ++count) {
    Operation &step = *deferred[resumed++];
    if (failed(verifyStep(step)) || failed(takeBack(step)))
      return failure();
  }
  isLast = wasLast;
  isResuming = false;
  return success();
}

/// From here on the instance that is walked may make the values of a resumed step again.
LogicalResult ProgramVerifier::takeBack(Operation &step) {
  if (auto wait = dyn_cast<WaitOp>(step))
    eraseIf<Operation *>(overwritten,
                         [&](Value, Operation *writer) { return writer == wait.getToken().getDefiningOp(); });
  for (Value value : neededBy(step)) {
    if (isMadeFirst(value) || --left[value] != 0)
      continue;
    if (isMade(value) && !freed.contains(value) && !isUpdate(value)) // W4
      return value.getDefiningOp()->emitOpError("produces a value that deferred steps use and do not free");
    left.erase(value);
    freed.erase(value);
    overwritten.erase(value);
  }
  return success();
}

/// An accumulator has its update after every instance. Outputs and other updates are those of the last one.
static bool isAccumulation(UpdateOp update) {
  auto state = update.getTarget().getDefiningOp<StateOp>();
  return state && !state.getParameter();
}

/// True if the instance that is walked has the step.
bool ProgramVerifier::runs(Operation &step) const {
  base::When when = whenOf(&step);
  if (when == base::When::first)
    return isFirst;
  if (isLast)
    return true;
  if (auto update = dyn_cast<UpdateOp>(step))
    return isAccumulation(update) && whenOf(update.getValue().getDefiningOp()) != base::When::deferred;
  return when == base::When::always && !isa<OutputOp, GradientOp>(step);
}

/// W1: instances before the last one use what every instance makes.
LogicalResult ProgramVerifier::verifyInstance(Operation &step) {
  if (isLast)
    return success();
  for (Value operand : usedBy(step)) {
    Operation *producer = operand.getDefiningOp();
    base::When when = whenOf(producer);
    if (when == base::When::last || (when == base::When::deferred && !isResuming)) // W1
      return (step.emitOpError("uses in every microbatch what is made ")
              << (when == base::When::last ? "only in the last one" : "in the next one"))
                 .attachNote(producer->getLoc())
             << "made here";
  }
  return success();
}

LogicalResult ProgramVerifier::verifyStep(Operation &step) {
  for (Value result : step.getResults())
    if (!isResuming && isMade(result) && left.contains(result)) // W8
      return step.emitOpError(
          "makes a value again that the instance before has left to steps that are not resumed yet");
  if (failed(verifyInstance(step)))
    return failure();
  for (Value operand : usedBy(step))
    if (FreeOp free = freed.lookup(operand)) // L1, L2
      return (step.emitOpError() << (isa<FreeOp>(step) ? "frees a value that is already free" : "uses a freed value"))
                 .attachNote(free.getLoc())
             << "freed here";
  if (failed(verifyOverwritten(step)))
    return failure();
  follow(step);
  if (auto buffer = dyn_cast<BufferOp>(step))
    return verifyBuffer(buffer);
  if (auto pack = dyn_cast<PackOp>(step); pack && pack.getInPlace())
    return verifyInPlace(pack);
  if (auto start = dyn_cast<StartOp>(step))
    return verifyInFlight(step, static_cast<int64_t>(start.getSequence()));
  if (auto wait = dyn_cast<WaitOp>(step)) {
    Operation *started = wait.getToken().getDefiningOp();
    for (Value read : readBy(started))
      // From here on the input may be overwritten or freed; other collectives may still read it.
      llvm::erase(inFlight[read], started);
  }
  if (auto copy = dyn_cast<CopyOp>(step))
    return verifyInFlight(step, static_cast<int64_t>(copy.getSequence()));
  if (auto free = dyn_cast<FreeOp>(step))
    return verifyFree(free);
  return success();
}

/// L6: the old value of an overwritten operand is not read again; a free, and in the last instance an update, may still
/// name it. L7: no collective in flight reads it.
LogicalResult ProgramVerifier::verifyOverwritten(Operation &step) {
  // Before this step's own overwriting is recorded: a step may read what it overwrites.
  SmallVector<Value> read = isa<UpdateOp, FreeOp>(step) ? SmallVector<Value>() : usedBy(step);
  if (auto update = dyn_cast<UpdateOp>(step); update && !isLast)
    read.push_back(update.getValue()); // by the next instance
  for (Value operand : read)
    if (Operation *writer = overwritten.lookup(operand))
      return step.emitOpError("reads a value that was overwritten").attachNote(writer->getLoc()) << "overwritten here";
  SmallVector<Value> targets;
  if (isa<StartOp, CopyOp>(step) && targetOf(&step))
    targets = tensorsIn(targetOf(&step));
  else if (auto unpack = dyn_cast<UnpackOp>(step))
    targets = SmallVector<Value>(unpack.getTargets());
  if (!targets.empty())
    return success(llvm::all_of(targets, [&](Value value) { return succeeded(overwrite(step, value)); }));
  auto compute = dyn_cast<ComputeOp>(step);
  for (int64_t index : compute ? compute.getOverwrites().value_or(ArrayRef<int64_t>()) : ArrayRef<int64_t>())
    if (failed(overwrite(step, compute.getOperands()[index])))
      return failure();
  return success();
}

/// What instances before the last one may overwrite: accumulators, and what steps have made. A slice may be a view.
static bool mayChange(Value value) {
  while (auto slice = value.getDefiningOp<SliceOp>())
    value = slice.getInput();
  if (auto state = value.getDefiningOp<StateOp>())
    return !state.getParameter();
  return !isa<ParameterOp, ConstantOp, InputOp, SettingOp>(value.getDefiningOp());
}

LogicalResult ProgramVerifier::overwrite(Operation &step, Value value) {
  if (auto starts = inFlight.find(value); starts != inFlight.end() && !starts->second.empty())
    return (step.emitOpError() << "overwrites the input of a " << kindOf(starts->second.front())
                               << " that is not waited for")
               .attachNote(starts->second.front()->getLoc())
           << "started here";
  if (!isLast && !mayChange(value)) // W2
    return step.emitOpError("overwrites in every microbatch what is neither an accumulator nor a temporary");
  if (isMadeFirst(value) && whenOf(&step) != base::When::first) // W9
    return (step.emitOpError("overwrites what the first microbatch has made for all").attachNote(value.getLoc())
            << "made here");
  overwritten[value] = &step;
  return success();
}

/// P8: a value is in at most one buffer.
LogicalResult ProgramVerifier::verifyBuffer(BufferOp buffer) {
  for (auto [position, value] : llvm::enumerate(buffer.getValues()))
    if (auto [other, isNew] = buffers.try_emplace(value, buffer, position); !isNew && other->second.first != buffer)
      return buffer.emitOpError("holds a value that another buffer holds").attachNote(other->second.first.getLoc())
             << "the other one is here";
  return success();
}

/// A value that is written in place of another one is at its position in the buffer.
void ProgramVerifier::follow(Operation &step) {
  auto move = [&](Value from, Value to) {
    if (auto found = buffers.find(from); found != buffers.end())
      buffers.insert({to, found->second});
  };
  if (auto compute = dyn_cast<ComputeOp>(step))
    for (auto [index, operand] : llvm::enumerate(compute.getOverwrites().value_or(ArrayRef<int64_t>())))
      move(compute.getOperands()[operand], compute.getResult(index));
  if (auto wait = dyn_cast<WaitOp>(step))
    if (Value target = targetOf(wait.getToken().getDefiningOp()))
      move(target, wait.getResult());
  if (auto unpack = dyn_cast<UnpackOp>(step)) {
    SmallVector<Value> targets(unpack.getTargets());
    if (unpack.getInPlace())
      if (Value target = targetOf(unpack.getPacked().getDefiningOp<WaitOp>().getToken().getDefiningOp()))
        targets = tensorsIn(target);
    for (auto [target, result] : llvm::zip(targets, unpack.getResults()))
      move(target, result);
  }
}

/// P11: what is packed in place is adjacent in one buffer.
LogicalResult ProgramVerifier::verifyInPlace(PackOp pack) {
  std::optional<std::pair<BufferOp, size_t>> next;
  for (auto [index, value] : llvm::enumerate(pack.getTensors())) {
    auto found = buffers.find(value);
    if (found == buffers.end() || (next && found->second != *next))
      return pack.emitOpError() << "packs in place, but tensor " << index
                                << (next ? " does not follow the one before it in a buffer" : " is in no buffer");
    next = {found->second.first, found->second.second + 1};
  }
  return success();
}

LogicalResult ProgramVerifier::verifyInFlight(Operation &step, int64_t sequence) {
  // Without gaps but for steps that other instances have: the wait finds its start by this number, and all ranks count
  // alike.
  if (isFirst && isLast && sequence != nextSequence) // P6
    return step.emitOpError() << "has sequence number " << sequence << ", the next one is " << nextSequence;
  ++nextSequence;
  for (Value read : readBy(&step))
    inFlight[read].push_back(&step);
  return success();
}

LogicalResult ProgramVerifier::verifyFree(FreeOp free) {
  for (Value value : free.getValues()) {
    Operation *producer = value.getDefiningOp();
    if (isa<ParameterOp, ConstantOp, InputOp, StateOp, SettingOp>(producer)) // L3
      return free.emitOpError("frees a parameter, constant, input, state or setting").attachNote(producer->getLoc())
             << "made here";
    if (auto starts = inFlight.find(value); starts != inFlight.end() && !starts->second.empty()) // L4
      return (free.emitOpError() << "frees the input of a " << kindOf(starts->second.front())
                                 << " that is not waited for")
                 .attachNote(starts->second.front()->getLoc())
             << "started here";
    if (!freed.try_emplace(value, free).second) // L2
      return free.emitOpError("frees a value that is already free").attachNote(free.getLoc()) << "freed here";
  }
  return success();
}

/// L5: every value that a step makes is freed or is an output.
LogicalResult ProgramVerifier::verifyEnd() {
  DenseSet<Value> outputs, leftLater;
  OutputOp loss;
  if (!isLast)
    for (Operation *step : deferred)
      leftLater.insert_range(neededBy(*step));
  for (OutputOp output : program.getBody().getOps<OutputOp>()) {
    outputs.insert(output.getValue());
    if (output.getLoss() && loss) // P7
      return output.emitOpError("is the second loss of its program").attachNote(loss.getLoc()) << "the first one";
    if (output.getLoss())
      loss = output;
  }
  for (UpdateOp update : program.getBody().getOps<UpdateOp>())
    outputs.insert(update.getValue());
  for (Operation &step : program.getBody().front()) {
    // What the first instance makes is there until the last one ends. The steps that this instance does not run only
    // name what the run provides, which is freed with the run.
    if (whenOf(&step) == base::When::first ? !isLast : !runs(step))
      continue;
    for (Value result : step.getResults())
      if (isMade(result) && !freed.contains(result) && !outputs.contains(result) &&
          !leftLater.contains(result)) // W4 before the last instance
        return step.emitOpError() << "produces a value that is neither freed nor an output"
                                  << (isLast ? "" : " before the last microbatch");
  }
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  if (!sched::getMesh(*this)) // P1
    return emitOpError("is in a module without a mesh");
  if (failed(verifyDeclarations(*this)) || failed(verifyTimeline(*this)) || failed(verifySteps(*this)) ||
      failed(ProgramVerifier(*this).verify(/*isFirst=*/true, /*isLast=*/true)))
    return failure();
  bool isMicrobatch = getRole() == base::ProgramRole::microbatch;
  int64_t instances = isMicrobatch ? 1 : getInstances();
  if (!isMicrobatch && instances == 1)
    return success();
  ProgramVerifier verifier(*this);
  if (failed(verifier.verify(/*isFirst=*/true, /*isLast=*/false)))
    return failure();
  if (isMicrobatch || !verifier.isLinked())
    return success();
  return failure((instances > 2 && failed(verifier.verify(/*isFirst=*/false, /*isLast=*/false))) ||
                 failed(verifier.verify(/*isFirst=*/false, /*isLast=*/true)));
}
