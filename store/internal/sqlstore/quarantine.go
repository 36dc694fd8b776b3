package sqlstore

// maxAside is how many texts that cannot be read are kept: the newest.
const maxAside = 1000

// asides keep texts that cannot be read, for people to look at.
type asides struct{ aside, trimAside string }

func newAsides(d Dialect) asides {
	return asides{
		aside:     d.Expand("INSERT INTO memory_aside (path, at, data) VALUES ($2, {now}, $3) RETURNING id"),
		trimAside: "DELETE FROM memory_aside WHERE id <= $1",
	}
}

// keep keeps a text that was found at a path.
func (a asides) keep(tx Tx, path string, data []byte) error {
	var id int64
	if _, err := One(tx, a.aside, Into(&id), tx.Now(), path, data); err != nil {
		return err
	}
	_, err := tx.Exec(a.trimAside, id-maxAside)
	return err
}
