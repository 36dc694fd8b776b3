package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// A Registry pushes and finds images.
type Registry struct {
	Transport http.RoundTripper // nil: the default one
}

func (r Registry) options(ctx context.Context, a authn.Authenticator) []remote.Option {
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuth(a)}
	if r.Transport != nil {
		options = append(options, remote.WithTransport(r.Transport))
	}
	return options
}

// Exists returns an error unless the image can be pulled by its digest without a login, as the
// runner pulls it: the registry sends a manifest with that SHA-256.
func (r Registry) Exists(ctx context.Context, image, digest string) error {
	ref, err := name.NewDigest(image + "@" + digest)
	if err != nil {
		return fmt.Errorf("image %s@%s: %w", image, digest, err)
	}
	found, err := remote.Get(ref, r.options(ctx, authn.Anonymous)...)
	if err != nil {
		return fmt.Errorf("image %s cannot be pulled without a login (push it, and make the package public): %w", ref, err)
	}
	if sum := sha256.Sum256(found.Manifest); digest != "sha256:"+hex.EncodeToString(sum[:]) {
		return fmt.Errorf("image %s: the registry sends a manifest with the SHA-256 %x in its place", ref, sum)
	}
	return nil
}

// Push pushes the only image of a layout under a tag.
func (r Registry) Push(ctx context.Context, folder, image, tag string, login authn.Authenticator) error {
	ref, err := name.NewTag(image + ":" + tag)
	if err != nil {
		return fmt.Errorf("image %s:%s: %w", image, tag, err)
	}
	only, err := open(folder)
	if err != nil {
		return err
	}
	if err := remote.WriteIndex(ref, only, r.options(ctx, login)...); err != nil {
		return fmt.Errorf("push %s: %w", ref, err)
	}
	return nil
}

// Digest returns the digest of the only image of a layout.
func Digest(folder string) (string, error) {
	only, err := open(folder)
	if err != nil {
		return "", err
	}
	digest, err := only.Digest()
	if err != nil {
		return "", fmt.Errorf("open the layout %s: %w", folder, err)
	}
	return digest.String(), nil
}

// open returns the only image of a layout.
func open(folder string) (v1.ImageIndex, error) {
	all, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, fmt.Errorf("open the layout %s: %w", folder, err)
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("open the layout %s: %w", folder, err)
	}
	if n := len(manifest.Manifests); n != 1 {
		return nil, fmt.Errorf("open the layout %s: it has %d images, want one", folder, n)
	}
	return all.ImageIndex(manifest.Manifests[0].Digest)
}

// Check reads all of a layout, compares every digest with its content, and returns an error
// unless its only image has the given digest and runs on the given platforms.
func Check(folder, digest string, platforms []string) error {
	only, err := open(folder)
	if err != nil {
		return err
	}
	got, err := only.Digest()
	if err != nil {
		return err
	}
	if got.String() != digest {
		return fmt.Errorf("layout %s: it has the image %s, want %s", folder, got, digest)
	}
	if err := validate.Index(only); err != nil {
		return fmt.Errorf("layout %s: %w", folder, err)
	}
	manifest, err := only.IndexManifest()
	if err != nil {
		return err
	}
	var have []string
	for _, m := range manifest.Manifests {
		have = append(have, m.Platform.OS+"-"+m.Platform.Architecture)
	}
	if !slices.Equal(have, platforms) {
		return fmt.Errorf("layout %s: it runs on %q, want %q", folder, have, platforms)
	}
	return nil
}
