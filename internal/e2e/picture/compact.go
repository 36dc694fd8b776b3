package picture

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"slices"
)

const (
	maxColours   = 256 // of a PNG with a palette
	exactColours = 64  // the most frequent ones, such as backgrounds, are kept
)

// Compact returns a PNG with at most 256 colours. The most frequent ones are kept. Of the others,
// similar ones become the most frequent one of them. A page of text has few colours besides the edges of its letters, so the eye sees no
// difference.
func Compact(picture []byte) ([]byte, error) {
	decoded, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, fmt.Errorf("read the picture of the browser: %w", err)
	}
	bounds := decoded.Bounds()
	from := image.NewRGBA(bounds)
	draw.Draw(from, bounds, decoded, bounds.Min, draw.Src)
	count := map[color.RGBA]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[from.RGBAAt(x, y)]++
		}
	}
	palette, index := reduce(count)
	to := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			to.SetColorIndex(x, y, index[from.RGBAAt(x, y)])
		}
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, to); err != nil {
		return nil, fmt.Errorf("write the picture: %w", err)
	}
	return out.Bytes(), nil
}

// reduce returns a palette for colours with their frequencies, and the place of each colour in it.
// Colours are similar if they differ in their lowest bits alone, of which it ignores as few as it can.
func reduce(count map[color.RGBA]int) (color.Palette, map[color.RGBA]uint8) {
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B), cmp.Compare(a.A, b.A))
	})
	for bits := 0; ; bits++ {
		var palette color.Palette
		places := map[color.RGBA]int{}
		index := map[color.RGBA]uint8{}
		for n, c := range colours {
			key := color.RGBA{c.R >> bits, c.G >> bits, c.B >> bits, c.A >> bits}
			place, found := places[key]
			if !found || n < exactColours {
				place = len(palette)
				palette = append(palette, c)
			}
			if n >= exactColours {
				places[key] = place
			}
			index[c] = uint8(place)
		}
		if len(palette) <= maxColours {
			return palette, index
		}
	}
}
