package store_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"holdfast/store/storetest"
)

// statements gives the value of each constant of the package whose name ends
// in SQL, concatenations worked out, by name.
func statements(t *testing.T) map[string]string {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	exprs := map[string]ast.Expr{}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				spec := spec.(*ast.ValueSpec)
				for i, name := range spec.Names {
					if i < len(spec.Values) {
						exprs[name.Name] = spec.Values[i]
					}
				}
			}
		}
	}
	var value func(ast.Expr) constant.Value
	value = func(expr ast.Expr) constant.Value {
		switch expr := expr.(type) {
		case *ast.BasicLit:
			return constant.MakeFromLiteral(expr.Value, expr.Kind, 0)
		case *ast.ParenExpr:
			return value(expr.X)
		case *ast.BinaryExpr:
			return constant.BinaryOp(value(expr.X), expr.Op, value(expr.Y))
		case *ast.Ident:
			if known, ok := exprs[expr.Name]; ok {
				return value(known)
			}
		}
		t.Fatalf("a statement is made of something this test can't work out: %#v", expr)
		return nil
	}
	found := map[string]string{}
	for name, expr := range exprs {
		if strings.HasSuffix(name, "SQL") {
			found[name] = constant.StringVal(value(expr))
		}
	}
	return found
}

var argument = regexp.MustCompile(`@([a-z_]+)`)

func TestEveryStatementFitsTheSchema(t *testing.T) {
	t.Parallel()
	w := storetest.New(t)
	conn := w.Conn(t)
	found := statements(t)
	if len(found) < 100 {
		t.Fatalf("only %d statements were found", len(found))
	}
	for name, sql := range found {
		args := pgx.NamedArgs{}
		for _, match := range argument.FindAllStringSubmatch(sql, -1) {
			args[match[1]] = nil
		}
		plain, _, err := args.RewriteQuery(t.Context(), conn, sql, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := conn.Prepare(t.Context(), name, plain); err != nil {
			t.Errorf("%s: %v\n%s", name, err, plain)
		}
	}
}

func TestEveryStatementBeginsWithItsName(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	for constant, sql := range statements(t) {
		first, rest, _ := strings.Cut(sql, "\n")
		if !strings.HasPrefix(first, "-- ") || rest == "" {
			t.Errorf("%s does not begin with a comment that names it", constant)
		}
		if constant == "lockSlotIfFreeSQL" { // lockSlotsSQL with another tail
			continue
		}
		if other := names[first]; other != "" {
			t.Errorf("%s and %s have the same name: %s", constant, other, first)
		}
		names[first] = constant
	}
}

// allTenants are the statements that don't name one tenant, and why they may.
var allTenants = map[string]string{
	"nowSQL":             "reads no table",
	"stepClockSQL":       "reads no table",
	"addTenantSQL":       "makes the tenant",
	"tenantBySlugSQL":    "finds the tenant by its unique name",
	"tenantByIDSQL":      "the tenant's own key",
	"setEmbedOriginsSQL": "the tenant's own key",
	"notifySQL":          "reads no table",
	"deleteTenantSQL":    "the tenant's own key",
	"fingerprintsSQL":    "readiness is about all tenants",
	"tenantsToSendSQL":   "looks for work over all tenants, without locks",
	"dueSlotsSQL":        "looks for work over all tenants, without locks",
	"begunSlotsSQL":      "looks for work over all tenants, without locks",
	"remindSlotsSQL":     "looks for work over all tenants, without locks",
	"unsealedSlotsSQL":   "looks for work over all tenants, without locks",
	"eraseSlotsSQL":      "looks for work over all tenants, without locks",
	"oldMyLinksSQL":      "looks for work over all tenants, without locks",
	"oldAnswersSQL":      "looks for work over all tenants, without locks",
	"unfedTenantsSQL":    "looks for work over all tenants, without locks",
	"dueWebhooksSQL":     "looks for work over all tenants, without locks",
	"lockFeedSQL":        "the tenant's own key",
	"raiseFeedSQL":       "the tenant's own key",
	"tenantsToTellSQL":   "looks for work over all tenants, without locks",
	"nextDueSQL":         "the next deadline of all tenants",
	"lockRacesSQL":       "one run at a time over all tenants",
	"staleRacesSQL":      "one run at a time over all tenants",
	"askedRacesSQL":      "looks for work over all tenants, without locks",
	"claimRaceSQL":       "one run at a time over all tenants",
	"watchTenantsSQL":    "looks for work over all tenants, without locks",
	"watchSettingsSQL":   "reads no table",
	"openFindingsSQL":    "a metric over all tenants",
	"fullSinceSQL":       "a metric over all tenants",
	"outboxStatsSQL":     "a metric over all tenants",
	"tidySessionsSQL":    "sessions belong to no tenant",
	"findSessionSQL":     "sessions belong to no tenant",
	"commitSessionSQL":   "sessions belong to no tenant",
	"deleteSessionSQL":   "sessions belong to no tenant",
	"tidyLimitsSQL":      "rate limits belong to no tenant",
	"hitSQL":             "rate limits belong to no tenant",
	"staffByEmailSQL":    "staff belong to no tenant",
	"staffByIDSQL":       "staff belong to no tenant",
	"setPasswordSQL":     "staff belong to no tenant",
	"setStaffLocaleSQL":  "staff belong to no tenant",
	"membershipsSQL":     "the tenants of one person",

	"firstMembershipSQL": "the tenants of one person",
	"resetPersonSQL":     "the tenants of one person",
	"addVenueSQL":        "makes the tenant",
	"newPersonSQL":       "staff belong to no tenant",
	"upgradePasswordSQL": "staff belong to no tenant",
	"signedInSQL":        "staff belong to no tenant",
	"setProfileSQL":      "staff belong to no tenant",
	"changePasswordSQL":  "staff belong to no tenant",
	"resetByTokenSQL":    "staff belong to no tenant",
	"resetPasswordSQL":   "staff belong to no tenant",
	"secondFactorSQL":    "staff belong to no tenant",
	"startFactorSQL":     "staff belong to no tenant",
	"confirmFactorSQL":   "staff belong to no tenant",
	"pendingFactorSQL":   "staff belong to no tenant",
	"useCodeSQL":         "staff belong to no tenant",
	"useRecoverySQL":     "staff belong to no tenant",
	"renewRecoverySQL":   "staff belong to no tenant",
	"endFactorSQL":       "staff belong to no tenant",
	"sessionSeenSQL":     "sessions belong to no tenant",
	"updateSessionSQL":   "sessions belong to no tenant",
	"staffSessionsSQL":   "sessions belong to no tenant",
	"endSessionSQL":      "sessions belong to no tenant",
	"endSessionsSQL":     "sessions belong to no tenant",
	"endIdleSessionsSQL": "sessions belong to no tenant",
}

var (
	tenantCondition = regexp.MustCompile(`(?i)tenant_id = @tenant|tenant_id = NULLIF\(@tenant, ''\)::uuid`)
	tenantInserted  = regexp.MustCompile(`(?is)INSERT INTO \w+( AS \w+)? \(tenant_id,.*(VALUES \(|SELECT )(@tenant|tenant_id|r\.tenant_id)`)
)

// pairsTenants recognises a read for several tenants at once, in which each row is joined by the tenant that it was asked for with.
func pairsTenants(sql string) bool {
	return strings.Contains(sql, "unnest(@tenants::text[]::uuid[], ") && strings.Contains(sql, " AS w (tenant_id, ") && strings.Contains(sql, "tenant_id = w.tenant_id")
}

// Isolation between tenants is each statement's own business: there is no
// other wall between them.
func TestEveryStatementNamesTheTenant(t *testing.T) {
	t.Parallel()
	found := statements(t)
	for name, sql := range found {
		names := tenantCondition.MatchString(sql) || tenantInserted.MatchString(sql) || pairsTenants(sql)
		switch reason := allTenants[name]; {
		case names && reason != "":
			t.Errorf("%s names the tenant: take it off the list", name)
		case !names && reason == "":
			t.Errorf("%s names no tenant", name)
		}
	}
	for name := range allTenants {
		if _, ok := found[name]; !ok {
			t.Errorf("%s is on the list and not in the package", name)
		}
	}
}

// A row that another tenant's id would address must not be reached: each
// mention of a tenant's table stands in a statement that names the tenant as
// often as it changes rows.
func TestEveryChangeNamesTheTenantOnce(t *testing.T) {
	t.Parallel()
	change := regexp.MustCompile(`(?m)\b(UPDATE|DELETE FROM) (slots|reservations|waitlist_entries|outbox|events|services|resources|api_keys)\b`)
	condition := regexp.MustCompile(`tenant_id = @tenant`)
	names := make([]string, 0)
	found := statements(t)
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		changes, conditions := len(change.FindAllString(found[name], -1)), len(condition.FindAllString(found[name], -1))
		if changes > conditions {
			t.Errorf("%s changes %d tables and names the tenant %d times", name, changes, conditions)
		}
	}
}

func TestStatementsInCodeAreConstants(t *testing.T) {
	t.Parallel()
	// Written in place, because the names of tables can't be arguments.
	allowed := map[string]int{"staff.go": 2}
	verb := regexp.MustCompile(`"(SELECT|INSERT INTO|UPDATE|DELETE FROM) `)
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(verb.FindAll(text, -1)); n != allowed[file.Name()] {
			t.Errorf("%s has %d statements in quotes, %d are explained", file.Name(), n, allowed[file.Name()])
		}
	}
}
