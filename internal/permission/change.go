package permission

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/memory"
)

// Describe returns a sentence about a permission that a pair got or lost. Its names are untrusted text.
func Describe(c memory.PermissionChange) string {
	source, _ := SourceText(c.Source, c.Name)
	state := "proposed again"
	if c.Granted {
		state = "carried out"
	}
	return fmt.Sprintf("%s, %s: %s since %s: %s", source, strings.TrimSpace(c.Action+" "+c.Value), state, c.At.UTC().Format(time.DateOnly), c.Why)
}

// SourceText returns the source of a pair for people, and the digest of a rule. name is that of [memory.Pair].
func SourceText(source, name string) (text, digest string) {
	if digest, ok := strings.CutPrefix(source, "rule:"); ok {
		return "rule " + cmp.Or(name, digest), digest
	}
	if name, ok := strings.CutPrefix(source, "agent:"); ok {
		return "agent " + name, ""
	}
	return source, ""
}
