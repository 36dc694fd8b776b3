// Docgen generates docs/rules.md from the names, limits and actions of the rule language and from
// the template rules.md.in.
package main

import "os"

//go:generate go run .

// page is the path of the generated file, relative to this folder.
const page = "../../../docs/rules.md"

func main() {
	text, err := render()
	if err == nil {
		err = os.WriteFile(page, []byte(text), 0o644) //nolint:gosec // a page of the repository
	}
	if err != nil {
		panic(err) // go generate prints it
	}
}
