package handoff

import (
	"embed"
	"io/fs"
)

//go:embed schema/*.json
var schemas embed.FS

// Schemas returns the JSON Schemas (draft 2020-12) of the results: builder-result.json and
// inspector-result.json.
//
// Everything that the parsers accept is valid under the schemas. The parsers refuse two valid
// things: a summary that is too long in UTF-16 code units ([MaxSummary]) but not in characters,
// which JSON Schema counts; and bytes that are not UTF-8, which a schema does not see.
func Schemas() fs.FS {
	sub, err := fs.Sub(schemas, "schema")
	if err != nil {
		panic(err) // only for an invalid path
	}
	return sub
}
