package store_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func (s *stage) prefer(e store.Entry, tell bool) (store.Entry, error) {
	return s.Store.SetPreference(s.ctx(), store.PreferenceRequest{TenantID: e.TenantID, ID: e.ID, TellVacancies: tell, Actor: shop.Customer})
}

func TestWhoDoesNotWantToBeToldOfOpenSeatsIsNot(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.WaitlistMode = store.Broadcast })
	slot, booked := s.full(2)
	quiet, told := s.Join(t, slot, 1), s.Join(t, slot, 1)
	if !quiet.TellVacancies {
		t.Error("nobody is told unless they ask for it")
	}
	m := s.mark(slot)
	for range 2 { // the second time it is so already
		got, err := s.prefer(quiet, false)
		if err != nil || got.TellVacancies || got.Position != quiet.Position {
			t.Fatal(got, err)
		}
	}
	m.events("entry_changed +0 customer")
	m = s.mark(slot)
	s.Cancel(t, booked[0])
	m.events("cancelled -1 customer", "vacancy_told +0 system")
	m.mail("cancelled "+booked[0].Email, "vacancy "+told.Email)

	// Back on, it is told of what comes free from then on.
	m = s.mark(slot)
	_, err := s.prefer(quiet, true)
	s.must(err)
	m.events("entry_changed +0 customer")
	m.mail()
	s.Book(t, slot, 1)
	m = s.mark(slot)
	s.Cancel(t, booked[1])
	m.mail("cancelled "+booked[1].Email, "vacancy "+quiet.Email)
}

func TestATurnIsOfferedWhateverWasChosen(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(1)
	e := s.Join(t, slot, 1)
	_, err := s.prefer(e, false)
	s.must(err)
	m := s.mark(slot)
	s.Cancel(t, booked[0])
	m.mail("cancelled "+booked[0].Email, "offer "+e.Email)
	_, err = s.prefer(e, true)
	want(t, err, store.Over)
	if _, err := s.Store.Decline(s.ctx(), s.entryPress(e)); err != nil {
		t.Fatal(err)
	}
	s.Book(t, slot, 1)
	again, err := s.Store.Rejoin(s.ctx(), s.entryPress(e))
	if err != nil || again.TellVacancies {
		t.Errorf("joining again forgot what was chosen: %v, %v", again.TellVacancies, err)
	}
}

func TestNobodyChangesAnothersPreference(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, _ := s.full(1)
	e := s.Join(t, slot, 1)
	foreign := e
	foreign.TenantID = s.AddTenant(t, "other", nil).ID
	_, err := s.prefer(foreign, false)
	want(t, err, store.NotFound)
}

// webp is a WebP of one pixel.
const webp = "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAUAmJaQAA3AA/vz0AAA="

func TestAPictureIsWhatItsContentSays(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	encode := func(w, h int, with func(*bytes.Buffer, image.Image) error) []byte {
		var b bytes.Buffer
		if err := with(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	asPNG := encode(32, 18, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) })
	asJPEG := encode(20, 10, func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) })
	asWebP, err := base64.StdEncoding.DecodeString(webp)
	if err != nil {
		t.Fatal(err)
	}
	for kind, file := range map[string][]byte{
		"nothing": nil, "text": []byte("a picture"), "a vector file": []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		"a GIF":        encode(4, 4, func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) }),
		"half a PNG":   asPNG[:len(asPNG)/2],
		"too wide":     encode(6001, 1, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }),
		"too many":     append(bytes.Clone(asPNG), make([]byte, store.MostPictureBytes)...),
		"a page":       []byte("<!DOCTYPE html>" + strings.Repeat(" ", 100)),
		"half a WebP":  asWebP[:25],
		"a WebP alike": append([]byte("RIFF\xff\xff\xff\x7fWEBPVP8 "), make([]byte, 40)...),
	} {
		if _, err := s.Store.SetPicture(t.Context(), s.Tenant.ID, s.Service.ID, file); !errors.Is(err, store.ErrPicture) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	last := store.PictureInfo{}
	for _, c := range []struct {
		kind          string
		file          []byte
		width, height int
	}{{"image/png", asPNG, 32, 18}, {"image/jpeg", asJPEG, 20, 10}, {"image/webp", asWebP, 1, 1}} {
		info, err := s.Store.SetPicture(t.Context(), s.Tenant.ID, s.Service.ID, c.file)
		if err != nil {
			t.Fatal(c.kind, err)
		}
		got, err := s.Store.Picture(t.Context(), s.Tenant.ID, s.Service.Slug, info.Hash)
		if err != nil || got.MediaType != c.kind || !bytes.Equal(got.Bytes, c.file) || got.Width != c.width || got.Height != c.height {
			t.Errorf("%s: %s %dx%d, %v", c.kind, got.MediaType, got.Width, got.Height, err)
		}
		if _, err := s.Store.Picture(t.Context(), s.Tenant.ID, s.Service.Slug, last.Hash); !errors.Is(err, store.NotFound) {
			t.Errorf("the picture before is still there: %v", err)
		}
		last = info
		sv, err := s.Store.Service(t.Context(), s.Tenant.ID, s.Service.ID)
		if err != nil || sv.Picture == nil || *sv.Picture != info {
			t.Errorf("the service names %v, %v", sv.Picture, err)
		}
	}
	other := s.AddTenant(t, "other", nil)
	if _, err := s.Store.SetPicture(t.Context(), other.ID, s.Service.ID, asPNG); !errors.Is(err, store.NotFound) {
		t.Errorf("another tenant's service: %v", err)
	}
	if _, err := s.Store.Picture(t.Context(), other.ID, s.Service.Slug, last.Hash); !errors.Is(err, store.NotFound) {
		t.Errorf("another tenant's picture: %v", err)
	}
	if err := s.Store.RemovePicture(t.Context(), s.Tenant.ID, s.Service.ID); err != nil {
		t.Fatal(err)
	}
	if sv, err := s.Store.Service(t.Context(), s.Tenant.ID, s.Service.ID); err != nil || sv.Picture != nil {
		t.Errorf("removed, and still %v, %v", sv.Picture, err)
	}
	if _, err := s.Store.SetPicture(t.Context(), s.Tenant.ID, s.Service.ID, asPNG); err != nil {
		t.Fatal(err)
	}
	if err := s.Store.DeleteTenant(t.Context(), s.Tenant.ID); err != nil {
		t.Errorf("a tenant with a picture: %v", err)
	}
}
