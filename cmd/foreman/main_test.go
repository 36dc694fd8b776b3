package main

import (
	"os"
	"strings"
	"testing"
)

// TestSameProgram checks that this main.go and the one at the root of the module have the same
// code.
func TestSameProgram(t *testing.T) {
	t.Parallel()
	var code [2]string
	for i, name := range []string{"main.go", "../../main.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, code[i], _ = strings.Cut(string(text), "package main\n")
	}
	if code[0] != code[1] || code[0] == "" {
		t.Error("main.go and cmd/foreman/main.go differ")
	}
}
