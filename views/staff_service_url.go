package views

import "net/url"

// StaffServicesURL lists the services of a venue.
func StaffServicesURL(tenant string) string { return staffPath(tenant, "services") }

// StaffNewServiceURL is the form of a new service, and takes it.
func StaffNewServiceURL(tenant string) string { return staffPath(tenant, "services", "new") }

// StaffServiceURL is the form of a service, and takes its changes; service is an id, as below.
func StaffServiceURL(tenant, service string) string { return staffPath(tenant, "services", service) }

// StaffServicePoliciesURL shows and takes the policies of one service.
func StaffServicePoliciesURL(tenant, service string) string {
	return staffPath(tenant, "services", service, "policies")
}

// StaffServiceOrderURL takes the POST that moves a service on the venue's page.
func StaffServiceOrderURL(tenant, service string) string {
	return staffPath(tenant, "services", service, "order")
}

// StaffServiceRetireURL says what retiring a service means, and takes it.
func StaffServiceRetireURL(tenant, service string) string {
	return staffPath(tenant, "services", service, "retire")
}

// StaffServiceRestoreURL takes the POST that brings a retired service back.
func StaffServiceRestoreURL(tenant, service string) string {
	return staffPath(tenant, "services", service, "restore")
}

// StaffServicePictureURL is the form of the picture of a service, and takes it.
func StaffServicePictureURL(tenant, service string) string {
	return staffPath(tenant, "services", service, "picture")
}

// StaffQuestionsURL lists the questions of a service.
func StaffQuestionsURL(tenant, service string) string {
	return staffPath(tenant, "services", service, "questions")
}

// StaffNewQuestionURL is the form of a new question, and takes it.
func StaffNewQuestionURL(tenant, service string) string {
	return staffPath(tenant, "services", service, "questions", "new")
}

// StaffQuestionURL is the form of a question, and takes its changes.
func StaffQuestionURL(tenant, service, question string) string {
	return staffPath(tenant, "services", service, "questions", question)
}

// StaffQuestionOrderURL takes the POST that moves a question.
func StaffQuestionOrderURL(tenant, service, question string) string {
	return staffPath(tenant, "services", service, "questions", question, "order")
}

// StaffQuestionRemoveURL says what removing a question means, and takes it.
func StaffQuestionRemoveURL(tenant, service, question string) string {
	return staffPath(tenant, "services", service, "questions", question, "remove")
}

// StaffQuestionRestoreURL takes the POST that asks a removed question again.
func StaffQuestionRestoreURL(tenant, service, question string) string {
	return staffPath(tenant, "services", service, "questions", question, "restore")
}

// StaffResourcesURL lists the resources of a venue.
func StaffResourcesURL(tenant string) string { return staffPath(tenant, "resources") }

// StaffNewResourceURL is the form of a new resource, and takes it.
func StaffNewResourceURL(tenant string) string { return staffPath(tenant, "resources", "new") }

// StaffResourceURL is the form of a resource, and takes its changes; resource is an id, as below.
func StaffResourceURL(tenant, resource string) string {
	return staffPath(tenant, "resources", resource)
}

// StaffResourceRetireURL says what retiring a resource means, and takes it.
func StaffResourceRetireURL(tenant, resource string) string {
	return staffPath(tenant, "resources", resource, "retire")
}

// StaffResourceRestoreURL takes the POST that brings a retired resource back.
func StaffResourceRestoreURL(tenant, resource string) string {
	return staffPath(tenant, "resources", resource, "restore")
}

// StaffClosedURL lists the closed days of this year, and takes new ones.
func StaffClosedURL(tenant string) string { return staffPath(tenant, "closed-days") }

// StaffClosedYearURL lists the closed days of a year, as 2006.
func StaffClosedYearURL(tenant, year string) string {
	return StaffClosedURL(tenant) + "?" + url.Values{FieldYear: {year}}.Encode()
}

// StaffHolidaysURL shows the public holidays that would become closed days, and takes them.
func StaffHolidaysURL(tenant string) string { return staffPath(tenant, "closed-days", "holidays") }

// StaffHolidaysYearURL is StaffHolidaysURL for a year, as 2006.
func StaffHolidaysYearURL(tenant, year string) string {
	return StaffHolidaysURL(tenant) + "?" + url.Values{FieldYear: {year}}.Encode()
}

// StaffClosedRemoveURL takes the POST that takes a closed day off the list.
func StaffClosedRemoveURL(tenant string) string { return staffPath(tenant, "closed-days", "remove") }

// StaffVenueURL is the form of the venue's own details, and takes their changes.
func StaffVenueURL(tenant string) string { return staffPath(tenant, "venue") }

// StaffChangesURL lists who changed what in the settings.
func StaffChangesURL(tenant string) string { return staffPath(tenant, "changes") }

// StaffChangesBeforeURL continues that list after the change with an id.
func StaffChangesBeforeURL(tenant, change string) string {
	return StaffChangesURL(tenant) + "?" + url.Values{"before": {change}}.Encode()
}
