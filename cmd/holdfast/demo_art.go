package main

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"math"
)

// hangPicture gives the yoga class its picture.
func (d *demoMaker) hangPicture(ctx context.Context) error {
	file, err := drawMorning(960, 540)
	if err != nil {
		return err
	}
	_, err = d.s.SetPicture(ctx, d.tenant.ID, d.yoga.ID, file)
	return err
}

// The colours of the picture, from far to near: those of the pages.
var morning = []color.RGBA{
	{0xf6, 0xf4, 0xee, 0xff}, // paper: the sky
	{0xec, 0xe7, 0xd8, 0xff}, // a ring of haze
	{0xe0, 0xb0, 0x8c, 0xff}, // the sun
	{0xd5, 0xd9, 0xea, 0xff}, // hills, each nearer and darker
	{0xac, 0xb4, 0xd6, 0xff},
	{0x6d, 0x78, 0xb4, 0xff},
	{0x2d, 0x3a, 0x80, 0xff}, // indigo
}

// drawMorning draws a sun over quiet hills. Flat colours with soft edges, so
// that the file stays small.
func drawMorning(width, height int) ([]byte, error) {
	const fine = 3 // samples along each side of a pixel
	const steps = 8
	var palette color.Palette
	for i, a := range morning {
		palette = append(palette, a)
		for _, b := range morning[i+1:] {
			for s := 1; s < steps; s++ {
				mix := func(x, y uint8) uint8 { return uint8((int(x)*(steps-s) + int(y)*s) / steps) }
				palette = append(palette, color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff})
			}
		}
	}
	w, h := float64(width), float64(height)
	ridge := func(x float64, hill int) float64 {
		u, n := x/w, float64(hill)
		return h * (0.56 + 0.12*n + 0.055*math.Sin(2*math.Pi*(u*(0.8+0.25*n)+0.37*n)) + 0.018*math.Sin(2*math.Pi*(u*2.6+0.61*n)))
	}
	layer := func(x, y float64, ridges []float64) int {
		for hill := len(ridges) - 1; hill >= 0; hill-- {
			if y >= ridges[hill] {
				return 3 + hill
			}
		}
		switch away := math.Hypot(x-0.66*w, y-0.43*h); {
		case away < 0.17*h:
			return 2
		case away < 0.27*h:
			return 1
		default:
			return 0
		}
	}
	picture := image.NewPaletted(image.Rect(0, 0, width, height), palette)
	columns := make([][]float64, width*fine)
	for i := range columns {
		for hill := range len(morning) - 3 {
			columns[i] = append(columns[i], ridge((float64(i)+0.5)/fine, hill))
		}
	}
	for py := range height {
		for px := range width {
			var r, g, b int
			for s := range fine * fine {
				i := px*fine + s%fine
				c := morning[layer((float64(i)+0.5)/fine, float64(py)+(float64(s/fine)+0.5)/fine, columns[i])]
				r, g, b = r+int(c.R), g+int(c.G), b+int(c.B)
			}
			const n = fine * fine
			picture.Set(px, py, color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 0xff})
		}
	}
	var file bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&file, picture)
	return file.Bytes(), err
}
