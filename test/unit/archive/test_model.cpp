//===- test_model.cpp - hand-made archives ----------------------*- C++ -*-===//

#include "test/unit/archive/test_model.h"

#include <gtest/gtest.h>
#include <zip.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace meshplan::archive::testing {

namespace {

Json symInt(const Json &extent) {
  return extent.is_string() ? Json{{"as_expr", {{"expr_str", extent}}}} : Json{{"as_int", extent}};
}

std::string placeholder(const char *kind, std::string fqn) {
  std::replace(fqn.begin(), fqn.end(), '.', '_');
  return kind + fqn;
}

std::string newPath() {
  static int count = 0;
  return ::testing::TempDir() + "meshplan-archive-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".pt2";
}

Json payload(const std::string &member, const Dims &dims, ScalarType type) {
  return {{"path_name", member}, {"is_param", false}, {"use_pickle", false}, {"tensor_meta", tensorMeta(dims, type)}};
}

} // namespace

Json tensorMeta(const Dims &dims, ScalarType type) {
  Json sizes = Json::array(), strides = Json::array();
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    sizes.insert(sizes.begin(), symInt(dims[i]));
    strides.insert(strides.begin(), symInt(stride));
    // Dims of damaged archives may have any product.
    stride = static_cast<int64_t>(uint64_t(stride) * (dims[i].is_number() ? dims[i].get<uint64_t>() : 1));
  }
  return {{"dtype", int(type)},
          {"sizes", sizes},
          {"strides", strides},
          {"storage_offset", {{"as_int", 0}}},
          {"requires_grad", true},
          {"device", {{"type", "cpu"}, {"index", nullptr}}},
          {"layout", 7}};
}

Json argument(const std::string &name, const Json &value) { return {{"name", name}, {"arg", value}, {"kind", 1}}; }

Json tensor(const std::string &name, const std::string &valueName) {
  return argument(name, {{"as_tensor", {{"name", valueName}}}});
}

std::string symbol(const std::string &name) { return "Symbol('" + name + "', positive=True, integer=True)"; }

void TestGraph::input(const std::string &name, const Dims &dims, ScalarType type) {
  json["inputs"].push_back({{"as_tensor", {{"name", name}}}});
  json["tensor_values"][name] = tensorMeta(dims, type);
}

Json &TestGraph::node(const std::string &target, const std::vector<Json> &arguments, const std::string &result,
                      const Dims &dims, ScalarType type) {
  json["tensor_values"][result] = tensorMeta(dims, type);
  json["nodes"].push_back({{"target", target},
                           {"inputs", arguments},
                           {"outputs", {{{"as_tensor", {{"name", result}}}}}},
                           {"metadata", Json::object()}});
  return json["nodes"].back();
}

void TestGraph::output(const std::string &name) { json["outputs"].push_back({{"as_tensor", {{"name", name}}}}); }

void TestModel::parameter(const std::string &fqn, const Dims &dims) {
  std::string name = placeholder("p_", fqn);
  graph.input(name, dims);
  inputSpecs.push_back({{"parameter", {{"arg", {{"name", name}}}, {"parameter_name", fqn}}}});
  std::string member = "weight_" + std::to_string(weights.size());
  weights[fqn] = payload(member, dims, ScalarType::Float32);
  payloads["data/weights/" + member] = "not loaded";
}

void TestModel::buffer(const std::string &fqn, const Dims &dims, const std::string &bytes) {
  std::string name = placeholder("b_", fqn);
  graph.input(name, dims);
  inputSpecs.push_back({{"buffer", {{"arg", {{"name", name}}}, {"buffer_name", fqn}, {"persistent", bytes.empty()}}}});
  if (bytes.empty())
    return;
  std::string member = "tensor_" + std::to_string(constants.size());
  constants[fqn] = payload(member, dims, ScalarType::Float32);
  payloads["data/constants/" + member] = bytes;
}

void TestModel::storedBuffer(const std::string &fqn, const Dims &dims, const std::string &bytes) {
  buffer(fqn, dims);
  std::string member = "buffer_" + std::to_string(weights.size());
  weights[fqn] = payload(member, dims, ScalarType::Float32);
  payloads["data/weights/" + member] = bytes;
}

void TestModel::constant(const std::string &fqn, const Dims &dims, const std::string &bytes, ScalarType type) {
  std::string name = placeholder("c_", fqn);
  graph.input(name, dims, type);
  inputSpecs.push_back({{"tensor_constant", {{"arg", {{"name", name}}}, {"tensor_constant_name", fqn}}}});
  std::string member = "tensor_" + std::to_string(constants.size());
  constants[fqn] = payload(member, dims, type);
  payloads["data/constants/" + member] = bytes;
}

void TestModel::input(const std::string &name, const Dims &dims) {
  graph.input(name, dims);
  inputSpecs.push_back({{"user_input", {{"arg", {{"as_tensor", {{"name", name}}}}}}}});
}

void TestModel::output(const std::string &name) {
  graph.output(name);
  outputSpecs.push_back({{"user_output", {{"arg", {{"as_tensor", {{"name", name}}}}}}}});
}

void TestModel::outSpec(const Json &tree) {
  moduleCalls.push_back({{"fqn", ""}, {"signature", {{"out_spec", Json::array({1, tree}).dump()}}}});
}

Json TestModel::modelJson() const {
  return {{"graph_module",
           {{"graph", graph.json},
            {"signature", {{"input_specs", inputSpecs}, {"output_specs", outputSpecs}}},
            {"module_call_graph", moduleCalls}}},
          {"range_constraints", ranges},
          {"schema_version", schemaVersion},
          {"verifiers", verifiers},
          {"torch_version", "2.11.0"}};
}

Members TestModel::members() const {
  Members result{{"m/archive_format", "pt2"},
                 {"m/archive_version", "0"},
                 {"m/byteorder", "little"},
                 {"m/models/model.json", modelJson().dump()},
                 {"m/data/weights/model_weights_config.json", Json{{"config", weights}}.dump()},
                 {"m/data/constants/model_constants_config.json", Json{{"config", constants}}.dump()}};
  for (const auto &[name, bytes] : payloads)
    result["m/" + name] = bytes;
  return result;
}

TestModel linearModel() {
  TestModel model;
  model.parameter("proj.weight", {4, 3});
  model.input("x", {2, 3});
  Json &node = model.graph.node("torch.ops.aten.linear.default",
                                {tensor("input", "x"), tensor("weight", "p_proj_weight")}, "linear", {2, 4});
  node["metadata"] = {{"nn_module_stack", "L__self__,,Net;L__self__proj,proj,torch.nn.modules.linear.Linear"},
                      {"stack_trace", "  File \"/home/a/net.py\", line 7, in forward\n    x = self.proj(x)\n"
                                      "  File \"torch/linear.py\", line 134, in forward\n    return F.linear()"}};
  model.output("linear");
  return model;
}

TestModel regionModel(bool enabled) {
  TestModel model;
  model.input("x", {2});
  TestGraph inner;
  inner.input("arg", {2});
  inner.node("torch.ops.aten.cos.default", {tensor("self", "arg")}, "cos", {2});
  // The region's own name hides the outer x.
  inner.node("torch.ops.aten.sin.default", {tensor("self", "cos")}, "x", {2});
  inner.output("x");
  Json &node =
      model.graph.node("torch.ops.higher_order.wrap_with_set_grad_enabled",
                       {argument("", {{"as_bool", enabled}}),
                        argument("", {{"as_graph", {{"name", "submod"}, {"graph", inner.json}}}}), tensor("", "x")},
                       "wrapped", {2});
  node["outputs"] = Json::array({{{"as_tensors", {{{"name", "wrapped"}}}}}});
  model.graph.node("torch.ops.aten.add.Tensor", {tensor("self", "x"), tensor("other", "wrapped")}, "sum", {2});
  model.output("sum");
  return model;
}

std::string writeZip(const Members &members, bool deflated) {
  std::string path = newPath();
  zip_t *archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  for (const auto &[name, bytes] : members) {
    zip_int64_t index =
        zip_file_add(archive, name.c_str(), zip_source_buffer(archive, bytes.data(), bytes.size(), 0), 0);
    zip_set_file_compression(archive, index, deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  EXPECT_EQ(zip_close(archive), 0);
  return path;
}

void saveModel(const std::string &path, const TestModel &model) {
  std::string made = writeZip(model.members());
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::filesystem::copy_file(made, path, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove(made);
}

std::string writeFile(const std::string &bytes) {
  std::string path = newPath();
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ReadResult read(const TestModel &model) {
  std::string path = writeZip(model.members());
  ReadResult result = readArchive(path);
  unlink(path.c_str());
  return result;
}

std::string floats(const std::vector<float> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float)};
}

std::vector<float> floatsOf(const ConstantData &data) {
  std::vector<float> values(data.bytes.size() / sizeof(float));
  std::memcpy(values.data(), data.bytes.data(), data.bytes.size());
  return values;
}

ExportedProgram readWithBuffers(const TestModel &model) {
  ExportedProgram program = readProgram(model);
  std::string path = writeZip(model.members());
  readBufferValues(path, program);
  unlink(path.c_str());
  return program;
}

ExportedProgram readProgram(const TestModel &model) {
  ReadResult result = read(model);
  for (const Diagnostic &error : result.errors)
    ADD_FAILURE() << error.message;
  return result.program.value_or(ExportedProgram());
}

std::vector<std::string> errorsOf(const ReadResult &result, const std::string &path) {
  EXPECT_NE(result.program.has_value(), !result.errors.empty());
  std::vector<std::string> texts;
  for (const Diagnostic &error : result.errors) {
    std::string text = error.message;
    for (const std::string &note : error.notes)
      text += "\nnote: " + note;
    if (!error.help.empty())
      text += "\nhelp: " + error.help;
    if (size_t at = text.find(path); at != std::string::npos)
      text.replace(at, path.size(), "FILE");
    texts.push_back(text);
  }
  return texts;
}

std::vector<std::string> errorsOf(const TestModel &model) {
  std::string path = writeZip(model.members());
  ReadResult result = readArchive(path);
  unlink(path.c_str());
  return errorsOf(result, path);
}

} // namespace meshplan::archive::testing
