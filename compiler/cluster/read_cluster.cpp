//===- read_cluster.cpp - cluster files -----------------------------------===//
//
// One function for each object of the format. Each reads its members with `Members`, which reports what is missing, of
// another kind, out of range, or not known.
//
//===----------------------------------------------------------------------===//

#include "compiler/cluster/read_cluster.h"

#include "compiler/cluster/json_tree.h"
#include "compiler/support/nearest.h"
#include "compiler/support/number_text.h"
#include "runtime/schema/cluster_keys.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <tuple>

using namespace meshplan;
using cluster_keys::Key;
using llvm::ArrayRef;
using llvm::StringRef;
namespace keys = meshplan::cluster_keys;

namespace {

/// The range of a number. A value outside it is a mistake of unit or sign rather than a machine.
struct Limits {
  double least, most;
  const char *unit;
};

constexpr Limits rates{1e3, 1e18, " per second"}, latencies{0, 1, " seconds"}, counts{1, 1e7, ""}, sizes{1, 1e18, ""},
    slowdowns{1, keys::mostSlowdown, ""}, spreads{0, 1e6, ""};

} // namespace

namespace {

class ClusterReader {
public:
  explicit ClusterReader(Diagnostics &diagnostics) : diagnostics(diagnostics) {}

  Cluster read(const JsonNode &root);

private:
  /// Access to the members of one object.
  class Members {
  public:
    Members(ClusterReader &reader, const JsonNode &node, std::string what);

    bool has(Key key) { return optional(key) != nullptr; }
    /// The member, or null; without a report if it is missing.
    const JsonNode *optional(Key key);
    /// The member; an error if it is missing.
    const JsonNode *required(Key key);

    std::string text(Key key, const JsonNode *node);
    std::string oneOf(Key key, const JsonNode *node, ArrayRef<Key> names);
    double number(Key key, const JsonNode *node, Limits limits, double otherwise);
    int64_t count(Key key, const JsonNode *node, int64_t otherwise);
    std::vector<double> numbers(Key key, const JsonNode *node, Limits limits);

    /// Reports the keys that no call has asked for.
    void finish();

    SourceRange range() const { return node.range; }

  private:
    ClusterReader &reader;
    const JsonNode &node;
    std::string what; ///< "a link"
    std::vector<std::string> known;
  };

  Diagnostic &error(SourceRange range, std::string message) { return diagnostics.error(range, std::move(message)); }

  void readDevice(const JsonNode &node, Cluster &cluster);
  void readCompute(const JsonNode &node, ComputeRates &rates);
  void readProducts(const JsonNode &node, ComputeRates &rates);
  void readOperator(const JsonNode &node, ComputeRates &rates);
  LinkRates readLink(const JsonNode &node, StringRef what);
  void readLinks(const JsonNode &node, Cluster &cluster);
  CollectiveTable readCollective(const JsonNode &node, StringRef deviceKind);
  void addCollective(const JsonNode &node, Cluster &cluster);
  OverlapRates readOverlap(const JsonNode &node);
  /// Times from sizes and rates of a table.
  RateTable readTimes(Members &members, Key size, Key rate);
  ProductTable readShapes(Members &members);
  /// False, with an error, if a product takes less time than a smaller one.
  bool checkShapes(const ProductTable &table, const JsonNode &rateList);
  void checkIncreasing(ArrayRef<double> values, const JsonNode &list, Key key);

  template <typename Read> void forEach(const JsonNode *list, Key key, Read read);

  Diagnostics &diagnostics;
};

} // namespace

ClusterReader::Members::Members(ClusterReader &reader, const JsonNode &node, std::string what)
    : reader(reader), node(node), what(std::move(what)) {
  if (node.kind != JsonNode::Kind::object)
    reader.error(node.range, this->what + " is " + kindText(node.kind).str() + ", must be an object");
  for (const auto &[index, member] : llvm::enumerate(node.members))
    for (const JsonMember &earlier : ArrayRef(node.members).take_front(index))
      if (earlier.key == member.key) {
        reader.error(member.range, "'" + member.key + "' is given twice").note(earlier.range, "here first");
        break;
      }
}

const JsonNode *ClusterReader::Members::optional(Key key) {
  known.emplace_back(key);
  return node.find(key);
}

const JsonNode *ClusterReader::Members::required(Key key) {
  const JsonNode *found = optional(key);
  if (!found && node.kind == JsonNode::Kind::object)
    reader.error(node.range, what + " has no '" + std::string(key) + "'").help("docs/clusters.md describes every key");
  return found;
}

void ClusterReader::Members::finish() {
  for (const JsonMember &member : node.members)
    if (!llvm::is_contained(known, member.key))
      reader.error(member.range, what + " has no key '" + member.key + "'")
          .help(suggest(member.key, known, "its keys"));
}

static std::string kindError(Key key, const JsonNode &node, StringRef expected) {
  return "'" + std::string(key) + "' is " + kindText(node.kind).str() + ", must be " + expected.str();
}

std::string ClusterReader::Members::text(Key key, const JsonNode *node) {
  if (node && node->kind != JsonNode::Kind::string)
    reader.error(node->range, kindError(key, *node, "a text"));
  return node ? node->text : "";
}

std::string ClusterReader::Members::oneOf(Key key, const JsonNode *node, ArrayRef<Key> names) {
  std::string value = text(key, node);
  std::vector<std::string> allowed(names.begin(), names.end());
  if (node && node->kind == JsonNode::Kind::string && !llvm::is_contained(allowed, value))
    reader.error(node->range, "'" + std::string(key) + "' is '" + value + "', must be " + quotedList(allowed))
        .help(nearestNames(value, allowed).empty() ? ""
                                                   : "did you mean " + quotedList(nearestNames(value, allowed)) + "?");
  return value;
}

double ClusterReader::Members::number(Key key, const JsonNode *node, Limits limits, double otherwise) {
  if (!node)
    return otherwise;
  if (node->kind != JsonNode::Kind::number) {
    reader.error(node->range, kindError(key, *node, "a number"));
    return otherwise;
  }
  if (node->number < limits.least || node->number > limits.most) {
    reader
        .error(node->range, "'" + std::string(key) + "' is " + numberText(node->number) + ", must be at least " +
                                numberText(limits.least) + " and at most " + numberText(limits.most) + limits.unit)
        .help("units are seconds, bytes, flops, and these per second, without prefix");
    return otherwise;
  }
  return node->number;
}

int64_t ClusterReader::Members::count(Key key, const JsonNode *node, int64_t otherwise) {
  size_t before = reader.diagnostics.errorCount();
  double value = number(key, node, counts, static_cast<double>(otherwise));
  if (node && reader.diagnostics.errorCount() == before && value != std::floor(value))
    reader.error(node->range, "'" + std::string(key) + "' is " + numberText(value) + ", must be a whole number");
  return static_cast<int64_t>(value);
}

std::vector<double> ClusterReader::Members::numbers(Key key, const JsonNode *node, Limits limits) {
  std::vector<double> values;
  if (!node)
    return values;
  if (node->kind != JsonNode::Kind::array || node->elements.empty()) {
    reader.error(node->range, node->kind == JsonNode::Kind::array ? "'" + std::string(key) + "' is an empty list"
                                                                  : kindError(key, *node, "a list of numbers"));
    return values;
  }
  for (const JsonNode &element : node->elements)
    values.push_back(number(key, &element, limits, limits.least));
  return values;
}

template <typename Read> void ClusterReader::forEach(const JsonNode *list, Key key, Read read) {
  if (list && list->kind != JsonNode::Kind::array)
    error(list->range, kindError(key, *list, "a list of objects"));
  if (list)
    for (const JsonNode &element : list->elements)
      read(element);
}

void ClusterReader::checkIncreasing(ArrayRef<double> values, const JsonNode &list, Key key) {
  for (size_t index = 1; index < values.size(); ++index)
    if (values[index] <= values[index - 1]) {
      error(list.elements[index].range, "'" + std::string(key) + "' has " + numberText(values[index]) + " after " +
                                            numberText(values[index - 1]) + ", must increase");
      return;
    }
}

RateTable ClusterReader::readTimes(Members &members, Key size, Key rate) {
  size_t before = diagnostics.errorCount();
  const JsonNode *sizeList = members.required(size), *rateList = members.required(rate);
  std::vector<double> values = members.numbers(size, sizeList, sizes), all = members.numbers(rate, rateList, rates);
  if (diagnostics.errorCount() != before || !sizeList || !rateList)
    return {};
  if (values.size() != all.size()) {
    error(rateList->range, "'" + std::string(rate) + "' has " + std::to_string(all.size()) + " numbers, must have " +
                               std::to_string(values.size()) + " as '" + std::string(size) + "'");
    return {};
  }
  checkIncreasing(values, *sizeList, size);
  RateTable table{values, {}};
  for (auto [each, perSecond] : llvm::zip(values, all))
    table.seconds.push_back(each / perSecond);
  for (size_t index = 1; index < all.size(); ++index)
    if (table.seconds[index] < table.seconds[index - 1]) {
      error(rateList->elements[index].range,
            llvm::formatv("with this rate {0} {1} take {2} s, less than the {3} s of {4}", numberText(values[index]),
                          StringRef(size), numberText(table.seconds[index]), numberText(table.seconds[index - 1]),
                          numberText(values[index - 1]))
                .str())
          .help("a larger size takes at least as long");
      break;
    }
  return table;
}

ProductTable ClusterReader::readShapes(Members &members) {
  size_t before = diagnostics.errorCount();
  ProductTable table;
  for (auto [key, axis] : {std::pair(keys::m, &table.m), std::pair(keys::n, &table.n), std::pair(keys::k, &table.k)}) {
    const JsonNode *list = members.required(key);
    *axis = members.numbers(key, list, sizes);
    if (list && diagnostics.errorCount() == before)
      checkIncreasing(*axis, *list, key);
  }
  const JsonNode *rateList = members.required(keys::flopsPerSecond);
  std::vector<double> all = members.numbers(keys::flopsPerSecond, rateList, rates);
  if (diagnostics.errorCount() != before)
    return {};
  size_t shapes = table.m.size() * table.n.size() * table.k.size();
  if (all.size() != shapes) {
    error(rateList->range, "'flops_per_second' has " + std::to_string(all.size()) + " numbers, must have " +
                               std::to_string(shapes) + ": one for each m, n and k, of which k changes first, then n");
    return {};
  }
  for (double m : table.m)
    for (double n : table.n)
      for (double k : table.k)
        table.seconds.push_back(2 * m * n * k / all[table.seconds.size()]);
  return checkShapes(table, *rateList) ? table : ProductTable();
}

bool ClusterReader::checkShapes(const ProductTable &table, const JsonNode &rateList) {
  struct Axis {
    size_t extent, stride;
  };
  const Axis axes[] = {
      {table.k.size(), 1}, {table.n.size(), table.k.size()}, {table.m.size(), table.n.size() * table.k.size()}};
  for (size_t index = 0; index < table.seconds.size(); ++index)
    for (auto [extent, stride] : axes) {
      double seconds = table.seconds[index], smaller = table.seconds[index - std::min(index, stride)];
      if (index / stride % extent == 0 || seconds >= smaller)
        continue;
      auto at = [&](const std::vector<double> &values, const Axis &axis) {
        return numberText(values[index / axis.stride % axis.extent]);
      };
      error(rateList.elements[index].range, "with this rate the product " + at(table.m, axes[2]) + " x " +
                                                at(table.n, axes[1]) + " x " + at(table.k, axes[0]) + " takes " +
                                                numberText(seconds) + " s, less than the " + numberText(smaller) +
                                                " s of a smaller one")
          .help("a larger product takes at least as long");
      return false;
    }
  return true;
}

void ClusterReader::readDevice(const JsonNode &node, Cluster &cluster) {
  Members members(*this, node, "'device'");
  const JsonNode *kind = members.required(keys::kind);
  cluster.deviceKind = members.oneOf(keys::kind, kind, keys::deviceKinds);
  cluster.kindRange = kind ? kind->range : node.range;
  cluster.deviceName = members.text(keys::name, members.required(keys::name));
  members.finish();
}

void ClusterReader::readProducts(const JsonNode &node, ComputeRates &rates) {
  Members members(*this, node, "a table of 'products'");
  std::string dtype = members.oneOf(keys::dtype, members.required(keys::dtype), keys::dtypes);
  members.number(keys::spread, members.optional(keys::spread), spreads, 0);
  bool isTwice = false;
  if (members.has(keys::flops)) {
    isTwice = !rates.products.try_emplace(dtype, readTimes(members, keys::flops, keys::flopsPerSecond)).second;
  } else {
    isTwice = !rates.shapedProducts.try_emplace(dtype, readShapes(members)).second;
  }
  if (isTwice)
    error(members.range(), "a second table of products of " + dtype);
  members.finish();
}

void ClusterReader::readOperator(const JsonNode &node, ComputeRates &rates) {
  Members members(*this, node, "a table of 'operators'");
  members.number(keys::spread, members.optional(keys::spread), spreads, 0);
  const JsonNode *target = members.optional(keys::target), *dtype = members.optional(keys::dtype);
  OperatorTable table;
  table.byFlops = members.has(keys::flops);
  table.times = table.byFlops ? readTimes(members, keys::flops, keys::flopsPerSecond)
                              : readTimes(members, keys::bytes, keys::bytesPerSecond);
  std::string name = members.text(keys::target, target);
  std::string type = members.oneOf(keys::dtype, dtype, keys::dtypes);
  const JsonNode *access = members.optional(keys::access);
  std::string kind = members.oneOf(keys::access, access, keys::accesses);
  if (access && table.byFlops)
    error(access->range, "a table of 'operators' by 'flops' has an 'access', which only tables by 'bytes' have");
  if (!target) {
    if (dtype || access || table.byFlops)
      error(members.range(),
            "a table of 'operators' without a 'target' applies to all memory-bound operators: it is by "
            "'bytes' and has no 'dtype' and no 'access'");
    else if (!rates.traffic.empty())
      error(members.range(), "a second table of 'operators' without a 'target'");
    rates.traffic = table.times;
  } else if (!dtype) {
    members.required(keys::dtype);
  } else if (access) {
    if (!rates.accesses[kind].try_emplace(type, AccessTable{name, std::move(table.times)}).second)
      error(members.range(), "a second table of the access '" + kind + "' with " + type);
  } else if (!rates.operators[name].try_emplace(type, std::move(table)).second) {
    error(members.range(), "a second table of '" + name + "' with " + type);
  }
  members.finish();
}

void ClusterReader::readCompute(const JsonNode &node, ComputeRates &rates) {
  Members members(*this, node, "'compute'");
  if (const JsonNode *peaks = members.required(keys::flopsPerSecond)) {
    Members types(*this, *peaks, "'flops_per_second'");
    for (Key dtype : keys::dtypes)
      if (const JsonNode *peak = types.optional(dtype))
        rates.flops[std::string(dtype)] = types.number(dtype, peak, ::rates, 1e3);
    types.finish();
    if (peaks->members.empty() && peaks->kind == JsonNode::Kind::object)
      error(peaks->range, "'flops_per_second' has no dtype").help("give at least the peak of f32");
    else if (peaks->kind == JsonNode::Kind::object && !peaks->find(keys::dtypes[1]))
      error(peaks->range, "'flops_per_second' has no 'f32'").help("dtypes without a rate take that of f32");
  }
  rates.bytes = members.number(keys::bytesPerSecond, members.required(keys::bytesPerSecond), ::rates, 1e3);
  rates.launchSeconds = members.number(keys::launchSeconds, members.optional(keys::launchSeconds), latencies, 0);
  forEach(members.optional(keys::products), keys::products, [&](const JsonNode &table) { readProducts(table, rates); });
  forEach(members.optional(keys::operators), keys::operators,
          [&](const JsonNode &table) { readOperator(table, rates); });
  members.finish();
}

LinkRates ClusterReader::readLink(const JsonNode &node, StringRef what) {
  Members members(*this, node, "the link '" + what.str() + "'");
  LinkRates link;
  link.latencySeconds = members.number(keys::latencySeconds, members.optional(keys::latencySeconds), latencies, 0);
  link.bytes = members.number(keys::bytesPerSecond, members.required(keys::bytesPerSecond), rates, 1e3);
  link.nodeBytes = members.number(keys::nodeBytesPerSecond, members.optional(keys::nodeBytesPerSecond), rates, 0);
  members.finish();
  return link;
}

void ClusterReader::readLinks(const JsonNode &node, Cluster &cluster) {
  Members members(*this, node, "'links'");
  if (const JsonNode *link = members.required(keys::node))
    cluster.node = readLink(*link, keys::node);
  if (const JsonNode *link = members.optional(keys::network))
    cluster.network = readLink(*link, keys::network);
  else if (cluster.nodes != 1 && node.kind == JsonNode::Kind::object)
    error(node.range, "'links' has no 'network', and the cluster has several nodes")
        .help("add 'network', or \"nodes\": 1 for a single node");
  const JsonNode *host = members.optional(keys::host);
  if (host && cluster.deviceKind == "cpu")
    error(host->range, "'links' has 'host', and the devices are cpu, whose memory is that of the host")
        .help("leave it out; copies take the rate of \"host\": {\"bytes_per_second\": ...}");
  else if (host)
    cluster.host = readLink(*host, keys::host);
  else if (cluster.deviceKind == "cuda" && node.kind == JsonNode::Kind::object)
    error(node.range, "'links' has no 'host', between a GPU and the memory of its host");
  members.finish();
}

/// The backend must be one of the devices, else nothing would use the table.
CollectiveTable ClusterReader::readCollective(const JsonNode &node, StringRef deviceKind) {
  Members members(*this, node, "a table of 'collectives'");
  CollectiveTable table;
  table.kind = members.oneOf(keys::kind, members.required(keys::kind), keys::collectiveKinds);
  const JsonNode *backend = members.required(keys::backend), *ranks = members.required(keys::ranks);
  table.backend = members.oneOf(keys::backend, backend, keys::backends);
  bool isNccl = table.backend == "nccl", isCuda = deviceKind == "cuda";
  if (llvm::is_contained(keys::backends, table.backend) && (isCuda || deviceKind == "cpu") && isNccl != isCuda)
    error(backend->range, "'backend' is '" + table.backend + "', and the devices are " + deviceKind.str() +
                              ": it must be " + (isCuda ? "'nccl'" : "'threads' or 'mpi'"));
  const Key levels[] = {keys::node, keys::network};
  table.crosses = members.oneOf(keys::link, members.required(keys::link), levels) == keys::network;
  table.ranks = members.count(keys::ranks, ranks, 2);
  if (table.ranks < 2)
    error(ranks->range, "'ranks' is 1, must be at least 2: a single rank sends nothing");
  members.number(keys::spread, members.optional(keys::spread), spreads, 0);
  table.times = readTimes(members, keys::bytes, keys::bytesPerSecond);
  members.finish();
  return table;
}

void ClusterReader::addCollective(const JsonNode &node, Cluster &cluster) {
  CollectiveTable table = readCollective(node, cluster.deviceKind);
  auto isSame = [&](const CollectiveTable &other) {
    return std::tie(table.kind, table.backend, table.crosses, table.ranks) ==
           std::tie(other.kind, other.backend, other.crosses, other.ranks);
  };
  if (llvm::any_of(cluster.collectives, isSame))
    error(node.range, "a second table of '" + table.kind + "' among " + std::to_string(table.ranks) + " ranks with " +
                          table.backend);
  cluster.collectives.push_back(std::move(table));
}

OverlapRates ClusterReader::readOverlap(const JsonNode &node) {
  Members members(*this, node, "'overlap'");
  OverlapRates overlap;
  for (auto [key, factor] : {std::pair(keys::computeSlowdown, &overlap.compute),
                             {keys::communicationSlowdown, &overlap.communication},
                             {keys::concurrentSlowdown, &overlap.concurrent}})
    *factor = members.number(key, members.optional(key), slowdowns, *factor);
  members.finish();
  return overlap;
}

Cluster ClusterReader::read(const JsonNode &root) {
  Cluster cluster;
  Members members(*this, root, "a cluster");
  cluster.name = members.text(keys::name, members.required(keys::name));
  cluster.source = members.text(keys::source, members.optional(keys::source));
  if (const JsonNode *device = members.required(keys::device))
    readDevice(*device, cluster);
  const JsonNode *nodes = members.optional(keys::nodes);
  cluster.nodes = members.count(keys::nodes, nodes, 0);
  cluster.nodesRange = nodes ? nodes->range : root.range;
  cluster.devicesPerNode = members.count(keys::devicesPerNode, members.optional(keys::devicesPerNode), 1);
  cluster.ranksPerDevice = members.count(keys::ranksPerDevice, members.optional(keys::ranksPerDevice), 1);
  if (const JsonNode *compute = members.required(keys::compute))
    readCompute(*compute, cluster.compute);
  cluster.hostBytes = cluster.compute.bytes;
  if (const JsonNode *host = members.optional(keys::host)) {
    Members own(*this, *host, "'host'");
    cluster.hostBytes = own.number(keys::bytesPerSecond, own.required(keys::bytesPerSecond), rates, 1e3);
    own.finish();
  } else if (cluster.deviceKind == "cuda") {
    members.required(keys::host);
  }
  if (const JsonNode *links = members.required(keys::links))
    readLinks(*links, cluster);
  forEach(members.optional(keys::collectives), keys::collectives,
          [&](const JsonNode &table) { addCollective(table, cluster); });
  if (const JsonNode *overlap = members.optional(keys::overlap))
    cluster.overlap = readOverlap(*overlap);
  members.finish();
  return cluster;
}

std::optional<Cluster> meshplan::parseCluster(const SourceBuffer &file, Diagnostics &diagnostics) {
  size_t before = diagnostics.errorCount();
  std::optional<JsonNode> root = parseJson(file, diagnostics);
  if (!root)
    return std::nullopt;
  Cluster cluster = ClusterReader(diagnostics).read(*root);
  if (diagnostics.errorCount() != before)
    return std::nullopt;
  cluster.text = file.text().str();
  return cluster;
}
