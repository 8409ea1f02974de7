//===- token_samples.cpp - samples of a token stream ----------------------===//

#include "runtime/dataset/token_samples.h"

#include "runtime/base/file.h"
#include "runtime/base/names.h"
#include "runtime/dataset/inputs.h"
#include "runtime/dataset/megatron_index.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

namespace meshplan {

namespace {

namespace fs = std::filesystem;

struct TokenField {
  std::string name;
  DType dtype;
  int64_t shift; // offset in the stream from the start of the sample
};

/// How samples are located in the stream.
struct TokenLayout {
  int64_t length = 0; // number of tokens of a sample
  std::vector<TokenField> fields;

  int64_t samplesIn(int64_t tokens) const {
    // The `next` field of the last sample needs one token more. Example: 10 tokens and samples of 3 are 3 samples, also
    // with a `next` field, whose last one takes tokens 7 to 9. Of 9 tokens it would lack one, so there are 2.
    int64_t shift = std::ranges::max_element(fields, {}, &TokenField::shift)->shift;
    return std::max<int64_t>(0, tokens - shift) / length;
  }
};

class TokenSamples final : public SampleSource {
public:
  TokenSamples(MappedFile file, IntegerType type, TokenLayout layout, std::string text)
      : file(std::move(file)), type(type), layout(std::move(layout)), text(std::move(text)) {
    count = this->layout.samplesIn(this->file.bytes().size() / integerSize(type));
  }

  int64_t samples() const override { return count; }

  Status read(int64_t sample, size_t field, const SliceRanges &ranges, std::span<std::byte> out) const override {
    MESHPLAN_RETURN_IF_ERROR(checkSlice(ranges, {&layout.length, 1}).withContext(file.path()));
    DType dtype = layout.fields[field].dtype;
    int64_t written = 0;
    for (const Range &range : ranges[0]) {
      // Only the rank's ranges are read from the mapped file.
      convertIntegers(tokens(sample, field, range).data(), type, out.data() + written, dtype, range.size);
      written += range.size * dtypeSize(dtype);
    }
    return Status();
  }

  void announce(int64_t sample, size_t field, const SliceRanges &ranges) const override {
    if (!checkSlice(ranges, {&layout.length, 1}).ok())
      return;
    for (const Range &range : ranges[0])
      willRead(tokens(sample, field, range));
  }

  std::vector<std::string> description() const override {
    std::string line = text + std::to_string(count) + " samples of " + std::to_string(layout.length);
    for (size_t i = 0; i < layout.fields.size(); ++i)
      line += (i ? ", " : ": ") + layout.fields[i].name + (layout.fields[i].shift ? " next" : " same");
    return {line};
  }

private:
  std::span<const std::byte> tokens(int64_t sample, size_t field, const Range &range) const {
    // Samples follow one another without overlap, across the borders of documents, as in nanoGPT and Megatron.
    int64_t begin = sample * layout.length + layout.fields[field].shift + range.offset, size = integerSize(type);
    return file.bytes().subspan(begin * size, range.size * size);
  }

  MappedFile file;
  IntegerType type;
  TokenLayout layout;
  std::string text;
  int64_t count = 0;
};

Expected<int64_t> shiftOf(const SampleField &field, size_t fields, const TokenOffsets &offsets,
                          const std::string &path) {
  if (auto offset = offsets.find(field.name); offset != offsets.end())
    return offset->second == TokenOffset::next ? 1 : 0;
  // For other inputs, a wrong guess would train on shifted labels without any error.
  if (fields == 1 || field.name == "input_ids")
    return 0;
  return Status::error(
      StatusCode::invalid, path, ": which tokens input '", field.name, "' takes is not known; help: --tokens ",
      field.name,
      "=same for the tokens that a model reads, or for labels that it shifts itself, as those of Hugging Face "
      "do, --tokens ",
      field.name, "=next for labels that are the token after each, or give its tensors in a safetensors file");
}

Expected<TokenLayout> layoutOf(std::span<const SampleField> fields, const TokenOffsets &offsets, IntegerType type,
                               const std::string &path) {
  TokenLayout layout;
  for (const SampleField &field : fields) {
    if (field.shape.size() != 1 || !integerTypeOf(field.dtype))
      return Status::error(StatusCode::invalid, path, ": input '", field.name, "' takes samples of ",
                           dtypeName(field.dtype), " ", shapeText(field.shape),
                           ", a token file has integers in one dim; help: give its tensors in a safetensors file");
    if (!holdsAll(field.dtype, type))
      return Status::error(StatusCode::invalid, path, ": the tokens are ", integerName(type), ", input '", field.name,
                           "' takes ", dtypeName(field.dtype),
                           ", which does not hold all of them; help: compile for a wider dtype");
    if (field.shape[0] != fields[0].shape[0])
      return Status::error(StatusCode::invalid, path, ": inputs '", fields[0].name, "' and '", field.name, "' take ",
                           fields[0].shape[0], " and ", field.shape[0], " tokens, the same number required");
    MESHPLAN_ASSIGN_OR_RETURN(int64_t shift, shiftOf(field, fields.size(), offsets, path));
    layout.fields.push_back({field.name, field.dtype, shift});
  }
  layout.length = fields[0].shape[0];
  if (layout.length == 0)
    return Status::error(StatusCode::invalid, path, ": input '", fields[0].name,
                         "' takes samples without tokens, at least one required");
  return layout;
}

std::string sizeText(const std::string &path, size_t bytes) {
  return fs::path(path).filename().string() + ": " + std::to_string(bytes) + " bytes, ";
}

Expected<SampleSourcePointer> openMegatron(const TokenFiles &files, std::span<const SampleField> fields,
                                           const TokenOffsets &offsets) {
  MESHPLAN_ASSIGN_OR_RETURN(MappedFile indexFile, MappedFile::open(files.index));
  MESHPLAN_ASSIGN_OR_RETURN(MegatronIndex index, readMegatronIndex(files.index, indexFile.bytes()));
  MESHPLAN_ASSIGN_OR_RETURN(TokenLayout layout, layoutOf(fields, offsets, index.type, files.tokens));
  MESHPLAN_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(files.tokens));
  // The index describes every byte of the token file, so another size means that the files do not belong together.
  int64_t required = index.tokens * integerSize(index.type);
  if (static_cast<int64_t>(file.bytes().size()) != required)
    return Status::error(StatusCode::corrupted, files.tokens, ": ", file.bytes().size(), " bytes, ", required,
                         " required: ", files.index, " has ", index.tokens, " tokens of ", integerName(index.type),
                         "; help: both files must be of the same run of preprocess_data.py");
  std::string text = sizeText(files.tokens, file.bytes().size()) + std::to_string(index.documents) + " documents, " +
                     std::to_string(index.tokens) + " tokens of " + std::string(integerName(index.type)) + ", ";
  return SampleSourcePointer(
      std::make_unique<TokenSamples>(std::move(file), index.type, std::move(layout), std::move(text)));
}

/// llm.c begins its token files with a header of 256 i32, which would be read as tokens. It starts with 20240520 or
/// 20240801, and a version.
bool isFileOfLlmC(std::span<const std::byte> bytes) {
  std::array<int32_t, 2> begin;
  if (bytes.size() < 1024)
    return false;
  std::memcpy(begin.data(), bytes.data(), sizeof begin);
  return (begin[0] == 20240520 && begin[1] == 1) || (begin[0] == 20240801 && begin[1] == 7);
}

Expected<SampleSourcePointer> openNanoGpt(const std::string &path, std::span<const SampleField> fields,
                                          const TokenOffsets &offsets) {
  constexpr IntegerType type = IntegerType::u16;
  MESHPLAN_ASSIGN_OR_RETURN(TokenLayout layout, layoutOf(fields, offsets, type, path));
  MESHPLAN_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  size_t bytes = file.bytes().size();
  if (bytes % 2 != 0)
    return Status::error(StatusCode::corrupted, path, ": ", bytes,
                         " bytes are not a whole number of u16 tokens, the content of a .bin without .idx");
  if (isFileOfLlmC(file.bytes()))
    return Status::error(StatusCode::unsupported, path,
                         ": a token file of llm.c, which begins with a header of 1024 "
                         "bytes; help: tail -c +1025 of a file with 16-bit tokens is "
                         "one of nanoGPT");
  std::string text = sizeText(path, bytes) + std::to_string(bytes / 2) + " tokens of u16, ";
  return SampleSourcePointer(std::make_unique<TokenSamples>(std::move(file), type, std::move(layout), std::move(text)));
}

bool isFile(const std::string &path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

} // namespace

Expected<TokenOffsets> parseTokenOffsets(std::span<const std::string> words) {
  TokenOffsets offsets;
  for (const std::string &word : words) {
    size_t separator = word.rfind('=');
    std::string offset = separator == std::string::npos ? "" : word.substr(separator + 1);
    if (separator == 0 || (offset != "same" && offset != "next"))
      return Status::error(StatusCode::invalid, "--tokens ", word, ": INPUT=same or INPUT=next required");
    if (!offsets.emplace(word.substr(0, separator), offset == "next" ? TokenOffset::next : TokenOffset::same).second)
      return Status::error(StatusCode::invalid, "--tokens ", word, ": there are two for this input");
  }
  return offsets;
}

std::optional<TokenFiles> findTokenFiles(const std::string &path) {
  bool isTokens = path.ends_with(".bin");
  std::string prefix = isTokens || path.ends_with(".idx") ? path.substr(0, path.size() - 4) : path;
  // The index decides the format: a .bin file alone is one of nanoGPT.
  if (isFile(prefix + ".idx"))
    return TokenFiles{prefix + ".bin", prefix + ".idx"};
  return isTokens ? std::optional(TokenFiles{path, ""}) : std::nullopt;
}

Expected<SampleSourcePointer> openTokenSamples(const TokenFiles &files, std::span<const SampleField> fields,
                                               const TokenOffsets &offsets) {
  return files.index.empty() ? openNanoGpt(files.tokens, fields, offsets) : openMegatron(files, fields, offsets);
}

} // namespace meshplan
