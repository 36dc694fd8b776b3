package patch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/ecosystem"
	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/scoring/evidence"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/text"
)

// The limits of the search for duplicates.
const (
	minLength   = 16 // bytes of a line; shorter lines are not searched
	minWords    = 3
	maxProbes   = 50
	maxFindings = 10
	// maxPlaces limits how often a duplicated line may occur in the repository. A line with more
	// places is a common phrase there, not a duplicate.
	maxPlaces = 5
	block     = 3  // consecutive lines that are no coincidence
	maxRows   = 10 // matches per file
	maxGrep   = 4 << 20
	maxSearch = 5 * time.Second
)

// generated are globs of files that tools write, besides lockfiles that package ecosystem names.
var generated = []string{
	"dist/**", "build/**", "vendor/**", "node_modules/**", "third_party/**", "gen/**", "*.min.js", "*.min.css", "*.map", "*.pb.go", "*_generated.go", "*.snap", "*.svg", "*.lock",
	"*-lock.json", "*-lock.yaml",
}

// A probe is an added line to search for.
type probe struct {
	path   string
	number int // line number
	order  int // number among the added lines that are not empty
	text   string
	places []place
}

// A place is a line of the base that contains a probe.
type place struct {
	path, line, text string
}

// duplicates returns added lines that the base of the change already contains. incomplete is the
// reason why there may be more of them; empty if the search is complete.
func duplicates(ctx context.Context, s *snapshot.Snapshot, changes []git.Raw, sections []section) (found []contract.Duplicate, incomplete string, err error) {
	all := candidates(changes, sections)
	if len(all) == 0 {
		return nil, "", nil
	}
	probes := choose(all)
	var limits []string
	if len(probes) < len(all) {
		limits = append(limits, fmt.Sprintf("only %d of %d added lines were searched for", len(probes), len(all)))
	}
	var patterns strings.Builder
	seen := map[string]bool{}
	for _, p := range probes {
		if !seen[p.text] {
			seen[p.text] = true
			patterns.WriteString(p.text + "\n")
		}
	}
	out, ended, err := search(ctx, s, patterns.String())
	if err != nil {
		return nil, "", fmt.Errorf("look for duplicates: %w", err)
	}
	if ended != "" {
		limits = append(limits, ended)
	}
	if n := locate(probes, s.Base, out); n > 0 {
		limits = append(limits, fmt.Sprintf("in %d file(s) only the first %d matches were examined", n, maxRows))
	}
	return report(probes), strings.Join(limits, "; "), nil
}

// search searches the base of the change for lines. ended is the reason why the result is
// incomplete; empty if it is complete.
func search(ctx context.Context, s *snapshot.Snapshot, patterns string) (out []byte, ended string, err error) {
	limited, cancel := context.WithTimeout(ctx, maxSearch)
	defer cancel()
	// If a large file contains a line thousands of times, git would search the file again for each of
	// them. --max-count avoids this; it needs git 2.38. Older versions exit with a usage error and
	// are called again without it.
	for _, options := range [][]string{{fmt.Sprintf("--max-count=%d", maxRows)}, nil} {
		var stdout, stderr bytes.Buffer
		found := &capped{to: &stdout, left: maxGrep}
		args := append([]string{"grep", "-z", "-n", "-F", "-I", "--no-color", "--no-textconv", "--no-recurse-submodules", "--full-name"}, options...)
		err = s.Repo.Stream(limited, git.Streams{In: strings.NewReader(patterns), Out: found, Err: &stderr}, append(args, "-f", "-", s.Base)...)
		exit, exited := errors.AsType[*exec.ExitError](err)
		const nothing, usage = 1, 129 // exit codes of git
		switch {
		case found.full:
			return stdout.Bytes(), fmt.Sprintf("the search stopped after %d MB of matches", maxGrep>>20), nil
		case err == nil, exited && exit.ExitCode() == nothing && stderr.Len() == 0:
			return stdout.Bytes(), "", nil
		case ctx.Err() == nil && limited.Err() != nil:
			return stdout.Bytes(), fmt.Sprintf("the search stopped after %s", maxSearch), nil
		case !exited || exit.ExitCode() != usage:
			return nil, "", err
		}
	}
	return nil, "", err
}

// A capped keeps output up to a limit. A write beyond it is an error, which ends the command.
type capped struct {
	to   *bytes.Buffer
	left int
	full bool
}

var errEnough = errors.New("the output has reached its limit")

func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.to.Write(p[:n])
	if c.left -= n; n < len(p) {
		c.full = true
		return n, errEnough
	}
	return n, nil
}

// candidates returns the added lines to search for. It skips imports, lines without words, and
// lines that the change only moves.
func candidates(changes []git.Raw, sections []section) []probe {
	moved := map[string]bool{}
	for _, s := range sections {
		for _, l := range s.deleted {
			moved[strings.TrimSpace(string(l))] = true
		}
	}
	var all []probe
	for i, c := range changes {
		if named(c.Path, generated) || ecosystem.IsLockfile(path.Base(c.Path)) || c.Mode == git.ModeLink || c.Mode == git.ModeSubmodule {
			continue
		}
		order := 0
		for _, l := range sections[i].added {
			t := strings.TrimSpace(string(l.text))
			if t == "" {
				continue
			}
			order++
			if telling(t) && !moved[t] {
				all = append(all, probe{path: c.Path, number: l.number, order: order, text: t})
			}
		}
	}
	return all
}

// telling reports whether a line is long enough, has enough words and is not an import.
func telling(line string) bool {
	const longest = 1000
	if len(line) < minLength || len(line) > longest || !utf8.ValidString(line) || strings.ContainsRune(line, 0) {
		return false
	}
	for _, start := range []string{"import ", "from ", "#include", "using ", "package ", "use ", "require ", "export * from", "require_relative "} {
		if strings.HasPrefix(line, start) && !strings.HasSuffix(line, ".") {
			return false
		}
	}
	if strings.Contains(line, "= require(") {
		return false
	}
	words := 0
	for w := range strings.FieldsSeq(line) {
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			words++
		}
	}
	return words >= minWords
}

// choose returns at most maxProbes of the lines: blocks of consecutive lines, spread over the
// change.
func choose(all []probe) []probe {
	if len(all) <= maxProbes {
		return all
	}
	blocks := maxProbes / block
	var chosen []probe
	for i := range blocks {
		at := i * (len(all) - block) / (blocks - 1)
		at = max(at, min(i*block, len(all)-block)) // blocks do not overlap
		chosen = append(chosen, all[at:at+block]...)
	}
	return chosen
}

// locate parses the output of git grep -z: "commit:path", a line number, and the line. cut is the
// number of files that may have more matches than were read.
func locate(probes []probe, base string, out []byte) (cut int) {
	rows := map[string]int{}
	for row := range bytes.Lines(out) {
		parts := strings.SplitN(strings.TrimSuffix(string(row), "\n"), "\x00", 3)
		if len(parts) != 3 { //nolint:mnd // the three parts of a line; one with a path of two lines is left out
			continue
		}
		name, ok := strings.CutPrefix(parts[0], base+":")
		if !ok {
			continue
		}
		if rows[name]++; rows[name] == maxRows {
			cut++
		}
		for i := range probes {
			if strings.Contains(parts[2], probes[i].text) && len(probes[i].places) <= maxPlaces {
				probes[i].places = append(probes[i].places, place{name, parts[1], parts[2]})
			}
		}
	}
	return cut
}

// report returns the findings. Consecutive lines are one finding, and every other line is one.
func report(probes []probe) []contract.Duplicate {
	var found []contract.Duplicate
	for i := 0; i < len(probes) && len(found) < maxFindings; {
		p := probes[i]
		if len(p.places) == 0 {
			i++
			continue
		}
		n := row(probes[i:])
		if n < block && len(p.places) > maxPlaces {
			i++
			continue
		}
		d := contract.Duplicate{
			Path: p.path, AddedText: shown(p.text), ExistingLocation: "HEAD:" + p.places[0].path + ":" + p.places[0].line + ":" + shown(p.places[0].text),
			Confidence: evidence.Medium, Reason: "Added content already appears in repository history.",
		}
		if n >= block {
			d.Confidence, d.Reason = evidence.High, fmt.Sprintf("%d added lines in a row already appear in repository history.", n)
			i += n
		} else {
			i++
		}
		found = append(found, d)
	}
	return found
}

// row returns how many probes from the first one on are consecutive lines that all exist in one
// file of the base.
func row(probes []probe) int {
	best := 0
	for _, at := range probes[0].places {
		n := 1
		for n < len(probes) && probes[n].path == probes[0].path && probes[n].order == probes[0].order+n &&
			slices.ContainsFunc(probes[n].places, func(p place) bool { return p.path == at.path }) {
			n++
		}
		best = max(best, n)
	}
	return best
}

// shown cuts a line for a document, and takes credentials out.
func shown(line string) string {
	const longest = 300
	return text.Shorten(secret.RedactForms(line), longest)
}
