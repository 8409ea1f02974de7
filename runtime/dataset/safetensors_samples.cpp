//===- safetensors_samples.cpp - tensors whose rows are samples -----------===//

#include "runtime/dataset/safetensors_samples.h"

#include "runtime/base/names.h"
#include "runtime/data/tensor_source.h"
#include "runtime/dataset/inputs.h"
#include "runtime/dataset/integers.h"
#include "runtime/dataset/sample_source.h"

#include <algorithm>
#include <filesystem>

namespace meshplan {

namespace {

namespace fs = std::filesystem;

/// Extends a slice of one sample to a slice of the tensor of all samples.
SliceRanges rowOf(int64_t sample, const SliceRanges &ranges) {
  SliceRanges row = {{{sample, 1}}};
  row.insert(row.end(), ranges.begin(), ranges.end());
  return row;
}

std::span<const int64_t> sampleShape(const StoredTensor &tensor) { return std::span(tensor.shape).subspan(1); }

class SafetensorsSamples final : public SampleSource {
public:
  SafetensorsSamples(TensorSource source, std::span<const SampleField> fields)
      : source(std::move(source)), fields(fields.begin(), fields.end()) {}

  /// Finds and checks the tensors of the fields.
  Status bind() {
    for (const SampleField &field : fields) {
      const StoredTensor *tensor = source.find(field.name);
      if (!tensor)
        return source.require({&field.name, 1}, {}).status();
      MESHPLAN_RETURN_IF_ERROR(checkDType(*tensor, field));
      MESHPLAN_RETURN_IF_ERROR(checkShape(*tensor, field));
      // Pointers into the source, which owns the tensors and is moved no more.
      tensors.push_back(tensor);
    }
    return Status();
  }

  int64_t samples() const override { return tensors.front()->shape[0]; }

  Status read(int64_t sample, size_t field, const SliceRanges &ranges, std::span<std::byte> out) const override {
    const StoredTensor &tensor = *tensors[field];
    DType dtype = fields[field].dtype;
    std::optional<IntegerType> stored = integerTypeOf(tensor.dtype);
    // TensorSource converts floats only; integers are widened here.
    if (!stored || tensor.dtype == dtype)
      return source.read(tensor, rowOf(sample, ranges), dtype, out);
    int64_t count = elementCount(sliceShape(ranges));
    // Of one sample only, so the copy is small.
    std::vector<std::byte> narrow(count * dtypeSize(tensor.dtype));
    MESHPLAN_RETURN_IF_ERROR(source.read(tensor, rowOf(sample, ranges), tensor.dtype, narrow));
    convertIntegers(narrow.data(), *stored, out.data(), dtype, count);
    return Status();
  }

  void announce(int64_t sample, size_t field, const SliceRanges &ranges) const override {
    source.announce(*tensors[field], rowOf(sample, ranges));
  }

  std::vector<std::string> description() const override {
    std::error_code ignored;
    std::string text = fs::path(source.path()).filename().string() + ": " +
                       std::to_string(fs::file_size(source.path(), ignored)) + " bytes, " + std::to_string(samples()) +
                       " samples of ";
    for (size_t i = 0; i < tensors.size(); ++i)
      text += (i ? ", " : "") + fieldText(fields[i].name, dtypeName(tensors[i]->dtype), sampleShape(*tensors[i]));
    return {text};
  }

private:
  Status checkDType(const StoredTensor &tensor, const SampleField &field) const {
    std::optional<IntegerType> stored = integerTypeOf(tensor.dtype);
    bool isRead = tensor.dtype == field.dtype || (isFloat(tensor.dtype) && isFloat(field.dtype)) ||
                  (stored && holdsAll(field.dtype, *stored));
    if (isRead && tensor.foreignType.empty())
      return Status();
    return Status::error(StatusCode::invalid, source.path(), ": tensor '", tensor.name, "' has dtype ",
                         tensor.foreignType.empty() ? dtypeName(tensor.dtype) : tensor.foreignType, ", ",
                         dtypeName(field.dtype),
                         " required; help: convert the tensor: floats become other floats, integers only wider ones");
  }

  Status checkShape(const StoredTensor &tensor, const SampleField &field) const {
    std::string what = source.path() + ": tensor '" + tensor.name + "'";
    if (tensor.shape.empty() || !std::ranges::equal(sampleShape(tensor), field.shape))
      return Status::error(StatusCode::invalid, what, " has shape ", shapeText(tensor.shape),
                           ", samples in the first dim, each of shape ", shapeText(field.shape),
                           ", required; help: compile for the shape in the file, or create the data again");
    if (!tensors.empty() && tensor.shape[0] != samples())
      return Status::error(StatusCode::invalid, what, " has ", tensor.shape[0], " samples, '", tensors.front()->name,
                           "' has ", samples(), "; help: both need one row for each sample");
    return Status();
  }

  TensorSource source;
  std::vector<SampleField> fields;
  std::vector<const StoredTensor *> tensors; // parallel to `fields`
};

} // namespace

Expected<SampleSourcePointer> openSafetensorsSamples(const std::string &path, std::span<const SampleField> fields) {
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource source, TensorSource::open(path));
  auto samples = std::make_unique<SafetensorsSamples>(std::move(source), fields);
  MESHPLAN_RETURN_IF_ERROR(samples->bind());
  return SampleSourcePointer(std::move(samples));
}

Expected<SampleSourcePointer> openSafetensorsFolder(const std::string &path, std::span<const SampleField> fields) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".safetensors")
      paths.push_back(entry->path());
  if (error)
    return Status::error(StatusCode::io, "cannot read the folder '", path, "': ", error.message());
  if (paths.empty())
    return Status::error(StatusCode::notFound, path, ": no *.safetensors in this folder");
  // The order of a directory listing differs between file systems; the order of samples must not.
  std::ranges::sort(paths);
  std::vector<SampleSourcePointer> files;
  for (const std::string &file : paths) {
    MESHPLAN_ASSIGN_OR_RETURN(SampleSourcePointer samples, openSafetensorsSamples(file, fields));
    files.push_back(std::move(samples));
  }
  return concatenated(std::move(files));
}

} // namespace meshplan
