//===- write_seeds.cpp - small files of each format -----------------------===//
//
// fuzz-seeds FOLDER: writes the seeds of the fuzz targets whose format is not text. Each build writes them again, so
// they have the current format. Folders: archive, artifact, megatron, tensors.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/safetensors_writer.h"
#include "test/unit/archive/test_model.h"
#include "test/unit/artifact/build_schedule.h"
#include "test/unit/dataset/megatron_bytes.h"
#include "test/unit/exec/schedule_builder.h"

#include <cstdio>
#include <cstring>
#include <filesystem>

using namespace meshplan;
using namespace meshplan::archive::testing;

namespace {

/// Tied and repeated values, a buffer, a constant and named outputs.
TestModel stateModel() {
  TestModel model = linearModel();
  model.buffer("scale", {2}, std::string(8, '\1'));
  model.buffer("running.mean", {3});
  model.constant("lifted", {2, 2}, std::string(32, '\2'), archive::ScalarType::Int64);
  model.graph.node("torch.ops.aten.mul.Tensor", {tensor("self", "b_scale"), tensor("other", "b_running_mean")}, "mul",
                   {2, 3});
  model.output("mul");
  model.outSpec(
      {{"type", "builtins.dict"},
       {"context", "[\"loss\", \"y\"]"},
       {"children_spec", Json::array({Json{{"type", nullptr}, {"context", nullptr}, {"children_spec", {}}},
                                      Json{{"type", nullptr}, {"context", nullptr}, {"children_spec", {}}}})}});
  return model;
}

/// Symbolic dims and all kinds of arguments.
TestModel symbolicModel() {
  TestModel model;
  model.input("x", {symbol("s0"), 4});
  model.ranges["s0"] = {{"min_val", 2}, {"max_val", 64}};
  std::string twice = "Mul(Integer(2), " + symbol("s0") + ")";
  model.graph.json["sym_int_values"] = {
      {"n", {{"as_expr", {{"expr_str", twice}, {"hint", {{"as_int", 8}}}}}}},
      {"m", {{"as_expr", {{"expr_str", "FloorDiv(Add(" + twice + ", Integer(-1)), Max(Integer(2), Integer(1)))"}}}}}};
  model.graph.node("torch.ops.aten.view.default",
                   {tensor("self", "x"), argument("size", {{"as_sym_ints", {{{"as_name", "n"}}, {{"as_int", 2}}}}})},
                   "view", {twice, 2});
  model.graph.node("torch.ops.aten.cat.default",
                   {argument("tensors", {{"as_tensors", {{{"name", "view"}}, {{"name", "view"}}}}}),
                    argument("dim", {{"as_int", -1}}), argument("f", {{"as_float", 0.5}}),
                    argument("b", {{"as_bool", true}}), argument("s", {{"as_string", "mean"}}),
                    argument("t", {{"as_scalar_type", 13}}), argument("format", {{"as_memory_format", 2}}),
                    argument("ints", {{"as_ints", {1, 2}}}), argument("none", {{"as_none", true}}),
                    argument("n", {{"as_sym_int", {{"as_name", "m"}}}})},
                   "cat", {twice, 4});
  model.output("cat");
  return model;
}

/// An archive whose weights have data.
Members weightsArchive() {
  TestModel model = linearModel();
  for (auto &[name, bytes] : model.payloads)
    bytes = std::string(48, '\3');
  return model.members();
}

void moveTo(const std::string &from, const std::filesystem::path &to) {
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove(from);
}

void writeArchives(const std::filesystem::path &folder) {
  moveTo(writeZip(linearModel().members()), folder / "linear.pt2");
  moveTo(writeZip(linearModel().members(), /*deflated=*/true), folder / "linear_deflated.pt2");
  moveTo(writeZip(stateModel().members()), folder / "state.pt2");
  moveTo(writeZip(symbolicModel().members()), folder / "symbolic.pt2");
  moveTo(writeZip(regionModel().members()), folder / "region.pt2");
}

Status writeTensors(const std::filesystem::path &folder) {
  moveTo(writeZip(weightsArchive()), folder / "stored.pt2");
  moveTo(writeZip(weightsArchive(), /*deflated=*/true), folder / "deflated.pt2");
  std::vector<TensorSpec> specs = {{"b", DType::bf16, {3}}, {"empty", DType::i64, {0, 4}}, {"w", DType::f32, {2, 3}}};
  MESHPLAN_ASSIGN_OR_RETURN(SafetensorsWriter writer, SafetensorsWriter::create(folder / "three.safetensors", specs));
  for (const TensorSpec &spec : specs) {
    std::vector<std::byte> bytes(elementCount(spec.shape) * dtypeSize(spec.dtype), std::byte(0x3f));
    MESHPLAN_RETURN_IF_ERROR(writer.write(spec.name, wholeTensor(spec.shape), bytes));
  }
  return writer.commit();
}

/// All kinds of collectives, on dims with blocks and with parts.
void writeMoves(const std::filesystem::path &path) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int x = builder.input("x", {{6, {"dp"}}, {12, {"tp"}, 2}}), columns = builder.value({{6}, {12, {"tp", "dp"}, 2}});
  builder.collective(Kind::all_to_all, {"dp"}, x, columns, 1, 0);
  int turned = builder.value({{6}, {12, {"dp", "tp"}, 2}});
  builder.collective(Kind::permute, {"dp", "tp"}, columns, turned);
  int part = builder.value({{6, {"dp"}}, {12, {}, 1, {8, 4}}}, DType::f32, {"tp"}, artifact::Reduction::max);
  builder.compute("aten.linear.default", {tensorArg("input", turned), integersArg("size", {extentOf(turned, 1)})},
                  {part});
  int scattered = builder.value({{6, {"dp"}}, {12, {"tp"}, 1, {8, 4}}}, DType::f32);
  builder.collective(Kind::reduce_scatter, {"tp"}, part, scattered, 1);
  builder.free({part, turned});
  builder.output("y", scattered);
  builder.write(path);
}

/// Flat tensors in coalesced collectives, adjacent in one storage.
void writeBuckets(const std::filesystem::path &path) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  std::vector<TestDim> columns = {{6}, {12, {"tp"}, 2}}, rows = {{7}};
  std::vector<int> stored = {builder.flat(builder.parameter({"w"}, columns), {"dp"}),
                             builder.flat(builder.parameter({"b"}, rows), {"dp"})};
  std::vector<int> whole = {builder.value(columns), builder.value(rows)};
  builder.bucket(Kind::all_gather, {"dp"}, stored, whole);
  std::vector<int> addends, sums, places;
  for (const std::vector<TestDim> &dims : {columns, rows}) {
    places.push_back(builder.flat(builder.value(dims), {"dp"}));
    builder.accumulator("sum" + std::to_string(places.size()), places.back());
    addends.push_back(builder.value(dims, DType::f64, {"dp"}));
    sums.push_back(builder.flat(builder.value(dims), {"dp"}));
    builder.compute("aten.relu.default", {tensorArg("self", whole[sums.size() - 1])}, {addends.back()});
  }
  builder.bucket(Kind::reduce_scatter, {"dp"}, addends, sums, places);
  builder.buffer("parameters", stored);
  builder.buffer("gradients", places);
  builder.output("w", sums[0]);
  builder.output("b", sums[1]);
  builder.write(path);
}

/// Rows that go to the ranks of their experts and come back, below an axis that divides the experts as well.
void writeExchanges(const std::filesystem::path &path) {
  ScheduleBuilder builder({{"tp", 3}, {"dp", 2}});
  std::vector<TestDim> home = {{7, {"tp"}}, {4, {"dp"}}, {5}}, away = {{7, {"tp", "dp"}}, {4}, {5}};
  int tokens = builder.input("x", {{4, {"dp"}}, {5}}),
      numbers = builder.input("numbers", {{2}, {7, {"tp"}}}, DType::i64);
  int rows = builder.routed(builder.value(home), artifact::RoutedKind::rows, 2, 2);
  int own = builder.routed(builder.value({{7, {"tp"}}, {4, {"dp"}}}, DType::i64), artifact::RoutedKind::counts, 2, 2);
  builder.compute("meshplan.dispatch", {tensorArg("self", tokens), integerArg("slots", extentOf(rows, 0))},
                  {rows, own});
  int arrivals = builder.routed(builder.value(away), artifact::RoutedKind::arrivals, 2, 2);
  builder.exchange({"dp"}, rows, arrivals, numbers);
  int back = builder.routed(builder.value(home), artifact::RoutedKind::rows, 2, 2);
  builder.exchange({"dp"}, arrivals, back, numbers);
  int sums = builder.value({{4, {"dp"}}, {5}}, DType::f64, {"tp"});
  builder.compute("meshplan.combine", {tensorArg("rows", back)}, {sums});
  builder.free({rows, own, arrivals, back});
  builder.output("y", sums);
  builder.write(path);
}

Status writeArtifacts(const std::filesystem::path &folder) {
  writeMoves(folder / "moves.sched");
  writeBuckets(folder / "buckets.sched");
  writeExchanges(folder / "exchanges.sched");
  for (const char *name : {"moves.sched", "buckets.sched", "exchanges.sched"})
    MESHPLAN_RETURN_IF_ERROR(loadSchedule(folder / name).status());
  size_t size = 0;
  std::vector<uint64_t> words = pack(buildSchedule(), size);
  return writeFileAtomically(folder / "forward.sched", std::as_bytes(std::span(words)).first(size));
}

/// Sequences of two token types, one of them empty, and an empty index.
void writeIndices(const std::filesystem::path &folder) {
  writeText(folder / "u16.idx", MegatronBytes::of({3, 0, 5}, 8, 2).text());
  writeText(folder / "i32.idx", MegatronBytes::of({7}, 4, 4).text());
  writeText(folder / "empty.idx", MegatronBytes().text());
}

} // namespace

int main(int count, char **arguments) {
  if (count != 2) {
    std::fputs("usage: fuzz-seeds FOLDER\n", stderr);
    return 2;
  }
  std::filesystem::path folder = arguments[1];
  for (const char *name : {"archive", "artifact", "megatron", "tensors"})
    std::filesystem::create_directories(folder / name);
  writeArchives(folder / "archive");
  writeIndices(folder / "megatron");
  for (const Status &status : {writeTensors(folder / "tensors"), writeArtifacts(folder / "artifact")})
    if (!status.ok()) {
      std::fprintf(stderr, "fuzz-seeds: error: %s\n", status.message().c_str());
      return 1;
    }
  return 0;
}
