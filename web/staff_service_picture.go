package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// mostUpload is how much of an upload is read at all: a photo as a telephone
// makes it is too large to be kept, and is told so beside its field.
const mostUpload = 24 << 20

// longestAlt is what may be said of a picture, in characters.
const longestAlt = 200

// fileForm reads a form with one file; the file is nil where none was chosen,
// and cut off after what a picture may have. Only the form's own fields are
// read, and no file is written on this machine. A form without files is read
// as any other.
func (s *Server) fileForm(w http.ResponseWriter, r *http.Request, field string) (*form, []byte, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" {
		f, err := s.form(w, r)
		return f, nil, err
	}
	f := &form{values: url.Values{}, errs: formErrors{}}
	r.Body = http.MaxBytesReader(w, r.Body, mostUpload)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, nil, errMedia
	}
	var file []byte
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return f, file, nil
		}
		if err != nil || n > 20 {
			return nil, nil, uploadProblem(r, err)
		}
		limit := int64(bodyLimit)
		if part.FormName() == field {
			limit = store.MostPictureBytes + 1
		}
		content, err := io.ReadAll(io.LimitReader(part, limit))
		if err == nil {
			_, err = io.Copy(io.Discard, part)
		}
		if err != nil {
			return nil, nil, uploadProblem(r, err)
		}
		switch {
		case part.FormName() != field:
			f.values.Add(part.FormName(), string(content))
		case part.FileName() != "" && file != nil:
			f.errs.fault(field, "form.err.repeated")
		case part.FileName() != "":
			file = content
		}
	}
}

func uploadProblem(r *http.Request, err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return errTooLarge
	}
	if left := r.Context().Err(); left != nil {
		return left
	}
	return errBadRequest
}

func (s *Server) getServicePicture(w http.ResponseWriter, r *http.Request) error {
	sv, err := s.loadService(r)
	if err != nil {
		return err
	}
	typed := typedText{}
	typed.put(views.FieldAlt, sv.PictureAlt)
	return s.picturePage(w, r, http.StatusOK, sv, servicePress{typed: typed})
}

func (s *Server) picturePage(w http.ResponseWriter, r *http.Request, status int, sv store.Service, p servicePress) error {
	ctx, t := r.Context(), venue(r)
	lang := i18n.Lang(ctx)
	v := views.StaffPicturePage{
		StaffSettingPage: views.StaffSettingPage{
			BackURL: views.StaffServiceURL(t.Slug, sv.ID), BackText: sv.Name.In(lang), Title: i18n.T(ctx, "service.picture.of", "name", sv.Name.In(lang)),
			Form: views.StaffSettingForm{
				ActionURL: views.StaffServicePictureURL(t.Slug, sv.ID), Version: strconv.Itoa(sv.Version), Stored: p.stored, Errs: p.errs.in(ctx),
				Groups: []views.StaffFormGroup{{
					Title: i18n.T(ctx, "service.alt.title"), Text: i18n.T(ctx, "service.alt.text"),
					Rows: [][]views.StaffFormField{pair(ctx, t, p.typed, p.errs, views.FieldAlt, longestAlt, false)},
				}},
				Submit: i18n.T(ctx, "service.save"), BackURL: views.StaffServiceURL(t.Slug, sv.ID),
			},
		},
		Picture: picture(t, sv, lang), Err: p.errs.in(ctx)[views.FieldPicture],
	}
	if sv.Picture != nil {
		v.RemoveURL = v.Form.ActionURL
	}
	var err error
	if v.Last, err = s.lastChange(r, store.AreaService, sv.ID); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.Form.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffPicture(v))
}

// postServicePicture takes a file with its words, or takes the picture away.
func (s *Server) postServicePicture(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	sv, err := s.loadService(r)
	if err != nil {
		return err
	}
	f, file, err := s.fileForm(w, r, views.FieldPicture)
	if err != nil {
		return err
	}
	typed, done := typedText{}, i18n.Key("service.picture.saved")
	alt := f.readText(typed, views.FieldAlt, longestAlt, false)
	if f.text(views.FieldDo, 10) == "remove" {
		file, alt, done = []byte{}, nil, "service.picture.removed"
	} else if len(file) == 0 && file != nil {
		file = []byte{0} // an empty file is a file, and no picture
	}
	if file == nil && sv.Picture == nil {
		f.errs.fault(views.FieldPicture, "service.err.picture_missing")
	}
	if len(file) > store.MostPictureBytes {
		f.errs.fault(views.FieldPicture, "service.err.picture_large")
	}
	if f.bad() {
		return s.picturePage(w, r, http.StatusUnprocessableEntity, sv, servicePress{typed: typed, errs: f.errs})
	}
	_, err = s.store.ChangePicture(ctx, t.ID, sv.ID, shownVersion(f), me(r).ID, alt, file)
	switch {
	case errors.Is(err, store.ErrPicture):
		f.errs.fault(views.FieldPicture, "service.err.picture")
		return s.picturePage(w, r, http.StatusUnprocessableEntity, sv, servicePress{typed: typed, errs: f.errs})
	case errors.Is(err, store.Conflict):
		s.noteRefusal(r, store.Conflict)
		now, err := s.loadService(r)
		if err != nil {
			return err
		}
		stored := typedText{}
		stored.put(views.FieldAlt, now.PictureAlt)
		said, err := s.storedNow(r, store.AreaService, sv.ID, []string{"alt_ja", "alt_en"}, typed, stored)
		if err != nil {
			return err
		}
		return s.picturePage(w, r, http.StatusConflict, now, servicePress{typed: typed, stored: said})
	case err != nil:
		return err
	}
	return s.see(w, r, views.StaffServiceURL(t.Slug, sv.ID), done)
}
