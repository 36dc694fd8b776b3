package protocol

import (
	"embed"
	"io/fs"
)

//go:embed schema/*.json
var schemas embed.FS

// Schemas returns the JSON Schemas (draft 2020-12) of the messages: task.json, decision.json, and
// action.json, to which decision.json refers.
//
// task.json and [ParseTask] accept the same messages. For actions, the schemas also check the
// parameters of known types, as [ActionSpec.Check] does; [ParseDecision] leaves this check to the
// executor. An action of an unknown type is valid. A schema checks decoded JSON, so it cannot see
// two properties of the text: repeated keys, of which the decoders use the last value, and bytes
// that are not UTF-8, which the decoders reject.
func Schemas() fs.FS {
	sub, err := fs.Sub(schemas, "schema")
	if err != nil {
		panic(err) // only possible for an invalid path
	}
	return sub
}
