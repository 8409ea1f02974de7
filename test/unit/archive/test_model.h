//===- test_model.h - hand-made archives ------------------------*- C++ -*-===//
//
// Builds the JSON of a small exported model step by step, and zips it. Tests can change the JSON, so that each breaks
// one thing.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_UNIT_ARCHIVE_TEST_MODEL_H
#define MESHPLAN_TEST_UNIT_ARCHIVE_TEST_MODEL_H

#include "compiler/archive/read_archive.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace meshplan::archive::testing {

using Json = nlohmann::json;

/// An extent is a number, or sympy's text of an expression.
using Dims = std::vector<Json>;
/// Name in the archive to bytes.
using Members = std::map<std::string, std::string>;

Json tensorMeta(const Dims &dims, ScalarType type = ScalarType::Float32);
/// One argument of a node, such as argument("dim", {{"as_int", 0}}).
Json argument(const std::string &name, const Json &value);
Json tensor(const std::string &name, const std::string &valueName);
/// A tree of a single value, as in a specification of inputs or outputs.
inline Json leaf() { return {{"type", nullptr}, {"context", nullptr}, {"children_spec", Json::array()}}; }
/// `Symbol('s0', positive=True, integer=True)`
std::string symbol(const std::string &name);

/// A graph: the outermost one, or a region.
struct TestGraph {
  Json json = {{"inputs", Json::array()},
               {"outputs", Json::array()},
               {"nodes", Json::array()},
               {"tensor_values", Json::object()},
               {"sym_int_values", Json::object()}};

  void input(const std::string &name, const Dims &dims, ScalarType type = ScalarType::Float32);
  /// Adds a node with one float32 result and returns it for changes.
  Json &node(const std::string &target, const std::vector<Json> &arguments, const std::string &result, const Dims &dims,
             ScalarType type = ScalarType::Float32);
  void output(const std::string &name);
};

struct TestModel {
  TestGraph graph;
  Json inputSpecs = Json::array();
  Json outputSpecs = Json::array();
  Json weights = Json::object();
  Json constants = Json::object();
  Json schemaVersion = {{"major", 8}, {"minor", 17}};
  Json ranges = Json::object();
  Json moduleCalls = Json::array();
  Json verifiers = Json::array();
  Members payloads;

  void parameter(const std::string &fqn, const Dims &dims);
  /// A buffer that is not persistent when it has bytes.
  void buffer(const std::string &fqn, const Dims &dims, const std::string &bytes = "");

  /// Adds a persistent buffer whose value is in the archive.
  void storedBuffer(const std::string &fqn, const Dims &dims, const std::string &bytes);
  void constant(const std::string &fqn, const Dims &dims, const std::string &bytes, ScalarType type);
  void input(const std::string &name, const Dims &dims);
  void output(const std::string &name);
  void outSpec(const Json &tree);

  Json modelJson() const;
  Members members() const;
};

/// x [2, 3] times weight [4, 3] of module `proj`; result `linear` [2, 4].
TestModel linearModel();
/// A model that applies a region without gradients, or one that turns them on, to x, and adds x to the region's result.
TestModel regionModel(bool enabled = false);

/// Writes a zip into the test's temporary folder and returns its path.
std::string writeZip(const Members &members, bool deflated = false);
/// Writes the model as an archive to `path`, and creates the folder.
void saveModel(const std::string &path, const TestModel &model);
std::string writeFile(const std::string &bytes);
std::string readFile(const std::string &path);

/// Float32 elements as an archive stores them, and back.
std::string floats(const std::vector<float> &values);
std::vector<float> floatsOf(const ConstantData &data);

ReadResult read(const TestModel &model);
/// Also reads the values of persistent buffers.
ExportedProgram readWithBuffers(const TestModel &model);
/// The program; a test failure and an empty program when there are errors.
ExportedProgram readProgram(const TestModel &model);
/// `message`, then `\nnote: ...` and `\nhelp: ...`, with the archive's path written as FILE.
std::vector<std::string> errorsOf(const ReadResult &result, const std::string &path);
std::vector<std::string> errorsOf(const TestModel &model);

} // namespace meshplan::archive::testing

#endif // MESHPLAN_TEST_UNIT_ARCHIVE_TEST_MODEL_H
