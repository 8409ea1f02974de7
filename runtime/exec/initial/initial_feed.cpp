//===- initial_feed.cpp - initial weights ---------------------------------===//

#include "runtime/exec/initial/initial_feed.h"

#include "runtime/artifact/sharding.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/base/names.h"
#include "runtime/schema/stacked_modules.h"

#include <algorithm>
#include <cstring>

using namespace meshplan;

/// Number of elements that are converted at a time.
static constexpr int64_t drawnLength = 1024;

std::vector<std::string> meshplan::parametersWithoutInit(const artifact::Program &program) {
  std::vector<std::string> names;
  for (const artifact::Parameter &parameter : elementsOf(program.parameters()))
    if (!parameter.init())
      names.push_back(parameter.names()->Get(0)->str());
  return names;
}

/// "layers.*.norm" for "layers.11.norm", so that equal layers share one entry.
static std::string withoutIndices(std::string_view path) {
  std::string text;
  while (!path.empty()) {
    std::string_view component = path.substr(0, path.find('.'));
    bool isIndex = component.find_first_not_of("0123456789") == std::string_view::npos;
    text += (text.empty() ? "" : ".") + std::string(isIndex ? "*" : component);
    path.remove_prefix(std::min(path.size(), component.size() + 1));
  }
  return text;
}

/// The tensors of the modules whose parameters this one stacks; none if it is one of a single module.
static std::vector<WeightPiece> modulesOf(const artifact::Program &program, const artifact::Parameter &parameter) {
  std::optional<WeightPieces> pieces = weightPiecesOf(parameter);
  if (!pieces || !areStackedModules(*pieces, parameter.names()->Get(0)->string_view()))
    return {};
  return piecesOf(*pieces, globalShapeOf(*program.values()->Get(parameter.value())));
}

/// True for a weight with one dim. It scales a normalized activation, and torch.nn initializes it with ones. The name
/// of the module need not contain "norm".
static bool isScale(const artifact::Program &program, const artifact::Parameter &parameter) {
  size_t stacked = modulesOf(program, parameter).empty() ? 0 : 1;
  return program.values()->Get(parameter.value())->dims()->size() == 1 + stacked &&
         parameter.names()->Get(0)->string_view().ends_with(".weight");
}

/// True if `pattern` matches `path`: their components are equal, or `*` in the pattern.
static bool names(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && !path.empty()) {
    std::string_view wanted = pattern.substr(0, pattern.find('.')), component = path.substr(0, path.find('.'));
    if (wanted != "*" && wanted != component)
      return false;
    pattern.remove_prefix(std::min(pattern.size(), wanted.size() + 1));
    path.remove_prefix(std::min(path.size(), component.size() + 1));
  }
  return pattern.empty() && path.empty();
}

/// An `init` statement for the program that the user can paste. Scales of equal layers share an entry, unless the
/// pattern also matches other parameters: `net.*.weight` of a Sequential matches the weights of its linear layers too.
/// Biases are initialized with zeros.
static std::string initStatement(const artifact::Program &program) {
  std::vector<std::string> scales, others, entries;
  bool hasBias = false;
  for (const artifact::Parameter *parameter : *program.parameters()) {
    // An entry of 'init' must not name a buffer.
    if (parameter->buffer())
      continue;
    std::string name = parameter->names()->Get(0)->str();
    hasBias |= name == "bias" || name.ends_with(".bias");
    (isScale(program, *parameter) ? scales : others).push_back(std::move(name));
  }
  for (const std::string &name : scales) {
    std::string pattern = withoutIndices(name);
    if (std::any_of(others.begin(), others.end(), [&](const std::string &other) { return names(pattern, other); }))
      pattern = name;
    if (std::find(entries.begin(), entries.end(), pattern) == entries.end())
      entries.push_back(std::move(pattern));
  }
  std::string text = "init { ";
  for (const std::string &entry : entries)
    text += entry + " ones; ";
  return text + (hasBias ? "**.bias zeros; " : "") + "rest normal 0.02 }";
}

/// Buffers are never random; their initial values are in the archive.
static Status missingInit(const artifact::Program &program, const std::vector<std::string> &missing) {
  bool lacksParameter = std::any_of(program.parameters()->begin(), program.parameters()->end(),
                                    [](const auto *each) { return !each->buffer() && !each->init(); });
  std::string help = "give weights, or ";
  help +=
      lacksParameter ? "write '" + initStatement(program) + "' in the plan; " : "export the model with its buffers: ";
  return Status::error(StatusCode::invalid, "the plan does not initialize ", listOfFew(missing), "; help: ", help,
                       "buffers start with the values of the archive, if it was exported with weights");
}

Expected<InitialFeed> InitialFeed::create(const artifact::Program &program, uint64_t seed) {
  if (std::vector<std::string> missing = parametersWithoutInit(program); !missing.empty())
    return missingInit(program, missing);
  InitialFeed feed;
  for (const artifact::Parameter &parameter : elementsOf(program.parameters())) {
    std::vector<std::string> names = namesOf(parameter);
    // Only a description: elements are drawn when they are read, so a feed of a large model takes no memory.
    Values own = valuesOf(program, parameter, seed);
    for (const std::string &name : names)
      feed.values.emplace(name, own);
  }
  return feed;
}

InitialFeed::Values InitialFeed::valuesOf(const artifact::Program &program, const artifact::Parameter &parameter,
                                          uint64_t seed) {
  const artifact::Init &init = *parameter.init();
  if (init.kind() != artifact::InitKind::given) {
    Draws draws;
    for (const WeightPiece &module : modulesOf(program, parameter))
      draws.emplace_back(init, seed, module.name);
    // The first name alone selects the random numbers, so that a tied parameter is the same under each of its names.
    if (draws.empty())
      draws.emplace_back(init, seed, parameter.names()->Get(0)->string_view());
    return draws;
  }
  return Given{dtypeOf(init.dtype()), init.data() ? std::as_bytes(std::span(init.data()->data(), init.data()->size()))
                                                  : std::span<const std::byte>()};
}

static void convert(std::span<const double> numbers, DType dtype, std::byte *out) {
  if (dtype == DType::f64) {
    std::memcpy(out, numbers.data(), numbers.size_bytes());
    return;
  }
  // Via f32 for narrower dtypes too, so that a 16-bit parameter is its f32 master weight, rounded.
  float rounded[drawnLength];
  for (size_t i = 0; i < numbers.size(); ++i)
    rounded[i] = static_cast<float>(numbers[i]);
  convertFloats(reinterpret_cast<const std::byte *>(rounded), DType::f32, out, dtype,
                static_cast<int64_t>(numbers.size()));
}

Status InitialFeed::readDrawn(const Draws &draws, const FeedRequest &request, std::span<std::byte> out) {
  if (!isFloat(request.dtype))
    return Status::error(StatusCode::invalid, "parameter '", request.names.front(), "' of type ",
                         dtypeName(request.dtype), " cannot be initialized randomly");
  int64_t size = dtypeSize(request.dtype);
  int64_t share = elementCount(request.shape) / static_cast<int64_t>(draws.size());
  double numbers[drawnLength];
  return forEachRun(request.ranges, request.shape, contiguousStrides(request.shape),
                    [&](int64_t global, int64_t local, int64_t count) {
                      for (int64_t done = 0; done < count;) {
                        int64_t of = (global + done) / share, first = (global + done) % share;
                        std::span<double> piece(numbers, std::min({drawnLength, count - done, share - first}));
                        draws[of].draw(static_cast<uint64_t>(first), piece);
                        convert(piece, request.dtype, out.data() + (local + done) * size);
                        done += static_cast<int64_t>(piece.size());
                      }
                      return Status();
                    });
}

Status InitialFeed::readGiven(const Given &given, const FeedRequest &request, std::span<std::byte> out) {
  if (given.dtype != request.dtype && !(isFloat(given.dtype) && isFloat(request.dtype)))
    return Status::error(StatusCode::invalid, "buffer '", request.names.front(), "' has dtype ", dtypeName(given.dtype),
                         ", ", dtypeName(request.dtype), " required");
  return copySlice(given.bytes.data(), given.dtype, request.ranges, request.shape, contiguousStrides(request.shape),
                   out.data(), request.dtype);
}

Status InitialFeed::read(const FeedRequest &request, std::span<std::byte> out) const {
  auto found = request.names.empty() ? values.end() : values.find(request.names.front());
  if (found == values.end())
    return Status::error(StatusCode::notFound, "the plan does not initialize ", nameList(request.names));
  MESHPLAN_RETURN_IF_ERROR(checkSlice(request.ranges, request.shape));
  if (const Given *given = std::get_if<Given>(&found->second))
    return readGiven(*given, request, out);
  return readDrawn(std::get<Draws>(found->second), request, out);
}
