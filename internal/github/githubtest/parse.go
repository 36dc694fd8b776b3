package githubtest

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseFault parses a fault in test data: a method and a path pattern, followed by options. The
// options are status=N, nth=N, times=N, cutbefore, cutafter, header=NAME:VALUE and body=TEXT. "_"
// in TEXT means a space.
func ParseFault(words []string) (Fault, error) {
	if len(words) < 2 {
		return Fault{}, fmt.Errorf("fault %v: want METHOD PATH WORD…", words)
	}
	f := Fault{Method: words[0], Path: words[1]}
	for _, word := range words[2:] {
		if err := setWord(&f, word); err != nil {
			return Fault{}, fmt.Errorf("fault %v: %w", words, err)
		}
	}
	return f, nil
}

func setWord(f *Fault, word string) (err error) {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "status":
		f.Status, err = strconv.Atoi(value)
	case "nth":
		f.Nth, err = strconv.Atoi(value)
	case "times":
		f.Times, err = strconv.Atoi(value)
	case "cutbefore":
		f.CutBefore = true
	case "cutafter":
		f.CutAfter = true
	case "header":
		name, value, _ := strings.Cut(value, ":")
		if f.Header == nil {
			f.Header = map[string]string{}
		}
		f.Header[name] = value
	case "body":
		f.Body = strings.ReplaceAll(value, "_", " ")
	default:
		err = fmt.Errorf("unknown word %q", word)
	}
	return err
}
