package llm

import "github.com/org/foreman-action/internal/secret"

// A Key is an API key: text that no log, error or JSON may show.
type Key = secret.Text
