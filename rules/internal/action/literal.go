package action

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// checkLiteral checks a value without expressions.
func checkLiteral(f *yamlfile.File, spec protocol.ActionSpec, p param, n *yaml.Node) {
	v, ok := p.literal()
	if !ok {
		return
	}
	if s, isText := v.(string); isText && utf8.RuneCountInString(s) > most(p.spec) {
		f.Problemf(n, "%s: %s has more than %d characters", spec.Name, p.spec.Name, most(p.spec))
		return
	}
	if s, isText := v.(string); isText && isKey(p.spec) && !keyPattern().MatchString(s) {
		f.Problemf(n, "%s: %s: want letters, digits, '.', '_' and '-', at most 64, got %q", spec.Name, p.spec.Name, text.Shorten(s, text.Quoted))
		return
	}
	if v == triage.SuggestionsKey && p.spec.Name == "key" {
		f.Problemf(n, "%s: key: %s is the comment in which Foreman lists its proposals; choose another key", spec.Name, triage.SuggestionsKey)
		return
	}
	if login, found := atLogin(p.spec, v); found {
		f.Problemf(n, "%s: write the login without @: %s", spec.Name, strings.TrimPrefix(login, "@"))
		return
	}
	if names, _ := v.([]string); p.spec.Plain {
		if i := slices.IndexFunc(names, func(s string) bool { return !protocol.PlainName(s) }); i >= 0 {
			f.Problemf(n, "%s: %s: want letters, digits, '-', '_' and '.', without @ and organisation, got %q", spec.Name, p.spec.Name, text.Shorten(names[i], text.Quoted))
			return
		}
	}
	a, err := protocol.NewAction(spec.Name, map[string]any{p.spec.Name: v})
	if err != nil {
		f.Problemf(n, "%v", err)
		return
	}
	if err := (protocol.ActionSpec{Name: spec.Name, Params: []protocol.Param{p.spec}}).Check(a); err != nil {
		hint := ""
		if s, isText := v.(string); isText {
			hint = yamlfile.DidYouMean(s, p.spec.Enum)
			switch known := meant(s); {
			case s == "":
				hint = instead(p.spec)
			case slices.Contains(p.spec.Enum, known):
				hint = fmt.Sprintf("; write %q", known)
			}
		}
		f.Problemf(n, "%v%s", err, hint)
	}
}

// keyPattern matches the keys that the hidden marker of a comment can contain.
var keyPattern = text.Regexp(`^[a-zA-Z0-9._-]{1,64}$`)

// isKey reports whether the parameter is a key with which a later run finds the comment.
func isKey(p protocol.Param) bool { return p.Name == "once" || p.Name == "key" }

// atLogin returns the first login that is written as a mention, such as @octocat.
func atLogin(p protocol.Param, value any) (login string, found bool) {
	logins, ok := value.([]string)
	if !ok || !p.Mentionable {
		return "", false
	}
	i := slices.IndexFunc(logins, func(s string) bool { return strings.HasPrefix(s, "@") })
	if i < 0 {
		return "", false
	}
	return logins[i], true
}
