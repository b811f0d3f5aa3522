package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// The staff's pages stand under /staff, and each venue's under /staff/{tenant}:
// two tabs may show two venues. The session holds nothing but the id of the
// person; who they are and what they may do is looked up at each request, so an
// ended membership ends access at once.
//
// What takes something away is said before the press: GET …/cancel and GET
// …/cancel-slot show the consequence, computed by the very step and undone, and
// their forms post to the same path. A POST always acts, so that nothing
// depends on which page it came from.
//
// A form carries the version that its page showed. If the slot has changed
// since, nothing is written: 409, what happened meanwhile, and the press once
// more with all that was typed. That second form says again=1 and names no
// version. Check-in and contact are judged by their own row alone: no seat
// changes, and a busy counter must not be asked again for each hold elsewhere.
func (s *Server) staffRoutes(r chi.Router) {
	wrong := s.methodNotAllowed(r)
	r.Route("/staff", func(r chi.Router) {
		r.Use(secretPath, s.withStaff)
		r.NotFound(s.staff(s.notFound))
		r.MethodNotAllowed(wrong)
		r.Get("/", s.staff(s.getStaffHome))
		r.Get("/sign-in", s.staff(s.getSignIn))
		r.Post("/sign-in", s.staff(s.postSignIn))
		r.Post("/sign-out", s.staff(s.postSignOut))
		r.Get("/signed-out", s.staff(s.getSignedOut))
		r.Post("/language", s.staff(s.postStaffLanguage))
		r.Route("/{tenant}", func(r chi.Router) {
			r.Use(s.withMembership)
			r.NotFound(s.staff(s.notFound))
			r.MethodNotAllowed(wrong)
			r.With(s.may(lookAtTheDay)).Get("/", s.staff(s.getVenueDoor))
			r.With(s.may(lookAtTheDay)).Get("/settings", s.staff(s.getSettings))
			s.dayRoutes(r)
			s.findRoutes(r)
			s.messageRoutes(r)
			s.peopleRoutes(r)
			s.insightRoutes(r)
			s.serviceRoutes(r)
			s.policyRoutes(r)
			s.scheduleRoutes(r)
			s.importRoutes(r)
			s.teamRoutes(r)
			s.feedRoutes(r)
			s.channelRoutes(r)
			s.lineRoutes(r)
			s.labRoutes(r)
			r.Route("/slots/{slot}", s.staffSlotRoutes)
		})
		s.accountRoutes(r)
	})
}

// permission is a part of the work at a venue.
type permission string

const (
	lookAtTheDay   permission = "look"    // days, slots, people, messages
	serveCustomers permission = "serve"   // book, cancel, move, check in, wait, answer, message
	runSlots       permission = "slots"   // seats, switches, cancelling a slot
	setUp          permission = "setup"   // services, resources, policies, schedules, closed days, import
	seeNumbers     permission = "insight" // occupancy, funnels, rates
	takeData       permission = "data"    // exports of customers, their data on request, erasing it
	runVenue       permission = "venue"   // the venue itself, its team, its API keys, further venues
)

// permissions is the one table of who may do what.
var permissions = map[store.Role][]permission{
	store.RoleOwner:   {lookAtTheDay, serveCustomers, runSlots, setUp, seeNumbers, takeData, runVenue},
	store.RoleManager: {lookAtTheDay, serveCustomers, runSlots, setUp, seeNumbers, takeData},
	store.RoleDesk:    {lookAtTheDay, serveCustomers, runSlots},
}

// can reports whether the person of the request has the permission.
func (c colleague) can(p permission) bool { return slices.Contains(permissions[c.role], p) }

// may lets only roles pass that have the permission.
func (s *Server) may(p permission) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return s.staff(func(w http.ResponseWriter, r *http.Request) error {
			if !me(r).can(p) {
				return errForbidden
			}
			next.ServeHTTP(w, r)
			return nil
		})
	}
}

// colleague is who is signed in, and as what, at the venue of the path.
type colleague struct {
	store.StaffMember
	role   store.Role
	venues int // that they work for
}

func (c colleague) called() string {
	if c.Name != "" {
		return c.Name
	}
	return c.Email
}

// actor is the author of this person's steps.
func (c colleague) actor(r *http.Request) store.Actor {
	a := customer(r)
	a.Kind, a.ID = store.Staff, c.ID
	return a
}

type colleagueKey struct{}

// signedIn is who is signed in; false for nobody.
func signedIn(r *http.Request) (colleague, bool) {
	c, ok := r.Context().Value(colleagueKey{}).(colleague)
	return c, ok
}

// me is who is signed in, on routes behind withMembership.
func me(r *http.Request) colleague {
	c, ok := signedIn(r)
	if !ok {
		panic("web: a page of staff outside withMembership")
	}
	return c
}

// withStaff brings the person who is signed in, if somebody is, and their language.
func (s *Server) withStaff(next http.Handler) http.Handler {
	return s.staff(func(w http.ResponseWriter, r *http.Request) error {
		id := s.sessions.GetString(r.Context(), sessionStaff)
		if id == "" {
			next.ServeHTTP(w, r)
			return nil
		}
		member, err := s.store.StaffByID(r.Context(), id)
		if errors.Is(err, store.NotFound) {
			next.ServeHTTP(w, r)
			return nil
		}
		if err != nil {
			return err
		}
		ctx := context.WithValue(r.Context(), colleagueKey{}, colleague{StaffMember: member})
		if i18n.Known(member.Locale) {
			ctx = i18n.WithLang(ctx, member.Locale)
		}
		next.ServeHTTP(w, r.WithContext(ctx))
		return nil
	})
}

// withMembership lets only those in who work for the venue of the path. What
// is another's and what does not exist get the same answer, from the same reads.
func (s *Server) withMembership(next http.Handler) http.Handler {
	return s.staff(func(w http.ResponseWriter, r *http.Request) error {
		c, ok := signedIn(r)
		if !ok {
			return s.toSignIn(w, r)
		}
		memberships, err := s.store.Memberships(r.Context(), c.ID)
		if err != nil {
			return err
		}
		slug := chi.URLParam(r, "tenant")
		at := slices.IndexFunc(memberships, func(m store.Membership) bool { return m.Slug == slug })
		if at < 0 {
			return errNotFound
		}
		t, err := s.store.TenantByID(r.Context(), memberships[at].TenantID)
		if err != nil {
			return err
		}
		c.role, c.venues = memberships[at].Role, len(memberships)
		ctx := context.WithValue(context.WithValue(r.Context(), tenantKey{}, t), colleagueKey{}, c)
		next.ServeHTTP(w, r.WithContext(ctx))
		return nil
	})
}

// toSignIn sends somebody who is not signed in to the form, which leads back to
// the page that they wanted. After a press they come back to its page; what they
// typed for a slot is kept in the answer (see keepPress).
func (s *Server) toSignIn(w http.ResponseWriter, r *http.Request) error {
	if kept, err := s.keepPress(w, r); kept || err != nil {
		return err
	}
	back := r.URL.RequestURI()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		switch slug, slot := chi.URLParam(r, "tenant"), slotOfPath(r.URL.Path); {
		case slot != "":
			back = views.StaffSlotURL(slug, slot)
		default:
			back = views.StaffTodayURL(slug)
		}
	}
	return s.see(w, r, views.StaffSignInURL()+"?"+url.Values{views.FieldNext: {back}}.Encode(), "")
}

// slotOfPath finds the slot in a path of which only the tenant is routed yet.
func slotOfPath(path string) string {
	parts := strings.Split(path, "/") // "", staff, tenant, slots, id
	if len(parts) > 4 && parts[3] == "slots" && store.ValidID(parts[4]) {
		return parts[4]
	}
	return ""
}

// staff is handle for the staff's pages: what is absent and what is not for
// this role get a page in their frame.
func (s *Server) staff(fn handlerFunc) http.HandlerFunc {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		err := fn(w, r)
		var bad problem
		status := 0
		switch {
		case errors.As(err, &bad):
			status = bad.status
		case errors.Is(err, store.NotFound):
			s.noteRefusal(r, store.NotFound)
			status = http.StatusNotFound
		}
		if status != http.StatusNotFound && (status != http.StatusForbidden || errors.Is(err, errOrigin)) {
			return err
		}
		// A plain frame: the page must not depend on what else could be read.
		home := views.StaffURL()
		if t, ok := tenant(r); ok {
			home = views.StaffTodayURL(t.Slug)
		}
		title := i18n.T(r.Context(), "staff.absent.title")
		if status == http.StatusForbidden {
			title = i18n.T(r.Context(), "staff.forbidden.title")
		}
		return s.render(w, r, status, views.StaffError(views.StaffErrorPage{Page: views.Page{Title: title, Staff: true}, Status: status, HomeURL: home}))
	})
}

// staffPage is what each page of a venue's staff has around it. Its flash is
// taken from the session. One statement.
func (s *Server) staffPage(r *http.Request, section, title, self string) (views.Page, views.StaffFrame, error) {
	t, c := venue(r), me(r)
	counts, err := s.store.MessageCounts(r.Context(), t.ID)
	if err != nil {
		return views.Page{}, views.StaffFrame{}, err
	}
	frame := views.StaffFrame{
		Venue: t.Name, Member: c.called(), Section: section, TodayURL: views.StaffTodayURL(t.Slug), MessagesURL: views.StaffMailURL(t.Slug),
		SearchURL: views.StaffSearchURL(t.Slug), SignOutURL: views.StaffSignOutURL(), AccountURL: views.StaffAccountURL(), FailedMessages: counts[store.MessageFailed],
	}
	frame.Nav = s.staffNav(t, c)
	if c.venues > 1 {
		frame.VenuesURL = views.StaffURL()
	}
	page := s.plainStaffPage(r, title, self)
	page.Tenant = s.tenantView(r, t)
	return page, frame, nil
}

// plainStaffPage is a page of staff that belongs to no venue.
func (s *Server) plainStaffPage(r *http.Request, title, self string) views.Page {
	return views.Page{Title: title, Staff: true, Flash: s.popFlash(r), LanguageAction: views.StaffLanguageURL(), Return: self}
}

// phone writes a stored number as people at the venue dial it, with its link.
func phone(t store.Tenant, e164 string) (text, link string) {
	if e164 == "" {
		return "", ""
	}
	return store.FormatPhone(e164, region(t)), "tel:" + e164
}
