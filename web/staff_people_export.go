package web

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// secretOfLink is the token in a link of a message: whoever has it may act for
// the customer, so no copy leaves with an export.
var secretOfLink = regexp.MustCompile(`[a-z2-7]{32,}`)

const secretShown = "…"

func withoutSecrets(text string) string { return secretOfLink.ReplaceAllString(text, secretShown) }

// exported is the file: what is stored about one customer, in words of the API.
type exported struct {
	Venue        string            `json:"venue"`
	MadeAt       time.Time         `json:"madeAt"`
	Complete     bool              `json:"complete"`
	Reservations []exportedBooking `json:"reservations"`
	Waits        []exportedWait    `json:"waitlistEntries"`
	Messages     []exportedMessage `json:"messages"`
	Events       []exportedEvent   `json:"events"`
}

type exportedSlot struct {
	ID       string    `json:"id"`
	Service  string    `json:"service"`
	Resource string    `json:"resource"`
	StartsAt time.Time `json:"startsAt"`
	EndsAt   time.Time `json:"endsAt"`
}

type exportedPerson struct {
	Name    string            `json:"name"`
	Kana    string            `json:"kana"`
	Email   string            `json:"email"`
	Phone   string            `json:"phone"`
	Note    string            `json:"note"`
	Answers map[string]string `json:"answers"`
	Locale  string            `json:"language"`
}

type exportedConsent struct {
	Version string     `json:"version"`
	At      *time.Time `json:"at"`
}

// exportedLine is who gets the messages by LINE, and since when.
type exportedLine struct {
	User  string     `json:"userId"`
	Since *time.Time `json:"since"`
}

type exportedPress struct {
	Address   string `json:"address"`
	UserAgent string `json:"userAgent"`
}

type exportedBooking struct {
	ID           string          `json:"id"`
	Number       string          `json:"number"`
	Slot         exportedSlot    `json:"slot"`
	State        string          `json:"state"`
	PartySize    int             `json:"partySize"`
	Person       exportedPerson  `json:"person"`
	EmailNew     string          `json:"emailNotConfirmed"`
	Line         exportedLine    `json:"line"`
	Source       string          `json:"source"`
	Attendance   string          `json:"attendance"`
	Consent      exportedConsent `json:"consent"`
	CancelledBy  string          `json:"cancelledBy"`
	CancelReason string          `json:"cancelReason"`
	LastPress    exportedPress   `json:"lastPress"`
	CreatedAt    time.Time       `json:"createdAt"`
	ConfirmedAt  *time.Time      `json:"confirmedAt"`
	EndedAt      *time.Time      `json:"endedAt"`
}

type exportedWait struct {
	ID        string          `json:"id"`
	Slot      exportedSlot    `json:"slot"`
	State     string          `json:"state"`
	PartySize int             `json:"partySize"`
	Person    exportedPerson  `json:"person"`
	Line      exportedLine    `json:"line"`
	Source    string          `json:"source"`
	Reason    string          `json:"reason"`
	Consent   exportedConsent `json:"consent"`
	LastPress exportedPress   `json:"lastPress"`
	JoinedAt  time.Time       `json:"joinedAt"`
	OfferedAt *time.Time      `json:"offeredAt"`
	EndedAt   *time.Time      `json:"endedAt"`
}

type exportedMessage struct {
	Kind      string     `json:"kind"`
	About     string     `json:"about,omitempty"` // id of the reservation or the waitlist entry
	Recipient string     `json:"recipient"`
	State     string     `json:"state"`
	Subject   string     `json:"subject"`
	Text      string     `json:"text"`
	CreatedAt time.Time  `json:"createdAt"`
	SentAt    *time.Time `json:"sentAt"`
}

type exportedEvent struct {
	Kind      string    `json:"kind"`
	About     string    `json:"about"`
	By        string    `json:"by"` // customer, staff, api, system
	PartySize int       `json:"partySize"`
	Reason    string    `json:"reason,omitempty"`
	At        time.Time `json:"at"`
}

// whose takes the id off an actor: who of the staff it was is theirs, not the customer's.
func whose(actor string) string {
	for i, c := range actor {
		if c == ':' {
			return actor[:i]
		}
	}
	return actor
}

func utc(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	t := at.UTC()
	return &t
}

func (s *Server) loadExport(r *http.Request) (store.PersonRef, store.PersonExport, names, time.Time, error) {
	ctx, t := r.Context(), venue(r)
	p, err := s.person(r)
	if err != nil {
		return p, store.PersonExport{}, names{}, time.Time{}, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return p, store.PersonExport{}, names{}, now, err
	}
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return p, store.PersonExport{}, n, now, err
	}
	data, err := s.store.ExportPerson(ctx, p)
	return p, data, n, now, err
}

// getPersonExportFile answers with all that is stored about a customer as a file of JSON.
func (s *Server) getPersonExportFile(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	p, data, n, now, err := s.loadExport(r)
	if err != nil {
		return err
	}
	slot := func(id, service, resource string, from, to time.Time) exportedSlot {
		o := n.of(store.Slot{ServiceID: service, ResourceID: resource})
		return exportedSlot{id, o.service.Name.In(t.Locale), o.resource.Name.In(t.Locale), from.UTC(), to.UTC()}
	}
	out := exported{Venue: t.Name, MadeAt: now.UTC(), Complete: !data.Cut, Reservations: []exportedBooking{}, Waits: []exportedWait{}, Messages: []exportedMessage{}, Events: []exportedEvent{}}
	for _, x := range data.Reservations {
		out.Reservations = append(out.Reservations, exportedBooking{
			x.ID, x.Number, slot(x.SlotID, x.ServiceID, x.ResourceID, x.StartsAt, x.EndsAt), x.State, x.PartySize,
			exportedPerson{x.Name, x.Kana, x.Email, x.Phone, x.Note, x.Answers, x.Locale},
			x.EmailNew,
			exportedLine{x.LineUser, utc(x.LineAt)},
			string(x.Source), x.Attendance,
			exportedConsent{x.ConsentVersion, utc(x.ConsentedAt)},
			x.CancelledBy, x.CancelReason,
			exportedPress{x.PressAddr, x.PressAgent},
			x.CreatedAt.UTC(), utc(x.ConfirmedAt), utc(x.EndedAt),
		})
	}
	for _, x := range data.Entries {
		out.Waits = append(out.Waits, exportedWait{
			x.ID, slot(x.SlotID, x.ServiceID, x.ResourceID, x.StartsAt, x.EndsAt), x.State, x.PartySize,
			exportedPerson{x.Name, x.Kana, x.Email, x.Phone, x.Note, x.Answers, x.Locale},
			exportedLine{x.LineUser, utc(x.LineAt)},
			string(x.Source), x.Reason,
			exportedConsent{x.ConsentVersion, utc(x.ConsentedAt)},
			exportedPress{x.PressAddr, x.PressAgent},
			x.JoinedAt.UTC(), utc(x.OfferedAt), utc(x.EndedAt),
		})
	}
	for _, m := range data.Messages {
		out.Messages = append(out.Messages, exportedMessage{string(m.Kind), m.SubjectID, m.Recipient, string(m.State), m.Subject, withoutSecrets(m.Text), m.CreatedAt.UTC(), utc(m.SentAt)})
	}
	for _, e := range data.Events {
		out.Events = append(out.Events, exportedEvent{string(e.Kind), e.SubjectID, whose(e.Actor), e.PartySize, e.Reason, e.At.UTC()})
	}
	body, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	// The name of the file names nobody.
	h.Set("Content-Disposition", `attachment; filename="customer-`+p.ID[:8]+`.json"`)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the visitor may have left
	}
	return nil
}

// getPersonExport is the same as a page that can be printed and handed over.
func (s *Server) getPersonExport(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	p, data, n, now, err := s.loadExport(r)
	if err != nil {
		return err
	}
	c, lang, loc := i18n.In(ctx), i18n.Lang(ctx), t.Location()
	at := func(v *time.Time) string {
		if v == nil {
			return ""
		}
		return c.DateTime(*v, loc)
	}
	var fields []views.StaffExportField
	add := func(key, value string) {
		if value != "" {
			fields = append(fields, views.StaffExportField{Name: i18n.T(ctx, i18n.Key("people.field."+key)), Value: value})
		}
	}
	person := func(service, name, kana, email, number, note, locale string, answers map[string]string) {
		add("name", name)
		add("kana", kana)
		add("email", email)
		add("phone", number)
		add("note", note)
		for _, a := range answered(ctx, n.of(store.Slot{ServiceID: service}).service.EverAsked(), answers) {
			fields = append(fields, views.StaffExportField{Name: a.Question, Value: a.Text})
		}
		add("language", i18n.T(ctx, i18n.Key("people.language."+locale)))
	}
	title := func(service string, from, to time.Time) string {
		return c.DateTimeRange(from, to, loc) + " " + n.of(store.Slot{ServiceID: service}).service.Name.In(lang)
	}
	group := func(key i18n.Key) *views.StaffExportGroup { return &views.StaffExportGroup{Title: i18n.T(ctx, key)} }

	bookings, waits, messages, history := group("people.export.bookings"), group("people.export.waits"), group("people.export.messages"), group("people.export.history")
	what := map[string]string{}
	for _, x := range data.Reservations {
		fields = nil
		add("number", x.Number)
		add("state", i18n.T(ctx, i18n.Key("staff.state."+x.State)))
		add("party", strconv.Itoa(x.PartySize))
		person(x.ServiceID, x.Name, x.Kana, x.Email, x.Phone, x.Note, x.Locale, x.Answers)
		add("email_new", x.EmailNew)
		if x.Attendance != "" {
			add("attendance", i18n.T(ctx, i18n.Key("people.attendance."+x.Attendance)))
		}
		add("source", i18n.T(ctx, i18n.Key("people.source."+string(x.Source))))
		add("consent", consentText(ctx, x.ConsentVersion, at(x.ConsentedAt)))
		add("cancel_reason", x.CancelReason)
		add("press", x.PressAddr)
		add("agent", x.PressAgent)
		add("created", c.DateTime(x.CreatedAt, loc))
		add("confirmed", at(x.ConfirmedAt))
		add("ended", at(x.EndedAt))
		what[x.ID] = title(x.ServiceID, x.StartsAt, x.EndsAt)
		bookings.Records = append(bookings.Records, views.StaffExportRecord{Title: what[x.ID], Fields: fields})
	}
	for _, x := range data.Entries {
		fields = nil
		add("state", i18n.T(ctx, entryStateKey(x.State)))
		add("party", strconv.Itoa(x.PartySize))
		person(x.ServiceID, x.Name, x.Kana, x.Email, x.Phone, x.Note, x.Locale, x.Answers)
		add("source", i18n.T(ctx, i18n.Key("people.source."+string(x.Source))))
		add("consent", consentText(ctx, x.ConsentVersion, at(x.ConsentedAt)))
		add("press", x.PressAddr)
		add("agent", x.PressAgent)
		add("joined", c.DateTime(x.JoinedAt, loc))
		add("offered", at(x.OfferedAt))
		add("ended", at(x.EndedAt))
		what[x.ID] = title(x.ServiceID, x.StartsAt, x.EndsAt)
		waits.Records = append(waits.Records, views.StaffExportRecord{Title: what[x.ID], Fields: fields})
	}
	for _, m := range data.Messages {
		fields = nil
		add("state", i18n.T(ctx, i18n.Key("staff.state.mail_"+string(m.State))))
		add("recipient", m.Recipient)
		add("subject", m.Subject)
		add("about", what[m.SubjectID])
		add("written", c.DateTime(m.CreatedAt, loc))
		add("sent", at(m.SentAt))
		messages.Records = append(messages.Records, views.StaffExportRecord{Title: i18n.T(ctx, i18n.Key("staff.mail_kind."+string(m.Kind))), Fields: fields, Body: withoutSecrets(m.Text)})
	}
	for _, e := range data.Events {
		fields = nil
		add("at", c.DateTime(e.At, loc))
		add("about", what[e.SubjectID])
		// The reason of an ended entry is a code of ours, not what somebody typed.
		if e.Kind != store.EventEntryClosed {
			add("reason", e.Reason)
		}
		sentence := views.StaffEventSentence(ctx, views.StaffEventFacts{
			Kind: string(e.Kind), Actor: actorName(ctx, whose(e.Actor), eventNames{}), Who: i18n.T(ctx, "people.export.self"), Party: e.PartySize, From: e.PartySize, To: e.PartySize, Until: "–", Other: "–",
		})
		history.Records = append(history.Records, views.StaffExportRecord{Title: sentence, Fields: fields})
	}
	v := views.StaffPersonExportPage{
		BackURL: views.StaffPersonURL(t.Slug, p.ID), FileURL: views.StaffPersonExportFileURL(t.Slug, p.ID),
		Made:   i18n.T(ctx, "people.export.made", "venue", t.Name, "time", c.DateTime(now, loc)),
		Groups: []views.StaffExportGroup{*bookings, *waits, *messages, *history},
	}
	if data.Cut {
		v.Cut = i18n.T(ctx, "people.export.cut", "n", store.PersonExportMost)
	}
	if v.Page, v.Staff, err = s.staffPage(r, "people", i18n.T(ctx, "people.export.title"), views.StaffPersonExportURL(t.Slug, p.ID)); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffPersonExport(v))
}

func consentText(ctx context.Context, version, at string) string {
	if version == "" {
		return ""
	}
	return i18n.T(ctx, "people.consent", "version", version, "time", at)
}

func entryStateKey(state string) i18n.Key {
	if state == string(store.EntryClosed) {
		return "staff.state.entry_closed"
	}
	return i18n.Key("staff.state." + state)
}
