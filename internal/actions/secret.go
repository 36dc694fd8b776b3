package actions

import "github.com/org/foreman-action/internal/secret"

// A Secret is the value of an input that must not appear in a log, an error or JSON.
type Secret = secret.Text
