//===- operation_costs.cpp - times of operations --------------------------===//

#include "compiler/transforms/schedule/operation_costs.h"
#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/reshard.h"
#include "compiler/transforms/schedule/operand_access.h"
#include "dialect/plan/programs.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;

namespace meshplan {

int64_t toNanoseconds(double seconds) { return std::llround(seconds * 1e9); }

double sentBytesOf(ArrayRef<Operation *> ops) {
  double bytes = 0;
  for (Operation *op : ops)
    bytes += sentBytes(op, plan::getMesh(op));
  return bytes;
}

/// The dtype that decides how fast an operator computes: that of its first operand of floats, else of its first result.
static std::string computeDtype(plan::CallOp call) {
  auto isFloat = [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); };
  auto operand = llvm::find_if(call.getOperandTypes(), isFloat);
  Type element;
  if (operand != call.getOperandTypes().end())
    element = getElementTypeOrSelf(*operand);
  else if (call.getNumResults() != 0)
    element = getElementTypeOrSelf(call.getResultTypes().front());
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

static OpCost costOrBytes(const CallView &view, const OpRecord *record) {
  if (record && record->cost)
    return record->cost(view);
  OpCost cost;
  cost.bytes = trafficBytes(view);
  return cost;
}

CallCost OperationCosts::costOf(plan::CallOp call, const CallView &view) const {
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  OpCost cost = costOrBytes(view, record);
  auto flops = static_cast<double>(cost.flops), bytes = static_cast<double>(cost.bytes);
  CallCost result{0, cost.workspaceBytes, cost.aliases};
  if (call.getNumResults() != 0 && plan::isOnHost(call.getResult(0))) {
    result.duration = toNanoseconds(hostSeconds(cluster, bytes));
    return result;
  }
  std::string dtype = computeDtype(call);
  OperatorWork work{.target = call.getTarget(),
                    .dtype = dtype,
                    .flops = flops,
                    .bytes = bytes,
                    .equalParts = static_cast<double>(cost.equalParts),
                    .access = operandAccess(view, record && record->isPointwise)};
  if (const std::optional<ProductExtents> &product = cost.product)
    work.product = ProductShape{static_cast<double>(product->m), static_cast<double>(product->n),
                                static_cast<double>(product->k), static_cast<double>(product->count)};
  result.duration = toNanoseconds(operatorSeconds(cluster, work));
  return result;
}

/// Bytes/s of copies in one direction between device and host memory.
static int64_t copyRate(const Cluster &cluster) {
  constexpr double large = 1e12; // the latency does not show
  return std::max<int64_t>(1, std::llround(large / (transferSeconds(cluster, large) - cluster.host.latencySeconds)));
}

std::vector<scheduling::Link> OperationCosts::links() const {
  auto rateOf = [](const LinkRates &link) { return std::max<int64_t>(1, std::llround(link.bytes)); };
  // Two at once take `concurrent` times as long as one, so that together they move twice as much in this time.
  int64_t shared = std::llround(2000 / cluster.overlap.concurrent);
  return {{"node", rateOf(cluster.node), shared},
          {"network", rateOf(cluster.network), shared},
          {"to device", copyRate(cluster)},
          {"to host", copyRate(cluster)}};
}

void OperationCosts::setTransfer(scheduling::Operation &operation, double seconds, unsigned link,
                                 double latency) const {
  latency = std::min(seconds, latency);
  operation.latency = toNanoseconds(latency);
  auto rate = static_cast<double>(rates[link].bytesPerSecond);
  operation.transfers = {{link, std::llround((seconds - latency) * rate)}};
}

void OperationCosts::setCollective(scheduling::Operation &operation, base::CollectiveKind kind, double bytes,
                                   ArrayRef<scheduling::Communicator> communicators) {
  auto [group, isNew] = groups.try_emplace(*operation.communicator);
  if (isNew)
    group->second =
        groupSpread(communicators[*operation.communicator].axes, layouts.axisSizes(), cluster.ranksPerNode());
  bool crosses = group->second.crosses();
  double seconds = collectiveSeconds(cluster, {base::stringifyCollectiveKind(kind), bytes, group->second});
  setTransfer(operation, seconds, crosses ? networkLink : nodeLink,
              (crosses ? cluster.network : cluster.node).latencySeconds);
}

int64_t OperationCosts::timeOfCopy(int64_t bytes) const {
  auto moved = static_cast<double>(2 * bytes); // read, and written
  return toNanoseconds(operatorSeconds(cluster, {.target = cluster_keys::copyTarget, .dtype = "f32", .bytes = moved}));
}

} // namespace meshplan
