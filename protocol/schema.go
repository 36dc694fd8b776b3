package protocol

import (
	"embed"
	"io/fs"
)

//go:embed schema/*.json
var schemas embed.FS

// Schemas returns the JSON Schemas (draft 2020-12) of the messages: task.json,
// decision.json and action.json, which the former refers to.
//
// task.json and [ParseTask] accept the same messages. The other two accept an action of a known
// type only with the parameters that [ActionSpec.Check] accepts, which [ParseDecision] leaves to
// the executor; an action of an unknown type is valid as long as it has one. A schema applies to
// decoded JSON, so two properties of the text are lost: a repeated key, of which the decoders take
// the last value, and bytes that are not UTF-8, which the decoders refuse.
func Schemas() fs.FS {
	sub, err := fs.Sub(schemas, "schema")
	if err != nil {
		panic(err) // only for an invalid path
	}
	return sub
}
