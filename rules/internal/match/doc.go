// Package match matches many patterns against the few texts of one event, at a cost that
// is known before.
//
// Rules ask a thousand patterns about one issue, and most of them do not match. So the
// engine of package regexp is the last resort. A [Pattern] is checked and decided in
// four steps:
//
//  1. Its cost. [NewPattern] bounds the number of states that the engine goes through
//     for one character of text (states.go), from the syntax tree alone. A pattern's cost
//     times the length of a text bounds the time that a match takes. The compiler of
//     expressions refuses patterns that are too expensive on the largest issue, and
//     [Matcher.Match] charges cost × length to the meter of an evaluation. The charge
//     does not depend on the words of the text: an author cannot make a condition fail
//     by the choice of words.
//  2. Its literal prefilter (prefilter.go), which is made from the syntax tree when the
//     pattern is first matched. It has clauses of literals: each text that matches
//     contains at least one literal of every clause. For (?im)^### Version\s+v?77\.\d+
//     these are {"### VERSION"} and {"77."}. A pattern of literals alone, such as
//     (?i)\b(panic|segfault)\b, is replaced by a list of words with their boundaries, and
//     never needs an engine.
//  3. The index of the text (text.go), which is made when the first pattern asks: the
//     text folded as (?i) folds it (folding.go), and the set of its trigrams, hashed
//     into 16 KiB. A literal with a trigram outside of the set does not occur, which
//     decides most clauses without a look at the text; otherwise strings.Contains does.
//  4. The engine, compiled when the prefilter lets a text pass.
//
// An Aho–Corasick automaton of the literals of all patterns would not be faster: for
// 1,000 rules it takes twice as long to build as the largest issue takes to index, and a
// run of the action reads one issue.
//
// A [Matcher] keeps the indexes of an event's texts and the last answer of each pattern,
// so that a pattern in a loop is matched once.
//
// The package also has the two kinds of globs: [Glob] for labels, [PathGlob] for paths.
package match
