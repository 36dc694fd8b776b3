// Package match matches many regular expressions against the few texts of one event. The cost is
// bounded before matching starts. The package also checks the globs of paths in rules.
//
// # The problem
//
// A rule file may match a thousand patterns against one issue of up to 64 KB. The engine of package
// regexp takes linear time, but needs 10 to 100 ns for each byte and pattern, which adds up to
// seconds. Most patterns match no text of the event, and nearly all of those need words that the
// text lacks.
//
// # The idea
//
// The package first searches the text for the words that every match must contain, and runs the
// engine only if they occur, as GNU grep and RE2's FilteredRE2 do. It searches with strings.Contains.
// An index of the text's trigrams and an Aho–Corasick automaton over the literals of all patterns
// were measured, too. They save milliseconds for 1,000 rules on the largest issue.
//
// # Steps and data structures
//
//  1. Cost ([NewPattern], cost.go): an upper bound of the NFA states that the engine visits for one
//     character, computed from the syntax tree alone. Patterns beyond a limit are rejected at
//     compile time. [Matcher.Match] charges cost × length of the text to the meter of the
//     evaluation before it reads the text.
//  2. Clauses (literals.go), built from the syntax tree when a pattern is first matched. A matching
//     text contains at least one literal of every clause. For example,
//     (?im)^### Version\s+v?77\.\d+ gives the clauses {"### VERSION"} and {"77."}, and
//     (?i)\b(panic|segfault)\b gives {"PANIC", "SEGFAULT"}. A pattern needs more than one clause
//     because every text from an issue form contains the form's headings.
//  3. Folded text (folding.go), made when a text is first matched.
//  4. Engine: compiled when a text first satisfies the clauses of its pattern.
//
// A [Matcher] keeps the folded texts of one event and the last result of each pattern, so a pattern
// in a loop is matched once. A [Pattern] is shared by all events.
//
// # Invariants
//
//   - If the engine matches, every clause is satisfied. TestRandomPatternsAgree and FuzzMatcher
//     compare a matcher with the engine.
//   - Folding is that of (?i), simple case folding, and not strings.ToLower.
//   - The charge depends on the length of a text and never on its words. Otherwise the author of an
//     issue could make a rule fail by the choice of words.
//
// # Limits and where to change them
//
//   - States of a pattern: maxStates in pattern.go. Package cost limits all patterns of an
//     expression.
//   - Literals of a clause: the constants in literals.go.
//   - Folded texts: maxTexts and maxText in matcher.go. Longer texts are matched by the engine
//     alone.
//   - Regular expressions whose literals are not found yet: readLiterals.
package match
