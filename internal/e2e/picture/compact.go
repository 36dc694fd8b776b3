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
	"math"
	"slices"
)

const (
	maxColours   = 128 // of a PNG with a palette
	exactColours = 64  // the most frequent colours, such as backgrounds, are exact
)

// Compact returns a PNG with at most 128 colours. Each pixel has the nearest of them. The palette
// contains the most frequent colours, and then those that differ most from the others. The
// difference is invisible on a page of text, because most of its colours occur only at the edges
// of letters.
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

// reduce returns a palette for colours with their frequencies, and the index in the palette for
// each colour.
func reduce(count map[color.RGBA]int) (color.Palette, map[color.RGBA]uint8) {
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B), cmp.Compare(a.A, b.A))
	})
	var palette color.Palette
	distances := make([]int, len(colours)) // of each colour to the nearest one of the palette
	for i := range distances {
		distances[i] = math.MaxInt
	}
	index := map[color.RGBA]uint8{}
	for len(palette) < min(maxColours, len(colours)) {
		next := len(palette)
		if next >= exactColours {
			next = slices.Index(distances, slices.Max(distances))
		}
		for i, c := range colours {
			if d := distance(c, colours[next]); d < distances[i] {
				distances[i], index[c] = d, uint8(len(palette))
			}
		}
		palette = append(palette, colours[next])
	}
	return palette, index
}

// distance returns a measure of the difference between two colours.
func distance(a, b color.RGBA) int {
	square := func(x, y uint8) int { return (int(x) - int(y)) * (int(x) - int(y)) }
	return square(a.R, b.R) + square(a.G, b.G) + square(a.B, b.B) + square(a.A, b.A)
}
