package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"
)

// A Cursor is the issue at which a scan of the repository ended before it had examined all issues.
// The next run of the scan continues after that issue.
type Cursor struct {
	Scan    string    `json:"scan"`    // the query; the record stores the beginning and a checksum of a long one
	Issue   int       `json:"issue"`   // the last issue that was examined
	Created time.Time `json:"created"` // when that issue was created; UTC
}

// maxCursors is the most cursors of a record.
const maxCursors = 20

// Cursor returns the cursor of a scan. ok is false if there is none.
func (r *Record) Cursor(scan string) (c Cursor, ok bool) {
	i := slices.IndexFunc(r.Cursors, Cursor{Scan: scanKey(scan)}.same)
	if i < 0 {
		return Cursor{}, false
	}
	return r.Cursors[i], true
}

// Move replaces the cursor of c.Scan. If there are more than 20, the ones that were not moved for
// the longest time are dropped.
func (r *Record) Move(c Cursor) {
	c.Scan, c.Created = scanKey(c.Scan), clipTime(c.Created)
	r.Cursors = append(slices.DeleteFunc(slices.Clone(r.Cursors), c.same), c)
	r.Cursors = r.Cursors[max(0, len(r.Cursors)-maxCursors):]
}

// scanKey returns the text that stands for a query in a record.
func scanKey(query string) string {
	if len(query) <= maxShort {
		return clip(query, maxShort)
	}
	sum := sha256.Sum256([]byte(query))
	const digits = 16
	return clip(query, maxShort-digits) + hex.EncodeToString(sum[:digits/2])
}

func (c Cursor) same(other Cursor) bool { return c.Scan == other.Scan }

// checkCursors verifies the bounds of cursors.
func checkCursors(list []Cursor) error {
	if len(list) > maxCursors || slices.ContainsFunc(list, func(c Cursor) bool {
		return !short(c.Scan) || c.Issue < 1 || c.Issue > maxCount || !storable(c.Created)
	}) {
		return errors.New("its cursors are too many, or one has a number, time or text out of range")
	}
	return nil
}
