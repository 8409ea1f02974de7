//===- write_cluster.cpp - measurements as a cluster file -----------------===//
//
// Measured times are noisy, and a cluster file must not say that more work takes less time: the schedule would then
// prefer padding. So each time is raised to that of the next smaller size, along every axis of a table. What is written
// are rates, rounded to six digits; a rounded rate must not undo this, so rateOf never gives a time below the measured
// one, and each next time is raised to what the written rate before it gives.
//
// Example: an all-gather of 16 KiB takes 20 us and one of 256 KiB was measured with 19 us. The second is written as 256
// KiB / 20 us.
//
//===----------------------------------------------------------------------===//

#include "runtime/calibrate/write_cluster.h"

#include "runtime/schema/cluster_keys.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace meshplan;
/// Keeps the order in which keys are set.
using OrderedJson = nlohmann::ordered_json;
namespace keys = meshplan::cluster_keys;

using Kind = CaseTable::Kind;

namespace {

/// A measured size of a table.
struct MeasuredSize {
  double size = 0, seconds = 0, spread = 0;
  std::array<int64_t, 3> shape = {};
};

struct MeasuredTable {
  CaseTable table;
  std::vector<MeasuredSize> sizes;

  double spread() const {
    double largest = 0;
    for (const MeasuredSize &each : sizes)
      largest = std::max(largest, each.spread);
    return largest;
  }
};

} // namespace

/// Six digits are more than a measurement has.
static double rounded(double number) {
  if (number == 0)
    return 0;
  double unit = std::pow(10, std::floor(std::log10(std::abs(number))) - 5);
  return std::round(number / unit) * unit;
}

/// A rate that gives a time of at least `seconds` to its size, also after rounding.
static double rateOf(double size, double seconds) {
  double rate = rounded(size / seconds);
  return size / rate < seconds ? std::nextafter(size / seconds, 0) : rate;
}

static std::vector<MeasuredTable> tablesOf(const MeasuredCluster &cluster) {
  std::vector<MeasuredTable> tables;
  for (size_t index = 0; index < cluster.cases.size(); ++index) {
    const Case &each = cluster.cases[index];
    auto found = std::ranges::find_if(tables, [&](const MeasuredTable &table) { return table.table == each.table; });
    if (found == tables.end())
      found = tables.insert(found, {each.table, {}});
    const Measurement &measurement = cluster.measurements[index];
    auto parts = static_cast<double>(each.equalParts);
    found->sizes.push_back({each.size / parts, measurement.seconds / parts, measurement.spread, each.shape});
  }
  for (MeasuredTable &table : tables)
    if (table.table.kind != Kind::product) {
      std::ranges::stable_sort(table.sizes, {}, &MeasuredSize::size);
      for (size_t index = 1; index < table.sizes.size(); ++index)
        table.sizes[index].seconds = std::max(table.sizes[index].seconds, table.sizes[index - 1].seconds);
    }
  return tables;
}

static void writeRates(OrderedJson &json, const MeasuredTable &table, keys::Key size, keys::Key rate) {
  OrderedJson sizes = OrderedJson::array(), rates = OrderedJson::array();
  double before = 0;
  for (const MeasuredSize &each : table.sizes) {
    before = std::max(before, each.seconds);
    double perSecond = rateOf(each.size, before);
    before = each.size / perSecond;
    sizes.push_back(each.size);
    rates.push_back(perSecond);
  }
  json[std::string(size)] = std::move(sizes);
  json[std::string(rate)] = std::move(rates);
  json[std::string(keys::spread)] = rounded(table.spread());
}

/// The extents of one axis of the grid, in order.
static std::vector<int64_t> axisOf(const MeasuredTable &table, size_t axis) {
  std::vector<int64_t> extents;
  for (const MeasuredSize &each : table.sizes)
    extents.push_back(each.shape[axis]);
  std::ranges::sort(extents);
  extents.erase(std::ranges::unique(extents).begin(), extents.end());
  return extents;
}

/// The cases are a full grid, of which k changes first, then n.
static OrderedJson productJson(const MeasuredTable &table) {
  std::vector<int64_t> m = axisOf(table, 0), n = axisOf(table, 1), k = axisOf(table, 2);
  std::vector<double> seconds;
  OrderedJson rates = OrderedJson::array();
  for (const MeasuredSize &each : table.sizes) {
    size_t index = seconds.size();
    double least = each.seconds;
    if (index % k.size() != 0)
      least = std::max(least, seconds[index - 1]);
    if (index / k.size() % n.size() != 0)
      least = std::max(least, seconds[index - k.size()]);
    if (index / (k.size() * n.size()) != 0)
      least = std::max(least, seconds[index - k.size() * n.size()]);
    double rate = rateOf(each.size, least);
    seconds.push_back(each.size / rate);
    rates.push_back(rate);
  }
  return {{keys::dtype, table.table.dtype},
          {keys::m, m},
          {keys::n, n},
          {keys::k, k},
          {keys::flopsPerSecond, std::move(rates)},
          {keys::spread, rounded(table.spread())}};
}

/// The largest rate of the tables that `matches`.
template <typename Matches> static double largestRate(const std::vector<MeasuredTable> &tables, Matches matches) {
  double largest = 0;
  for (const MeasuredTable &table : tables)
    if (matches(table.table))
      for (const MeasuredSize &each : table.sizes)
        largest = std::max(largest, each.size / each.seconds);
  return largest;
}

/// The operator whose rates are those of all memory-bound operators without a table.
static constexpr std::string_view plainTraffic = "aten.add.Tensor";

static bool isPlain(const CaseTable &table) {
  return table.kind == Kind::operators && table.name == plainTraffic && table.access.empty();
}

static OrderedJson computeJson(const std::vector<MeasuredTable> &tables) {
  OrderedJson compute = OrderedJson::object(), peaks = OrderedJson::object(), products = OrderedJson::array(),
              operators = OrderedJson::array();
  double launch = 1;
  for (const MeasuredTable &table : tables) {
    if (table.table.kind == Kind::product) {
      products.push_back(productJson(table));
      peaks[table.table.dtype] =
          rounded(largestRate(tables, [&](const CaseTable &each) { return each == table.table; }));
    }
    if (table.table.kind != Kind::operators)
      continue;
    OrderedJson json = {{keys::target, table.table.name}, {keys::dtype, table.table.dtype}};
    if (!table.table.access.empty())
      json[std::string(keys::access)] = table.table.access;
    if (table.table.byFlops)
      writeRates(json, table, keys::flops, keys::flopsPerSecond);
    else
      writeRates(json, table, keys::bytes, keys::bytesPerSecond);
    if (isPlain(table.table) && table.table.dtype == "f32") {
      OrderedJson plain = OrderedJson::object();
      writeRates(plain, table, keys::bytes, keys::bytesPerSecond);
      operators.push_back(std::move(plain));
    }
    operators.push_back(std::move(json));
    if (!table.table.byFlops)
      launch = std::min(launch, table.sizes.front().seconds);
  }
  compute[std::string(keys::flopsPerSecond)] = std::move(peaks);
  compute[std::string(keys::bytesPerSecond)] = rounded(largestRate(tables, isPlain));
  compute[std::string(keys::launchSeconds)] = rounded(std::min(launch, 1e-3));
  compute[std::string(keys::products)] = std::move(products);
  compute[std::string(keys::operators)] = std::move(operators);
  return compute;
}

/// Latency from the smallest all-gather, for each doubling of its ranks, and the largest rate.
static OrderedJson linkJson(const std::vector<MeasuredTable> &tables, bool crosses) {
  double latency = 0;
  for (const MeasuredTable &table : tables)
    if (table.table.kind == Kind::collective && table.table.crosses == crosses && table.table.name == "all_gather")
      latency =
          table.sizes.front().seconds / std::max(std::ceil(std::log2(static_cast<double>(table.table.ranks))), 1.0);
  double rate = largestRate(
      tables, [&](const CaseTable &each) { return each.kind == Kind::collective && each.crosses == crosses; });
  // A single rank has no collectives; its copies move data through memory.
  if (rate == 0)
    rate = largestRate(tables, isPlain);
  return {{keys::latencySeconds, rounded(latency)}, {keys::bytesPerSecond, rounded(rate)}};
}

static OrderedJson linksJson(const MeasuredCluster &cluster, const std::vector<MeasuredTable> &tables) {
  OrderedJson links = {{keys::node, linkJson(tables, false)}};
  if (cluster.nodes > 1)
    links[std::string(keys::network)] = linkJson(tables, true);
  if (!cluster.isHost) {
    auto isCopy = [](const CaseTable &table) { return table.kind == Kind::copy; };
    double latency = 0;
    for (const MeasuredTable &table : tables)
      if (isCopy(table.table))
        latency = table.sizes.front().seconds;
    links[std::string(keys::host)] = {{keys::latencySeconds, rounded(latency)},
                                      {keys::bytesPerSecond, rounded(largestRate(tables, isCopy))}};
  }
  return links;
}

static OrderedJson collectivesJson(const MeasuredCluster &cluster, const std::vector<MeasuredTable> &tables) {
  OrderedJson collectives = OrderedJson::array();
  for (const MeasuredTable &table : tables) {
    if (table.table.kind != Kind::collective)
      continue;
    OrderedJson json = {{keys::kind, table.table.name},
                        {keys::backend, cluster.options.backend},
                        {keys::link, table.table.crosses ? keys::network : keys::node},
                        {keys::ranks, table.table.ranks}};
    writeRates(json, table, keys::bytes, keys::bytesPerSecond);
    collectives.push_back(std::move(json));
  }
  return collectives;
}

/// Lists of numbers in one line, everything else indented.
static std::string textOf(const OrderedJson &json, const std::string &indent = "") {
  bool isFlat =
      json.is_primitive() || std::ranges::all_of(json, [](const OrderedJson &each) { return each.is_primitive(); });
  if (isFlat)
    return json.dump();
  std::string text, inner = indent + "  ";
  for (const auto &[key, value] : json.items())
    text += (text.empty() ? "\n" : ",\n") + inner + (json.is_object() ? OrderedJson(key).dump() + ": " : "") +
            textOf(value, inner);
  return (json.is_object() ? "{" : "[") + text + "\n" + indent + (json.is_object() ? "}" : "]");
}

std::string meshplan::clusterText(const MeasuredCluster &cluster) {
  std::vector<MeasuredTable> tables = tablesOf(cluster);
  int64_t ranks = cluster.nodes * cluster.ranksPerNode;
  OrderedJson json;
  auto set = [&](keys::Key key, OrderedJson value) { json[std::string(key)] = std::move(value); };
  set(keys::name, "measured");
  set(keys::source, "meshplan-run calibrate, " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") + " over " +
                        cluster.options.backend);
  set(keys::device, {{keys::kind, cluster.isHost ? "cpu" : "cuda"}, {keys::name, cluster.options.deviceName}});
  set(keys::nodes, cluster.nodes);
  set(keys::devicesPerNode, cluster.isHost ? 1 : cluster.ranksPerNode);
  set(keys::ranksPerDevice, cluster.isHost ? cluster.ranksPerNode : 1);
  set(keys::compute, computeJson(tables));
  if (!cluster.isHost)
    set(keys::host,
        {{keys::bytesPerSecond,
          rounded(largestRate(tables, [](const CaseTable &table) { return table.kind == Kind::hostMemory; }))}});
  set(keys::links, linksJson(cluster, tables));
  set(keys::collectives, collectivesJson(cluster, tables));
  set(keys::overlap, {{keys::computeSlowdown, rounded(cluster.slowdowns.compute)},
                      {keys::communicationSlowdown, rounded(cluster.slowdowns.communication)},
                      {keys::concurrentSlowdown, rounded(cluster.slowdowns.concurrent)}});
  return textOf(json) + "\n";
}
