package forms

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/internal/markdown"
	"github.com/org/foreman-action/rules/internal/semver"
)

// The limits of a list in an issue form.
const (
	MaxItems = 100 // items of a list; later ones are left out
	maxItem  = 256 // characters of an item; longer ones are left out
)

// The texts that GitHub writes for an empty field. Only a dropdown can have none.
const (
	noResponse = "_No response_"
	none       = "None"
)

// A Value is the value of a field. The field's type decides which of Text, Number and List is set.
type Value struct {
	Text   string
	List   []string
	Number float64
	Absent bool // the field is empty, or its text does not fit its type
}

// A Reader reads the values of the fields of one issue's form. It is not safe for
// concurrent use.
type Reader struct {
	body     string
	sections map[string]section // sections of the body by heading; nil: not read yet
	values   map[*Field]Value
}

// NewReader returns a reader of the form in the body of an issue.
func NewReader(body string) *Reader { return &Reader{body: body} }

// Value returns the value of a field. The body is parsed once.
func (r *Reader) Value(d *Field) Value {
	if v, ok := r.values[d]; ok {
		return v
	}
	if r.sections == nil {
		r.sections, r.values = answers(sectionsOf(r.body), d.templates), map[*Field]Value{}
	}
	v := d.value(r.sections[d.key].lines)
	r.values[d] = v
	return v
}

// value parses the text under the field's heading.
func (d *Field) value(lines []markdown.Line) Value {
	text := content(lines)
	if text == "" || text == noResponse || text == none && (d.Type == List || d.dropdown) {
		return d.none()
	}
	switch d.Type {
	case Semver:
		v, ok := semver.Parse(strings.Trim(text, "` \t"))
		if !ok {
			return d.none()
		}
		return Value{Text: v.String()}
	case Number:
		n, ok := parseNumber(text)
		if !ok {
			return d.none()
		}
		return Value{Number: n}
	case List:
		list := listed(text, d.options)
		return Value{List: list, Absent: len(list) == 0}
	case Checkboxes:
		list := ticked(lines)
		return Value{List: list, Absent: len(list) == 0}
	default:
		return Value{Text: text}
	}
}

// none returns the value of an empty field. An empty number is NaN, which is neither less nor
// greater than any number.
func (d *Field) none() Value {
	v := Value{Absent: true, List: []string{}}
	if d.Type == Number {
		v.Number = math.NaN()
	}
	return v
}

// content returns the text of lines without the space around it. If all of it is one block of
// fenced code, as for a field with "render", the fences are left out.
func content(lines []markdown.Line) string {
	for len(lines) > 0 && strings.TrimSpace(lines[0].Text) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1].Text) == "" {
		lines = lines[:len(lines)-1]
	}
	if fenced(lines) {
		lines = lines[1 : len(lines)-1]
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// fenced reports whether the lines are one piece of fenced code.
func fenced(lines []markdown.Line) bool {
	if len(lines) < 2 {
		return false
	}
	first, ok := markdown.ParseFence(lines[0].Text)
	if !ok || !lines[0].Code {
		return false
	}
	for i, l := range lines[1:] {
		f, isFence := markdown.ParseFence(l.Text)
		if isFence && f.Bare && f.Char == first.Char && f.Length >= first.Length {
			return i+1 == len(lines)-1
		}
	}
	return false
}

var numberPattern = text.Regexp(`^[+-]?[0-9]{1,15}(\.[0-9]{1,15})?$`)

func parseNumber(s string) (float64, bool) {
	if !numberPattern().MatchString(s) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

// listed splits a list into items. GitHub writes the options of a dropdown in one line, separated
// by commas. Lines count as items, too, with or without a list marker. options are those that
// contain a comma, the longest first.
func listed(text string, options []string) []string {
	list := []string{}
	for line := range strings.Lines(text) {
		rest, more := listItem(line), true
		for more {
			var item string
			item, rest, more = cutItem(strings.TrimLeft(rest, " \t"), options)
			item = strings.TrimSpace(item)
			if item == "" || utf8.RuneCountInString(item) > maxItem {
				continue
			}
			if len(list) == MaxItems {
				return list
			}
			list = append(list, item)
		}
	}
	return list
}

// cutItem returns the first item of a line, and the text after its comma. An option is one item.
func cutItem(line string, options []string) (item, rest string, more bool) {
	for _, o := range options {
		after, found := strings.CutPrefix(line, o)
		after = strings.TrimLeft(after, " \t")
		if found && (after == "" || after[0] == ',') {
			_, rest, more = strings.Cut(after, ",")
			return o, rest, more
		}
	}
	return strings.Cut(line, ",")
}

// ticked returns the texts of the ticked checkboxes.
func ticked(lines []markdown.Line) []string {
	list := []string{}
	for _, l := range lines {
		box, isBox := strings.CutPrefix(strings.Replace(listItem(l.Text), "[X]", "[x]", 1), "[x] ")
		item := strings.TrimSpace(box)
		if !isBox || l.Code || item == "" || utf8.RuneCountInString(item) > maxItem {
			continue
		}
		if len(list) == MaxItems {
			return list
		}
		list = append(list, item)
	}
	return list
}

// listItem returns a line without its list marker.
func listItem(line string) string {
	line = strings.TrimSpace(line)
	for _, sign := range []string{"- ", "* ", "+ "} {
		if item, ok := strings.CutPrefix(line, sign); ok {
			return strings.TrimSpace(item)
		}
	}
	return line
}
