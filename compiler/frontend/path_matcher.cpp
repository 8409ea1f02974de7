//===- path_matcher.cpp - the automaton of a pattern -----------------------===//
//
// A path is read as its components, each followed by a dot; so is a pattern. The root, whose path is empty, has no
// components. The nondeterministic automaton is built from the end of the pattern to its start, and made deterministic
// lazily: step() computes a state of the deterministic automaton when it is first needed.
//
// Example: `a.**.w` becomes the automaton for the text "a." (component ".")* "w.":
//
//   start -a-> -.-> loop -+-> -w-> -.-> accept
//                    ^    |
//                    +-.--+ (any characters but dots, then a dot)
//
// The path `a.b.w` is read as "a.b.w.": after "a." both branches of `loop` are active; "b." can only be read by the
// inner one, which returns to `loop`; then "w." accepts.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/path_pattern.h"

#include <algorithm>
#include <utility>

using namespace meshplan;

int32_t PathMatcher::addState(NfaState::Kind kind, std::vector<int32_t> next, char character) {
  nfa.push_back({kind, character, std::move(next)});
  return static_cast<int32_t>(nfa.size()) - 1;
}

PathMatcher::PathMatcher(const PatternSequence &pattern) {
  accept = addState(NfaState::Kind::Split, {});
  Continuation start{accept, -1};
  if (!pattern.empty()) {
    // A pattern that ends in `**` has read the dot of the last component already, and continues at `accept`.
    int32_t lastDot = addState(NfaState::Kind::Character, {accept}, '.');
    start = build(pattern, {lastDot, accept});
  }
  // The empty set is interned first, so it is state 0, `dead`.
  intern({});
  std::vector<int32_t> set;
  close(start.next, set);
  first = intern(std::move(set));
}

PathMatcher::Continuation PathMatcher::build(llvm::ArrayRef<PatternNode> sequence, Continuation rest) {
  for (const PatternNode &node : llvm::reverse(sequence))
    rest = buildNode(node, rest);
  return rest;
}

/// Reads any number of components with their dots, then continues after the dot that follows `**` in the pattern.
int32_t PathMatcher::buildDoubleStar(int32_t afterDot) {
  int32_t loop = addState(NfaState::Kind::Split, {afterDot});
  int32_t inside = addState(NfaState::Kind::Split, {});
  int32_t dot = addState(NfaState::Kind::Character, {loop}, '.');
  int32_t more = addState(NfaState::Kind::NotDot, {inside});
  nfa[inside].next = {dot, more};
  nfa[loop].next.push_back(more);
  return loop;
}

PathMatcher::Continuation PathMatcher::buildNode(const PatternNode &node, Continuation rest) {
  switch (node.kind) {
  case PatternNode::Kind::Character: {
    int32_t afterDot = node.character == '.' ? rest.next : -1;
    return {addState(NfaState::Kind::Character, {rest.next}, node.character), afterDot};
  }
  case PatternNode::Kind::Star: {
    int32_t loop = addState(NfaState::Kind::Split, {rest.next});
    int32_t more = addState(NfaState::Kind::NotDot, {loop});
    nfa[loop].next.push_back(more);
    return {loop, -1};
  }
  case PatternNode::Kind::DoubleStar:
    return {buildDoubleStar(rest.afterDot), -1};
  case PatternNode::Kind::Alternatives:
    break;
  }
  std::vector<int32_t> next;
  for (const PatternSequence &alternative : node.alternatives)
    next.push_back(build(alternative, rest).next);
  return {addState(NfaState::Kind::Split, std::move(next)), -1};
}

void PathMatcher::close(int32_t state, std::vector<int32_t> &set) const {
  std::vector<int32_t> open = {state};
  while (!open.empty()) {
    int32_t current = open.back();
    open.pop_back();
    auto position = std::lower_bound(set.begin(), set.end(), current);
    if (current < 0 || (position != set.end() && *position == current))
      continue;
    // Sets are sorted, so that equal sets that were reached in different ways are one state.
    set.insert(position, current);
    if (nfa[current].kind == NfaState::Kind::Split)
      open.insert(open.end(), nfa[current].next.begin(), nfa[current].next.end());
  }
}

PathMatcher::State PathMatcher::intern(std::vector<int32_t> set) {
  auto [entry, isNew] = known.try_emplace(set, static_cast<State>(states.size()));
  if (isNew) {
    DfaState state;
    state.accepting = std::binary_search(set.begin(), set.end(), accept);
    state.set = std::move(set);
    state.next.fill(-1);
    states.push_back(std::move(state));
  }
  return entry->second;
}

PathMatcher::State PathMatcher::step(State state, char character) {
  auto index = static_cast<unsigned char>(character);
  if (State next = states[state].next[index]; next >= 0)
    return next;
  std::vector<int32_t> set;
  for (int32_t member : states[state].set) {
    const NfaState &from = nfa[member];
    bool reads = from.kind == NfaState::Kind::Character ? from.character == character
                                                        : from.kind == NfaState::Kind::NotDot && character != '.';
    if (reads)
      close(from.next.front(), set);
  }
  State next = intern(std::move(set));
  states[state].next[index] = next;
  return next;
}

PathMatcher::State PathMatcher::advance(State state, llvm::StringRef component) {
  for (char c : component)
    state = step(state, c);
  return step(state, '.');
}

bool PathMatcher::matches(llvm::StringRef path) {
  State state = first;
  while (!path.empty() && state != dead) {
    auto [component, rest] = path.split('.');
    state = advance(state, component);
    path = rest;
  }
  return accepts(state);
}
