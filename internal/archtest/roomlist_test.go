package archtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// maxExceptions is how many packages may permanently exceed a limit.
const maxExceptions = 3

// A rooms is the parsed form of testdata/rooms.txt. The file itself explains its format.
type rooms struct {
	limits   map[string]int
	except   map[string][]string // measures without a limit, by package
	ceilings map[string]ceilings // by package
}

// ceilings contains the sizes that exceed the limits, by measure, the largest first.
type ceilings map[string][]int

func parseRooms(text string) (rooms, error) {
	r := rooms{limits: map[string]int{}, except: map[string][]string{}, ceilings: map[string]ceilings{}}
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		var err error
		switch words[0] {
		case "limits":
			err = r.parseLimits(words[1:])
		case "except":
			err = r.parseException(line)
		case "not-yet":
			err = r.parseCeilings(words[1:])
		default:
			err = fmt.Errorf("want limits, except or not-yet, got %q", words[0])
		}
		if err != nil {
			return rooms{}, fmt.Errorf("rooms.txt:%d: %w", i+1, err)
		}
	}
	for _, name := range measures() {
		if r.limits[name] == 0 {
			return rooms{}, fmt.Errorf("rooms.txt: no limit of %s", name)
		}
	}
	return r, nil
}

func (r rooms) parseLimits(words []string) error {
	for _, word := range words {
		name, list, err := parseSizes(word)
		if err != nil {
			return err
		}
		if len(list) != 1 {
			return fmt.Errorf("want one limit, got %q", word)
		}
		r.limits[name] = list[0]
	}
	return nil
}

func (r rooms) parseException(line string) error {
	head, reason, _ := strings.Cut(line, ":")
	words := strings.Fields(head)
	if len(words) < 3 || strings.TrimSpace(reason) == "" {
		return fmt.Errorf("want except PATH MEASURE...: REASON, got %q", line)
	}
	path, names := words[1], words[2:]
	for _, name := range names {
		if !slices.Contains(measures(), name) {
			return fmt.Errorf("unknown measure %q", name)
		}
	}
	if r.except[path] != nil {
		return fmt.Errorf("%s is listed twice", path)
	}
	if len(r.except) == maxExceptions {
		return fmt.Errorf("more than %d exceptions", maxExceptions)
	}
	r.except[path] = names
	return nil
}

func (r rooms) parseCeilings(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("want not-yet PATH MEASURE=SIZE..., got %q", words)
	}
	path := words[0]
	if r.ceilings[path] != nil {
		return fmt.Errorf("%s is listed twice", path)
	}
	r.ceilings[path] = ceilings{}
	for _, word := range words[1:] {
		name, list, err := parseSizes(word)
		if err != nil {
			return err
		}
		if smallest := list[len(list)-1]; smallest <= r.limits[name] {
			return fmt.Errorf("%s %d is within the limit of %d", name, smallest, r.limits[name])
		}
		r.ceilings[path][name] = list
	}
	return nil
}

// parseSizes reads MEASURE=SIZE,SIZE and returns the sizes with the largest first.
func parseSizes(word string) (string, []int, error) {
	name, text, ok := strings.Cut(word, "=")
	if !ok || !slices.Contains(measures(), name) {
		return "", nil, fmt.Errorf("want MEASURE=SIZE, got %q", word)
	}
	var list []int
	for size := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(size)
		if err != nil || n <= 0 {
			return "", nil, fmt.Errorf("want MEASURE=SIZE, got %q", word)
		}
		list = append(list, n)
	}
	slices.Sort(list)
	slices.Reverse(list)
	return name, list, nil
}

// line formats the ceilings of a package for rooms.txt.
func (c ceilings) line(path string) string {
	var b strings.Builder
	b.WriteString("not-yet " + path)
	for _, name := range measures() {
		if len(c[name]) == 0 {
			continue
		}
		text := strings.ReplaceAll(strings.Trim(fmt.Sprint(c[name]), "[]"), " ", ",")
		b.WriteString(" " + name + "=" + text)
	}
	return b.String()
}

// rewrite returns the text of rooms.txt with new ceilings for the packages that it lists.
// Packages without ceilings in now are left out.
func rewrite(text string, now map[string]ceilings) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) > 1 && words[0] == "not-yet" {
			if len(now[words[1]]) == 0 {
				continue
			}
			line = now[words[1]].line(words[1]) + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestParseRooms(t *testing.T) {
	t.Parallel()
	const limits = "limits files=20 lines=4000 circle=5 knot=400 methods=30 type=600 spread=3\n"
	tests := []struct{ in, want string }{
		{limits + "except a methods type: an adapter\nnot-yet a circle=9,6\n", ""},
		{"limits files=20\n", "rooms.txt: no limit of lines"},
		{"limits files=20,30\n", `rooms.txt:1: want one limit, got "files=20,30"`},
		{"limits size=20\n", `rooms.txt:1: want MEASURE=SIZE, got "size=20"`},
		{"limits files=0\n", `rooms.txt:1: want MEASURE=SIZE, got "files=0"`},
		{"a files=30\n", `rooms.txt:1: want limits, except or not-yet, got "a"`},
		{"except a methods\n", `rooms.txt:1: want except PATH MEASURE...: REASON, got "except a methods"`},
		{"except a: reason\n", `rooms.txt:1: want except PATH MEASURE...: REASON, got "except a: reason"`},
		{"except a size: reason\n", `rooms.txt:1: unknown measure "size"`},
		{"except a type: reason\nexcept a files: reason\n", "rooms.txt:2: a is listed twice"},
		{"except a type: r\nexcept b type: r\nexcept c type: r\nexcept d type: r\n", "rooms.txt:4: more than 3 exceptions"},
		{limits + "not-yet a\n", "rooms.txt:2: want not-yet PATH MEASURE=SIZE..., got [\"a\"]"},
		{limits + "not-yet a files=30\nnot-yet a lines=5000\n", "rooms.txt:3: a is listed twice"},
		{limits + "not-yet a spread=3,5\n", "rooms.txt:2: spread 3 is within the limit of 3"},
		{limits + "not-yet a spread=many\n", `rooms.txt:2: want MEASURE=SIZE, got "spread=many"`},
	}
	for _, tt := range tests {
		got := ""
		if _, err := parseRooms(tt.in); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestLower lowers ceilings to the measured sizes; none is raised or added.
func TestLower(t *testing.T) {
	t.Parallel()
	const text = `# A comment.
limits files=20 lines=4000 circle=5 knot=400 methods=30 type=600 spread=3
except excepted methods: reason

not-yet better files=30 spread=9,7,5
not-yet worse  files=30 spread=4
not-yet within files=30
not-yet excepted methods=31
`
	r, err := parseRooms(text)
	if err != nil {
		t.Fatal(err)
	}
	sized := func(list ...int) []finding {
		var out []finding
		for _, n := range list {
			out = append(out, finding{size: n})
		}
		return out
	}
	found := map[string]figures{
		"better":   {"files": sized(21), "spread": sized(8, 7, 3)},
		"worse":    {"files": sized(31), "spread": sized(5, 4), "circle": sized(6)},
		"within":   {"files": sized(20)},
		"excepted": {"methods": sized(31)},
	}
	now := map[string]ceilings{}
	for dir, f := range found {
		now[dir] = r.lowered(dir, f)
	}
	head, _, _ := strings.Cut(text, "not-yet")
	want := head + "not-yet better files=21 spread=8,7\nnot-yet worse files=30 spread=4\n"
	if diff := cmp.Diff(want, rewrite(text, now)); diff != "" {
		t.Errorf("rooms.txt (-want +got):\n%s", diff)
	}
}
