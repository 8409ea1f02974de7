//===- report_json.cpp - the report with stable keys ----------------------===//
//
// Keys are a contract with scripts: they are never renamed, and a number that does not exist is null and not absent.
//
//===----------------------------------------------------------------------===//

#include "compiler/report/report.h"

namespace json = llvm::json;

namespace meshplan {

static json::Value toJson(const std::string &text) { return text; }

static json::Value toJson(BytesRange range) { return json::Object{{"largest", range.largest}, {"least", range.least}}; }

static json::Value toJson(const CollectiveTotal &total) {
  return json::Object{{"kind", total.kind}, {"count", total.count}, {"bytes", total.bytes}};
}

template <typename T> static json::Array toJsonArray(const std::vector<T> &list) {
  json::Array array;
  for (const T &item : list)
    array.push_back(toJson(item));
  return array;
}

static json::Value toJson(const AxisReport &axis) {
  return json::Object{{"name", axis.name},
                      {"size", axis.size},
                      {"divides_work", axis.dividesWork},
                      {"collectives", toJsonArray(axis.collectives)}};
}

static json::Value toJson(const ActivationSums &sums) {
  return json::Object{{"dtype", sums.dtype},
                      {"count", sums.count},
                      {"bytes", sums.bytes},
                      {"other_dtype", sums.otherDtype},
                      {"other_bytes", sums.otherBytes}};
}

static json::Value toJson(const CoverageLine &line) {
  return json::Object{{"place", json::fixUTF8(line.location)},
                      {"statement", line.statement},
                      {"matched", line.matched},
                      {"total", line.total},
                      {"what", line.what}};
}

static json::Value toJson(const std::optional<LossLine> &loss) {
  if (!loss)
    return nullptr;
  return json::Object{
      {"place", json::fixUTF8(loss->location)}, {"statement", loss->statement}, {"meaning", loss->meaning}};
}

static json::Value toJson(const HeldReport &held) {
  return json::Object{{"tensor", held.tensor}, {"module", held.module}, {"count", held.count}, {"bytes", held.bytes}};
}

static json::Value toJson(const std::optional<PeakReport> &peak) {
  if (!peak)
    return nullptr;
  return json::Object{{"operator", peak->target},
                      {"module", peak->module},
                      {"held", toJsonArray(peak->held)},
                      {"others", json::Object{{"count", peak->others.count}, {"bytes", peak->others.bytes}}}};
}

static json::Value toJson(const ExpertLoad &load) {
  return json::Object{{"rows", load.rows}, {"exchange_bytes", load.exchangeBytes}, {"peak", load.peak}};
}

static json::Value toJson(const std::optional<ExpertsReport> &experts) {
  if (!experts)
    return nullptr;
  return json::Object{{"balanced", toJson(experts->balanced)},
                      {"reserved", experts->reserved ? toJson(*experts->reserved) : json::Value(nullptr)},
                      {"worst", toJson(experts->worst)}};
}

/// Memory of an evaluation between steps; null without training.
static json::Value evaluationToJson(BytesRange peak) {
  return peak.largest == 0 ? json::Value(nullptr) : json::Value(json::Object{{"peak", toJson(peak)}});
}

static json::Value toJson(const CommunicatorReport &communicator) {
  return json::Object{{"name", communicator.name},
                      {"axes", toJsonArray(communicator.axes)},
                      {"ranks", communicator.ranks},
                      {"collectives", toJsonArray(communicator.collectives)}};
}

static json::Value toJson(const StatementReport &statement) {
  return json::Object{{"file", json::fixUTF8(statement.file)},
                      {"line", statement.line},
                      {"column", statement.column},
                      {"text", statement.text},
                      {"communicator", statement.communicator},
                      {"kind", statement.total.kind},
                      {"count", statement.total.count},
                      {"bytes", statement.total.bytes}};
}

static json::Value toJson(const ParameterReport &parameter) {
  return json::Object{
      {"names", toJsonArray(parameter.names)},
      {"dtype", parameter.dtype},
      {"layout", parameter.layout},
      {"global_bytes", parameter.globalBytes},
      {"rank_bytes", parameter.rankBytes},
      {"trainable", parameter.trainable},
      {"optimizer", parameter.optimizer.empty() ? json::Value(nullptr) : json::Value(parameter.optimizer)}};
}

/// Null if it is not known.
static json::Value toJson(const MachineReport &machine) {
  if (machine.name.empty())
    return nullptr;
  return json::Object{{"name", json::fixUTF8(machine.name)},
                      {"file", machine.file.empty() ? json::Value(nullptr) : json::Value(json::fixUTF8(machine.file))},
                      {"assumed", machine.isAssumed},
                      {"device", machine.device},
                      {"device_name", json::fixUTF8(machine.deviceName)},
                      {"nodes", machine.nodes == 0 ? json::Value(nullptr) : json::Value(machine.nodes)},
                      {"devices_per_node", machine.devicesPerNode},
                      {"ranks_per_device", machine.ranksPerDevice},
                      {"source", json::fixUTF8(machine.source)}};
}

static json::Object totalsToJson(const Report &report) {
  WeightCounts counts = countWeights(report);
  return json::Object{{"parameters", counts.parameters},
                      {"trained", counts.trained},
                      {"buffers", counts.buffers},
                      {"traffic_bytes", totalTraffic(report)}};
}

static json::Value toJson(const RepeatedOperator &each) {
  return json::Object{{"target", each.target}, {"count", each.count}};
}

static json::Value toJson(const GroupTimeReport &group) {
  return json::Object{{"purpose", group.purpose},
                      {"communicator", group.communicator},
                      {"count", group.count},
                      {"exposed_ns", group.exposed},
                      {"hidden_ns", group.hidden}};
}

static json::Value toJson(const ModelFlops &flops) {
  return json::Object{{"dtype", flops.dtype}, {"flops", flops.flops}, {"peak_flops_per_second", flops.peak}};
}

static json::Value timeToJson(const TimeReport &time) {
  return json::Object{{"compute_ns", time.compute},
                      {"communication_ns", time.communication},
                      {"copies_ns", time.copies},
                      {"step_ns", time.step},
                      {"exposed_ns", time.exposed},
                      {"exposed_copies_ns", time.exposedCopies},
                      {"waits_for_host_ns", time.waitsForHost},
                      {"splittable", time.splittable},
                      {"split", time.split},
                      {"halves", time.halves},
                      {"groups", toJsonArray(time.groups)},
                      {"model_flops", toJsonArray(time.modelFlops)},
                      {"model_flops_utilization", time.utilization}};
}

json::Value reportToJson(const Report &report) {
  return json::Object{{"program", report.program},
                      {"world_size", report.worldSize},
                      {"axes", toJsonArray(report.axes)},
                      {"machine", toJson(report.machine)},
                      {"coverage", toJsonArray(report.coverage)},
                      {"loss", toJson(report.loss)},
                      {"totals", totalsToJson(report)},
                      {"memory", json::Object{{"parameters", toJson(report.memory.parameters)},
                                              {"constants", toJson(report.memory.constants)},
                                              {"inputs", toJson(report.memory.inputs)},
                                              {"states", toJson(report.memory.states)},
                                              {"accumulators", toJson(report.memory.accumulators)},
                                              {"peak", toJson(report.memory.peak)},
                                              {"host_parameters", toJson(report.memory.hostParameters)},
                                              {"host_states", toJson(report.memory.hostStates)},
                                              {"host_peak", report.memory.hostPeak}}},
                      {"experts", toJson(report.experts)},
                      {"at_peak", toJson(report.memory.atPeak)},
                      {"evaluation", evaluationToJson(report.memory.evaluation)},
                      {"time", timeToJson(report.time)},
                      {"communicators", toJsonArray(report.communicators)},
                      {"activation_sums", toJsonArray(report.activationSums)},
                      {"statements", toJsonArray(report.statements)},
                      {"derivatives", toJsonArray(report.derivatives)},
                      {"without_cost", toJsonArray(report.withoutCost)},
                      {"parameters", toJsonArray(report.parameters)}};
}

} // namespace meshplan
