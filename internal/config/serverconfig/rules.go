package serverconfig

import (
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/config/schema"
)

// maxSeconds is one year. A larger number is probably in the wrong unit.
const maxSeconds = 365 * 24 * 60 * 60

// number returns the schema of whole numbers. It accepts texts, too, because the value of a
// variable is a text.
func number(from int) schema.Object {
	return schema.Object{"type": []string{"integer", "string"}, "minimum": from}
}

// boolean returns the schema of booleans, for which published files have many forms.
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
			v.Problemf("~ means the home directory, which is unknown; write the full path")
		default:
			v.Go.SetString(home + path[1:])
		}
	}}
}

// oneLine rejects secrets with control characters, because an HTTP header cannot contain them.
// Mostly the character is a line break from the end of a file.
func oneLine() schema.Rule {
	return schema.Rule{Check: func(v schema.Value) {
		if controls(v.Go.String()) {
			v.Problemf("%s", controlsMessage)
		}
	}}
}

const controlsMessage = "it holds a line break or another control character; a file or a command may have added one at its end"

func controls(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

// filled is [oneLine] for secrets that must not be empty, such as those from an unset variable.
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

// Seconds is a length of time in seconds.
type Seconds int

// Duration returns the length as a [time.Duration].
func (s Seconds) Duration() time.Duration { return time.Duration(s) * time.Second }
