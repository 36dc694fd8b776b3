package rules

import (
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

// A formReader reads the values of the fields of one issue's form. It is not safe for
// concurrent use.
type formReader struct {
	body     string
	sections map[string]section // of the body, by heading; nil: not read yet
	values   map[*formField]formValue
}

// newFormReader returns a reader of the form in the body of an issue.
func newFormReader(body string) *formReader { return &formReader{body: body} }

// value returns the value of a field. The body is parsed once.
func (r *formReader) value(d *formField) formValue {
	if v, ok := r.values[d]; ok {
		return v
	}
	if r.sections == nil {
		r.sections, r.values = map[string]section{}, map[*formField]formValue{}
		for _, s := range formSections(r.body) {
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
