package actions

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// maxSummary is the longest summary of a step that GitHub shows. GitHub drops a longer one entirely
// (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands).
const maxSummary = 1 << 20

const clippedNote = "\n\n_Cut here: GitHub shows at most 1 MiB of a job summary._\n"

// AddSummary appends Markdown and a line break to the job's summary, the file GITHUB_STEP_SUMMARY.
// It does not escape the Markdown: the caller escapes untrusted text in it.
//
// GitHub shows at most 1 MiB. AddSummary cuts longer text at the end of a line and adds a note. It
// returns an error if there is no room even for one line and the note, or if the file is missing or
// cannot be written. If GITHUB_STEP_SUMMARY is not set, the text is dropped.
func (f *Files) AddSummary(markdown string) error {
	path := f.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		f.log.Debugf("the job summary is dropped: GITHUB_STEP_SUMMARY is not set")
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("add to the job summary: %w", err)
	}
	text, err := clipMarkdown(strings.ToValidUTF8(markdown, "\uFFFD")+"\n", maxSummary-int(info.Size()))
	if err != nil {
		return fmt.Errorf("add to the job summary: %w", err)
	}
	if err := appendFile(path, text); err != nil {
		return fmt.Errorf("add to the job summary: %w", err)
	}
	return nil
}

// clipMarkdown returns text if it fits into size bytes. Otherwise it returns as many of the first
// lines as fit, the fence that closes an open code block, and a note.
func clipMarkdown(text string, size int) (string, error) {
	if len(text) <= size {
		return text, nil
	}
	room := size - len(clippedNote)
	kept, fence := 0, ""
	for line := range strings.Lines(text) {
		next := nextFence(fence, line)
		if kept+len(line)+closing(next) > room {
			break
		}
		kept, fence = kept+len(line), next
	}
	if kept == 0 {
		return "", errors.New("not even its first line fits into GitHub's limit of 1 MiB")
	}
	if fence != "" {
		fence += "\n"
	}
	return text[:kept] + fence + clippedNote, nil
}

// closing returns the number of bytes of the line that closes a code block.
func closing(fence string) int {
	if fence == "" {
		return 0
	}
	return len(fence) + 1
}

// nextFence tracks fenced code blocks (CommonMark 4.5). It returns the fence that is open after a
// line, given the fence that is open before it. An empty fence means that no block is open.
func nextFence(open, line string) string {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || text == "" || (text[0] != '`' && text[0] != '~') {
		return open
	}
	mark := text[:1]
	rest := strings.TrimLeft(text, mark)
	run := text[:len(text)-len(rest)]
	switch {
	case open == "" && len(run) >= 3 && (mark == "~" || !strings.Contains(rest, "`")):
		return run
	case open != "" && open[:1] == mark && len(run) >= len(open) && strings.TrimSpace(rest) == "":
		return ""
	}
	return open
}
