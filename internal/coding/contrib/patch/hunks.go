package patch

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// A section is the part of a patch about one file.
type section struct {
	binary  bool
	added   []line
	deleted [][]byte
}

// A line is an added line of a file.
type line struct {
	number int // in the new file
	text   []byte
}

// errTorn is the error of a patch that ends within a hunk.
var errTorn = errors.New("the patch ends in the middle of a hunk")

// parse parses the output of git diff-tree -p. It returns one section for each file, in order. The
// lines in sections are slices of patch.
func parse(patch []byte) ([]section, error) {
	var sections []section
	for len(patch) > 0 {
		row, rest := cutLine(patch)
		switch {
		case bytes.HasPrefix(row, []byte("diff --git ")):
			sections = append(sections, section{})
		case len(sections) == 0:
			return nil, fmt.Errorf("the patch begins with %.80q, not with diff --git", row)
		case bytes.HasPrefix(row, []byte("GIT binary patch")), bytes.HasPrefix(row, []byte("Binary files ")):
			sections[len(sections)-1].binary = true
		case bytes.HasPrefix(row, []byte("@@ ")):
			var err error
			if rest, err = sections[len(sections)-1].hunk(row, rest); err != nil {
				return nil, err
			}
		}
		patch = rest
	}
	return sections, nil
}

// hunk parses the lines of a hunk, and returns the patch after it.
func (s *section) hunk(header, rest []byte) ([]byte, error) {
	fields := bytes.Fields(header)
	const least = 4 // @@ -1,2 +1,3 @@
	if len(fields) < least {
		return nil, fmt.Errorf("the patch has the invalid hunk header %.80q", header)
	}
	_, before, errOld := span(fields[1], '-')
	number, after, errNew := span(fields[2], '+')
	if err := errors.Join(errOld, errNew); err != nil {
		return nil, err
	}
	for before > 0 || after > 0 {
		if len(rest) == 0 {
			return nil, errTorn
		}
		var row []byte
		row, rest = cutLine(rest)
		kind := byte(' ')
		if len(row) > 0 {
			kind = row[0]
		}
		switch {
		case kind == '+' && after > 0:
			s.added = append(s.added, line{number, row[1:]})
			number, after = number+1, after-1
		case kind == '-' && before > 0:
			s.deleted = append(s.deleted, row[1:])
			before--
		case kind == ' ' && before > 0 && after > 0:
			number, before, after = number+1, before-1, after-1
		case kind == '\\': // "\ No newline at end of file"
		default:
			return nil, fmt.Errorf("the patch has the invalid line %.80q in a hunk", row)
		}
	}
	return rest, nil
}

// span reads the lines of one side of a hunk, such as "-12,3".
func span(field []byte, sign byte) (start, count int, err error) {
	first, second, both := bytes.Cut(field, []byte(","))
	if len(first) < 2 || first[0] != sign {
		return 0, 0, fmt.Errorf("the patch has a hunk with the invalid range %.80q", field)
	}
	start, err = strconv.Atoi(string(first[1:]))
	count = 1
	if both && err == nil {
		count, err = strconv.Atoi(string(second))
	}
	if err != nil || start < 0 || count < 0 {
		return 0, 0, fmt.Errorf("the patch has a hunk with the invalid range %.80q", field)
	}
	return start, count, nil
}

// cutLine returns the first line without its line break, and the rest.
func cutLine(data []byte) (row, rest []byte) {
	row, rest, _ = bytes.Cut(data, []byte("\n"))
	return row, rest
}
