package sqlstore

import (
	"errors"

	"github.com/org/foreman-action/memory"
)

// maxAside is the most unreadable texts that are kept. The oldest are deleted.
const maxAside = 1000

// asides are the statements that keep records and ledgers that could not be decoded, for
// inspection by people.
type asides struct{ aside, trimAside string }

func newAsides(d Dialect) asides {
	return asides{
		aside:     d.Expand("INSERT INTO memory_aside (path, at, data) VALUES ($2, {now}, $3) RETURNING id"),
		trimAside: "DELETE FROM memory_aside WHERE id <= $1",
	}
}

// keep stores a text that is about to be overwritten, if the error why is memory.ErrBroken, which
// means that the text could not be decoded. keep returns any other error, and the caller must not
// overwrite the text then.
func (a asides) keep(tx Tx, path string, data []byte, why error) error {
	if !errors.Is(why, memory.ErrBroken) {
		return why
	}
	var id int64
	if _, err := One(tx, a.aside, Into(&id), tx.Now(), path, data); err != nil {
		return err
	}
	_, err := tx.Exec(a.trimAside, id-maxAside)
	return err
}
