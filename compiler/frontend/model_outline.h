//===- model_outline.h - names and shapes of a model -------------*- C++ -*-===//
//
// The parts of an imported model that a plan can refer to, as plain data: modules, parameters, graph inputs and
// outputs. The importer fills it from the archive; binding reads it. Indices are indices into the vectors of
// ModelOutline.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_MODEL_OUTLINE_H
#define MESHPLAN_COMPILER_FRONTEND_MODEL_OUTLINE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// A module under its path as in `named_modules`; the root's path is empty. A ModuleList, which has no forward of its
/// own, may be missing.
struct OutlineModule {
  std::string path;
  std::string className;
};

/// One name of a parameter: the module that holds it and the name inside it.
struct OutlineParameterName {
  size_t module = 0;
  std::string leaf; ///< `weight` of `lm_head.weight`
};

/// One stored parameter. A tied parameter has several names, several readers, or both. The first name is that of
/// named_parameters(), which messages show.
struct OutlineParameter {
  std::vector<OutlineParameterName> names;
  std::vector<size_t> readers; ///< modules whose operators read it
  std::vector<int64_t> shape;
  bool requiresGrad = true;
  std::string dtype = "f32"; ///< `f64`, `f32`, `bf16`, `f16`; empty for any other type
  bool isStacked = false;    ///< element i of dim 0 is the parameter `leaf` of module i of the list that holds it
};

/// An extent that is known, or the name of a symbol of the archive.
struct OutlineDim {
  int64_t extent = 0;
  std::string symbol; ///< empty: `extent` is valid
};

/// A graph input that the user supplies, or an output. A scalar has no dims.
struct OutlineValue {
  std::string name;
  std::vector<OutlineDim> dims;
};

/// A buffer that weight files have.
struct OutlineBuffer {
  std::string name; ///< as in named_buffers()
  std::vector<int64_t> shape;
};

struct ModelOutline {
  std::vector<OutlineModule> modules;
  std::vector<OutlineParameter> parameters;
  std::vector<OutlineValue> inputs;
  std::vector<OutlineValue> outputs;
  std::vector<OutlineBuffer> buffers;
};

/// `model.norm.weight`: the path of the first name of a parameter.
std::string parameterPath(const ModelOutline &model, const OutlineParameter &parameter);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_MODEL_OUTLINE_H
