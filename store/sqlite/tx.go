package sqlite

import (
	"strings"

	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A tx runs statements on a connection, and records whether they may have changed anything.
type tx struct {
	conn  *conn
	now   func() int64
	dirty bool // a statement changed something, or failed
}

// Exec implements sqlstore.Tx.
func (t *tx) Exec(query string, args ...any) (int64, error) {
	if len(args) == 0 { // a statement of the schema
		t.dirty = true
		return 0, t.conn.once(query)
	}
	n, err := t.conn.exec(query, args...)
	t.dirty = t.dirty || n > 0 || err != nil
	return n, err
}

// Query implements sqlstore.Tx.
func (t *tx) Query(query string, each func(sqlstore.Row) error, args ...any) error {
	n, err := t.conn.query(query, each, args...)
	t.dirty = t.dirty || err != nil || n > 0 && !strings.HasPrefix(query, "SELECT") && !strings.HasPrefix(query, "\nSELECT")
	return err
}

// Now implements sqlstore.Tx.
func (t *tx) Now() any { return t.now() }

// A database is the groupcommit.Database of a file.
type database struct {
	tx          tx
	files       *files
	checkpoints checkpointer
	requests    chan *rescueRequest // has a capacity of one
}

// A rescueRequest asks for a copy of a lost database.
type rescueRequest struct {
	path string // an empty file
	done chan error
}

// Begin implements groupcommit.Database. It returns an error if the file is lost.
func (d *database) Begin() error {
	if err := d.files.err(); err != nil {
		return err
	}
	return d.control("BEGIN IMMEDIATE")
}

// Run implements groupcommit.Database.
func (d *database) Run(f func(sqlstore.Tx) error) (changed bool, err error) {
	d.tx.dirty = false
	err = f(&d.tx)
	return d.tx.dirty, d.damaged(medium(err))
}

// Commit implements groupcommit.Database. It checks after the commit that the file is in place,
// which proves that no earlier commit was lost.
func (d *database) Commit() error {
	if err := d.control("COMMIT"); err != nil {
		return err
	}
	return d.files.check()
}

// Rollback implements groupcommit.Database. It fails only if SQLite has ended the transaction
// itself.
func (d *database) Rollback() { _ = d.control("ROLLBACK") }

// Maintain implements groupcommit.Database.
func (d *database) Maintain() {
	if d.files.err() == nil {
		d.checkpoints.shorten()
		return
	}
	select {
	case r := <-d.requests:
		_, err := d.tx.conn.exec("VACUUM INTO $1", r.path)
		r.done <- medium(err)
	default:
	}
}

// Close implements groupcommit.Database. It does not close a file that another process put in
// place of the store's file.
func (d *database) Close() error {
	if d.files.foreign() {
		return nil
	}
	return d.tx.conn.close()
}

func (d *database) control(statement string) error {
	_, err := d.tx.conn.exec(statement)
	return d.damaged(medium(err))
}

// damaged marks the file as lost if err means that another program overwrote it.
func (d *database) damaged(err error) error {
	if damage(err) {
		return d.files.lose("it was overwritten, or is damaged: " + err.Error())
	}
	return err
}
