package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// local returns an error for a folder on a network drive or in a shared folder of another machine.
func local(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	rest, device := strings.CutPrefix(dir, `\\?\`)
	if !device {
		rest, device = strings.CutPrefix(dir, `\\.\`)
	}
	if device && len(rest) >= 4 && strings.EqualFold(rest[:4], `UNC\`) || !device && strings.HasPrefix(dir, `\\`) {
		return refused(dir, "a network share")
	}
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	if err != nil {
		return fmt.Errorf("inspect the drive of %s: %w", dir, err)
	}
	if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return refused(dir, "a network drive")
	}
	return nil
}
