package trackrecord

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/memory"
)

// Change returns a sentence about a permission that a pair got or lost. Its names are untrusted text.
func Change(c memory.PermissionChange) string {
	source, _ := sourceOf(c.Source, c.Name)
	what := Pair{Source: source, Action: c.Action, Value: c.Value}
	state := "proposed again"
	if c.Granted {
		state = "carried out"
	}
	return fmt.Sprintf("%s, %s: %s since %s: %s", source, what.what(), state, c.At.UTC().Format(time.DateOnly), c.Why)
}

// sourceOf returns the source of a pair for people, and the digest of a rule. name is that of [memory.Pair].
func sourceOf(source, name string) (text, digest string) {
	if digest, ok := strings.CutPrefix(source, "rule:"); ok {
		return "rule " + cmp.Or(name, digest), digest
	}
	if name, ok := strings.CutPrefix(source, "agent:"); ok {
		return "agent " + name, ""
	}
	return source, ""
}
