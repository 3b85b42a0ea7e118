//===- parser.cpp - modules, and the heads of functions -------------------===//
#include "test/cuda/ptx/syntax/parser.h"

#include "test/cuda/ptx/syntax/parse_state.h"

#include <fmt/format.h>

#include <charconv>

namespace mtc::ptx {

Tree parse(std::string_view text, std::vector<Problem> &problems) {
  std::vector<Token> tokens = tokensOf(text, problems);
  return Parser(Cursor(std::move(tokens), problems)).run();
}

Tree Parser::run() {
  header();
  while (!cursor_.atEnd()) {
    size_t before = cursor_.problems();
    item();
    if (cursor_.problems() > before)
      skipItem();
  }
  return std::move(tree_);
}

void Parser::header() {
  if (!cursor_.acceptWord(".version"))
    return cursor_.unexpected(".version, which a program begins with");
  version();
  if (!cursor_.acceptWord(".target"))
    return cursor_.unexpected(".target");
  target();
}

void Parser::version() {
  const Token &token = cursor_.next();
  size_t point = token.text.find('.');
  unsigned major = 0, minor = 0;
  if (token.kind == TokenKind::real && point != token.text.npos) {
    std::from_chars(token.text.data(), token.text.data() + point, major);
    std::from_chars(token.text.data() + point + 1,
                    token.text.data() + token.text.size(), minor);
  }
  tree_.version = 10 * major + minor;
  if (tree_.version < 60 || minor > 9)
    cursor_.problem(token.line, "expected a .version from 6.0 on");
}

void Parser::target() {
  int line = cursor_.line();
  std::string_view name = cursor_.expectWord("a target, as sm_90");
  const char *end = name.data() + name.size(), *suffix = end;
  if (name.substr(0, 3) == "sm_")
    suffix = std::from_chars(name.data() + 3, end, tree_.target).ptr;
  tree_.architectureSpecific = suffix != end && *suffix == 'a';
  if (tree_.target < 50)
    cursor_.problem(line, "expected a .target from sm_50 on");
  else if (end - suffix > tree_.architectureSpecific ||
           (tree_.architectureSpecific && tree_.target < 90))
    cursor_.problem(line,
                    fmt::format("target {} is none: as sm_90 or sm_90a", name));
  if (tree_.target >= 90 && tree_.version < 78)
    cursor_.problem(line, "expected .version 7.8 or later for this target");
  while (cursor_.accept(','))
    if (cursor_.expectWord("a word") != "debug")
      cursor_.problem(line, "no target but one and 'debug' is known here");
}

/// Something at the level of the module.
void Parser::item() {
  int line = cursor_.line();
  if (cursor_.acceptWord(".address_size")) {
    if (cursor_.expectInteger("64") != 64)
      cursor_.problem(line, "expected addresses of 64 bits");
    return;
  }
  if (cursor_.acceptWord(".file") || cursor_.acceptWord(".loc"))
    return cursor_.skipLine(line);
  if (cursor_.acceptWord(".section"))
    return section();
  if (cursor_.acceptWord(".pragma"))
    return cursor_.skipStatement();
  bool external = linkage();
  if (cursor_.acceptWord(".entry"))
    return function(true);
  if (cursor_.acceptWord(".func"))
    return function(false);
  std::optional<Space> space = spaceOf(cursor_.peek().text);
  if (!space || *space == Space::param || *space == Space::local)
    return cursor_.unexpected("a kernel, a function or a variable");
  cursor_.next();
  auto made = variable(*space);
  cursor_.expect(';');
  if (made && external && tree_.variables[*made].bytes != 0)
    cursor_.problem(line, "a variable of another module: nothing links here");
}

/// Whether it is .extern.
bool Parser::linkage() {
  bool external = false;
  while (true) {
    if (cursor_.acceptWord(".extern"))
      external = true;
    else if (!cursor_.acceptWord(".visible") && !cursor_.acceptWord(".weak") &&
             !cursor_.acceptWord(".common"))
      return external;
  }
}

/// Of debuggers: nothing in it changes what a program does.
void Parser::section() {
  cursor_.expectWord("the name of a section");
  if (cursor_.peek().is('{'))
    return cursor_.skipBraces();
  cursor_.unexpected("'{'");
}

void Parser::function(bool kernel) {
  Function function;
  function.kernel = kernel;
  function.line = cursor_.line();
  scopes_.open();
  auto leave = [&] { scopes_.close([](auto &, auto) {}, [](auto &) {}); };
  if (!kernel && cursor_.peek().is('(') &&
      !parameterList(function, function.results))
    return leave();
  function.name = cursor_.expectWord("the name of a function");
  if (cursor_.peek().is('(') && !parameterList(function, function.parameters))
    return leave();
  performanceDirectives(function);
  // A declaration comes before what it declares; the function keeps its place.
  auto [known, isNew] =
      functions_.emplace(function.name, uint32_t(tree_.functions.size()));
  if (isNew)
    tree_.functions.emplace_back();
  else if (tree_.functions[known->second].defined)
    cursor_.problem(function.line,
                    fmt::format("'{}' is there twice", function.name));
  if (!cursor_.accept(';'))
    body(function);
  leave();
  tree_.functions[known->second] = std::move(function);
}

bool Parser::parameterList(Function &, std::vector<uint32_t> &into) {
  cursor_.expect('(');
  if (cursor_.accept(')'))
    return true;
  do {
    std::optional<Space> space = spaceOf(cursor_.peek().text);
    if (space != Space::param) {
      cursor_.unexpected(".param");
      return false;
    }
    cursor_.next();
    auto parameter = variable(Space::param);
    if (!parameter)
      return false;
    into.push_back(*parameter);
  } while (cursor_.accept(','));
  return cursor_.expect(')');
}

void Parser::performanceDirectives(Function &function) {
  while (true) {
    int line = cursor_.line();
    if (cursor_.acceptWord(".reqntid"))
      function.requiredBlock = extent();
    else if (cursor_.acceptWord(".maxntid"))
      function.largestBlock = extent();
    else if (cursor_.acceptWord(".minnctapersm") ||
             cursor_.acceptWord(".maxnreg") ||
             cursor_.acceptWord(".maxnctapersm"))
      cursor_.expectInteger("a number");
    else if (cursor_.acceptWord(".pragma"))
      cursor_.skipStatement();
    else if (cursor_.acceptWord(".loc"))
      cursor_.skipLine(line);
    else if (function.kernel || !cursor_.acceptWord(".noreturn"))
      return;
  }
}

Extent Parser::extent() {
  auto one = [&] {
    uint64_t value = cursor_.expectInteger("a number of threads");
    return uint32_t(std::min<uint64_t>(value, ~0u));
  };
  Extent extent{one(), 1, 1};
  if (cursor_.accept(','))
    extent.y = one();
  if (cursor_.accept(','))
    extent.z = one();
  return extent;
}

/// After a problem: to what looks like the next item.
void Parser::skipItem() {
  while (!cursor_.atEnd()) {
    const Token &token = cursor_.peek();
    if (token.is('{')) {
      cursor_.skipBraces();
      return;
    }
    cursor_.next();
    if (token.is(';') || token.is('}'))
      return;
  }
}

} // namespace mtc::ptx
