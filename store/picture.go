package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // so that its pictures are understood
	_ "image/png"

	"github.com/jackc/pgx/v5"
)

// MostPictureBytes is how large the file of a picture may be.
const MostPictureBytes = 400_000

// mostPictureSide bounds what a small file can blow up to in a visitor's phone, in pixels.
const mostPictureSide = 6000

// ErrPicture says that a file is no picture of ours: not a whole PNG, JPEG or
// WebP, or too large.
var ErrPicture = errors.New("not a PNG, JPEG or WebP picture of at most 400 kB and 6000 pixels a side")

// PictureInfo is what pages need to know of the picture of a service.
type PictureInfo struct {
	Hash   string `json:"hash"` // names the very bytes
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// Picture is the picture of a service as it is served.
type Picture struct {
	MediaType string
	Hash      string
	Width     int
	Height    int
	Bytes     []byte
}

const setPictureSQL = `-- set picture
INSERT INTO service_pictures (tenant_id, service_id, media_type, width, height, bytes, hash)
SELECT tenant_id, id, @type::text, @width::integer, @height::integer, @bytes::bytea, @hash::text FROM services WHERE tenant_id = @tenant AND id = @service
ON CONFLICT (tenant_id, service_id) DO UPDATE
SET media_type = excluded.media_type, width = excluded.width, height = excluded.height, bytes = excluded.bytes, hash = excluded.hash, created_at = now()`

// SetPicture stores the picture of a service, in the place of the one before.
// What it is says its content, never its name: a vector file could carry a
// script and is refused. Errors: ErrPicture; NotFound if there is no such service.
func (s *Store) SetPicture(ctx context.Context, tenant, service string, file []byte) (PictureInfo, error) {
	return setPicture(ctx, s.db, tenant, service, file)
}

func setPicture(ctx context.Context, db querier, tenant, service string, file []byte) (PictureInfo, error) {
	kind, width, height, err := pictureKind(file)
	if err != nil {
		return PictureInfo{}, err
	}
	sum := sha256.Sum256(file)
	info := PictureInfo{Hash: hex.EncodeToString(sum[:10]), Width: width, Height: height}
	tag, err := db.Exec(ctx, setPictureSQL, pgx.StrictNamedArgs{
		"tenant": tenant, "service": service, "type": kind, "width": width, "height": height, "bytes": file, "hash": info.Hash,
	})
	if err != nil {
		return PictureInfo{}, fmt.Errorf("set picture: %w", classify(err))
	}
	if tag.RowsAffected() == 0 {
		return PictureInfo{}, NotFound
	}
	return info, nil
}

const removePictureSQL = `-- remove picture
DELETE FROM service_pictures WHERE tenant_id = @tenant AND service_id = @service`

// RemovePicture takes the picture of a service away, if it has one.
func (s *Store) RemovePicture(ctx context.Context, tenant, service string) error {
	_, err := s.db.Exec(ctx, removePictureSQL, pgx.StrictNamedArgs{"tenant": tenant, "service": service})
	return classify(err)
}

const pictureSQL = `-- picture
SELECT p.media_type, p.hash, p.width, p.height, p.bytes
FROM services s JOIN service_pictures p ON p.tenant_id = s.tenant_id AND p.service_id = s.id
WHERE s.tenant_id = @tenant AND s.slug = @slug AND p.hash = @hash`

// Picture finds the picture of the service with a slug, if it is the one that
// the hash names; NotFound else.
func (s *Store) Picture(ctx context.Context, tenant, slug, hash string) (Picture, error) {
	return one[Picture](ctx, s.db, pictureSQL, pgx.StrictNamedArgs{"tenant": tenant, "slug": slug, "hash": hash})
}

// pictureKind finds out what a file is, from its content, and how large in pixels.
func pictureKind(file []byte) (kind string, width, height int, err error) {
	if len(file) == 0 || len(file) > MostPictureBytes {
		return "", 0, 0, ErrPicture
	}
	if w, h, ok := webpSize(file); ok {
		kind, width, height = "image/webp", w, h
	} else {
		// The size first: a small file must not make us unpack a huge one.
		c, format, err := image.DecodeConfig(bytes.NewReader(file))
		if err != nil {
			return "", 0, 0, ErrPicture
		}
		kind, width, height = "image/"+format, c.Width, c.Height
	}
	if kind != "image/png" && kind != "image/jpeg" && kind != "image/webp" {
		return "", 0, 0, ErrPicture
	}
	if width < 1 || height < 1 || width > mostPictureSide || height > mostPictureSide {
		return "", 0, 0, ErrPicture
	}
	if kind != "image/webp" {
		if _, _, err := image.Decode(bytes.NewReader(file)); err != nil {
			return "", 0, 0, ErrPicture // cut off, or only the head of one
		}
	}
	return kind, width, height, nil
}

// webpSize reads the head of a WebP file (RFC 9649), in any of its three forms:
// the standard library does not know them.
func webpSize(file []byte) (width, height int, ok bool) {
	if len(file) < 30 || string(file[:4]) != "RIFF" || string(file[8:12]) != "WEBP" || int(binary.LittleEndian.Uint32(file[4:8]))+8 > len(file) {
		return 0, 0, false
	}
	switch body := file[20:]; string(file[12:16]) {
	case "VP8 ":
		if body[3] != 0x9d || body[4] != 0x01 || body[5] != 0x2a {
			return 0, 0, false
		}
		return int(binary.LittleEndian.Uint16(body[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(body[8:]) & 0x3fff), true
	case "VP8L":
		if body[0] != 0x2f {
			return 0, 0, false
		}
		bits := binary.LittleEndian.Uint32(body[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, true
	case "VP8X":
		three := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return three(body[4:]) + 1, three(body[7:]) + 1, true
	}
	return 0, 0, false
}
