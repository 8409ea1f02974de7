//===- dataset.cpp - the samples of a run, and their order ----------------===//

#include "runtime/dataset/dataset.h"

#include "runtime/base/names.h"
#include "runtime/dataset/data_words.h"
#include "runtime/dataset/permutation.h"
#include "runtime/dataset/safetensors_samples.h"
#include "runtime/dataset/sample_source.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace meshplan {

namespace {

/// The path may have been meant as the common prefix of two token files.
Status reportMissing(const std::string &path) {
  std::error_code ignored;
  bool lacksIndex = std::filesystem::exists(path + ".bin", ignored);
  return Status::error(StatusCode::invalid, "cannot open '", path, "': No such file or directory, and ",
                       lacksIndex ? "the token file '" + path + ".bin' has no index '" + path + ".idx'"
                                  : "there are no token files '" + path + ".bin' and '" + path + ".idx'");
}

bool areThere(std::span<const std::string> words) {
  Expected<DataWords> data = parseDataWords(words);
  std::error_code ignored;
  return !data || std::ranges::all_of(data->paths,
                                      [&](const std::string &path) { return std::filesystem::exists(path, ignored); });
}

Expected<SampleSourcePointer> openPath(const std::string &path, std::span<const SampleField> fields,
                                       const TokenOffsets &tokens) {
  std::error_code ignored;
  // Token files first: their common prefix need not exist as a file.
  if (std::optional<TokenFiles> files = findTokenFiles(path))
    return openTokenSamples(*files, fields, tokens);
  if (std::filesystem::is_directory(path, ignored))
    return openSafetensorsFolder(path, fields);
  if (!std::filesystem::exists(path, ignored))
    return reportMissing(path);
  return openSafetensorsSamples(path, fields);
}

/// An option without effect is an error.
Status checkTokenOffsets(const TokenOffsets &tokens, std::span<const std::string> words,
                         std::span<const SampleField> fields) {
  std::vector<std::string> names;
  for (const SampleField &field : fields)
    names.push_back(field.name);
  for (const auto &[name, offset] : tokens) {
    std::string option = "--tokens " + name + (offset == TokenOffset::next ? "=next" : "=same");
    if (std::ranges::find(names, name) == names.end())
      return Status::error(StatusCode::invalid, option, ": the program has no input '", name, "'; it has ",
                           nameList(names));
    // A missing file is reported when it is opened.
    if (!hasTokenFiles(words) && areThere(words))
      return Status::error(StatusCode::invalid, option,
                           ": there are no token files in the data; help: leave the option out");
  }
  return Status();
}

/// The first pair of lines that differ; a text that has ended gives an empty line.
std::pair<std::string, std::string> firstDifference(const std::string &left, const std::string &right) {
  std::istringstream leftText(left), rightText(right);
  std::string leftLine, rightLine;
  // Fingerprints have one line per source, so the first difference names the file that changed.
  do {
    leftLine.clear();
    rightLine.clear();
    std::getline(leftText, leftLine);
    std::getline(rightText, rightLine);
  } while (leftLine == rightLine && (leftText || rightText));
  return {leftLine, rightLine};
}

} // namespace

Expected<std::shared_ptr<const Dataset>>
Dataset::open(std::span<const std::string> words, std::span<const DataInput> inputs, const DatasetOptions &options) {
  MESHPLAN_ASSIGN_OR_RETURN(BatchShape shape, batchShapeOf(inputs));
  MESHPLAN_ASSIGN_OR_RETURN(DataWords data, parseDataWords(words));
  // Before opening files, because a wrong option is cheap to find.
  MESHPLAN_RETURN_IF_ERROR(checkTokenOffsets(options.tokens, words, shape.fields));
  std::vector<SampleSourcePointer> sources;
  for (const std::string &path : data.paths) {
    MESHPLAN_ASSIGN_OR_RETURN(SampleSourcePointer source, openPath(path, shape.fields, options.tokens));
    sources.push_back(std::move(source));
  }
  MESHPLAN_ASSIGN_OR_RETURN(
      Blend blend, Blend::create(data.weights.empty() ? std::vector<int64_t>{1} : std::vector<int64_t>(data.weights)));
  std::shared_ptr<Dataset> dataset(new Dataset(std::move(shape), options, std::move(blend)));
  for (size_t i = 0; i < sources.size(); ++i)
    // Its weight in a blend would be meaningless.
    if (sources[i]->samples() == 0)
      return Status::error(StatusCode::invalid, data.paths[i], ": no samples (", sources[i]->description().front(),
                           ")");
  if (data.weights.empty())
    // Without weights every sample of all files is read equally often, as from one file.
    dataset->parts.push_back(concatenated(std::move(sources)));
  else
    dataset->parts = std::move(sources);
  for (const SampleSourcePointer &part : dataset->parts)
    dataset->sampleCount += part->samples();
  MESHPLAN_RETURN_IF_ERROR(dataset->checkCounts(data.paths));
  dataset->describe(data.weights);
  return std::shared_ptr<const Dataset>(std::move(dataset));
}

Status Dataset::checkCounts(std::span<const std::string> paths) const {
  if (sampleCount >= shape.samples)
    return Status();
  return Status::error(StatusCode::invalid, listOfFew(paths), ": ", sampleCount, " samples, a global batch has ",
                       shape.samples, "; help: give more data, or compile for a smaller batch");
}

void Dataset::describe(std::span<const int64_t> weights) {
  for (size_t i = 0; i < parts.size(); ++i)
    for (const std::string &line : parts[i]->description())
      fingerprintText += (fingerprintText.empty() ? "" : "\n") +
                         (weights.empty() ? "" : std::to_string(weights[i]) + " millionths of ") + line;
}

std::optional<size_t> Dataset::findField(std::string_view name) const {
  auto found = std::ranges::find(shape.fields, name, &SampleField::name);
  return found == shape.fields.end() ? std::nullopt : std::optional<size_t>(found - shape.fields.begin());
}

DataState Dataset::stateAt(int64_t position) const {
  return {position, sampleCount, options.seed, options.shuffles, fingerprintText};
}

Status Dataset::checkResume(const DataState &saved) const {
  if (saved.position < 0)
    return Status::error(StatusCode::corrupted, "the saved position in the data is ", saved.position,
                         ", 0 or more required");
  // Each check below finds a change that would silently repeat or skip samples. The count comes first, because it is
  // the clearest message.
  if (saved.samples != sampleCount)
    return Status::error(StatusCode::invalid, "the saved position, ", saved.position,
                         " samples, is in data of which an epoch has ", saved.samples, " samples, and this data has ",
                         sampleCount, "; help: give the data of the saved run, or start a new run from its weights");
  if (saved.fingerprint != fingerprintText) {
    auto [own, theirs] = firstDifference(fingerprintText, saved.fingerprint);
    return Status::error(StatusCode::invalid, "the data differs from that of the saved run: it has '", own,
                         "', the saved run has '", theirs,
                         "'; help: give the data of the saved run, or start a new run from its weights");
  }
  if (saved.shuffles != options.shuffles)
    return Status::error(StatusCode::invalid, "the saved run read samples in ",
                         saved.shuffles ? "shuffled" : "the given", " order, this run reads them in ",
                         options.shuffles ? "shuffled" : "the given", " order");
  // Without shuffling the seed has no influence.
  if (saved.shuffles && saved.seed != options.seed)
    return Status::error(StatusCode::invalid, "the seed of the data is ", options.seed, ", and that of the saved run ",
                         saved.seed, "; help: give the same seed");
  return Status();
}

std::vector<SampleLocation> Dataset::locate(Blend::Walk &walk, int64_t position, int64_t count) const {
  std::vector<SampleLocation> locations;
  for (int64_t i = position; i < position + count; ++i) {
    Blend::Entry entry = walk.at(i);
    // Example: a part of 5 samples at its turn 12 is in its epoch 2, at position 2 of the order of that epoch.
    int64_t samples = parts[entry.part]->samples(), epoch = entry.turn / samples, sample = entry.turn % samples;
    // Each part and epoch has its own permutation, so a blend reshuffles a small data set each time it wraps around.
    if (options.shuffles)
      sample = Permutation(samples, {options.seed, entry.part, static_cast<uint64_t>(epoch)}).at(sample);
    locations.push_back({entry.part, sample});
  }
  return locations;
}

Status Dataset::read(const SampleLocation &location, size_t field, const SliceRanges &ranges,
                     std::span<std::byte> out) const {
  return parts[location.part]->read(location.sample, field, ranges, out);
}

void Dataset::announce(const SampleLocation &location, size_t field, const SliceRanges &ranges) const {
  parts[location.part]->announce(location.sample, field, ranges);
}

} // namespace meshplan
