package controller

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/workdir"
)

// Read decodes a document into a pointer. found is false if the file does not exist. The error is
// a [contract.Problem] with [contract.CodeRecord] if the file is not a document of contribflow.
func (c Controller) Read(path string, into any) (found bool, err error) {
	data, err := c.record(path)
	if data == nil || err != nil {
		return false, err
	}
	return true, decode(path, data, into)
}

// record reads the file of a document; nil if it does not exist.
func (c Controller) record(path string) ([]byte, error) {
	data, err := c.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, workdir.ErrNoFile), errors.Is(err, workdir.ErrEscape), errors.Is(err, workdir.ErrTooLarge): // no command replaces it
		return nil, contract.Fail(contract.CodeRecord, "read %s: %w", path, err).With(remove(path))
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return append([]byte{}, data...), nil // an empty file is not nil
}

func decode(path string, data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		reflect.ValueOf(into).Elem().SetZero() // removes the fields that were decoded before the mistake
		return invalid(path, err)
	}
	return nil
}

// invalid returns the problem of a file that is not a document of contribflow.
func invalid(path string, err error) *contract.Problem {
	return contract.Fail(contract.CodeRecord, "read %s: %w", path, err).With(remedy(path))
}

// remedy returns the next step for a record that cannot be read. For most records, it is the
// command that writes them again.
func remedy(path string) contract.Next {
	for prefix, next := range map[string]contract.Next{
		statePath:                         contract.Instruct(contract.ActionCheckout, "Choose the issue again with: contribflow checkout OWNER/REPO#NUMBER --json"),
		Folder + "/artifacts/patch-":      contract.Run(contract.ActionDiff, "contribflow diff --json"),
		Folder + "/artifacts/validation-": contract.Run(contract.ActionSandboxValidation, "contribflow validate --run --sandbox docker --json"),
		Folder + "/artifacts/pr-":         contract.Run(contract.ActionDraftPR, "contribflow pr --draft --json"),
	} {
		if strings.HasPrefix(path, prefix) {
			return next
		}
	}
	return remove(path)
}

func remove(path string) contract.Next {
	return contract.Instruct(contract.ActionFixError, "Remove "+path+", then run the command again.")
}

// Invalid returns the [contract.Problem] in an error, if the error is about an unreadable record.
func Invalid(err error) (*contract.Problem, bool) {
	p, ok := errors.AsType[*contract.Problem](err)
	return p, ok && p.Code == contract.CodeRecord
}

// Write writes a document in the form of [contract.Encode]. Only the owner can read the file.
func (c Controller) Write(path string, document any) error {
	data, err := contract.Encode(document)
	if err != nil {
		return err
	}
	return c.WriteFile(path, data)
}

// KeyFile returns the path of the user's key, in the user's configuration folder. Empty: the
// environment variables name no folder.
func KeyFile(getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME")
	if home := getenv("HOME"); !filepath.IsAbs(dir) && home != "" {
		dir = filepath.Join(home, ".config")
	}
	if runtime.GOOS == "windows" {
		dir = getenv("AppData")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "contribflow", "key")
}

// Key returns the user's key, and creates it if it is missing. The key is nil if KeyFile is empty.
func (c Controller) Key() ([]byte, error) {
	key, err := c.key()
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	const private = 0o700
	if err := os.MkdirAll(filepath.Dir(c.KeyFile), private); err != nil {
		return nil, fmt.Errorf("make the key %s: %w", c.KeyFile, err)
	}
	dir, name := workdir.Dir(filepath.Dir(c.KeyFile)), filepath.Base(c.KeyFile)
	if err := dir.WritePrivate(name, []byte(rand.Text()+rand.Text()+"\n")); err != nil {
		return nil, fmt.Errorf("make the key %s: %w", c.KeyFile, err)
	}
	return c.key()
}

// key reads the user's key. The error matches [fs.ErrNotExist] where there is none.
func (c Controller) key() ([]byte, error) {
	if c.KeyFile == "" {
		return nil, nil
	}
	const shortest, longest = 32, 4096
	key, err := workdir.Dir(filepath.Dir(c.KeyFile)).Read(filepath.Base(c.KeyFile), longest)
	if err == nil && len(key) < shortest {
		err = errors.New("it is too short: remove it")
	}
	if err != nil {
		return nil, fmt.Errorf("read the key %s: %w", c.KeyFile, err)
	}
	return key, nil
}

// plainEnd is the end of a document, and sealFormat replaces it in a sealed document. The seal is
// the HMAC-SHA256 of the document's path and of its text without the seal.
const (
	plainEnd   = "\n}\n"
	sealFormat = ",\n  \"seal\": \"%s\"\n}\n"
)

var sealedEnd = regexp.MustCompile(`,\n  "seal": "([0-9a-f]{64})"\n\}\n$`)

func seal(key []byte, path string, document []byte) []byte {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "contribflow record\n%s\n%s", path, document)
	return mac.Sum(nil)
}

// WriteSealed is like [Controller.Write], but adds a seal: a key "seal" at the end of the
// document. [Controller.ReadSealed] verifies it.
func (c Controller) WriteSealed(path string, document any) error {
	data, err := contract.Encode(document)
	if err != nil {
		return err
	}
	key, err := c.Key()
	if err != nil {
		return err
	}
	if key != nil {
		sum := hex.EncodeToString(seal(key, path, data))
		data = append(bytes.TrimSuffix(data, []byte(plainEnd)), fmt.Sprintf(sealFormat, sum)...)
	}
	return c.WriteFile(path, data)
}

// ReadSealed is like [Controller.Read], but refuses a document without a valid seal. It is for
// documents on which publishing relies. A program that edits the workspace may be able to write
// below .contribflow, but it does not have the user's key.
func (c Controller) ReadSealed(path string, into any) (found bool, err error) {
	data, err := c.record(path)
	if data == nil || err != nil {
		return false, err
	}
	if err := decode(path, data, into); err != nil {
		return false, err
	}
	key, err := c.key()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if at := sealedEnd.FindSubmatchIndex(data); key != nil && at != nil {
		sum, err := hex.DecodeString(string(data[at[2]:at[3]]))
		if err == nil && hmac.Equal(sum, seal(key, path, append(data[:at[0]:at[0]], plainEnd...))) {
			return true, nil
		}
	}
	reflect.ValueOf(into).Elem().SetZero()
	return false, invalid(path, errors.New("it is not signed with this user's key"))
}
