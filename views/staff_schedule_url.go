package views

import "net/url"

// StaffSchedulesURL lists the schedules of a venue.
func StaffSchedulesURL(tenant string) string { return staffPath(tenant, "schedules") }

// StaffScheduleNewURL is the form of a new schedule; typed fills it in.
func StaffScheduleNewURL(tenant string, typed url.Values) string {
	return withQuery(staffPath(tenant, "schedules", "new"), typed)
}

// StaffSchedulePreviewURL says what a new schedule would make. It changes nothing.
func StaffSchedulePreviewURL(tenant string) string { return staffPath(tenant, "schedules", "preview") }

// StaffScheduleURL is one schedule, with the form that changes it; typed fills that in.
func StaffScheduleURL(tenant, schedule string, typed url.Values) string {
	return withQuery(staffPath(tenant, "schedules", schedule), typed)
}

// StaffScheduleChangeURL says what a change would do, and takes the press.
func StaffScheduleChangeURL(tenant, schedule string) string {
	return staffPath(tenant, "schedules", schedule, "change")
}

// StaffScheduleRunURL makes what is missing.
func StaffScheduleRunURL(tenant, schedule string) string {
	return staffPath(tenant, "schedules", schedule, "run")
}

// StaffScheduleContinueURL goes on with a change that is not through.
func StaffScheduleContinueURL(tenant, schedule string) string {
	return staffPath(tenant, "schedules", schedule, "continue")
}

// StaffScheduleDeleteURL says what stopping or deleting would do, and takes the press.
func StaffScheduleDeleteURL(tenant, schedule string) string {
	return staffPath(tenant, "schedules", schedule, "delete")
}

// StaffScheduleSlotURL is the form of one slot; day, as 2006-01-02, may be empty.
func StaffScheduleSlotURL(tenant, day string) string {
	var q url.Values
	if day != "" {
		q = url.Values{FieldScheduleDay: {day}}
	}
	return withQuery(staffPath(tenant, "schedules", "slot"), q)
}

// StaffScheduleCopyURL copies a week; typed says which.
func StaffScheduleCopyURL(tenant string, typed url.Values) string {
	return withQuery(staffPath(tenant, "schedules", "copy"), typed)
}

// StaffScheduleSeatsURL changes the seats of many slots; typed says which.
func StaffScheduleSeatsURL(tenant string, typed url.Values) string {
	return withQuery(staffPath(tenant, "schedules", "seats"), typed)
}

func withQuery(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
