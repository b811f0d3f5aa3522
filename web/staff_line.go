package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// LineBot talks to LINE's servers for a venue's account. Its errors are of
// store.LineTrouble and repeat nothing of what was sent.
type LineBot interface {
	// Info asks whose token it is.
	Info(ctx context.Context, token string) (name, basicID string, err error)
	// Reply answers what somebody wrote to the account.
	Reply(ctx context.Context, token, replyToken, text string) error
}

// The longest keys, in characters, and how long a channel secret is.
const (
	longestLineID    = 60
	longestLineToken = 1000
	lineSecretLength = 32
)

func (s *Server) getLine(w http.ResponseWriter, r *http.Request) error {
	return s.linePage(w, r, http.StatusOK, nil, "")
}

// linePage is the page of the account as it is now, with what was typed into its
// form, but for the keys: what is secret is typed again.
func (s *Server) linePage(w http.ResponseWriter, r *http.Request, status int, f *form, problem i18n.Key) error {
	ctx, t := r.Context(), venue(r)
	v := views.StaffLinePage{
		State: "none", StateText: i18n.T(ctx, "line.none.text"),
		Webhook: s.cfg.PublicURL.JoinPath(views.LineWebhookURL(t.Slug)).String(), Insecure: !s.secure,
		Form: views.StaffLineForm{ActionURL: views.StaffLineURL(t.Slug), Version: "0"},
	}
	c, err := s.store.LineChannel(ctx, t.ID)
	switch {
	case errors.Is(err, store.NotFound):
	case err != nil:
		return err
	default:
		v.State, v.StateText = s.lineState(r, c)
		v.Linked, v.CheckURL, v.RemoveURL = c.Linked, views.StaffLineCheckURL(t.Slug), views.StaffLineRemoveURL(t.Slug)
		v.Form.ID, v.Form.Version, v.Form.Kept, v.Form.Warn = c.BasicID, strconv.Itoa(c.Version), true, c.Linked > 0
	}
	if f != nil {
		v.Form.ID, v.Form.Errs = f.text(views.FieldLineID, longestLineID), f.errs.in(ctx)
	}
	if problem != "" {
		v.Problem = i18n.T(ctx, problem)
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "line.title"), views.StaffLineURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffLine(v))
}

// lineState is how an account stands, as the page names it, and what that means.
func (s *Server) lineState(r *http.Request, c store.LineChannel) (state, text string) {
	ctx, t, now := r.Context(), venue(r), s.now()
	switch {
	case c.BrokenAt != nil:
		return "broken", i18n.T(ctx, "line.broken.text", "time", momentAt(ctx, t, *c.BrokenAt, now))
	case c.Paused():
		return "paused", i18n.T(ctx, "line.paused.text", "time", i18n.In(ctx).DateTime(*c.PausedUntil, t.Location()))
	case c.CheckedAt == nil:
		return "unchecked", i18n.T(ctx, "line.unchecked.text")
	case c.BotBasicID != "" && c.BotBasicID != c.BasicID && !premium(c):
		return "mismatch", i18n.T(ctx, "line.mismatch.text", "id", c.BotBasicID, "typed", c.BasicID)
	}
	return "working", i18n.T(ctx, "line.working.text", "time", momentAt(ctx, t, *c.CheckedAt, now), "name", i18n.Isolate(c.BotName))
}

// premium reports whether the id that was typed is one that an account has bought,
// beside the basic id that LINE names: those have three digits, then letters.
func premium(c store.LineChannel) bool {
	id := strings.TrimPrefix(c.BasicID, "@")
	return len(id) < 3 || strings.Trim(id[:3], "0123456789") != ""
}

// postLine saves the account. What is left empty stays, where there is something.
func (s *Server) postLine(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	set := store.LineSettings{
		TenantID: t.ID, BasicID: store.NormalizeLineID(f.text(views.FieldLineID, longestLineID)),
		Secret: f.text(views.FieldLineSecret, 100), Token: f.text(views.FieldLineToken, longestLineToken), Version: -1,
	}
	if n, err := strconv.ParseInt(f.text(views.FieldVersion, 40), 10, 32); err == nil && n >= 0 {
		set.Version = int(n)
	}
	f.errs.hidden(views.FieldVersion)
	if set.BasicID == "" {
		f.errs.fault(views.FieldLineID, "line.err.id")
	}
	if set.Secret == "" && set.Version == 0 || set.Secret != "" && (len(set.Secret) != lineSecretLength || !isKey(set.Secret)) {
		f.errs.fault(views.FieldLineSecret, "line.err.secret")
	}
	if set.Token == "" && set.Version == 0 || set.Token != "" && (len(set.Token) < 20 || !isKey(set.Token)) {
		f.errs.fault(views.FieldLineToken, "line.err.token")
	}
	if f.bad() {
		return s.linePage(w, r, http.StatusUnprocessableEntity, f, "")
	}
	switch err := s.store.SaveLineChannel(r.Context(), set); {
	case errors.Is(err, store.Conflict):
		s.noteRefusal(r, store.Conflict)
		return s.linePage(w, r, http.StatusConflict, f, "line.changed")
	case err != nil:
		return err
	}
	return s.see(w, r, views.StaffLineURL(t.Slug), "line.saved")
}

// isKey reports whether text can be a key of LINE: what stands in a header, in one piece.
func isKey(text string) bool {
	return strings.IndexFunc(text, func(c rune) bool { return c <= ' ' || c >= 0x7f }) < 0
}

// postLineCheck asks LINE whether the token works, and writes the answer down.
func (s *Server) postLineCheck(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	if _, err := s.form(w, r); err != nil {
		return err
	}
	keys, err := s.store.LineKeys(ctx, t.ID)
	if err != nil {
		return err
	}
	name, id, err := "", "", error(store.LineAway)
	if s.cfg.Line != nil {
		name, id, err = s.cfg.Line.Info(ctx, keys.Token)
	}
	var trouble store.LineTrouble
	switch {
	case err == nil:
		if err := s.store.LineChecked(ctx, t.ID, keys.Version, name, id); err != nil {
			return err
		}
		return s.see(w, r, views.StaffLineURL(t.Slug), "line.checked")
	case !errors.As(err, &trouble):
		return err
	case trouble == store.LineBroken:
		if err := s.store.LineInTrouble(ctx, t.ID, keys.Version, trouble); err != nil {
			return err
		}
		return s.linePage(w, r, http.StatusOK, nil, "line.check.broken")
	}
	return s.linePage(w, r, http.StatusOK, nil, "line.check.later")
}

func (s *Server) getLineRemove(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	c, err := s.store.LineChannel(ctx, t.ID)
	if errors.Is(err, store.NotFound) {
		return s.see(w, r, views.StaffLineURL(t.Slug), "")
	}
	if err != nil {
		return err
	}
	v := views.StaffAskPage{
		Title: i18n.T(ctx, "line.remove.title"), About: c.BasicID, Button: i18n.T(ctx, "line.remove"),
		ActionURL: views.StaffLineRemoveURL(t.Slug), BackURL: views.StaffLineURL(t.Slug), BackText: i18n.T(ctx, "line.title"),
	}
	if c.Linked > 0 {
		v.Lines = append(v.Lines,
			views.StaffConsequence{Kind: "warn", Text: i18n.T(ctx, "line.remove.effect.mail", "n", c.Linked)},
			views.StaffConsequence{Kind: "warn", Text: i18n.T(ctx, "line.remove.effect.links")})
	}
	v.Lines = append(v.Lines, views.StaffConsequence{Kind: "warn", Text: i18n.T(ctx, "line.remove.effect.keys")})
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffAsk(v))
}

func (s *Server) postLineRemove(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	if err := s.store.RemoveLineChannel(r.Context(), venue(r).ID); err != nil {
		return err
	}
	return s.see(w, r, views.StaffLineURL(venue(r).Slug), "line.removed")
}

// messageWay says which way a message went or goes, and why where LINE did not take it.
func messageWay(ctx context.Context, m store.Message) string {
	switch {
	case m.Channel == store.ChannelLine:
		return i18n.T(ctx, "line.way.line")
	case m.LineOver != "" && m.LineOver != store.LineUnlinked:
		return i18n.T(ctx, i18n.Key("line.over."+string(m.LineOver)))
	case m.Channel == store.ChannelMail:
		return i18n.T(ctx, "line.way.mail")
	}
	return ""
}
