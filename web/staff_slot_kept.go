package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// A press of somebody whose session is over does nothing, and what they typed
// with a caller on the line must not be gone. It may stand in no address and in no
// session, since it is about people. So the answer to the press carries it, in
// the fields of a form that makes the same press: they sign in, in another tab,
// and press again. What the form then meets is judged as at any press.

// keptFields are the fields of which somebody has typed the content, with how they are called.
var keptFields = []struct {
	field string
	label i18n.Key
}{
	{views.FieldName, "staff.field.name"},
	{views.FieldKana, "staff.field.kana"},
	{views.FieldPartySize, "staff.field.party"},
	{views.FieldPhone, "staff.field.phone"},
	{views.FieldEmail, "staff.field.email"},
	{views.FieldNote, "staff.field.note"},
	{views.FieldReason, "staff.field.reason"},
	{views.FieldSubject(i18n.JA), "staff.notice.subject"},
	{views.FieldText(i18n.JA), "staff.notice.text"},
	{views.FieldSubject(i18n.EN), "staff.notice.subject"},
	{views.FieldText(i18n.EN), "staff.notice.text"},
}

// keepPress answers a press on a slot, by nobody who is signed in, with what was
// typed. False: nothing was typed, or it is no form of a slot.
func (s *Server) keepPress(w http.ResponseWriter, r *http.Request) (bool, error) {
	slot := slotOfPath(r.URL.Path)
	if slot == "" || r.Method != http.MethodPost {
		return false, nil
	}
	f, err := s.form(w, r)
	if err != nil {
		return true, err
	}
	ctx := r.Context()
	page := s.plainStaffPage(r, i18n.T(ctx, "staff.kept.title"), views.StaffSignInURL())
	v := views.StaffKeptPage{
		Page: page, ActionURL: r.URL.EscapedPath(), SignInURL: views.StaffSignInURL() + "?" + url.Values{views.FieldNext: {slotPage(r, slot)}}.Encode(),
	}
	for _, k := range keptFields {
		for _, value := range f.values[k.field] {
			if text := store.NormalizeText(strings.ToValidUTF8(value, "")); text != "" {
				v.Typed = append(v.Typed, views.Answer{Question: i18n.T(ctx, k.label), Text: text})
			}
		}
	}
	for _, id := range slices.Sorted(answersOf(f)) {
		v.Typed = append(v.Typed, views.Answer{Question: i18n.T(ctx, "staff.kept.answer"), Text: strings.ToValidUTF8(f.values.Get(id), "")})
	}
	if len(v.Typed) == 0 {
		return false, nil
	}
	v.Fields = hiddenAgain(f)
	return true, s.render(w, r, http.StatusUnauthorized, views.StaffKept(v))
}

// slotPage is the page of a slot of the tenant of the path, of which only the first part is routed.
func slotPage(r *http.Request, slot string) string {
	parts := strings.Split(r.URL.Path, "/") // "", staff, tenant, …
	return views.StaffSlotURL(parts[2], slot)
}

// answersOf are the fields that answer questions, with something in them.
func answersOf(f *form) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range f.values {
			if strings.HasPrefix(name, views.FieldAnswer) && f.values.Get(name) != "" && !yield(name) {
				return
			}
		}
	}
}

// hiddenAgain is a form once more, with everything that was sent.
func hiddenAgain(f *form) []views.Hidden {
	var out []views.Hidden
	for name, values := range f.values {
		for _, value := range values {
			out = append(out, views.Hidden{Name: strings.ToValidUTF8(name, ""), Value: strings.ToValidUTF8(value, "")})
		}
	}
	slices.SortStableFunc(out, func(a, b views.Hidden) int { return strings.Compare(a.Name, b.Name) })
	return out
}
