//===- cluster.cpp - any text as a cluster file ---------------------------===//
//
// Beyond the sanitizers' checks: a file is read exactly if it has no error, every location is in the text, and times of
// a file that is read are finite and do not decrease with the size.
//
//===----------------------------------------------------------------------===//

#include "compiler/cluster/estimate.h"
#include "compiler/cluster/read_cluster.h"
#include "test/fuzz/require.h"

#include <cmath>

using namespace meshplan;

static void checkTimes(const Cluster &cluster) {
  double computed = 0, sent = 0;
  for (double size : {1., 1e3, 1e6, 1e9}) {
    double product = operatorSeconds(
        cluster, {"aten.mm.default", "f32", 2 * size * size * size, size * size, ProductShape{size, size, size}});
    double gather = collectiveSeconds(cluster, {"all_gather", size, {8, 4}});
    require(std::isfinite(product) && std::isfinite(gather), "times are finite");
    require(product >= computed * (1 - 1e-9) && gather >= sent * (1 - 1e-9), "a larger size takes at least as long");
    computed = product;
    sent = gather;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Sources sources;
  Diagnostics diagnostics(sources);
  const SourceBuffer &file = sources.add("c.json", std::string(reinterpret_cast<const char *>(data), size));
  std::optional<Cluster> cluster = parseCluster(file, diagnostics);
  require(cluster.has_value() != diagnostics.hasErrors(), "a cluster is read, or refused with a reason");
  // Messages mark locations in the text.
  (void)diagnostics.text();
  if (cluster)
    checkTimes(*cluster);
  return 0;
}
