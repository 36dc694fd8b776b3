// Package yamlfile decodes YAML documents strictly and reports the place of each mistake.
//
// [Parse] reads one document. A [Decoder] fills Go values from its nodes, optionally with defaults
// and variables. [Schema] returns the JSON Schema of the same values. [File.EachField] iterates
// over the values with their nodes, for further checks.
//
// Unknown and repeated keys, wrong types and missing values are problems, each with file, line,
// column and the line's text. The [File] collects them, so that [File.Err] reports all mistakes of
// a document at once. [File.ProblemIn] finds the place of an offset inside a scalar, for languages
// that are embedded in YAML values.
//
// The input may be hostile: its size, its nesting and the expansion of its aliases are limited.
package yamlfile
