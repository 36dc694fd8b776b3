package sanitize

import (
	"slices"
	"strings"
)

// code lists the places of a text that are certainly code on GitHub. The package comment
// explains each condition.
type code struct {
	fenced []bool // by line: whether it is content of a fence
	inline bool   // text between paired backticks on the other lines is code, too
}

// certain finds the places that are certainly code in the lines of a text.
func certain(lines []string) code {
	none := code{fenced: make([]bool, len(lines))}
	for _, line := range lines {
		if opensMarkup(line) || strings.Contains(line, "\\`") {
			return none
		}
	}
	c := code{fenced: make([]bool, len(lines)), inline: true}
	run, exempt := "", false
	for i, line := range lines {
		switch {
		case run != "":
			if closes(line, run) {
				run = ""
				break
			}
			c.fenced[i] = exempt
		case fenceRun(line) != "":
			run = fenceRun(line)
			exempt = plainInfo(line[len(run):])
		case indentedFence(line) || strings.Contains(line, "$$"):
			return none
		default:
			c.inline = c.inline && pairsUp(line)
		}
	}
	return c
}

// opensMarkup reports whether line holds a "<" that could begin a tag, an autolink or
// an HTML block.
func opensMarkup(line string) bool {
	for i := range len(line) - 1 {
		if line[i] == '<' && (isLetter(line[i+1]) || strings.IndexByte("/!?", line[i+1]) >= 0) {
			return true
		}
	}
	return false
}

// indentedFence reports whether line looks like a fence after one to three spaces.
func indentedFence(line string) bool {
	indent, _ := indentOf(line)
	text := line[indent:]
	return 0 < indent && indent <= 3 && (strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~"))
}

// plainInfo reports whether the info string of a fence makes it ordinary code.
func plainInfo(info string) bool {
	info = strings.TrimSpace(info)
	return strings.TrimFunc(info, word("+#._-")) == "" && !strings.EqualFold(info, "math")
}

// pairsUp reports whether every run of backticks on a line has a partner. It returns false if the
// line contains anything that GitHub may read before code spans, or that may cut a code span.
func pairsUp(line string) bool {
	spans, left := codeSpans(line)
	if left || strings.Contains(line, "|") || !simpleLinks(line) {
		return false
	}
	end, token, seen := 0, 0, 0 // end of the last span; start of the word before the span; end of the part of it that was checked
	for _, s := range spans {
		if space := strings.LastIndexAny(line[seen:s.start], " \t"); space >= 0 {
			token = seen + space + 1
		}
		// Only the part of the word that is not checked yet can contain the start of an address,
		// because addresses end at a backtick.
		fresh := line[max(token, seen):s.start]
		if strings.Contains(line[end:s.start], "$") || strings.Contains(fresh, "://") || containsFold(fresh, "www.") {
			return false
		}
		end, seen = s.end, s.start
	}
	return !strings.Contains(line[end:], "$")
}

// simpleLinks reports whether every link on a line is of the form [text](word). A title, a
// reference and its definition may contain a backtick that is not code.
func simpleLinks(line string) bool {
	if strings.Contains(line, "][") || strings.Contains(line, "]:") {
		return false
	}
	for {
		_, after, ok := strings.Cut(line, "](")
		if !ok {
			return true
		}
		if end := strings.IndexAny(after, " \t`<('\"\\)"); end < 0 || after[end] != ')' {
			return false
		}
		line = after
	}
}

// span is a code span with its backticks, as offsets in its line.
type span struct{ start, end int }

// codeSpans pairs the runs of backticks on a line from left to right, and reports whether a run has
// no partner.
func codeSpans(line string) (spans []span, left bool) {
	runs := backtickRuns(line)
	partner := partners(runs)
	for i := 0; i < len(runs); i++ {
		j := partner[i]
		if j == 0 {
			left = true
			continue
		}
		spans = append(spans, span{runs[i].start, runs[j].end})
		i = j
	}
	return spans, left
}

// partners returns for each run the index of the next run with the same length; 0: none.
func partners(runs []span) []int {
	found := make([]int, len(runs))
	next := map[int]int{} // index of the next run, by length
	for i, r := range slices.Backward(runs) {
		length := r.end - r.start
		found[i], next[length] = next[length], i
	}
	return found
}

// backtickRuns finds the runs of backticks in s.
func backtickRuns(s string) []span {
	var runs []span
	for i := 0; i < len(s); i++ {
		if s[i] != '`' {
			continue
		}
		start := i
		for i < len(s) && s[i] == '`' {
			i++
		}
		runs = append(runs, span{start, i})
	}
	return runs
}
