package actions

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// The outputs, described by [Outputs].
const (
	OutputTaskID     = "task-id"
	OutputDecision   = "decision"
	OutputRationale  = "rationale"
	OutputStatus     = "status"
	OutputActions    = "actions"
	OutputExecuted   = "executed"
	OutputSuggested  = "suggested"
	OutputCommentURL = "comment-url"
	OutputAdded      = "labels-added"
	OutputRemoved    = "labels-removed"
	OutputClosed     = "closed"
	OutputClosedAll  = "closed-issues"
	OutputIssues     = "issues"
)

// An Output is one row of the table of outputs.
type Output struct {
	Name        string
	Description string // Markdown, one line
}

// Outputs returns every output in the order in which the documentation lists them.
// It is the only source of their names.
func Outputs() []Output {
	return []Output{
		{OutputTaskID, "Id of the task, the same for every attempt of a run."},
		{OutputDecision, "The decision: `label_and_respond`, `close`, `escalate`, `skip` or the agent's own."},
		{OutputRationale, "The reason, written by the rules or the agent. Untrusted text: pass it to a script through `env:`."},
		{OutputStatus, "The result: `applied`, `suggested` if actions were only proposed to people, `partial`, `dry_run`, `skipped`, `escalated`, `failed`, or `done` if GitHub refused all that was left to do."},
		{OutputActions, "JSON list of the actions, each with its verdict and result. Untrusted text too."},
		{OutputExecuted, "Number of actions carried out."},
		{OutputSuggested, "Number of actions proposed to people, who have not answered yet."},
		{OutputCommentURL, "Address of the comment that was posted; empty without one."},
		{OutputAdded, "JSON list of the labels that were added; of a scheduled run, each name once."},
		{OutputRemoved, "JSON list of the labels that were removed; of a scheduled run, each name once."},
		{OutputClosed, "`true` if the issue was closed, else `false`; empty for a scheduled run."},
		{OutputClosedAll, "JSON list of the numbers of the issues that a scheduled run closed; empty for other events."},
		{OutputIssues, "Counts of a scheduled run, as JSON: `found`, `decided`, `executed`, `suggested`, `closed`, `dropped`, `waiting`, `left`, `failed`; empty for other events."},
	}
}

// maxOutputs is the size of the outputs that GitHub keeps for one job, counted as UTF-16
// (https://docs.github.com/actions/reference/limits).
const maxOutputs = 1 << 20

// Files are the files that the runner reads after the step: its outputs, and its part of
// the job's summary. They are safe for concurrent use.
type Files struct {
	getenv func(string) string
	random io.Reader
	log    *Log

	mu      sync.Mutex // guards written, and keeps writes in order
	written int        // bytes of outputs, as GitHub counts them
}

// SetOutput writes one output of the step to the file GITHUB_OUTPUT. The value may contain
// anything, because it is written between two copies of a delimiter that is random for each write.
// So a value cannot end early and set another output. Bytes that are not UTF-8 become U+FFFD, as
// the runner would read them.
//
// SetOutput writes nothing and returns an error if the name is not an identifier, if all outputs
// together exceed the size that GitHub keeps, or if the file is missing or cannot be written. If
// GITHUB_OUTPUT is not set, as outside Actions, the value is dropped.
func (f *Files) SetOutput(name, value string) error {
	if !isOutputName(name) {
		return fmt.Errorf("set output %q: want a name of letters, digits, - and _", name)
	}
	path := f.getenv("GITHUB_OUTPUT")
	if path == "" {
		f.log.Debugf("output %s is dropped: GITHUB_OUTPUT is not set", name)
		return nil
	}
	value = strings.ToValidUTF8(value, "\uFFFD")
	delimiter, err := f.delimiter(value)
	if err != nil {
		return fmt.Errorf("set output %s: %w", name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	size := utf16Bytes(name) + utf16Bytes(value)
	if f.written+size > maxOutputs {
		return fmt.Errorf("set output %s: the outputs would have %d bytes, and GitHub keeps at most %d for a job",
			name, f.written+size, maxOutputs)
	}
	if err := appendFile(path, name+"<<"+delimiter+"\n"+value+"\n"+delimiter+"\n"); err != nil {
		return fmt.Errorf("set output %s: %w", name, err)
	}
	f.written += size
	return nil
}

// isOutputName reports whether workflow expressions can refer to the name. Such a name contains
// neither a line break nor "=" or "<", which would end the name in the file.
func isOutputName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}

// delimiter returns a delimiter that cannot be guessed. It fails if the value contains the
// delimiter: then Random is broken, or the author of the value can predict it.
func (f *Files) delimiter(value string) (string, error) {
	var raw [16]byte
	if _, err := io.ReadFull(f.random, raw[:]); err != nil {
		return "", fmt.Errorf("make a delimiter: %w", err)
	}
	d := "foreman_" + hex.EncodeToString(raw[:])
	if strings.Contains(value, d) {
		return "", errors.New("the value contains the delimiter")
	}
	return d, nil
}

// appendFile appends to a file that the runner made. It does not create a missing file, because the
// runner would never read that file.
func appendFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// utf16Bytes is the size of s in UTF-16, the unit in which GitHub counts.
func utf16Bytes(s string) int { return 2 * utf16Units(s) }

func utf16Units(s string) int {
	n := 0
	for _, c := range s {
		n++
		if c > 0xFFFF {
			n++
		}
	}
	return n
}
