package serverconfig

import (
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/org/foreman-action/config/internal/schema"
	"github.com/org/foreman-action/internal/address"
)

// maxSeconds is a year; more is a mistake of units.
const maxSeconds = 365 * 24 * 60 * 60

// number is the schema of whole numbers, and of texts, because the value of a variable is a text.
func number(from int) schema.Object {
	return schema.Object{"type": []string{"integer", "string"}, "minimum": from}
}

// boolean is the schema of booleans, which published files have in many forms.
func boolean() schema.Object {
	return schema.Object{"type": []string{"boolean", "string", "integer"}}
}

// between is [schema.Between] for numbers that may be written as text.
func between(from, to int) schema.Rule {
	return schema.Rule{JSON: number(from), Check: schema.Between(from, to).Check}
}

// homePath resolves "~" at the start of a path to the home directory.
func homePath(home string) schema.Rule {
	return schema.Rule{Check: func(v schema.Value) {
		path := v.Go.String()
		switch {
		case path != "~" && !strings.HasPrefix(path, "~/"):
		case home == "":
			v.Problemf("~ stands for the home directory, and there is none; write the path out")
		default:
			v.Go.SetString(home + path[1:])
		}
	}}
}

// oneLine permits secrets without control characters. No header can hold others, and most
// come from a file that ends in a line break.
func oneLine() schema.Rule {
	return schema.Rule{Check: func(v schema.Value) {
		if controls(v.Go.String()) {
			v.Problemf("%s", controlsMessage)
		}
	}}
}

const controlsMessage = "it holds a line break or another control character; a file or a command may have added one at its end"

func controls(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

// filled is [oneLine] for secrets that must not be empty, as those of an unset variable.
func filled(message string) schema.Rule {
	return schema.Rule{Check: func(v schema.Value) {
		if v.Go.Len() == 0 {
			v.Problemf("%s", message)
		}
		oneLine().Check(v)
	}}
}

func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && address.ValidHost(u.Hostname()) && address.ValidPort(u.Port())
}

// Seconds are a length of time in seconds.
type Seconds int

// Duration returns the length as a [time.Duration].
func (s Seconds) Duration() time.Duration { return time.Duration(s) * time.Second }
