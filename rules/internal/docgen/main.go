// Docgen makes docs/rules.md of the names, limits and actions of the rule language and of
// rules.md.in beside it.
package main

import "os"

//go:generate go run .

// page is the file that is made, from this folder.
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
