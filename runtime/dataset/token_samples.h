//===- token_samples.h - samples cut from a stream of tokens -----*- C++ -*-===//
//
// Two formats: data sets of Megatron-Core (PREFIX.bin and PREFIX.idx), and the
// token files of nanoGPT (a .bin of u16 and nothing else).
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATASET_TOKEN_SAMPLES_H
#define MESHPLAN_RUNTIME_DATASET_TOKEN_SAMPLES_H

#include "runtime/dataset/sample_source.h"

#include <map>
#include <optional>

namespace meshplan {

/// Which tokens an input takes. Models that shift labels themselves, as those of Hugging Face do, take as labels the
/// tokens that they take as input; others take for each token the one that follows.
enum class TokenPlace : uint8_t {
  same, ///< the tokens of the sample
  next, ///< those one place later
};

/// What the user says, by input. An input that is not named takes the tokens of the sample where this is certain: the
/// only input of a program, and `input_ids`.
using TokenPlaces = std::map<std::string, TokenPlace, std::less<>>;

/// "NAME=same" or "NAME=next", one for each input; else `invalid`.
Expected<TokenPlaces> parseTokenPlaces(std::span<const std::string> words);

/// The token files that a path means: nothing if it is none.
struct TokenFiles {
  std::string tokens;
  std::string index; ///< empty for nanoGPT
};

/// Megatron: PREFIX, PREFIX.bin or PREFIX.idx where PREFIX.idx exists. nanoGPT: any other file named *.bin.
std::optional<TokenFiles> findTokenFiles(const std::string &path);

/// Sample i has the tokens [i n, i n + n) of the stream, of which `same` takes these and `next` those one place later,
/// with n as the fields have it; what is left at the end is not used. Samples run over the borders of documents, as in
/// Megatron's GPTDataset, and keep the order of the file.
///
/// Errors, with the path: fields that are no integers of shape [n], of different n, that do not hold the type of the
/// tokens, or of which it is not certain what they take; an index that does not fit its file; a file of llm.c.
Expected<SampleSourcePointer> openTokenSamples(const TokenFiles &files, std::span<const SampleField> fields,
                                               const TokenPlaces &places);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_TOKEN_SAMPLES_H
