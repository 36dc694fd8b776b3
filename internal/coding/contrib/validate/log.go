package validate

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/org/foreman-action/internal/secret"
)

const (
	maxCommandLog = 1 << 20  // bytes of the output of one command in the log
	maxLog        = 16 << 20 // bytes of the log
	maxSecret     = 4 << 10  // most bytes of a secret that is recognized even at a cut
)

// A redactor takes secrets out of a text.
type redactor []string

// newRedactor returns a redactor that removes the values of environment variables whose names
// suggest a secret, such as MY_TOKEN. It also removes texts that have the form of a known kind of
// secret.
func newRedactor(environ []string) redactor {
	var secrets redactor
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		for _, part := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY", "PRIVATE_KEY"} {
			if strings.Contains(strings.ToUpper(name), part) {
				secrets = append(secrets, value)
				break
			}
		}
	}
	return secrets
}

func (r redactor) redact(text string) string {
	return secret.RedactForms(secret.Redact(text, r...))
}

// A log contains the output of the commands of a validation. People read it to find the cause of a
// failure.
type log struct {
	redactor redactor
	text     bytes.Buffer
}

// add writes a line about a command.
func (l *log) add(format string, args ...any) {
	if l.text.Len() < maxLog {
		fmt.Fprintln(&l.text, l.redactor.redact(strings.TrimSpace(fmt.Sprintf(format, args...))))
	}
}

// output writes the output of a command.
func (l *log) output(b *beginning) {
	if l.text.Len() >= maxLog {
		return
	}
	data := b.data
	if b.cut {
		data = data[:max(0, len(data)-maxSecret)]
	}
	l.text.WriteString(strings.ToValidUTF8(l.redactor.redact(string(data)), "\uFFFD"))
	if b.cut {
		fmt.Fprintf(&l.text, "\n[the rest of the output is left out]")
	}
	l.text.WriteString("\n")
}

// A beginning keeps the first bytes that are written to it.
type beginning struct {
	data  []byte
	limit int
	cut   bool
}

// Write stores as much of p as fits, and reports all of it as written.
func (b *beginning) Write(p []byte) (int, error) {
	room := min(len(p), b.limit-len(b.data))
	b.data = append(b.data, p[:room]...)
	b.cut = b.cut || room < len(p)
	return len(p), nil
}
