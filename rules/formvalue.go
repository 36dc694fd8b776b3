package rules

import (
	"fmt"
	"github.com/org/foreman-action/rules/facts"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxItems = 100 // of a list; later ones are left out
	maxItem  = 256 // characters; longer ones are no option of a form
)

// noResponse is what GitHub writes for a field that was left empty.
const noResponse = "_No response_"

// A formValue is what was filled in, one of the three by the type of its field.
type formValue struct {
	text   string
	list   []string
	number float64
	absent bool // nothing was, or nothing that its type can read
}

// An eventText is what was read of an event's issue and comment so far.
type eventText struct {
	facts     *facts.Facts
	sections  map[string]section // of the issue's body, by heading; nil: not read yet
	values    map[*formField]formValue
	commented bool      // the comment was read
	given     []Command // of the comment
}

// form returns the value of a field. The issue is taken apart once.
func (r *eventText) form(d *formField) formValue {
	if v, ok := r.values[d]; ok {
		return v
	}
	if r.sections == nil {
		r.sections, r.values = map[string]section{}, map[*formField]formValue{}
		for _, s := range formSections(r.facts.Issue.Body) {
			// The first wins: what people paste into a later field cannot replace it.
			if _, twice := r.sections[s.heading]; !twice {
				r.sections[s.heading] = s
			}
		}
	}
	v := d.value(r.sections[d.heading].lines)
	r.values[d] = v
	return v
}

// value reads what stands under the field's heading.
func (d *formField) value(lines []markdownLine) formValue {
	text := content(lines)
	if text == "" || text == noResponse {
		return d.none()
	}
	switch d.typ {
	case formSemver:
		v, ok := parseVersion(strings.Trim(text, "` \t"))
		if !ok {
			return d.none()
		}
		return formValue{text: v.String()}
	case formNumber:
		n, ok := parseNumber(text)
		if !ok {
			return d.none()
		}
		return formValue{number: n}
	case formList:
		list := listed(text)
		return formValue{list: list, absent: len(list) == 0}
	case formCheckboxes:
		list := ticked(lines)
		return formValue{list: list, absent: len(list) == 0}
	default:
		return formValue{text: text}
	}
}

// none is the value of a field that was left empty. A number that is none is neither
// less nor more than any other.
func (d *formField) none() formValue {
	v := formValue{absent: true, list: []string{}}
	if d.typ == formNumber {
		v.number = math.NaN()
	}
	return v
}

// content returns the text of lines without the space around it. When it all is one
// piece of fenced code, as of a field with "render", its fences are left out.
func content(lines []markdownLine) string {
	for len(lines) > 0 && strings.TrimSpace(lines[0].text) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1].text) == "" {
		lines = lines[:len(lines)-1]
	}
	if fenced(lines) {
		lines = lines[1 : len(lines)-1]
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// fenced reports whether the lines are one piece of fenced code.
func fenced(lines []markdownLine) bool {
	if len(lines) < 2 {
		return false
	}
	first, ok := fenceOf(lines[0].text)
	if !ok || !lines[0].code {
		return false
	}
	for i, l := range lines[1:] {
		f, isFence := fenceOf(l.text)
		if isFence && f.bare && f.char == first.char && f.length >= first.length {
			return i+1 == len(lines)-1
		}
	}
	return false
}

var numberPattern = regexp.MustCompile(`^[+-]?[0-9]{1,15}(\.[0-9]{1,15})?$`)

func parseNumber(s string) (float64, bool) {
	if !numberPattern.MatchString(s) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

// listed takes a list apart: the options of a dropdown, which GitHub puts in one line
// with commas between them, or lines with or without a list's sign.
func listed(text string) []string {
	list := []string{}
	for line := range strings.Lines(text) {
		for item := range strings.SplitSeq(listItem(line), ",") {
			item = strings.TrimSpace(item)
			if item == "" || utf8.RuneCountInString(item) > maxItem {
				continue
			}
			if len(list) == maxItems {
				return list
			}
			list = append(list, item)
		}
	}
	return list
}

// ticked returns the text of the checkboxes that are ticked.
func ticked(lines []markdownLine) []string {
	list := []string{}
	for _, l := range lines {
		box, isBox := strings.CutPrefix(strings.Replace(listItem(l.text), "[X]", "[x]", 1), "[x] ")
		item := strings.TrimSpace(box)
		if !isBox || l.code || item == "" || utf8.RuneCountInString(item) > maxItem {
			continue
		}
		if len(list) == maxItems {
			return list
		}
		list = append(list, item)
	}
	return list
}

// listItem returns a line without the sign of a list before it.
func listItem(line string) string {
	line = strings.TrimSpace(line)
	for _, sign := range []string{"- ", "* ", "+ "} {
		if item, ok := strings.CutPrefix(line, sign); ok {
			return strings.TrimSpace(item)
		}
	}
	return line
}

// The functions that stand for form.name in a patched tree.

func formTextOf(args ...any) (any, error) { return formOf(args).text, nil }

func formNumberOf(args ...any) (any, error) { return formOf(args).number, nil }

func formListOf(args ...any) (any, error) { return formOf(args).list, nil }

// formIsNil is what a comparison with nil asks.
func formIsNil(args ...any) (any, error) { return formOf(args).absent, nil }

// formAny is the value of a field that is shown: nil when it is.
func formAny(args ...any) (any, error) {
	v := formOf(args)
	switch {
	case v.absent:
		return nil, nil
	case v.list != nil:
		return v.list, nil
	case arg[*formField](args, 1).typ == formNumber:
		return v.number, nil
	}
	return v.text, nil
}

func formOf(args []any) formValue { return arg[*run](args, 0).form(arg[*formField](args, 1)) }

// shownInText is a value in a template. A number that was not filled in is nothing.
func shownInText(value any) string {
	if n, ok := value.(float64); ok {
		if math.IsNaN(n) {
			return ""
		}
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}
