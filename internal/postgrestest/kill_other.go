//go:build !unix

package postgrestest

import (
	"context"
	"errors"
)

// Kill is not implemented on this platform.
func (*Cluster) Kill(context.Context, bool) error { return errors.ErrUnsupported }
