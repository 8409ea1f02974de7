//===- compute_step.cpp - running an operator -----------------------------===//

#include "runtime/exec/steps/step.h"

#include "runtime/base/names.h"
#include "runtime/exec/arguments.h"
#include "runtime/exec/prepare.h"
#include "runtime/exec/steps/index_fault.h"
#include "runtime/exec/steps/reserved_rows.h"
#include "runtime/tensor/memory.h"

#include <algorithm>

using namespace meshplan;

namespace {

struct ExpectedResult {
  int value;
  std::vector<int64_t> shape;
  DType dtype;
  bool hasAnyRows; ///< the first dim follows from the choices of a router
};

class ComputeStep final : public Step {
public:
  ComputeStep(const RankView &view, const artifact::Instruction &instruction)
      : view(view), instruction(instruction), isTimed(dependsOnMicrobatch(action())),
        isRoute(action().target()->string_view() == "meshplan.route") {
    // Shapes are computed once: they depend on the rank, not on the run.
    for (int value : *action().outputs())
      if (value >= 0) {
        results.push_back({value, view.shape(value), view.dtype(value), isRows(view.value(value))});
        isOnHost |= view.isOnHost(value);
      }
  }

  /// Looks up the operator and binds its arguments for this microbatch.
  Status prepare(int64_t microbatch) {
    std::vector<int> outputs(action().outputs()->begin(), action().outputs()->end());
    auto prepared =
        prepareCall(action().target()->string_view(), argumentsOf(action(), view, microbatch), std::move(outputs));
    if (!prepared)
      return prepared.status().withContext(instructionContext(view, "the schedule", instruction));
    call = *std::move(prepared);
    return Status();
  }

  Status begin(int64_t microbatch) override { return isTimed ? prepare(microbatch) : Status(); }

  Status run(std::span<Tensor> values) override {
    HostScope host(isOnHost);
    if (Status status = call->run(values); !status.ok())
      return explained(std::move(status), values).withContext(context(values));
    // The compiler's shapes decide what collectives move; a mismatch must not reach them.
    for (const ExpectedResult &result : results)
      if (!fits(values[result.value], result))
        return mismatch(values[result.value], result).withContext(context(values));
    // Rows that no exchange moves are those that the route has chosen.
    for (const ExpectedResult &result : results)
      if (isRoute && result.hasAnyRows)
        MESHPLAN_RETURN_IF_ERROR(checkReserve(view, result.value, values[result.value].shape().front(), instruction));
    return Status();
  }

  std::string name() const override { return action().target()->str(); }

private:
  const artifact::Compute &action() const { return *instruction.action_as_Compute(); }

  static bool fits(const Tensor &tensor, const ExpectedResult &result) {
    if (!tensor.defined() || tensor.dtype() != result.dtype || tensor.shape().size() != result.shape.size())
      return false;
    size_t known = result.hasAnyRows ? 1 : 0;
    return std::ranges::equal(tensor.shape().subspan(known), std::span(result.shape).subspan(known));
  }

  /// An index out of range is reported with its position in the input.
  Status explained(Status status, std::span<const Tensor> values) const {
    const IndexFault *fault = call->indexFault();
    return fault ? Status(status.code(), describeIndexFault(*fault, view, values).text) : status;
  }

  static Status mismatch(const Tensor &tensor, const ExpectedResult &result) {
    return Status::error(StatusCode::internal, "its result is ", describe(tensor), ", the schedule expects ",
                         shapeText(result.shape), " ", dtypeName(result.dtype));
  }

  /// "rank 1: aten.mm.default(self [2, 3] f32, mat2 [4, 5] f32) (plan.plan:3:1 colwise tp)".
  std::string context(std::span<const Tensor> values) const {
    std::string tensors;
    for (const artifact::Arg *arg : *action().args())
      if (arg->values())
        for (int value : *arg->values())
          tensors += (tensors.empty() ? "" : ", ") + (arg->name() ? arg->name()->str() : "") + " " +
                     (value < 0 ? "none" : describe(values[value]));
    return instructionContext(view, name() + "(" + tensors + ")", instruction);
  }

  RankView view;
  const artifact::Instruction &instruction;
  bool isTimed, isRoute, isOnHost = false;
  std::unique_ptr<OperatorCall> call;
  std::vector<ExpectedResult> results;
};

} // namespace

Expected<std::unique_ptr<Step>> meshplan::prepareCompute(const RankView &view,
                                                         const artifact::Instruction &instruction) {
  auto step = std::make_unique<ComputeStep>(view, instruction);
  MESHPLAN_RETURN_IF_ERROR(step->prepare(/*microbatch=*/0));
  return std::unique_ptr<Step>(std::move(step));
}
