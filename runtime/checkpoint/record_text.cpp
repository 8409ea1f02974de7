//===- record_text.cpp - checkpoint.json ----------------------------------===//
//
// The text of checkpoint.json. Its last member is the checksum of everything before it, so that the file can be checked
// with a text editor and a CRC, without knowing the order of members or the spelling of numbers:
//
//   {
//    "format": 3,
//    ...
//    "checksums": {...},
//    "checksum": "1a2b3c4d"        of all bytes before the comma that precedes this line
//   }
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/record.h"

#include <charconv>
#include <nlohmann/json.hpp>

using namespace meshplan;

using Json = nlohmann::ordered_json;

static Json jsonOf(const RecordedParameter &parameter) {
  Json json = {{"names", parameter.names},
               {"dtype", dtypeName(parameter.dtype)},
               {"shape", parameter.shape},
               {"saved", parameter.isSaved},
               {"trained", parameter.isTrained}};
  if (parameter.pieces)
    json["pieces"] = {{"before", parameter.pieces->before},
                      {"after", parameter.pieces->after},
                      {"sizes", parameter.pieces->sizes},
                      {"dim", parameter.pieces->dim},
                      {"count", parameter.pieces->count}};
  return json;
}

static Json jsonOf(const RecordedState &state) {
  return {{"name", state.name},
          {"parameter", state.parameter},
          {"dtype", dtypeName(state.dtype)},
          {"shape", state.shape},
          {"master", state.isMaster}};
}

template <typename Item> static Json listOf(const std::vector<Item> &items) {
  Json list = Json::array();
  for (const Item &item : items)
    list.push_back(jsonOf(item));
  return list;
}

static Json jsonOf(const CheckpointChecksums &checksums) {
  Json files = Json::object();
  for (const auto &[name, file] : checksums.files) {
    Json tensors = Json::object();
    for (const auto &[tensor, values] : file.tensors) {
      std::string text;
      for (uint32_t value : values)
        // One text per tensor: a list of numbers would take several times the space in a large checkpoint.
        text += checksumText(value);
      tensors[tensor] = text;
    }
    files[name] = {{"header", checksumText(file.header)}, {"tensors", tensors}};
  }
  return {{"block_bytes", checksums.blockBytes}, {"files", files}};
}

// The text ends with its own checksum, of everything before that comma.
static constexpr std::string_view sealBegin = ",\n \"checksum\": \"", sealEnd = "\"\n}\n", textEnd = "\n}\n";

/// The checksum covers the text, not the parsed values: any edited byte is noticed, and JSON needs no canonical form.
std::string meshplan::sealedText(std::string_view text) {
  // The seal is found from the end, so that a text with a seal is sealed again, and one without gets its first.
  size_t end = std::min(text.rfind(sealBegin), text.size() - std::min(textEnd.size(), text.size()));
  std::string content(text.substr(0, end));
  return content + std::string(sealBegin) + checksumText(crc32Of(std::as_bytes(std::span(content)))) +
         std::string(sealEnd);
}

/// Compares a text with its checksum. A text without one (format 1) cannot be checked.
static Status checkSeal(std::string_view text) {
  size_t end = text.rfind(sealBegin);
  if (end == std::string_view::npos)
    return Status();
  // Computes the seal of the content that was read, and compares it with the one that was written.
  std::string right = sealedText(text);
  std::string_view found = text.substr(end), wanted = std::string_view(right).substr(end);
  if (found == wanted)
    return Status();
  return Status::error(StatusCode::corrupted, "damaged, or edited by hand: its text has the checksum ",
                       wanted.substr(sealBegin.size(), 8), ", as written it had ", found.substr(sealBegin.size(), 8));
}

std::string meshplan::textOf(const CheckpointRecord &record) {
  const TrainingState &state = record.state;
  Json settings = Json::object();
  for (const auto &[name, number] : state.settings)
    settings[name] = number;
  Json begun = Json::object();
  for (const auto &[parameter, steps] : state.begun)
    begun[parameter] = steps;
  Json json = {{"format", record.checksums ? checkpointFormat : 1},
               {"steps", state.counters.steps},
               {"skipped_steps", state.counters.skipped},
               {"steps_in_row", state.counters.stepsInRow},
               {"loss_scale", state.counters.lossScale},
               {"seed", state.seed},
               {"data",
                {{"samples_consumed", state.samplesConsumed},
                 {"samples", state.samples},
                 {"fingerprint", state.dataFingerprint}}},
               {"settings", settings},
               {"begun", begun},
               {"weights", {{"path", state.weights}, {"fingerprint", record.weightsFingerprint}}},
               {"parameters", listOf(record.parameters)},
               {"optimizer", {{"name", record.optimizer}, {"states", listOf(record.states)}}}};
  if (record.checksums)
    // The format depends on the content: without checksums it is format 1, which older versions also read.
    json["checksums"] = jsonOf(*record.checksums);
  // dump would throw on names that are not UTF-8.
  std::string text = json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return record.checksums ? sealedText(text) : text;
}

namespace {
/// Reads the values of a JSON object and keeps the first failure.
class ObjectReader {
public:
  ObjectReader(const Json &json, Status &failure) : json(json), failure(failure) {}

  int64_t integer(const char *key) {
    const Json *found = find(key, &Json::is_number_integer, "a whole number");
    return found ? found->get<int64_t>() : 0;
  }
  double number(const char *key) {
    const Json *found = find(key, &Json::is_number, "a number");
    return found ? found->get<double>() : 0;
  }
  bool flag(const char *key) {
    const Json *found = find(key, &Json::is_boolean, "a boolean");
    return found && found->get<bool>();
  }
  std::string text(const char *key) {
    const Json *found = find(key, &Json::is_string, "a string");
    return found ? found->get<std::string>() : "";
  }
  bool has(const char *key) const { return json.contains(key); }
  ObjectReader object(const char *key) {
    const Json *found = find(key, &Json::is_object, "an object");
    return {found ? *found : nothing(), failure};
  }
  const Json &list(const char *key) {
    const Json *found = find(key, &Json::is_array, "a list");
    return found ? *found : nothing();
  }

  DType dtype() {
    if (std::optional<DType> dtype = dtypeOfName(text("dtype")))
      return *dtype;
    fail("'dtype' is not an element type");
    return DType::f32;
  }

  std::vector<int64_t> extents(const char *key) {
    std::vector<int64_t> extents;
    for (const Json &extent : list(key)) {
      bool isExtent = extent.is_number_integer() && extent.get<int64_t>() >= 0;
      if (!isExtent)
        fail("'" + std::string(key) + "' is not a shape");
      extents.push_back(isExtent ? extent.get<int64_t>() : 0);
    }
    return extents;
  }

  std::vector<std::string> texts(const char *key) {
    std::vector<std::string> texts;
    for (const Json &text : list(key)) {
      if (!text.is_string())
        fail("'" + std::string(key) + "' has an element that is not a string");
      texts.push_back(text.is_string() ? text.get<std::string>() : "");
    }
    return texts;
  }

  /// Eight hexadecimal digits each.
  std::vector<uint32_t> checksums(const char *key) {
    std::string digits = text(key);
    // A rest of fewer than eight digits is left out; the number of checksums is compared with that of the blocks later.
    std::vector<uint32_t> values(digits.size() / 8);
    for (size_t i = 0; i < values.size(); ++i) {
      const char *begin = digits.data() + 8 * i;
      if (std::from_chars(begin, begin + 8, values[i], 16).ptr != begin + 8)
        fail("'" + std::string(key) + "' has no checksums");
    }
    return values;
  }
  uint32_t checksum(const char *key) {
    std::vector<uint32_t> values = checksums(key);
    if (values.size() != 1)
      fail("'" + std::string(key) + "' is not a checksum");
    return values.empty() ? 0 : values.front();
  }

  std::vector<std::string> names() {
    std::vector<std::string> names = texts("names");
    if (names.empty() || names.front().empty())
      fail("'names' has no name");
    return names;
  }

  const Json &json;

  void fail(const std::string &what) {
    // The first failure is the cause; the ones after it follow from the defaults.
    if (failure.ok())
      failure = Status(StatusCode::corrupted, what);
  }

private:
  static const Json &nothing() {
    // A reference to it replaces a missing member, so that reading continues and no caller has to stop.
    static const Json empty;
    return empty;
  }

  const Json *find(const char *key, bool (Json::*is)() const noexcept, const char *what) {
    if (json.is_object() && json.contains(key) && (json[key].*is)())
      return &json[key];
    // Reading continues with a default: callers need no check after each value, and the first failure is reported.
    fail("'" + std::string(key) + "' is missing or is not " + what);
    return nullptr;
  }

  Status &failure;
};
} // namespace

static TrainingState readState(ObjectReader &top) {
  TrainingState state{.counters = {.steps = top.integer("steps"),
                                   .skipped = top.integer("skipped_steps"),
                                   .stepsInRow = top.integer("steps_in_row"),
                                   .lossScale = top.number("loss_scale")},
                      .seed = top.integer("seed")};
  ObjectReader data = top.object("data"), settings = top.object("settings");
  state.samplesConsumed = data.integer("samples_consumed");
  state.samples = data.integer("samples");
  state.dataFingerprint = data.text("fingerprint");
  if (settings.json.is_object())
    for (const auto &[name, number] : settings.json.items())
      state.settings.emplace_back(name, settings.number(name.c_str()));
  // Older checkpoints lack this key.
  if (!top.has("begun"))
    return state;
  ObjectReader begun = top.object("begun");
  if (begun.json.is_object())
    for (const auto &[parameter, unused] : begun.json.items()) {
      int64_t steps = begun.integer(parameter.c_str());
      // A count beyond the training would make the optimizer's step count negative.
      if (steps < 0 || steps > state.counters.steps)
        begun.fail("'begun' has " + std::to_string(steps) + " steps, the training has " +
                   std::to_string(state.counters.steps));
      state.begun.emplace_back(parameter, steps);
    }
  return state;
}

static CheckpointChecksums readChecksums(ObjectReader checksums) {
  CheckpointChecksums read{.blockBytes = checksums.integer("block_bytes"), .files = {}};
  ObjectReader files = checksums.object("files");
  for (const auto &[name, unused] : files.json.items()) {
    ObjectReader file = files.object(name.c_str()), tensors = file.object("tensors");
    FileChecksums &own = read.files[name];
    // The header is checked when the file is opened, the tensors when they are read.
    own.header = file.checksum("header");
    for (const auto &[tensor, digits] : tensors.json.items())
      own.tensors[tensor] = tensors.checksums(tensor.c_str());
  }
  return read;
}

static RecordedParameter readParameter(ObjectReader parameter) {
  RecordedParameter read{parameter.names(), parameter.dtype(), parameter.extents("shape"), parameter.flag("saved"),
                         parameter.flag("trained")};
  // Only where weight files have other names.
  if (!parameter.has("pieces"))
    return read;
  ObjectReader pieces = parameter.object("pieces");
  read.pieces = {pieces.texts("before"), pieces.texts("after"), pieces.extents("sizes"), pieces.integer("dim"),
                 pieces.integer("count")};
  if (std::string fault = piecesFault(*read.pieces, read.shape); !fault.empty())
    parameter.fail("'pieces' of '" + read.names.front() + "': " + fault);
  return read;
}

Expected<CheckpointRecord> meshplan::readRecord(const std::string &path, std::string_view text) {
  MESHPLAN_RETURN_IF_ERROR(checkSeal(text).withContext(path));
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return Status::error(StatusCode::corrupted, path, ": it is not a JSON object");
  Status failure;
  ObjectReader top(json, failure);
  int64_t format = top.integer("format");
  if (failure.ok() && (format < 1 || format > checkpointFormat))
    return Status::error(StatusCode::unsupported, path, ": a checkpoint of format ", format,
                         ", this version reads 1 to ", checkpointFormat);
  // Without the seal checkSeal could not find an edit, so a sealed format must have it.
  if (format > 1 && !top.has("checksum"))
    return Status::error(StatusCode::corrupted, path, ": damaged: it has no checksum");
  CheckpointRecord record{.state = readState(top)};
  ObjectReader weights = top.object("weights"), optimizer = top.object("optimizer");
  record.state.weights = weights.text("path");
  std::string fingerprint = weights.text("fingerprint");
  record.weightsFingerprint = format == checkpointFormat ? fingerprint : "";
  record.optimizer = optimizer.text("name");
  for (const Json &each : top.list("parameters"))
    record.parameters.push_back(readParameter({each, failure}));
  for (const Json &each : optimizer.list("states")) {
    ObjectReader reader(each, failure);
    record.states.push_back({reader.text("name"), reader.text("parameter"), reader.dtype(), reader.extents("shape"),
                             reader.flag("master")});
  }
  if (format > 1)
    record.checksums = readChecksums(top.object("checksums"));
  if (!failure.ok())
    return failure.withContext(path);
  return record;
}

Expected<CheckpointRecord> meshplan::openRecord(const std::string &folder) {
  auto file = MappedFile::open(folder + "/" + recordName);
  if (file.status().code() == StatusCode::notFound)
    return Status::error(StatusCode::corrupted, folder, ": ", recordName, " is missing");
  MESHPLAN_RETURN_IF_ERROR(file.status());
  return readRecord(file->path(), {reinterpret_cast<const char *>(file->bytes().data()), file->bytes().size()});
}
