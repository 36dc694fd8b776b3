package workspace

import (
	"errors"
	"testing"
)

// TestRefused distinguishes a server's refusals from similar errors.
func TestRefused(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		"fatal: could not read Username for 'https://github.com'":                                      true,
		"fatal: unable to access 'https://github.com/o/r.git/': The requested URL returned error: 403": true,
		"fatal: repository 'https://github.com/o/r.git/' not found":                                    true,
		"Failed to connect to 127.0.0.1 port 34031 after 0 ms":                                         false,
		"Could not resolve host: 401.example.com":                                                      false,
	} {
		if got := refused(errors.New(message)); got != want {
			t.Errorf("%s: got %v", message, got)
		}
	}
}
