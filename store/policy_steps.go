package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Policies are stored with their tenant or service in one statement; then each
// future slot whose own copy differs takes them in a short step of its own: lock,
// copy, event, pass on. Which slots those are is read from the slots themselves,
// so whatever is interrupted in the middle is completed by doing it again, and
// nobody keeps a list of what is left. The step reads the policies anew while it
// holds the slot, with a lock that a change of them waits for: of two people who
// change them at once, the later change is the one that every slot ends with.

// PolicyChange is new policies of a tenant or of one of its services.
type PolicyChange struct {
	TenantID  string
	ServiceID string // "": the tenant's own, which its services share
	// Overrides is what is stored, JSON: for a tenant what differs from the
	// product's defaults, for a service what differs from its tenant.
	Overrides []byte
	// Was is what the form was made of: the overrides of the tenant and of the
	// service. Where one of them is not stored any more: Conflict. Nil: not asked.
	Was *StoredPolicies
	// Setup is stored together with a tenant's policies. Nil: left as it is.
	Setup *Setup
	Actor Actor
	// Most is how many slots are changed at most; 0: all.
	Most int
}

// StoredPolicies are the policies of a tenant and of a service as they are stored, JSON.
type StoredPolicies struct {
	Tenant  []byte
	Service []byte // empty where the change is the tenant's
}

// PolicyResult tells what a change of policies did to the slots, or would do.
type PolicyResult struct {
	// Slots is how many slots took the policies.
	Slots int
	// Left is how many future slots still have older ones.
	Left int
	// Offered and Told count the offers and vacancies that were made on the way.
	Offered, Told int
	// First are the first few of the offers.
	First []Entry
	// AtLeast says of a preview that it did not look at every slot where
	// somebody waits, so that there may be more offers.
	AtLeast bool
}

func (r *PolicyResult) add(c Change) {
	r.Offered += len(c.Offered)
	r.Told += len(c.Told)
	for _, e := range c.Offered {
		if len(r.First) < firstOffers {
			r.First = append(r.First, e)
		}
	}
}

const (
	// firstOffers is how many offers a result names.
	firstOffers = 5
	// previewSlots is how many slots a preview tries the step on.
	previewSlots = 10
)

// Setup is what a shop has decided before its first booking, besides its policies.
type Setup struct {
	Trade    string
	CallRule CallRule
	CallNote string // in the shop's own words
	DoneAt   *time.Time
	// Services says that the tenant has a service.
	Services bool
}

// CallRule is what the counter does when somebody calls about a full slot. A
// free seat it always takes.
type CallRule string

// The rules for a call. Before one is chosen it is empty.
const (
	CallWaitlist CallRule = "waitlist" // puts the caller on the waitlist
	CallOnline   CallRule = "online"   // asks the caller to join by themselves
	CallExtra    CallRule = "extra"    // may add a seat on purpose, with a reason
)

// CallRules lists the rules in the order in which they are offered.
var CallRules = []CallRule{CallWaitlist, CallOnline, CallExtra}

const setupSQL = `-- setup of a tenant
SELECT trade, call_rule, call_note, setup_done_at AS done_at,
	EXISTS (SELECT 1 FROM services WHERE tenant_id = @tenant) AS services
FROM tenants WHERE id = @tenant`

// SetupOf reads what a tenant has decided in its set-up; NotFound if there is no such tenant.
func (s *Store) SetupOf(ctx context.Context, tenant string) (Setup, error) {
	return one[Setup](ctx, s.db, setupSQL, pgx.StrictNamedArgs{"tenant": tenant})
}

const setServicePoliciesSQL = `-- set policies of a service
UPDATE services SET policies = @policies::jsonb WHERE tenant_id = @tenant AND id = @service
	AND (@was::jsonb IS NULL OR policies = @was::jsonb)
	AND (@was_tenant::jsonb IS NULL OR EXISTS (SELECT 1 FROM tenants t WHERE t.id = @tenant AND t.policies = @was_tenant::jsonb))`

const setTenantPoliciesSQL = `-- set policies of a tenant
UPDATE tenants SET policies = @policies::jsonb WHERE id = @tenant AND (@was::jsonb IS NULL OR policies = @was::jsonb)`

const setSetupSQL = `-- set policies and set-up of a tenant
UPDATE tenants SET policies = @policies::jsonb, trade = @trade, call_rule = @call_rule, call_note = @call_note,
	setup_done_at = (SELECT coalesce(@at::timestamptz, statement_timestamp()))
WHERE id = @tenant AND (@was::jsonb IS NULL OR policies = @was::jsonb)`

// slotPolicies writes the copy of a slot as one text; Policies.fingerprint
// writes the same of what it should be.
const slotPolicies = `concat_ws('|', s.waitlist_mode, s.fit, (extract(epoch FROM s.hold_shown) * 1000000)::bigint, (extract(epoch FROM s.hold_grace) * 1000000)::bigint,
	(extract(epoch FROM s.offer_shown) * 1000000)::bigint, (extract(epoch FROM s.offer_grace) * 1000000)::bigint,
	(extract(epoch FROM s.broadcast_before) * 1000000)::bigint, (extract(epoch FROM s.booking_opens) * 1000000)::bigint,
	(extract(epoch FROM s.booking_closes) * 1000000)::bigint, (extract(epoch FROM s.cancel_before) * 1000000)::bigint,
	(extract(epoch FROM s.least_answer) * 1000000)::bigint, coalesce(s.quiet_from::text, '-'), coalesce(s.quiet_until::text, '-'), s.party_max,
	coalesce(s.waitlist_max::text, '-'), s.holds_per_visitor, s.few_left, s.one_per_person, (extract(epoch FROM s.reminder_before) * 1000000)::bigint,
	(extract(epoch FROM s.erase_waitlist_after) * 1000000)::bigint, (extract(epoch FROM s.erase_reservations_after) * 1000000)::bigint)`

// fingerprint is the copy of a slot that has these policies, as slotPolicies writes it.
func (p Policies) fingerprint() string {
	number := func(n *int) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	from, until := "-", "-"
	if p.Quiet != nil {
		from, until = fmt.Sprint(p.Quiet.From), fmt.Sprint(p.Quiet.Until)
	}
	micro := func(d Duration) string { return fmt.Sprint(d.D().Microseconds()) }
	yes := "f"
	if p.OnePerPerson {
		yes = "t"
	}
	return strings.Join([]string{
		string(p.WaitlistMode), string(p.Fit), micro(p.HoldShown), micro(p.HoldGrace), micro(p.OfferShown), micro(p.OfferGrace), micro(p.BroadcastBefore),
		micro(p.BookingOpens), micro(p.BookingCloses), micro(p.CancelBefore), micro(p.LeastAnswer), from, until, fmt.Sprint(p.PartyMax), number(p.WaitlistMax),
		fmt.Sprint(p.HoldsPerVisitor), fmt.Sprint(p.FewLeft), yes, micro(p.ReminderBefore), micro(p.EraseWaitlist), micro(p.EraseBookings),
	}, "|")
}

const behindSlots = `FROM slots s JOIN unnest(@services::text[], @wanted::text[]) AS w (service, wanted) ON s.service_id = w.service::uuid
WHERE s.tenant_id = @tenant AND s.status <> 'cancelled' AND s.starts_at > coalesce(@at::timestamptz, statement_timestamp()) AND ` + slotPolicies + ` <> w.wanted`

const countBehindSQL = `-- count future slots with other policies
SELECT count(*) ` + behindSlots

const behindSQL = `-- future slots with other policies
SELECT s.id::text ` + behindSlots + ` ORDER BY s.starts_at, s.id LIMIT @most`

// Only where somebody waits can new policies make an offer or tell of open seats.
const behindWaitingSQL = `-- future slots with other policies where somebody waits
SELECT s.id::text, s.service_id::text ` + behindSlots + ` AND s.status = 'open'
	AND EXISTS (SELECT 1 FROM waitlist_entries e WHERE e.tenant_id = s.tenant_id AND e.slot_id = s.id AND e.state IN ('waiting', 'offered'))
ORDER BY s.starts_at, s.id LIMIT @most`

const takePoliciesSQL = `-- take policies into a slot
UPDATE slots s SET ` + policyColumns + `, order_until = @order_until WHERE s.tenant_id = @tenant AND s.id = @slot AND ` + slotPolicies + ` <> @wanted`

const presentPoliciesSQL = `-- present policies of a service
SELECT t.policies AS tenant, s.policies AS service FROM services s JOIN tenants t ON t.id = s.tenant_id
WHERE s.tenant_id = @tenant AND s.id = @service FOR SHARE`

// wanted are the policies in force for each service.
type wanted map[string]Policies

func (w wanted) args(s *Store, tenant string) pgx.StrictNamedArgs {
	services, texts := make([]string, 0, len(w)), make([]string, 0, len(w))
	for service, p := range w {
		services, texts = append(services, service), append(texts, p.fingerprint())
	}
	return pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "services": services, "wanted": texts}
}

// wantedBy resolves the policies of the services that a change concerns, as
// they would be after it, names those that change, and refuses what can't hold.
func (s *Store) wantedBy(ctx context.Context, change PolicyChange) (w wanted, fields []string, err error) {
	if !json.Valid(change.Overrides) {
		return nil, nil, fmt.Errorf("policies: not JSON")
	}
	if err := CheckOverrides(change.Overrides); err != nil {
		return nil, nil, err
	}
	t, err := s.TenantByID(ctx, change.TenantID)
	if err != nil {
		return nil, nil, err
	}
	was, err := t.Policies()
	if err != nil {
		return nil, nil, err
	}
	var services []Service
	if change.ServiceID == "" {
		t.Overrides = change.Overrides
		is, err := t.Policies()
		if err != nil {
			return nil, nil, err
		}
		if bad := is.Problems(); len(bad) > 0 {
			return nil, nil, fmt.Errorf("policies can't hold: %v", bad)
		}
		if fields, err = changedPolicies(was, is, nil, nil); err != nil {
			return nil, nil, err
		}
		if services, err = s.Services(ctx, t.ID); err != nil {
			return nil, nil, err
		}
	} else {
		sv, err := s.Service(ctx, t.ID, change.ServiceID)
		if err != nil {
			return nil, nil, err
		}
		if was, err = sv.Policies(t); err != nil {
			return nil, nil, err
		}
		had := sv.Overrides
		sv.Overrides = change.Overrides
		is, err := sv.Policies(t)
		if err != nil {
			return nil, nil, err
		}
		if fields, err = changedPolicies(was, is, had, sv.Overrides); err != nil {
			return nil, nil, err
		}
		services = []Service{sv}
	}
	w = wanted{}
	for _, sv := range services {
		p, err := sv.Policies(t)
		if err != nil {
			return nil, nil, err
		}
		if bad := p.Problems(); len(bad) > 0 {
			return nil, nil, fmt.Errorf("policies of service %s can't hold: %v", sv.Slug, bad)
		}
		w[sv.ID] = p
	}
	if change.Setup != nil {
		fields = append(fields, "setup")
	}
	return w, fields, nil
}

// SetPolicies stores the policies and takes them into the future slots that
// have others. Where a slot can't be had or Most is reached, the result says
// how many are left; CompletePolicies goes on there. The result counts also
// beside an error. Policies that can't hold are an error. Refusals: NotFound,
// Conflict (others are stored than Was), Busy.
func (s *Store) SetPolicies(ctx context.Context, change PolicyChange) (PolicyResult, error) {
	w, fields, err := s.wantedBy(ctx, change)
	if err != nil {
		return PolicyResult{}, err
	}
	if err := s.writePoliciesOf(ctx, change, fields); err != nil {
		return PolicyResult{}, s.settle("policies", err)
	}
	return s.takePolicies(ctx, change.TenantID, w, change.Actor, change.Most)
}

func (s *Store) writePoliciesOf(ctx context.Context, change PolicyChange, fields []string) error {
	args := pgx.StrictNamedArgs{"tenant": change.TenantID, "policies": string(change.Overrides), "was": nil}
	sql := setTenantPoliciesSQL
	if change.Was != nil {
		args["was"] = string(change.Was.Tenant)
	}
	switch {
	case change.ServiceID != "":
		sql = setServicePoliciesSQL
		args["service"], args["was_tenant"] = change.ServiceID, args["was"]
		args["was"] = nil
		if change.Was != nil {
			args["was"] = string(change.Was.Service)
		}
	case change.Setup != nil:
		sql = setSetupSQL
		args["trade"], args["call_rule"], args["call_note"], args["at"] = change.Setup.Trade, change.Setup.CallRule, change.Setup.CallNote, s.at
	}
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sql, args)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return Conflict // that they exist was seen before
		}
		noted := SettingChange{TenantID: change.TenantID, Area: AreaPolicies, Subject: change.ServiceID, Fields: fields}
		if change.Actor.Kind == Staff {
			noted.StaffID = change.Actor.ID
		}
		return s.recordSettingChange(ctx, tx, noted)
	})
}

// AreaPolicies is the area of changes of policies; their subject is the service, or empty.
const AreaPolicies = "policies"

// changedPolicies names what differs between two sets of policies, and which a
// service begins or ceases to have of its own. The names are those in JSON.
func changedPolicies(was, is Policies, hadOwn, hasOwn []byte) ([]string, error) {
	texts := make([]map[string]json.RawMessage, 4)
	for i, policies := range []Policies{was, is} {
		text, err := json.Marshal(policies)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &texts[i]); err != nil {
			return nil, err
		}
	}
	for i, own := range [][]byte{hadOwn, hasOwn} {
		if len(own) > 0 {
			if err := json.Unmarshal(own, &texts[2+i]); err != nil {
				return nil, err
			}
		}
	}
	var names []string
	for name, value := range texts[1] {
		_, had := texts[2][name]
		_, has := texts[3][name]
		if had != has || string(texts[0][name]) != string(value) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// CompletePolicies takes the stored policies into all future slots of the
// tenant that have others, up to most (0: all): what an interrupted change left,
// and slots that were made meanwhile.
func (s *Store) CompletePolicies(ctx context.Context, tenant string, actor Actor, most int) (PolicyResult, error) {
	w, err := s.stored(ctx, tenant)
	if err != nil {
		return PolicyResult{}, err
	}
	return s.takePolicies(ctx, tenant, w, actor, most)
}

func (s *Store) stored(ctx context.Context, tenant string) (wanted, error) {
	t, err := s.TenantByID(ctx, tenant)
	if err != nil {
		return nil, err
	}
	w, _, err := s.wantedBy(ctx, PolicyChange{TenantID: tenant, Overrides: t.Overrides})
	return w, err
}

// PoliciesLeft counts the future slots of a tenant that have other policies than their service.
func (s *Store) PoliciesLeft(ctx context.Context, t Tenant, services []Service) (int, error) {
	w := wanted{}
	for _, sv := range services {
		p, err := sv.Policies(t)
		if err != nil {
			return 0, err
		}
		w[sv.ID] = p
	}
	return s.countBehind(ctx, t.ID, w)
}

func (s *Store) countBehind(ctx context.Context, tenant string, w wanted) (int, error) {
	var n int
	err := s.db.QueryRow(ctx, countBehindSQL, w.args(s, tenant)).Scan(&n)
	return n, classify(err)
}

func (s *Store) takePolicies(ctx context.Context, tenant string, w wanted, actor Actor, most int) (PolicyResult, error) {
	var result PolicyResult
	args := w.args(s, tenant)
	args["most"] = nil
	if most > 0 {
		args["most"] = most
	}
	rows, err := s.db.Query(ctx, behindSQL, args)
	if err != nil {
		return result, classify(err)
	}
	slots, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return result, classify(err)
	}
	busy := false
	for _, slot := range slots {
		took := false
		change, err := s.onSlot(ctx, "policies", tenant, slot, actor, func(ctx context.Context, t *slotTx) error {
			p, err := t.presentPolicies(ctx)
			if err != nil {
				return err
			}
			took, err = t.takePolicies(ctx, p)
			return err
		})
		switch err = s.settle("policies", err); {
		case errors.Is(err, Busy) && ctx.Err() == nil:
			busy = true // the others need not wait for this one
			continue
		case err != nil:
			return result, err
		}
		if took {
			result.Slots++
		}
		result.add(change)
	}
	if result.Left, err = s.countBehind(ctx, tenant, w); err != nil {
		return result, err
	}
	if busy && result.Left > 0 && result.Slots == 0 {
		return result, Busy
	}
	return result, nil
}

// presentPolicies are those of the slot's service, as they are stored now. A
// change of them waits until this step is over.
func (t *slotTx) presentPolicies(ctx context.Context) (Policies, error) {
	var tenant, service []byte
	err := t.tx.QueryRow(ctx, presentPoliciesSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "service": t.slot.ServiceID}).Scan(&tenant, &service)
	if err != nil {
		return Policies{}, err
	}
	return Service{Overrides: service}.Policies(Tenant{Overrides: tenant})
}

// takePolicies copies the policies into the slot, if it has others. What was
// due before goes by the rules that it ran under.
func (t *slotTx) takePolicies(ctx context.Context, p Policies) (bool, error) {
	if err := t.sweepOnly(ctx); err != nil {
		return false, err
	}
	had := t.slot
	t.slot.take(p)
	t.slot.setOrderUntil()
	args := p.args()
	args["tenant"], args["slot"], args["order_until"], args["wanted"] = t.tenant, t.slot.ID, t.slot.OrderUntil, p.fingerprint()
	tag, err := t.tx.Exec(ctx, takePoliciesSQL, args)
	if err != nil {
		return false, err
	}
	if tag.RowsAffected() == 0 {
		t.slot = had
		return false, nil
	}
	if err := t.rewriteReservations(ctx); err != nil {
		return false, err
	}
	t.event(EventPolicyChanged, "", 0, 0, map[string]any{"waitlist_mode": p.WaitlistMode, "fit": p.Fit})
	return true, nil
}

// PreviewPolicies tells what SetPolicies would do at this moment. The step is
// tried on the first slots where somebody waits, and undone. Nothing is changed.
func (s *Store) PreviewPolicies(ctx context.Context, change PolicyChange) (PolicyResult, error) {
	w, _, err := s.wantedBy(ctx, change)
	if err != nil {
		return PolicyResult{}, err
	}
	var result PolicyResult
	if result.Slots, err = s.countBehind(ctx, change.TenantID, w); err != nil {
		return PolicyResult{}, err
	}
	args := w.args(s, change.TenantID)
	args["most"] = previewSlots + 1
	type behind struct{ ID, ServiceID string }
	rows, err := s.db.Query(ctx, behindWaitingSQL, args)
	if err != nil {
		return PolicyResult{}, classify(err)
	}
	slots, err := pgx.CollectRows(rows, pgx.RowToStructByName[behind])
	if err != nil {
		return PolicyResult{}, classify(err)
	}
	for i, slot := range slots {
		if i == previewSlots {
			result.AtLeast = true
			break
		}
		would, err := s.previewSlot(ctx, "policies", change.TenantID, slot.ID, change.Actor, func(ctx context.Context, t *slotTx) error {
			_, err := t.takePolicies(ctx, w[t.slot.ServiceID])
			return err
		})
		switch err = classify(err); {
		case errors.Is(err, Busy) && ctx.Err() == nil:
			result.AtLeast = true
			continue
		case err != nil:
			return PolicyResult{}, err
		}
		result.add(would)
	}
	return result, nil
}

// ChangePolicies stores what differs from the tenant's policies, as JSON, and
// takes the result into each future slot that has others. It gives the number
// of slots changed. Policies that can't hold are an error.
func (s *Store) ChangePolicies(ctx context.Context, tenant, service string, overrides []byte, actor Actor) (int, error) {
	result, err := s.SetPolicies(ctx, PolicyChange{TenantID: tenant, ServiceID: service, Overrides: overrides, Actor: actor})
	if err == nil && result.Left > 0 {
		err = Busy
	}
	return result.Slots, err
}
