//===- reference.h - the exported model on one rank --------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_REFERENCE_H
#define MESHPLAN_RUNTIME_VERIFY_REFERENCE_H

#include "runtime/artifact/artifact.h"
#include "runtime/exec/feed.h"
#include "runtime/verify/precision.h"

#include <optional>

#include <map>

namespace meshplan {

using NamedTensors = std::map<std::string, Tensor, std::less<>>;

/// One run of the reference.
struct ReferenceRun {
  Precision precision = Precision::own;
  /// What operators make of weights is rounded anew, by draws of this number: see roundedAnew.
  std::optional<uint64_t> rounding;
  int threads = 1;            ///< to compute with
  bool differentiates = true; ///< goes back over the program where that has a loss
};

/// What the reference gives for one batch, on the device of the thread. Of a batch in several microbatches the mean
/// over them: of all gradients, and of outputs that are one float. Others there are none.
struct ReferenceResult {
  NamedTensors outputs;
  NamedTensors gradients; ///< of the trained parameters, by their first names; none without a loss
};

/// The model as it was exported: the program "reference". `notFound`, with the way out, where the schedule has none.
Expected<const artifact::Program *> findReference(const Artifact &artifact);

/// The program "reference" of a schedule with whole parameters and one batch of inputs. Where the program "step" takes
/// several times the samples that the reference does, it runs as often, on one microbatch after the other. Belongs to
/// one thread; the artifact must outlive it. No other thread of the process may compute while it runs.
class Reference {
public:
  /// `notFound` as findReference; `numericFault` for parameters that are not finite; else as the feeds fail.
  static Expected<Reference> load(const Artifact &artifact, const Feed &parameters, const Feed &inputs);

  /// An index that an input has and that points outside is said of the input.
  Expected<ReferenceResult> run(const ReferenceRun &run) const;

  /// Where the numbers stop to be numbers in f64: "input 'x': 1 of 64 elements is not finite, ..." or the first
  /// operator that makes NaN of numbers, or else infinity; what is left are the gradients. Runs the program once,
  /// forward.
  Expected<std::string> firstNonfinite(int threads) const;

  const artifact::Program &program() const { return *programTable; }

private:
  Reference(const artifact::Schedule &schedule, const artifact::Program &program)
      : scheduleTable(&schedule), programTable(&program), given(program.values()->size()) {
    findRead();
    findWeighted();
  }

  void findRead();
  void findWeighted();
  Status loadGiven(const Feed &parameters);
  Status loadInputs(const Feed &feed);
  Status checkParameters(const Feed &parameters) const;
  bool differentiates(const ReferenceRun &run) const;
  Expected<ReferenceResult> runMicrobatch(const ReferenceRun &run, std::span<const Tensor> taken) const;
  Expected<std::vector<Tensor>> start(const ReferenceRun &run, std::span<const Tensor> taken) const;
  Status runInstruction(const artifact::Instruction &instruction, Precision precision, std::span<Tensor> values) const;
  Status compute(const artifact::Instruction &instruction, Precision precision, std::span<Tensor> values,
                 bool &isOfInput) const;
  Status roundAnew(const artifact::Instruction &instruction, uint64_t seed, std::span<Tensor> values) const;
  Expected<std::string> nonfiniteInput() const;
  Expected<std::string> firstNonfiniteOf(std::span<const Tensor> taken) const;
  Expected<std::string> nonfiniteResult(const artifact::Instruction &instruction, std::span<const Tensor> values,
                                        bool infinities) const;
  Status checkResult(int value, Precision precision, std::span<Tensor> values) const;
  Status differentiate(std::span<const Tensor> leaves, const Tensor &loss, ReferenceResult &result) const;

  const artifact::Schedule *scheduleTable;
  const artifact::Program *programTable;
  std::vector<Tensor> given;               // by value: parameters, constants
  std::vector<std::vector<Tensor>> inputs; // by microbatch, by input
  std::vector<bool> isRead, isWeighted;    // by value; what depends on a weight and is a float
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_REFERENCE_H
