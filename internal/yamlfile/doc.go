// Package yamlfile decodes YAML documents strictly and reports the place of each
// mistake.
//
// [Parse] reads one document; a [Decoder] fills Go values from its nodes, with defaults and
// variables where they are wanted. [Schema] returns the JSON Schema of the same values, and
// [File.EachField] goes over them with their nodes, for further checks.
//
// Unknown and repeated keys, wrong types and missing values are problems, each
// with file, line, column and the line's text; they are collected in the [File],
// so that all mistakes of a document are reported at once by [File.Err].
// [File.ProblemIn] finds the place of an offset inside a scalar, for languages
// that are embedded in YAML values.
//
// The input may be hostile: its size, its nesting and the expansion of its
// aliases are bounded.
package yamlfile
