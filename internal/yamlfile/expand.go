package yamlfile

import (
	"fmt"
	"regexp"
	"strings"
)

// Variables resolves the variables in texts: ${NAME}.
type Variables struct {
	// Lookup returns the value of a variable. Its error names the variable and contains no
	// value.
	Lookup func(name string) (string, error)
	// Reserved returns why only secrets, values of the type [Decoder.Secret], may contain a
	// variable; its error names the variable. Nil, as a function or a result: all values may.
	Reserved func(name string) error
	// Lenient leaves "${}" and a "${" without its end as they are.
	Lenient bool
}

var (
	variable     = regexp.MustCompile(`\$\{[^}]*\}?`)
	variableName = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)
)

// Expand replaces each ${NAME} in s by the variable's value, which is not expanded again. A
// "$" without "{" stays. If there are problems, the text is empty.
func (v Variables) Expand(s string) (out string, problems []string) {
	out = variable.ReplaceAllStringFunc(s, func(ref string) string {
		m := variableName.FindStringSubmatch(ref)
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
		default: // the text may be a secret
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
