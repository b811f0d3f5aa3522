package views

import "net/url"

// StaffPoliciesURL shows and takes the policies that the services of a venue share.
func StaffPoliciesURL(tenant string) string { return staffPath(tenant, "policies") }

// StaffPoliciesCompleteURL takes the stored policies into the slots that still have others.
func StaffPoliciesCompleteURL(tenant string) string { return staffPath(tenant, "policies", "complete") }

// StaffSetupURL is the first set-up of a venue.
func StaffSetupURL(tenant string) string { return staffPath(tenant, "setup") }

// StaffSetupTradeURL is the set-up with the values proposed for a kind of business.
func StaffSetupTradeURL(tenant, trade string) string {
	return StaffSetupURL(tenant) + "?" + url.Values{FieldTrade: {trade}}.Encode()
}

// StaffRulesURL is the sheet of rules for the counter; lang "" is the reader's language.
func StaffRulesURL(tenant, lang string) string {
	if lang == "" {
		return staffPath(tenant, "rules")
	}
	return staffPath(tenant, "rules") + "?" + url.Values{FieldLang: {lang}}.Encode()
}

// StaffRulesCustomersURL is the text of the rules for customers.
func StaffRulesCustomersURL(tenant string) string { return staffPath(tenant, "rules", "customers") }
