package views

import "net/url"

// StaffInsightURL shows the numbers of the last weeks.
func StaffInsightURL(tenant string) string { return staffPath(tenant, "insight") }

// StaffInsightFilter is what the numbers are asked for. Service and Resource are slugs; what is empty is left out.
type StaffInsightFilter struct {
	From     string // a day at the venue, as 2006-01-02
	To       string // the last day, included
	Service  string
	Resource string
}

func (f StaffInsightFilter) query() string {
	q := url.Values{}
	for _, v := range [][2]string{{"from", f.From}, {"to", f.To}, {"service", f.Service}, {"resource", f.Resource}} {
		if v[1] != "" {
			q.Set(v[0], v[1])
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// StaffInsightOfURL shows the numbers of a period.
func StaffInsightOfURL(tenant string, f StaffInsightFilter) string {
	return StaffInsightURL(tenant) + f.query()
}

// StaffInsightFileURL is one table of the numbers as a file for a spreadsheet.
func StaffInsightFileURL(tenant, table string, f StaffInsightFilter) string {
	return staffPath(tenant, "insight", table+".csv") + f.query()
}
