//===- data_words.cpp - the words of --data -------------------------------===//

#include "runtime/dataset/data_words.h"

#include "runtime/dataset/token_samples.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace meshplan {

namespace {

bool isPath(const std::string &word) {
  std::error_code ignored;
  return std::filesystem::exists(word, ignored) || findTokenFiles(word).has_value();
}

bool isDigits(std::string_view text) {
  return std::ranges::all_of(text, [](char letter) { return letter >= '0' && letter <= '9'; });
}

/// The weight in millionths. Parsed digit by digit, without floats, so that it is equal on every machine.
std::optional<int64_t> parseWeight(std::string_view text) {
  constexpr size_t most = 6; // digits on either side
  size_t point = std::min(text.find('.'), text.size());
  std::string whole(text.substr(0, point)), fraction(point < text.size() ? text.substr(point + 1) : "");
  if (whole.size() > most || fraction.size() > most || whole.size() + fraction.size() == 0 || !isDigits(whole) ||
      !isDigits(fraction))
    return std::nullopt;
  fraction.resize(most, '0');
  // At most twelve digits, which fit.
  int64_t weight = std::stoll("0" + whole + fraction);
  return weight > 0 ? std::optional(weight) : std::nullopt;
}

} // namespace

Expected<DataWords> parseDataWords(std::span<const std::string> words) {
  if (words.empty())
    return Status::error(StatusCode::invalid, "no data; help: --data PATH");
  DataWords data;
  for (const std::string &word : words) {
    // A path may contain '='. It is taken as a path if it exists, else the last '=' begins the weight.
    size_t separator = isPath(word) ? std::string::npos : word.rfind('=');
    data.paths.push_back(word.substr(0, separator));
    if (separator == std::string::npos)
      continue;
    std::string text = word.substr(separator + 1);
    std::optional<int64_t> weight = parseWeight(text);
    if (!weight || separator == 0)
      return Status::error(StatusCode::invalid, "--data ", word, ": weight '", text,
                           "', a decimal number above 0 and below 1000000 with at most six decimal places "
                           "required; help: PATH=0.3, or PATH alone");
    data.weights.push_back(*weight);
  }
  if (!data.weights.empty() && data.weights.size() != words.size())
    return Status::error(StatusCode::invalid, "--data: ", data.weights.size(), " of ", words.size(),
                         " data sets have a weight; help: PATH=WEIGHT for each of them, or for none");
  return data;
}

bool hasTokenFiles(std::span<const std::string> words) {
  Expected<DataWords> data = parseDataWords(words);
  return data &&
         std::ranges::any_of(data->paths, [](const std::string &path) { return findTokenFiles(path).has_value(); });
}

} // namespace meshplan
