// Package minimatch translates globs of the library minimatch to globs of our conditions.
//
// The functions are pure and safe for concurrent use. Their cost depends only on the length of the
// glob, which is limited.
package minimatch

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

const (
	maxBraces  = 100 // maximal number of globs that one glob with braces expands to
	maxFolders = 32  // the limit of any_file
)

// A Glob is a translated glob. It is valid only if Parse returned no problem.
type Glob struct {
	Negated bool     // a file matches if none of Any matches it
	Any     []string // a file matches if one of them matches it
	Nothing string   // why no file matches Any, if that is empty
}

// Parse translates a glob. If the glob cannot be translated, problem says why; otherwise it is
// empty.
func Parse(s string) (g Glob, problem string) {
	rest := s
	for strings.HasPrefix(rest, "!") { // also in "!(name)", where the brackets are a part of the name
		rest, g.Negated = rest[1:], !g.Negated
	}
	switch {
	case len(s) > 1000:
		return g, "it has more than 1000 bytes"
	case rest == "" || strings.HasPrefix(s, "#"):
		g.Nothing = "it matches no file"
		return g, ""
	case strings.HasPrefix(rest, "/") || strings.HasSuffix(rest, "/"):
		g.Nothing = "it begins or ends with /, so it matches no file"
		return g, ""
	}
	for _, open := range []string{"?(", "*(", "+(", "@(", "!("} {
		if strings.Contains(rest, open) {
			return g, "patterns like " + open + "…) have no counterpart"
		}
	}
	list, ok := braces(rest, maxBraces)
	if !ok {
		return g, fmt.Sprintf("its braces contain a range or expand to more than %d globs", maxBraces)
	}
	for _, one := range list {
		if slices.Contains(strings.Split(one, "/"), ".") {
			continue // no path has a folder ".", and the source does not resolve it
		}
		text, problem := folders(one)
		if problem != "" {
			return g, problem
		}
		g.Any = append(g.Any, text)
	}
	if len(g.Any) == 0 {
		g.Nothing = "it has a folder named ., so it matches no file"
	}
	return g, ""
}

// folders translates the segments of a glob between slashes.
func folders(s string) (string, string) {
	parts := strings.Split(s, "/")
	if len(parts) > maxFolders {
		return "", fmt.Sprintf("it has more than %d folders", maxFolders)
	}
	for i, p := range parts {
		if p == "**" {
			continue
		}
		for strings.Contains(p, "**") {
			p = strings.ReplaceAll(p, "**", "*")
		}
		p = strings.ReplaceAll(p, "[!", "[^")
		if strings.Contains(p, "[:") {
			return "", "classes like [:alpha:] have no counterpart"
		}
		if _, err := path.Match(p, "x"); err != nil {
			p = strings.ReplaceAll(p, "[", `\[`)
		}
		if _, err := path.Match(p, "x"); err != nil {
			return "", "it is not a valid glob"
		}
		parts[i] = p
	}
	return strings.Join(parts, "/"), ""
}

// braces expands a glob with {a,b} to globs without braces; ok is false if these are more than
// most.
func braces(s string, most int) (list []string, ok bool) {
	list = []string{""}
	for s != "" {
		open := strings.IndexByte(s, '{')
		options, rest, found := []string{}, "", false
		if open >= 0 {
			options, rest, found = alternatives(s[open:])
		}
		if !found {
			if open >= 0 && strings.Contains(s[open:], "..") && strings.Contains(s[open:], "}") {
				return nil, false
			}
			return product(list, []string{s}, most)
		}
		var inner []string
		for _, o := range options {
			more, ok := braces(o, most)
			if inner = append(inner, more...); !ok || len(inner) > most {
				return nil, false
			}
		}
		if list, ok = product(list, []string{s[:open]}, most); ok {
			list, ok = product(list, inner, most)
		}
		if !ok {
			return nil, false
		}
		s = rest
	}
	return list, true
}

func product(heads, tails []string, most int) ([]string, bool) {
	if len(heads)*len(tails) > most {
		return nil, false
	}
	var out []string
	for _, h := range heads {
		for _, t := range tails {
			out = append(out, h+t)
		}
	}
	return out, true
}

// alternatives splits "{a,b}rest"; found is false if there is no comma in the braces at the start
// of s.
func alternatives(s string) (options []string, rest string, found bool) {
	depth, start := 0, 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			if depth == 1 {
				options = append(options, s[start:i])
				start = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				return append(options, s[start:i]), s[i+1:], len(options) > 0
			}
		}
	}
	return nil, "", false
}
