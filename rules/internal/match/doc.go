// Package match matches many regular expressions against the few texts of one event. The cost is
// bounded before matching starts. The package also has the globs of rules: [Glob] for labels,
// [PathGlob] for paths.
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
// The package uses a literal prefilter, like GNU grep, RE2's FilteredRE2 and Hyperscan. It first
// searches the text for the words that every match must contain, and runs the engine only if they
// occur. It finds the words with an index of the text's trigrams, as Google Code Search does with
// files. An Aho–Corasick automaton over the literals of all patterns was measured, too. For 1,000
// rules, building it takes twice as long as indexing the largest issue, and a run of the action
// reads only one issue.
//
// # Steps and data structures
//
//  1. Cost ([NewPattern], cost.go): an upper bound of the NFA states that the engine visits for one
//     character, computed from the syntax tree alone. Patterns beyond a limit are rejected at
//     compile time. [Matcher.Match] charges cost × length of the text to the meter of the
//     evaluation before it reads the text.
//  2. Prefilter (prefilter.go), built from the syntax tree when a pattern is first matched. It is in
//     conjunctive normal form: a matching text contains at least one literal of every clause. For
//     example, (?im)^### Version\s+v?77\.\d+ gives the clauses {"### VERSION"} and {"77."}. A
//     pattern of literals alone, such as (?i)\b(panic|segfault)\b, becomes a list of words with
//     boundaries. This list is exact and never needs the engine.
//  3. Index (index.go), built when a text is first matched: the text in folded case (folding.go)
//     and the set of its trigrams, hashed into 16 KiB. A literal does not occur if one of its
//     trigrams is missing from the set. Otherwise strings.Contains decides.
//  4. Engine: compiled when a text first passes the prefilter of its pattern.
//
// A [Matcher] keeps the indexes of one event's texts and the last result of each pattern, so a
// pattern in a loop is matched once. A [Pattern] is shared by all events.
//
// # Invariants
//
//   - The prefilter has no false negatives: if the engine matches, every clause is satisfied.
//     TestPrefilterAgrees and FuzzPrefilter compare prefilter and engine.
//   - Folding is that of (?i), simple case folding, and not strings.ToLower.
//   - The charge depends on the length of a text and never on its words. Otherwise the author of an
//     issue could make a rule fail by the choice of words.
//
// # Limits and where to change them
//
//   - States of a pattern: maxStates in pattern.go. Package cost limits all patterns of an
//     expression.
//   - Literals of a clause: the constants in prefilter.go.
//   - Indexed texts: maxTexts and maxText in matcher.go. Longer texts are matched by the engine
//     alone.
//   - Regular expressions whose literals are not found yet: literalReader.read.
package match
