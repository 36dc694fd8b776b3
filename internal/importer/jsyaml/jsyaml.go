// Package jsyaml reads YAML as the library js-yaml does, the parser of the imported tools, where it
// differs from ours: numbers and dates as keys, and documents that it rejects.
//
// The functions are pure and safe for concurrent use.
package jsyaml

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
)

// A Version is a major version of js-yaml, from 3 to 5.
type Version int

// Key returns the text of a scalar key. js-yaml converts the values of plain scalars, such as
// numbers and dates, to text in the way of JavaScript.
func (v Version) Key(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Style != 0 {
		return n.Value
	}
	switch s := n.Value; {
	case s == "" || s == "~" || s == "null" || s == "Null" || s == "NULL":
		return "null"
	case strings.EqualFold(s, "true") || strings.EqualFold(s, "false"):
		if s == strings.ToUpper(s) || s[1:] == strings.ToLower(s[1:]) {
			return strings.ToLower(s)
		}
		return s
	}
	if f, ok := v.number(n.Value); ok {
		return number(f)
	}
	if t, ok := date(n.Value); ok && v < 5 {
		return t.UTC().Format("Mon Jan 02 2006 15:04:05 GMT+0000") + " (Coordinated Universal Time)"
	}
	return n.Value
}

var (
	// integers are the forms of a whole number by version: a sign, then digits of base 2, 16, 8 or 10.
	integers = map[Version]func() *regexp.Regexp{
		3: text.Regexp(`^([-+]?)(?:0b([01_]+)|0x([0-9a-fA-F_]+)|0([0-7_]+)|([1-9][0-9_]*|0))$`),
		4: text.Regexp(`^([-+]?)(?:0b([01_]+)|0x([0-9a-fA-F_]+)|0o([0-7_]+)|([0-9][0-9_]*))$`),
		5: text.Regexp(`^([-+]?)(?:($.)|($.)|($.)|([0-9]+))$`), // the first three groups never match
	}
	unsigned = text.Regexp(`^(?:0x([0-9a-fA-F]+)|0o([0-7]+))$`) // version 5
	sixty    = text.Regexp(`^([-+]?)([1-9][0-9_]*|0)((?::[0-5]?[0-9])+)(\.[0-9_]*)?$`)
	// floats are the forms of a number with a fraction or an exponent by version.
	floats = map[Version]func() *regexp.Regexp{
		3: text.Regexp(`^(?:[-+]?(?:0|[1-9][0-9_]*)(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9_]+(?:[eE][-+]?[0-9]+)?)$`),
		4: text.Regexp(`^(?:[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9_]+(?:[eE][-+]?[0-9]+)?)$`),
		5: text.Regexp(`^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$`),
	}
	infinite = text.Regexp(`^([-+]?)\.(?:inf|Inf|INF)$`)
	noNumber = text.Regexp(`^\.(?:nan|NaN|NAN)$`)
)

// number reads a number; ok is false for any other text.
func (v Version) number(s string) (f float64, ok bool) {
	if m := integers[v]().FindStringSubmatch(s); m != nil && !strings.HasSuffix(s, "_") {
		for i, base := range []int{2, 16, 8, 10} {
			if m[i+2] != "" {
				return whole(m[1]+m[i+2], base)
			}
		}
	}
	if m := unsigned().FindStringSubmatch(s); m != nil && v == 5 {
		if m[1] != "" {
			return whole(m[1], 16)
		}
		return whole(m[2], 8)
	}
	if m := sixty().FindStringSubmatch(s); m != nil && v == 3 && !strings.HasSuffix(s, "_") {
		return sexagesimal(m)
	}
	switch m := infinite().FindStringSubmatch(s); {
	case len(m) > 1 && m[1] == "-":
		return math.Inf(-1), true
	case m != nil:
		return math.Inf(1), true
	case noNumber().MatchString(s):
		return math.NaN(), true
	case !floats[v]().MatchString(s) || strings.HasSuffix(s, "_"):
		return 0, false
	}
	digits := strings.ReplaceAll(s, "_", "")
	if digits == "." {
		return math.NaN(), true
	}
	f, err := strconv.ParseFloat(digits, 64)
	return f, err == nil || v < 5
}

// whole reads a whole number, which may be larger than an int64.
func whole(digits string, base int) (float64, bool) {
	n, ok := new(big.Int).SetString(strings.ReplaceAll(digits, "_", ""), base)
	if !ok {
		return 0, false
	}
	f, _ := new(big.Float).SetInt(n).Float64()
	return f, true
}

// sexagesimal reads a number of base 60, such as 1:30.
func sexagesimal(m []string) (float64, bool) {
	f, ok := whole(m[2], 10)
	for part := range strings.SplitSeq(strings.TrimPrefix(m[3], ":"), ":") {
		n, err := strconv.Atoi(part)
		f, ok = f*60+float64(n), ok && err == nil
	}
	if fraction := strings.ReplaceAll(m[4], "_", ""); len(fraction) > 1 {
		more, err := strconv.ParseFloat("0"+fraction, 64)
		f, ok = f+more, ok && err == nil
	}
	if m[1] == "-" {
		f = -f
	}
	return f, ok
}

// number formats a number as JavaScript does.
func number(f float64) string {
	switch size := math.Abs(f); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.Replace(strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "Inf", "Infinity", 1), "+", "", 1)
	case f == 0:
		return "0"
	case size >= 1e21 || size < 1e-6:
		text := strconv.FormatFloat(f, 'e', -1, 64) // with at least two digits of the exponent
		return strings.Replace(strings.Replace(text, "e-0", "e-", 1), "e+0", "e+", 1)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

var dates = text.Regexp(`^([0-9]{4})-([0-9]{2})-([0-9]{2})$|^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[Tt]|[ \t]+)([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]*)?(?:[ \t]*(Z|([-+])([0-9]{1,2})(?::([0-9]{2}))?))?$`)

// date reads a date with or without a time. As in JavaScript a day or an hour may be too large.
func date(s string) (time.Time, bool) {
	m := dates().FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, false
	}
	var n [14]int
	for i, digits := range m[1:] {
		n[i+1], _ = strconv.Atoi(digits)
	}
	if m[1] != "" {
		return time.Date(n[1], time.Month(n[2]), n[3], 0, 0, 0, 0, time.UTC), true
	}
	offset := n[12]*60 + n[13]
	if m[11] == "-" {
		offset = -offset
	}
	return time.Date(n[4], time.Month(n[5]), n[6], n[7], n[8]-offset, n[9], 0, time.UTC), true
}

// A Problem is a part of a document that js-yaml rejects.
type Problem struct {
	Node *yaml.Node
	Msg  string
}

// Refused returns the parts of a document that js-yaml rejects and our parser accepts. lines are the
// lines of its text.
func (v Version) Refused(root *yaml.Node, lines []string) []Problem {
	var found []Problem
	seen := map[*yaml.Node]bool{}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.Kind == yaml.MappingNode {
			found = append(found, v.keys(n, lines)...)
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(root)
	return found
}

// keys returns the keys of a mapping that js-yaml rejects.
func (v Version) keys(mapping *yaml.Node, lines []string) []Problem {
	var found []Problem
	known := map[string]string{} // the keys by their texts
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		if i == 0 && v < 5 && mapping.Style&yaml.FlowStyle == 0 && strings.ContainsAny(first(lines, key), "!&") {
			found = append(found, Problem{key, "js-yaml, the parser of the original, rejects ! and & before the first key of a mapping; quote the key"})
		}
		text := v.Key(key)
		if before, again := known[text]; again && before != key.Value {
			found = append(found, Problem{key, "js-yaml, the parser of the original, reads this key as " + strconv.Quote(text) + ", which the mapping has already"})
		}
		known[text] = key.Value
	}
	return found
}

// first returns the character at the start of a node.
func first(lines []string, n *yaml.Node) string {
	if n.Line < 1 || n.Line > len(lines) {
		return ""
	}
	column := 0
	for _, r := range lines[n.Line-1] {
		if column++; column == n.Column {
			return string(r)
		}
	}
	return ""
}
