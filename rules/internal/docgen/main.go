// Docgen generates docs/rules.md, the pages in docs/rules and docs/limits.md from the names, limits
// and actions of the rule language, and from the templates in the folder pages.
package main

import (
	"os"
	"path/filepath"
)

//go:generate go run .

// docs is the folder of the generated pages, relative to this folder.
const docs = "../../../docs"

func main() {
	pages, err := render()
	for name, text := range pages {
		if err == nil {
			err = os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644) //nolint:gosec // a page of the repository
		}
	}
	if err != nil {
		panic(err) // go generate prints it
	}
}
