package sqlstore

import (
	"errors"

	"github.com/org/foreman-action/memory"
)

// maxAside bounds the unreadable texts that are kept; the newest stay.
const maxAside = 1000

// asides keep records and ledgers that could not be read, for people to look at.
type asides struct{ aside, trimAside string }

func newAsides(d Dialect) asides {
	return asides{
		aside:     d.Expand("INSERT INTO memory_aside (path, at, data) VALUES ($2, {now}, $3) RETURNING id"),
		trimAside: "DELETE FROM memory_aside WHERE id <= $1",
	}
}

// keep stores the text of a path that is about to be overwritten, for the reason why it
// cannot be decoded. It returns any reason but memory.ErrBroken: the text must stay then.
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
