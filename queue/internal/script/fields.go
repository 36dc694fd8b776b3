package script

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// none is the text of a zero value.
const none = "none"

func isZero(text string) bool { return text == none || text == "0" || text == "false" }

// idPrefix is the beginning of the ids of tasks that scripts name by numbers.
const idPrefix = "5f0c7a52-3d0e-4b8e-9c41-"

// ID returns the id of task n.
func ID(n int) string { return fmt.Sprintf("%s%012d", idPrefix, n) }

var (
	idPattern     = regexp.MustCompile(idPrefix + `0*(\d+)`)
	numberPattern = regexp.MustCompile(`<(\d+)>`)
)

// idOf returns the id of a task that is named by its number. Any other word is an id already.
func idOf(word string) string {
	if n, err := strconv.Atoi(word); err == nil {
		return ID(n)
	}
	return word
}

// withIDs replaces each <N> with the id of task N.
func withIDs(text string) string {
	return numberPattern.ReplaceAllStringFunc(text, func(s string) string { return idOf(s[1 : len(s)-1]) })
}

// withNumbers is the inverse of withIDs. A text that consists of one id becomes its number, without
// brackets.
func withNumbers(text string) string {
	if m := idPattern.FindStringSubmatch(text); len(m) > 0 && m[0] == text {
		return m[1]
	}
	return idPattern.ReplaceAllString(text, "<$1>")
}

// fields returns the fields of a result as text, by their names in lower case, such as "state",
// "log.0.what" for the first list element, or "log.-1.what" for the last one.
func fields(value any, now time.Time) map[string]string {
	out := map[string]string{}
	if value != nil {
		flatten(out, "", reflect.ValueOf(value), now)
	}
	return out
}

func flatten(out map[string]string, key string, v reflect.Value, now time.Time) {
	below := func(name string) string { return strings.TrimPrefix(key+"."+strings.ToLower(name), ".") }
	switch x := v.Interface().(type) {
	case time.Time:
		out[key] = relative(x, now)
		return
	case []byte:
		out[key] = none
		if x != nil {
			out[key] = withNumbers(string(x))
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Anonymous {
				flatten(out, key, v.Field(i), now)
			} else {
				flatten(out, below(f.Name), v.Field(i), now)
			}
		}
	case reflect.Slice:
		out[key] = strconv.Itoa(v.Len())
		for i := range v.Len() {
			flatten(out, below(strconv.Itoa(i)), v.Index(i), now)
			flatten(out, below(strconv.Itoa(i-v.Len())), v.Index(i), now)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			flatten(out, below(k.String()), v.MapIndex(k), now)
		}
	default:
		if out[key] = withNumbers(fmt.Sprint(v.Interface())); out[key] == "" {
			out[key] = none
		}
	}
}

// relative returns a time as its distance from now: "now", "+5m" or "-1h30m".
func relative(t, now time.Time) string {
	d := t.Sub(now)
	switch {
	case t.IsZero():
		return none
	case d == 0:
		return "now"
	case d > 0:
		return "+" + short(d)
	}
	return short(d)
}

// short returns a duration without parts that are zero.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
