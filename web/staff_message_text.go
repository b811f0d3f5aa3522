package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
	"holdfast/views/mail"
)

// getTexts lists the messages whose words can be the venue's own.
func (s *Server) getTexts(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	own, err := s.store.MessageTexts(ctx, t.ID)
	if err != nil {
		return err
	}
	v := views.StaffTextsPage{BackURL: views.StaffMailURL(t.Slug), PreviewsURL: views.StaffPreviewsURL(t.Slug)}
	for _, kind := range mail.OwnKinds {
		item := views.StaffTextItem{Kind: mailKind(ctx, store.MessageKind(kind))}
		for _, lang := range mailLanguages {
			item.Languages = append(item.Languages, views.StaffTextLanguage{
				Text: i18n.T(ctx, i18n.Key("message.lang."+lang)), URL: views.StaffTextURL(t.Slug, string(kind), lang),
				Own: slices.ContainsFunc(own, func(m store.MessageText) bool { return string(m.Kind) == string(kind) && m.Locale == lang }),
			})
		}
		v.Items = append(v.Items, item)
	}
	if v.Page, v.Staff, err = s.staffPage(r, "messages", i18n.T(ctx, "message.texts.title"), views.StaffTextsURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffTexts(v))
}

// textParams are the kind and the language of the path.
func textParams(r *http.Request) (store.MessageKind, string, error) {
	kind, lang := chi.URLParam(r, "kind"), chi.URLParam(r, "lang")
	if !slices.Contains(mail.OwnKinds, mail.Kind(kind)) || !slices.Contains(mailLanguages, lang) {
		return "", "", store.NotFound
	}
	return store.MessageKind(kind), lang, nil
}

func (s *Server) getText(w http.ResponseWriter, r *http.Request) error {
	kind, lang, err := textParams(r)
	if err != nil {
		return err
	}
	m, err := s.store.MessageText(r.Context(), venue(r).ID, kind, lang)
	if err != nil {
		return err
	}
	return s.textPage(w, r, http.StatusOK, m, views.StaffTextPage{})
}

// textPage shows words as they stand in m; v brings what a press adds.
func (s *Server) textPage(w http.ResponseWriter, r *http.Request, status int, m store.MessageText, v views.StaffTextPage) error {
	ctx, t := r.Context(), venue(r)
	kind := mail.Kind(m.Kind)
	example := s.exampleLetter(t, m.Kind, m.Locale)
	v.BackURL, v.ActionURL, v.PreviewURL = views.StaffTextsURL(t.Slug), views.StaffTextURL(t.Slug, string(m.Kind), m.Locale), views.StaffTextPreviewURL(t.Slug, string(m.Kind), m.Locale)
	v.Version, v.Lang, v.Opening, v.Extra = strconv.Itoa(m.Version), m.Locale, m.Opening, m.Extra
	v.HasOpening, v.Default = mail.HasOpening(kind), mail.OurOpening(example)
	if m.Version > 0 {
		v.DefaultURL = views.StaffTextDefaultURL(t.Slug, string(m.Kind), m.Locale)
	}
	for _, name := range mail.Placeholders(kind) {
		v.Placeholders = append(v.Placeholders, views.StaffPlaceholder{Name: "{" + name + "}", Example: mail.Value(example, name), Required: slices.Contains(mail.Required(kind), name)})
	}
	v.Letter = ownExample(t, example, m)
	var err error
	title := i18n.T(ctx, "message.text.title", "kind", mailKind(ctx, m.Kind), "lang", i18n.T(ctx, i18n.Key("message.lang."+m.Locale)))
	if v.Page, v.Staff, err = s.staffPage(r, "messages", title, v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffText(v))
}

// ownExample is the example with the venue's own words.
func ownExample(t store.Tenant, l mail.Letter, m store.MessageText) views.StaffLetterView {
	l.Opening, l.Extra = mail.Fill(l, m.Opening), mail.Fill(l, m.Extra)
	text := mail.Render(l)
	return views.StaffLetterView{Lang: l.Lang, From: t.Name, To: exampleAddress, Subject: text.Subject, Body: text.Body}
}

// typedWords reads the words of a form and checks what stands in braces.
func typedWords(f *form, kind store.MessageKind, lang string) store.MessageText {
	m := store.MessageText{Kind: kind, Locale: lang, Extra: f.lines(views.FieldExtra, store.LongestMessageText)}
	if mail.HasOpening(mail.Kind(kind)) {
		m.Opening = f.lines(views.FieldOpening, store.LongestMessageText)
	}
	m.Version = -1
	if n, err := strconv.ParseInt(f.text(views.FieldVersion, 40), 10, 32); err == nil && n >= 0 {
		m.Version = int(n)
	}
	for field, text := range map[string]string{views.FieldOpening: m.Opening, views.FieldExtra: m.Extra} {
		unknown, missing := mail.CheckOwn(mail.Kind(kind), text, field == views.FieldOpening)
		if len(unknown) > 0 {
			f.errs.fault(field, "message.text.unknown", "names", inBraces(unknown))
		}
		if len(missing) > 0 {
			f.errs.fault(field, "message.text.missing", "names", inBraces(missing))
		}
	}
	return m
}

// inBraces lists names as they are written in a text.
func inBraces(names []string) string {
	var out []string
	for _, name := range names {
		if name != "{" && name != "}" {
			name = "{" + name + "}"
		}
		out = append(out, i18n.Isolate(name))
	}
	return strings.Join(out, " ")
}

// textForm reads a press on the page of one kind.
func (s *Server) textForm(w http.ResponseWriter, r *http.Request) (*form, store.MessageText, error) {
	f, err := s.form(w, r)
	if err != nil {
		return nil, store.MessageText{}, err
	}
	kind, lang, err := textParams(r)
	if err != nil {
		return nil, store.MessageText{}, err
	}
	return f, typedWords(f, kind, lang), nil
}

// postTextPreview shows the mail with the words as typed. Nothing is saved.
func (s *Server) postTextPreview(w http.ResponseWriter, r *http.Request) error {
	f, m, err := s.textForm(w, r)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if f.bad() {
		status = http.StatusUnprocessableEntity
	}
	return s.textPage(w, r, status, m, views.StaffTextPage{Errs: f.errs.in(r.Context()), Unsaved: true})
}

func (s *Server) postText(w http.ResponseWriter, r *http.Request) error {
	f, m, err := s.textForm(w, r)
	if err != nil {
		return err
	}
	if f.bad() {
		return s.textPage(w, r, http.StatusUnprocessableEntity, m, views.StaffTextPage{Errs: f.errs.in(r.Context()), Unsaved: true})
	}
	return s.saveText(w, r, m, "message.text.saved")
}

// postTextDefault takes the venue's own words back.
func (s *Server) postTextDefault(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	kind, lang, err := textParams(r)
	if err != nil {
		return err
	}
	m := store.MessageText{Kind: kind, Locale: lang, Version: -1}
	if n, err := strconv.ParseInt(f.text(views.FieldVersion, 40), 10, 32); err == nil && n >= 0 {
		m.Version = int(n)
	}
	return s.saveText(w, r, m, "message.text.back")
}

// saveText writes words and answers. Where somebody else was faster, what they
// wrote is shown in the example, what was typed stays in the fields, and the
// form then carries the version that it was compared with.
func (s *Server) saveText(w http.ResponseWriter, r *http.Request, m store.MessageText, done i18n.Key) error {
	ctx, t := r.Context(), venue(r)
	err := s.store.SaveMessageText(ctx, t.ID, me(r).ID, m)
	if errors.Is(err, store.Conflict) {
		s.noteRefusal(r, store.Conflict)
		now, err := s.store.MessageText(ctx, t.ID, m.Kind, m.Locale)
		if err != nil {
			return err
		}
		m.Version = now.Version
		return s.textPage(w, r, http.StatusConflict, m, views.StaffTextPage{Problem: i18n.T(ctx, "message.text.conflict"), Unsaved: true})
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffTextURL(t.Slug, string(m.Kind), m.Locale), done)
}

// getNotices shows what this person is told of by mail.
func (s *Server) getNotices(w http.ResponseWriter, r *http.Request) error {
	n, err := s.store.StaffNotices(r.Context(), venue(r).ID, me(r).ID)
	if err != nil {
		return err
	}
	v := views.StaffNoticesPage{Bookings: n.Bookings, Cancels: n.Cancels, Failures: n.Failures, Digest: n.DigestAt != nil, DigestAt: "08:00"}
	if n.DigestAt != nil {
		v.DigestAt = time.Date(2000, 1, 1, *n.DigestAt/60, *n.DigestAt%60, 0, 0, time.UTC).Format("15:04")
	}
	return s.noticesPage(w, r, http.StatusOK, v)
}

func (s *Server) noticesPage(w http.ResponseWriter, r *http.Request, status int, v views.StaffNoticesPage) error {
	ctx, t := r.Context(), venue(r)
	v.BackURL, v.ActionURL, v.Address = views.StaffMailURL(t.Slug), views.StaffNoticesURL(t.Slug), me(r).Email
	v.Zone = i18n.In(ctx).ZoneLong(s.now(), t.Location())
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "messages", i18n.T(ctx, "message.notices.title"), v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffNotices(v))
}

func (s *Server) postNotices(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	on := func(field string) bool { return f.text(field, 1) == "1" }
	v := views.StaffNoticesPage{
		Bookings: on(views.FieldBookings), Cancels: on(views.FieldCancels), Failures: on(views.FieldFailures), Digest: on(views.FieldDigest),
		DigestAt: f.text(views.FieldDigestAt, 8),
	}
	n := store.StaffNotices{Bookings: v.Bookings, Cancels: v.Cancels, Failures: v.Failures}
	if v.Digest {
		at, err := time.Parse("15:04", store.NormalizeText(v.DigestAt))
		if err != nil {
			f.errs.fault(views.FieldDigestAt, "message.notices.err.time")
		}
		minutes := at.Hour()*60 + at.Minute()
		n.DigestAt = &minutes
	}
	if f.bad() {
		v.Errs = f.errs.in(r.Context())
		return s.noticesPage(w, r, http.StatusUnprocessableEntity, v)
	}
	if err := s.store.SaveStaffNotices(r.Context(), venue(r).ID, me(r).ID, n); err != nil {
		return err
	}
	return s.see(w, r, views.StaffNoticesURL(venue(r).Slug), "message.notices.saved")
}
