package yamlfile

import (
	"fmt"
	"strings"

	"github.com/org/foreman-action/internal/text"
)

// Variables resolves variables such as ${NAME} in texts.
type Variables struct {
	// Lookup returns the value of a variable. Its error names the variable but contains no value.
	Lookup func(name string) (string, error)
	// Reserved returns an error if only secrets, values of type [Decoder.Secret], may contain the
	// variable. The error names the variable. A nil result, or a nil function, allows the variable
	// everywhere.
	Reserved func(name string) error
	// Lenient keeps "${}" and an unclosed "${" unchanged.
	Lenient bool
}

var (
	variable     = text.Regexp(`\$\{[^}]*\}?`)
	variableName = text.Regexp(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)
)

// Expand replaces each ${NAME} in s by the variable's value, which is not expanded again. A "$"
// that is not followed by "{" is kept. If there are problems, out is empty.
func (v Variables) Expand(s string) (out string, problems []string) {
	out = variable().ReplaceAllStringFunc(s, func(ref string) string {
		m := variableName().FindStringSubmatch(ref)
		switch {
		case m != nil:
			value, err := v.lookup(m[1])
			if err != nil {
				problems = append(problems, err.Error())
			}
			return value
		case !v.Lenient:
			problems = append(problems, fmt.Sprintf("want ${NAME}, got %q", ref))
		case ref == "${}" || !strings.HasSuffix(ref, "}"):
			return ref
		default: // no quote, because the text may be a secret
			problems = append(problems, "a variable is written ${NAME}, with letters, digits and '_'")
		}
		return ""
	})
	if len(problems) > 0 {
		return "", problems
	}
	return out, nil
}

// lookup returns the value of a variable that is not reserved.
func (v Variables) lookup(name string) (string, error) {
	if v.Reserved != nil {
		if err := v.Reserved(name); err != nil {
			return "", err
		}
	}
	return v.Lookup(name)
}
