package effect

import (
	"strconv"

	"github.com/org/foreman-action/protocol"
)

// MarkDuplicate closes the issue as a duplicate of another issue of the same repository.
type MarkDuplicate struct{ Of int }

func (MarkDuplicate) action() string     { return protocol.ActionMarkDuplicate }
func (e MarkDuplicate) values() []string { return []string{strconv.Itoa(e.Of)} }
