package rest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// MaxFile is the largest file that the contents API returns inline, in bytes.
const MaxFile = 1 << 20

// EscapePath escapes each segment of a path below a repository's root.
func EscapePath(path string) (string, error) {
	path = strings.Trim(path, "/")
	if path == "" {
		return "", nil
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if !Segment(s) {
			return "", errors.New("the path has an empty, '.' or '..' part")
		}
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/"), nil
}

// FileContent decodes the content of a file from a response of the contents API.
func FileContent(raw json.RawMessage) ([]byte, error) {
	var file struct {
		Type, Encoding, Content string
		Size                    int64
	}
	if len(raw) > 0 && raw[0] == '[' {
		return nil, errors.New("it is a directory")
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("decode the answer: %w", err)
	}
	switch {
	case file.Type != "file":
		return nil, fmt.Errorf("it is a %s, not a file", Clip(file.Type, 20))
	case file.Size > MaxFile:
		return nil, fmt.Errorf("it has %d bytes, the limit is %d", file.Size, MaxFile)
	case file.Encoding != "base64":
		return nil, fmt.Errorf("unknown encoding %q", Clip(file.Encoding, 20))
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(file.Content, "\n", ""))
	if err != nil {
		return nil, fmt.Errorf("decode the content: %w", err)
	}
	return data, nil
}
