package main

import (
	"bytes"
	"image/png"
	"testing"
)

func TestThePictureOfTheDemoIsSmall(t *testing.T) {
	t.Parallel()
	file, err := drawMorning(960, 540)
	if err != nil {
		t.Fatal(err)
	}
	if len(file) > 30_000 {
		t.Errorf("%d bytes", len(file))
	}
	if got, err := png.Decode(bytes.NewReader(file)); err != nil || got.Bounds().Dx() != 960 || got.Bounds().Dy() != 540 {
		t.Errorf("it does not open: %v", err)
	}
}
