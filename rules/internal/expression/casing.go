package expression

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/rules/internal/cost"
)

// A caseCache keeps texts in lower or upper case: each is made once, and charged once for
// each expression that asks for it.
type caseCache []casing

// A casing is a text in lower or upper case.
type casing struct {
	from, to string
	upper    bool
	charged  bool // to the present expression
}

// maxCasings bounds the texts that are kept.
const maxCasings = 4

// reset makes the cache ready for the next expression.
func (c caseCache) reset() {
	for i := range c {
		c[i].charged = false
	}
}

// convert returns s in lower or upper case.
func (c *caseCache) convert(s string, up bool, text *cost.Budget) (string, error) {
	i := slices.IndexFunc(*c, func(e casing) bool { return e.upper == up && e.from == s })
	if i >= 0 {
		e := &(*c)[i]
		if e.charged {
			return e.to, nil
		}
		e.charged = true
		return e.to, text.Charge(len(s))
	}
	if err := text.Charge(len(s)); err != nil {
		return "", err
	}
	e := casing{from: s, to: strings.ToLower(s), upper: up, charged: true}
	if up {
		e.to = strings.ToUpper(s)
	}
	if len(*c) == maxCasings {
		*c = slices.Delete(*c, 0, 1)
	}
	*c = append(*c, e)
	return e.to, nil
}
