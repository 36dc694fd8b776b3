package results

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/org/foreman-action/memory"
)

const (
	fileName = "memory.json" // the one file of an artifact
	// maxZip limits the size of a zip before it is opened. It allows one file of the maximal size
	// that does not compress.
	maxZip = memory.MaxSize + 4<<10
)

// pack returns a zip of one file. The same data give the same zip.
func pack(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: fileName, Method: zip.Deflate})
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("make the zip: %w", err)
	}
	return b.Bytes(), nil
}

// unpack returns the one file of a zip. Every error is a memory.ErrBroken. The sizes in a zip are
// not trusted: unpack reads at most one byte more than a record may have.
func unpack(data []byte) ([]byte, error) {
	if len(data) > maxZip {
		return nil, broken(fmt.Errorf("the zip is larger than %d bytes", maxZip))
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, broken(fmt.Errorf("open the zip: %w", err))
	}
	if len(z.File) != 1 {
		return nil, broken(fmt.Errorf("the zip has %d entries, not 1", len(z.File)))
	}
	f := z.File[0]
	const encrypted = 1
	switch {
	case f.Name != fileName:
		return nil, broken(fmt.Errorf("the file in the zip is not %s", fileName))
	case !f.Mode().IsRegular(), f.Flags&encrypted != 0:
		return nil, broken(fmt.Errorf("%s in the zip is not a regular file", fileName))
	case f.UncompressedSize64 > memory.MaxSize:
		return nil, broken(fmt.Errorf("%s in the zip is larger than %d bytes", fileName, memory.MaxSize))
	}
	r, err := f.Open()
	if err != nil {
		return nil, broken(fmt.Errorf("open %s in the zip: %w", fileName, err))
	}
	defer r.Close()
	out, err := io.ReadAll(io.LimitReader(r, memory.MaxSize+1))
	if err != nil {
		return nil, broken(fmt.Errorf("unpack %s: %w", fileName, err))
	}
	return out, nil
}

// digest returns the digest of a zip in the form of the REST API.
func digest(zip []byte) string {
	sum := sha256.Sum256(zip)
	return "sha256:" + hex.EncodeToString(sum[:])
}
