//===- program_writer.h - writes a solution as a sched.program -*- C++ -*-===//
//
// Only for write_program.cpp, which writes what a program declares and its steps in order, and for
// write_operations.cpp, which writes the operations that the steps name.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PROGRAM_WRITER_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PROGRAM_WRITER_H

#include "compiler/scheduling/unroll.h"
#include "compiler/sharding/dataflow/step_parts.h"
#include "compiler/transforms/schedule/build_problem.h"
#include "compiler/transforms/schedule/program_estimates.h"
#include "dialect/plan/argument_table.h"
#include "dialect/sched/sched.h"
#include "mlir/IR/IRMapping.h"

namespace meshplan {

class ProgramWriter {
public:
  ProgramWriter(mlir::OpBuilder &builder, mlir::func::FuncOp function, const ProjectedFunction &projection,
                const scheduling::Instances &instances, LayoutTable &layouts)
      : builder(builder), function(function), projection(projection), problem(projection.problem), layouts(layouts),
        instances(instances), resumeOf(instances.solution.steps.size()), parts(function), arguments(function),
        location(function.getLoc()), isUnpacked(problem.buffers.size()) {
    for (const scheduling::Operation &operation : problem.operations)
      if (operation.copy == scheduling::Copy::unpack)
        isUnpacked.set(operation.consumed.front());
  }

  void write(const ProgramEstimates &estimates);

private:
  void writeArguments();
  /// A state of the optimizer, or a setting.
  mlir::Value writeGiven(mlir::BlockArgument argument, mlir::StringAttr name);
  /// Writes the buffers: arguments that share a storage.
  void writeBuffers();
  void writeConstants();
  void writeSteps();
  /// Writes what runs the deferred steps that come before a step of the next instance.
  void writeResumes(size_t position);
  void writeRun(unsigned index);
  void writeCopy(unsigned index);
  /// Notes, for traces, which part of a step an operation belongs to, and what a collective moves.
  void markDirection(mlir::Operation *op, mlir::Operation *written) const;
  void markMoved(llvm::ArrayRef<mlir::Operation *> ops, mlir::Operation *start) const;
  /// Marks the gradient before an optimizer call, where it is reduced and alive.
  void writeGradient(plan::CallOp call);
  mlir::Value packInPlace(mlir::ValueRange tensors, mlir::Location at);
  mlir::Value writeCall(unsigned index, mlir::Type type, llvm::StringRef target, mlir::ValueRange operands,
                        mlir::DictionaryAttr arguments);
  /// Writes a part of a call, what joins parts, and the view of the rows that a part reads.
  void writePart(unsigned index, plan::CallOp call);
  void writeJoin(unsigned index);
  void writeRows(unsigned index);
  /// The type of an operand or of the result of an operation, or of its part.
  sched::ShardedTensorType movedType(unsigned index, mlir::Value value);
  void writeStart(unsigned index);
  void writeTransfer(unsigned index);
  void writeWait(unsigned index);
  /// Writes adjacent frees, which begin at this position.
  void writeFrees(size_t position, size_t count);
  void writeOperation(size_t position);
  /// In which instances a step of the solution runs.
  base::When whenOf(size_t position) const;
  void writeOutputs();

  sched::ShardedTensorType typeOf(mlir::Value value) { return layouts.get(value.getType()).type; }
  sched::PackedType packedType(unsigned index, llvm::function_ref<mlir::Value(mlir::Operation *)> member) {
    return sched::PackedType::get(
        builder.getContext(), llvm::map_to_vector(projection.operations[index],
                                                  [&](mlir::Operation *op) { return movedType(index, member(op)); }));
  }
  /// The value of a buffer of the problem.
  mlir::Value valueOf(unsigned buffer) const {
    mlir::Value source = projection.buffers[buffer];
    return source ? values.lookup(source) : packed.lookup(buffer);
  }

  llvm::SmallVector<mlir::Value> valuesOf(llvm::ArrayRef<unsigned> buffers) const {
    return llvm::map_to_vector(buffers, [&](unsigned buffer) { return valueOf(buffer); });
  }

  mlir::OpBuilder &builder;
  mlir::func::FuncOp function;
  const ProjectedFunction &projection;
  const scheduling::Problem &problem;
  LayoutTable &layouts;
  const scheduling::Instances &instances;
  /// By step of the solution: the op that runs it for the instance before, if it is deferred.
  std::vector<sched::ResumeOp> resumeOf;
  StepParts parts;
  plan::ArgumentTable arguments;
  /// Location of the last step, which frees use as well.
  mlir::Location location;
  mlir::IRMapping values;
  llvm::BitVector isUnpacked; ///< by buffer: what is received packed
  llvm::DenseMap<unsigned, mlir::Value>
      packed; ///< by buffer: what is sent or received packed, and the results of parts
  llvm::DenseMap<unsigned, mlir::Value> tokens; ///< by operation
  /// What a collective in flight reads or writes in place of several tensors, to be freed after its wait.
  llvm::DenseMap<unsigned, llvm::SmallVector<mlir::Value, 2>> packedInPlace;
  int64_t sequence = 0;
};
} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PROGRAM_WRITER_H
