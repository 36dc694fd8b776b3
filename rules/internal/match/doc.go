// Package match matches many regular expressions against the few texts of one event, at a
// cost that is bounded before matching starts. It also has the globs of rules: [Glob] for
// labels, [PathGlob] for paths.
//
// # The problem
//
// A rule file may ask a thousand patterns about one issue of up to 64 KB. The engine of
// package regexp takes linear time, but 10 to 100 ns for each byte and pattern, which
// adds up to seconds. Most patterns match no text of the event, and nearly all contain
// words that the text lacks.
//
// # The idea
//
// A literal prefilter, as in GNU grep, RE2's FilteredRE2 and Hyperscan: the words that every
// match must contain are looked for first, and the engine runs only if they occur. The
// words are looked up in an index of the trigrams of the text, as Google Code Search does
// with files. An Aho–Corasick automaton over the literals of all patterns was measured
// too: for 1,000 rules it takes twice as long to build as the largest issue takes to
// index, and a run of the action reads one issue.
//
// # Steps and data structures
//
//  1. Cost ([NewPattern], cost.go). From the syntax tree alone, a bound of the NFA states
//     that the engine visits for one character. Patterns beyond a limit are refused at
//     compile time. [Matcher.Match] charges cost × length of the text to the meter of the
//     evaluation before it looks at the text.
//  2. Prefilter (prefilter.go), made from the syntax tree when a pattern is first matched.
//     It is in conjunctive normal form: a text that matches contains at least one literal
//     of every clause. (?im)^### Version\s+v?77\.\d+ gives {"### VERSION"} and {"77."}. A
//     pattern of literals alone, such as (?i)\b(panic|segfault)\b, becomes a list of words
//     with boundaries, which is exact and never needs the engine.
//  3. Index (index.go), made when a text is first matched: the text in folded case
//     (folding.go) and the set of its trigrams, hashed into 16 KiB. A literal with a
//     trigram outside of the set does not occur. Otherwise strings.Contains decides.
//  4. Engine: compiled when a text first passes the prefilter of its pattern.
//
// A [Matcher] keeps the indexes of one event's texts and the last answer of each pattern,
// so a pattern in a loop is matched once. A [Pattern] is shared by all events.
//
// # Invariants
//
//   - The prefilter has no false negatives: if the engine matches, every clause holds.
//     TestPrefilterAgrees and FuzzPrefilter compare the two.
//   - Folding is that of (?i), simple case folding, and not strings.ToLower.
//   - The charge depends on the length of a text and never on its words. Otherwise the
//     author of an issue could make a rule fail by the choice of words.
//
// # Limits and where to change them
//
// States of a pattern: maxStates in pattern.go, and package cost for what an expression
// may use. Literals of a clause: the constants in prefilter.go. Indexed texts: maxTexts
// and maxText in matcher.go. A longer text is matched by the engine alone. A construct of
// regular expressions that has literals but is not read for them: literalReader.read.
package match
