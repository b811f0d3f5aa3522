package views

import "net/url"

// StaffKeysURL lists the keys of the staff's pages.
func StaffKeysURL(tenant string) string { return staffPath(tenant, "keys") }

// StaffCalendarURL is the week that today is in.
func StaffCalendarURL(tenant string) string { return staffPath(tenant, "calendar") }

// StaffAddSlotsURL is where slots are made.
func StaffAddSlotsURL(tenant string) string { return staffPath(tenant, "schedules") }

// StaffDayFilter is what the address of a day or of the calendar asks for.
// Service and Resource are slugs; what is empty is left out.
type StaffDayFilter struct {
	Date     string // a day, as 2006-01-02: the day page only
	Week     string // a day of the week, as 2006-01-02: the calendar
	Month    string // as 2006-01: the calendar
	Service  string
	Resource string
}

func (f StaffDayFilter) query() string {
	q := url.Values{}
	for _, v := range [][2]string{{"date", f.Date}, {"week", f.Week}, {"month", f.Month}, {"service", f.Service}, {"resource", f.Resource}} {
		if v[1] != "" {
			q.Set(v[0], v[1])
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// StaffFilteredDayURL is the day page as f asks for it.
func StaffFilteredDayURL(tenant string, f StaffDayFilter) string {
	return StaffTodayURL(tenant) + f.query()
}

// StaffFilteredCalendarURL is the calendar as f asks for it.
func StaffFilteredCalendarURL(tenant string, f StaffDayFilter) string {
	return StaffCalendarURL(tenant) + f.query()
}

// StaffLiveWeekURL streams that something has changed in the seven days from date (2006-01-02).
func StaffLiveWeekURL(tenant, date string) string {
	return staffPath(tenant, "live") + "?" + url.Values{"week": {date}}.Encode()
}
