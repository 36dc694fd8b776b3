package actions

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// maxSummary is the longest summary of a step that GitHub shows; it drops a longer one
// whole (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands).
const maxSummary = 1 << 20

const clippedNote = "\n\n_Cut here: GitHub shows at most 1 MiB of a job summary._\n"

// AddSummary appends Markdown to the job's summary, the file GITHUB_STEP_SUMMARY,
// and a line break. The Markdown is written as it is: text of others in it must have
// been escaped.
//
// Text beyond the 1 MiB that GitHub shows is cut at a line, with a note. It is an
// error when there is no room even for the note, and when the file is not there or
// cannot be written. Without GITHUB_STEP_SUMMARY the text is dropped.
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

// clipMarkdown returns text, or as many of its first lines as fit size bytes together with the
// end of an open code block and a note.
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
		return "", errors.New("its 1 MiB are used up")
	}
	if fence != "" {
		fence += "\n"
	}
	return text[:kept] + fence + clippedNote, nil
}

// closing is the number of bytes that it takes to end a code block.
func closing(fence string) int {
	if fence == "" {
		return 0
	}
	return len(fence) + 1
}

// nextFence follows fenced code blocks (CommonMark 4.5) over one line: it takes the
// fence of the block that is open before the line, or nothing, and returns the same
// for after it.
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
