//===- session.h - what a rank keeps between runs ---------------*- C++ -*-===//
//
// A session has what outlives the steps: communicators, lanes of copies, storages, parameters, states, accumulators and
// constants. It is made once for all programs of a schedule, which are walks over it (walk.h): a walk adds the prepared
// instructions of one program and the values of one run.
//
// Tensors are found by name (held.h), so that programs share them: what a training step updates, `eval` reads.
//
// A session belongs to the thread of its rank, which should hold a ComputeScope. All ranks make the same calls.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_SESSION_H
#define MESHPLAN_RUNTIME_EXEC_SESSION_H

#include "runtime/exec/feed.h"
#include "runtime/exec/numbers/nonfinite_weights.h"
#include "runtime/exec/prepare.h"
#include "runtime/exec/storages.h"

#include <map>
#include <memory>

namespace meshplan {

/// Bytes of the tensors that a rank holds while it runs a program: on its device and, the last two, in host memory.
struct ResidentBytes {
  int64_t parameters = 0;
  int64_t constants = 0;
  int64_t inputs = 0;
  int64_t states = 0;
  int64_t accumulators = 0;
  int64_t hostParameters = 0;
  int64_t hostStates = 0;
};

ResidentBytes residentBytes(const RankView &view);

/// The tensors of a program's values that outlive its runs, by index into Program.values; null for other values.
/// Sessions and walks share the tensors: a replaced tensor is replaced for all.
using HeldTensors = std::vector<std::shared_ptr<Tensor>>;

class Session {
public:
  /// Compares the schedule's hash with the other ranks and creates the communicators. The session serves all programs
  /// that run on the devices of `program`: the mesh of the schedule, or devices of its own. `artifact` and `world` must
  /// outlive it. `invalid` if the world and the devices differ in number.
  static Expected<std::shared_ptr<Session>> create(const Artifact &artifact, const artifact::Program &program,
                                                   World &world);

  World &world() { return ranks; }
  const Groups &groups() const { return communicators; }
  CopyLanes &copyLanes() { return lanes; }

  /// The view of a program from this rank.
  RankView viewOf(const artifact::Program &program) const { return {schedule, program, ranks.rank()}; }

  /// The held tensors of a program. Its constants are loaded, and states that begin as zeros are made, unless another
  /// program of the session has them already.
  Expected<HeldTensors> held(const RankView &view);

  /// Reads the rank's slices of a program's parameters, which is required before it runs. States that begin as copies
  /// of their parameter are loaded with it.
  Status loadParameters(const RankView &view, const Feed &feed);

  /// Instead of loadParameters: also reads the states, each under its own name. Reads what writeHeld wrote, under any
  /// plan of the same model.
  Status loadHeld(const RankView &view, const Feed &feed);

  /// The parameters of the last loading of which this rank has non-finite elements.
  const std::vector<NonfiniteWeight> &nonfiniteParameters() const { return nonfinite; }

  /// Sets the accumulators of a program to zeros, at the beginning of a step.
  Status clearAccumulators(const RankView &view);

  /// Registers the storages with the communicators that use them, once.
  Status registerStorages() { return storages.registerWith(communicators); }

private:
  Session(const artifact::Schedule &schedule, std::span<const RankView> views, World &world)
      : schedule(schedule), ranks(world), storages(views, world) {}

  Status makeGroups(const RankView &view);
  std::shared_ptr<Tensor> &slot(const std::string &name);
  Expected<std::shared_ptr<Tensor>> constant(const RankView &view, const artifact::Constant &constant);
  Status makeState(const RankView &view, const artifact::State &state);
  Expected<Tensor> zeros(const RankView &view, int value, const std::string &name);
  Status loadWeights(const RankView &view, const Feed &feed);
  Status loadState(const RankView &view, const Feed &feed, const artifact::State &state,
                   const std::vector<std::string> &names);

  const artifact::Schedule &schedule;
  World &ranks;
  Groups communicators;
  CopyLanes lanes;
  Storages storages;
  std::vector<NonfiniteWeight> nonfinite;
  std::map<std::string, std::shared_ptr<Tensor>, std::less<>> slots;
  struct LoadedConstant {
    RankView view;
    const artifact::Constant *table;
    std::shared_ptr<Tensor> tensor;
  };
  std::vector<LoadedConstant> constants;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_SESSION_H
