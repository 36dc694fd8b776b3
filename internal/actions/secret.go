package actions

import "github.com/org/foreman-action/internal/secret"

// A Secret is the value of an input that no log, error or JSON may show.
type Secret = secret.Text
