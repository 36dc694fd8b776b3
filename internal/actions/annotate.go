package actions

import (
	"strconv"
	"strings"

	githubactions "github.com/sethvargo/go-githubactions"
)

// A Level is the severity of an annotation.
type Level string

// The levels of annotations.
const (
	Notice  Level = "notice"
	Warning Level = "warning"
	Error   Level = "error"
)

// An Annotation is a message that GitHub shows on the run's page, and beside the
// line of a file when it names one.
type Annotation struct {
	Level   Level  // empty or unknown: Notice
	Title   string // short; may be empty
	File    string // path from the root of the repository; may be empty
	Line    int    // from 1; 0 is none; needs File
	Column  int    // from 1; 0 is none; needs Line
	Message string
}

// GitHub silently drops annotations of one level beyond the tenth of a step, and the end of a
// message that is too long.
const (
	maxAnnotations = 10   // per level
	maxMessage     = 4096 // UTF-16 units
	maxTitle       = 255  // of a check run's annotation
)

// String returns the annotation as one line, or several when the message has them:
// "error: file:line:column: title: message".
func (a Annotation) String() string {
	var b strings.Builder
	b.WriteString(string(a.level()) + ": ")
	if a.File != "" {
		b.WriteString(a.File + ":")
		for _, n := range a.position() {
			b.WriteString(strconv.Itoa(n) + ":")
		}
		b.WriteString(" ")
	}
	if a.Title != "" {
		b.WriteString(a.Title + ": ")
	}
	b.WriteString(a.Message)
	return b.String()
}

func (a Annotation) level() Level {
	if a.Level == Warning || a.Level == Error {
		return a.Level
	}
	return Notice
}

// position returns the line, and the column when there is one.
func (a Annotation) position() []int {
	switch {
	case a.File == "" || a.Line < 1:
		return nil
	case a.Column < 1:
		return []int{a.Line}
	}
	return []int{a.Line, a.Column}
}

// Annotate issues an annotation. The runner shows 10 of each level for a step, including those of
// [Log.Handler]. Annotations from the 11th on, and all annotations outside Actions, become lines of
// the log. A message is cut at 4,096 characters, because GitHub would cut it there.
func (l *Log) Annotate(a Annotation) {
	if !l.live || !l.countAnnotation(a.level()) {
		l.Printf("%s", a.String())
		return
	}
	// The library would sort the properties. The name contains them here, so that the position
	// comes first.
	l.issue(githubactions.Command{
		Name:    string(a.level()) + a.properties(),
		Message: clipText(safeText(a.Message), maxMessage),
	})
}

// properties returns the position and the title in the syntax of a workflow command, after a space.
// It returns an empty string if the annotation has neither.
func (a Annotation) properties() string {
	var list []string
	if a.File != "" {
		list = append(list, "file="+escapeProperty(a.File))
	}
	for i, n := range a.position() {
		list = append(list, []string{"line=", "col="}[i]+strconv.Itoa(n))
	}
	if a.Title != "" {
		title := clipText(strings.ReplaceAll(safeText(a.Title), "\n", " "), maxTitle)
		list = append(list, "title="+escapeProperty(title))
	}
	if len(list) == 0 {
		return ""
	}
	return " " + strings.Join(list, ",")
}

// escapeProperty escapes the characters that end a property of a workflow command.
func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// countAnnotation reports whether GitHub will show one more annotation of the level.
func (l *Log) countAnnotation(level Level) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.annotated[level]++
	return l.annotated[level] <= maxAnnotations
}

// clipText returns s, or its beginning and an ellipsis, in at most limit UTF-16
// units.
func clipText(s string, limit int) string {
	if len(s) <= limit || utf16Units(s) <= limit {
		return s
	}
	units := 0
	for i, c := range s {
		units += utf16Units(string(c))
		if units > limit-1 {
			return s[:i] + "…"
		}
	}
	return s
}
