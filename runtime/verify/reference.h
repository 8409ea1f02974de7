//===- reference.h - the exported model on one rank -------------*- C++ -*-===//

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
  /// If set, the rounding of results that depend on weights is perturbed with this seed; see withPerturbedRounding.
  std::optional<uint64_t> rounding;
  int threads = 1;            ///< number of threads
  bool differentiates = true; ///< runs the backward pass, if the program has a loss
};

/// The results of the reference for one batch, on the thread's device. With several microbatches: the mean over them of
/// all gradients and of scalar float outputs; other outputs are left out.
struct ReferenceResult {
  NamedTensors outputs;
  NamedTensors gradients; ///< of the trained parameters, by first name; empty without a loss
};

/// The exported model: the program "reference". `notFound`, with a hint, if the schedule has none.
Expected<const artifact::Program *> findReference(const Artifact &artifact);

/// The program "reference" of a schedule, with whole parameters and one batch of inputs. If the program "step" takes
/// several times as many samples, the reference runs once per microbatch. Belongs to one thread; the artifact must
/// outlive it. No other thread of the process may compute while it runs.
class Reference {
public:
  /// `notFound` as findReference; `numericFault` for non-finite parameters; otherwise fails as the feeds do.
  static Expected<Reference> load(const Artifact &artifact, const Feed &parameters, const Feed &inputs);

  /// Runs the reference. An index out of range that comes from an input is reported with its position in the input.
  Expected<ReferenceResult> run(const ReferenceRun &run) const;

  /// Describes where values become non-finite in f64: "input 'x': 1 of 64 elements is not finite, ...", or the first
  /// operator that makes NaN of finite values, or else the first that makes infinity; otherwise the backward pass. Runs
  /// the program forward once.
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
  Status perturbRounding(const artifact::Instruction &instruction, uint64_t seed, std::span<Tensor> values) const;
  Expected<std::string> nonfiniteInput() const;
  Expected<std::string> firstNonfiniteOf(std::span<const Tensor> taken) const;
  Expected<std::string> nonfiniteResult(const artifact::Instruction &instruction, std::span<const Tensor> values,
                                        bool infinities) const;
  Status checkResult(int value, Precision precision, std::span<Tensor> values) const;
  Status differentiate(std::span<const Tensor> leaves, const Tensor &loss, ReferenceResult &result) const;

  const artifact::Schedule *scheduleTable;
  const artifact::Program *programTable;
  std::vector<Tensor> given;               // parameters and constants, by value
  std::vector<std::vector<Tensor>> inputs; // by microbatch, then by input
  std::vector<bool> isRead, isWeighted;    // by value; isWeighted: a float that depends on a weight
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_REFERENCE_H
