package yamlfile

import (
	"fmt"
	"regexp"
	"strings"
)

var variable = regexp.MustCompile(`\$\{[^}]*\}?`)

var variableName = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// Expand replaces each ${NAME} in s by getenv(NAME). Values are not expanded
// again. A variable that is empty or unset and a name that is none are errors;
// they name the variable and never hold a value. A "$" without "{" stays.
func Expand(s string, getenv func(string) string) (string, error) {
	if !strings.Contains(s, "${") {
		return s, nil
	}
	var err error
	out := variable.ReplaceAllStringFunc(s, func(ref string) string {
		m := variableName.FindStringSubmatch(ref)
		if m == nil {
			if err == nil {
				err = fmt.Errorf("want ${NAME}, got %q", ref)
			}
			return ""
		}
		v := getenv(m[1])
		if v == "" && err == nil {
			err = fmt.Errorf("environment variable %s is not set", m[1])
		}
		return v
	})
	if err != nil {
		return "", err
	}
	return out, nil
}
