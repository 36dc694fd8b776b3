package sqlite

import "github.com/org/foreman-action/store/internal/sqlstore"

// migrate brings a file to the newest version of the schema, and converts the data of a published
// harness if the file has any.
func migrate(tx sqlstore.Tx, d sqlstore.Dialect) error {
	if _, err := sqlstore.Migrate(tx, d); err != nil {
		return err
	}
	return takeOver(tx)
}
