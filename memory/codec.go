package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/protocol"
)

// errTooLarge means that an encoded record is larger than MaxSize.
var errTooLarge = fmt.Errorf("the record is larger than %d bytes", MaxSize)

// Key returns the unique name of an issue's record, "owner/name/number" in lower case, for use as
// a path or as a key of a table. It returns an error if repo is not "owner/name" or if issue is
// negative; 0 is [Repository].
//
// Owner and name contain only letters, digits, '.', '_' and '-', and neither is "." or "..". They
// have at most 200 bytes together. The owner does not begin with '.', as no GitHub login does. A
// store may therefore use names that begin with '.' beside the owners.
func Key(repo string, issue int) (string, error) {
	if _, _, ok := protocol.SplitRepo(repo); !ok || len(repo) > 200 || repo[0] == '.' {
		return "", fmt.Errorf("want owner/name, got %q", clip(repo, 60))
	}
	if issue < Repository {
		return "", fmt.Errorf("want an issue number, got %d", issue)
	}
	return strings.ToLower(repo) + "/" + strconv.Itoa(issue), nil
}

// Encode returns the stored form of r with the revision r.Revision. Decode accepts every form
// that Encode returns. Errors: a bad repository or number; a revision below 1, which is an
// [ErrConflict], because no stored record can have the revision before it; a part out of its
// bounds, which [Record.Put] would correct; or a record larger than [MaxSize]. Stores call
// Encode; callers of a store do not need it.
func Encode(r Record) ([]byte, error) {
	if _, err := Key(r.Repo, r.Issue); err != nil {
		return nil, err
	}
	data, err := encode(r)
	if err != nil {
		return nil, fmt.Errorf("encode the record of %s#%d: %w", r.Repo, r.Issue, err)
	}
	return data, nil
}

func encode(r Record) ([]byte, error) {
	switch {
	case r.Revision < 1:
		return nil, fmt.Errorf("%w: revision %d is below 1", ErrConflict, r.Revision)
	case r.Revision > maxRevision:
		return nil, fmt.Errorf("revision %d is above the maximum of %d", r.Revision, maxRevision)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	data, err := marshal(r)
	if err != nil {
		return nil, err
	}
	// The revision gets more digits with later saves, so there must be room for the longest one.
	if growth := len(strconv.Itoa(maxRevision)) - len(strconv.Itoa(r.Revision)); len(data)+growth > MaxSize {
		return nil, errTooLarge
	}
	return data, nil
}

// Decode reads the stored form of the record of an issue. Its errors are [ErrBroken], with the
// reason, and [ErrNewer]. A record that it returns can be saved again: it accepts every record that
// Encode writes, in any formatting of the JSON, and refuses everything else.
func Decode(data []byte, repo string, issue int) (Record, error) {
	if len(data) > MaxSize {
		return Record{}, broken(errTooLarge)
	}
	if err := checkSchema(data, plainSchema, Schema); err != nil {
		return Record{}, err
	}
	var r Record
	if err := unmarshal(data, &r); err != nil {
		return Record{}, err
	}
	// No program writes these, and one that reads only the schema would drop the other parts.
	switch {
	case r.Schema == plainSchema && r.hasProposals():
		return Record{}, broken(fmt.Errorf("schema %d has no proposals", plainSchema))
	case r.Schema < Schema && r.Outcomes != nil:
		return Record{}, broken(fmt.Errorf("schema %d has no outcomes", r.Schema))
	}
	if err := check(r, repo, issue); err != nil {
		return Record{}, broken(err)
	}
	return r, nil
}

// checkSchema compares the schema of a stored form with the schemas that this program reads. It
// runs before the rest is decoded, because a newer form may not fit into the present types.
func checkSchema(data []byte, oldest, newest int) error {
	var head struct {
		Schema *int `json:"schema"`
	}
	if err := unmarshal(data, &head); err != nil {
		return err
	}
	switch {
	case head.Schema == nil:
		return broken(errors.New("it has no schema"))
	case *head.Schema > newest:
		return fmt.Errorf("%w: it has schema %d, and this program reads up to %d; update the program", ErrNewer, *head.Schema, newest)
	case *head.Schema < oldest:
		return broken(fmt.Errorf("schema %d is not supported, want %d or later", *head.Schema, oldest))
	}
	return nil
}

// unmarshal decodes data, which must be a single JSON value.
func unmarshal(data []byte, v any) error {
	if !utf8.Valid(data) {
		return broken(errors.New("it is not UTF-8"))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	err := d.Decode(v)
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return broken(fmt.Errorf("it is truncated after %d bytes", len(data)))
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return broken(fmt.Errorf("byte %d: unexpected JSON %s", wrong.Offset, wrong.Value))
	}
	if err != nil {
		return broken(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return broken(errors.New("unexpected data after the record"))
	}
	return nil
}

func broken(err error) error { return fmt.Errorf("%w: %w", ErrBroken, err) }

// check verifies that r is the record of an issue and can be stored again.
func check(r Record, repo string, issue int) error {
	want, err := Key(repo, issue)
	if err != nil {
		return err
	}
	if got, err := Key(r.Repo, r.Issue); err != nil || got != want {
		return fmt.Errorf("it is the record of %q #%d, not of %s#%d", clip(r.Repo, 60), r.Issue, repo, issue)
	}
	if r.Revision < 1 || r.Revision >= maxRevision {
		return fmt.Errorf("revision %d is out of range", r.Revision)
	}
	_, err = encode(r)
	return err
}
