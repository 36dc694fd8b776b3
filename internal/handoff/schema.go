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
// The schemas accept everything that the parsers accept. The parsers reject two more things. The
// first is a summary that is longer than [MaxSummary] in UTF-16 code units, but not in characters,
// which JSON Schema counts. The second is text that is not UTF-8, because a schema checks decoded
// JSON.
func Schemas() fs.FS {
	sub, err := fs.Sub(schemas, "schema")
	if err != nil {
		panic(err) // only possible for an invalid path
	}
	return sub
}
