package views

import "strconv"

// StaffWebhooksURL are the webhooks of a venue; its POST makes one.
func StaffWebhooksURL(tenant string) string { return staffPath(tenant, "webhooks") }

// StaffWebhookURL is one webhook with its log; its POST saves address and events.
func StaffWebhookURL(tenant, webhook string) string { return staffPath(tenant, "webhooks", webhook) }

// StaffWebhookTestURL takes the POST that sends a test.
func StaffWebhookTestURL(tenant, webhook string) string {
	return staffPath(tenant, "webhooks", webhook, "test")
}

// StaffWebhookTestedURL is the webhook's page with the result of a test, by its number in the log.
func StaffWebhookTestedURL(tenant, webhook string, number int64) string {
	return StaffWebhookURL(tenant, webhook) + "?" + FieldTested + "=" + strconv.FormatInt(number, 10)
}

// StaffWebhookPauseURL takes the POST that stops the deliveries.
func StaffWebhookPauseURL(tenant, webhook string) string {
	return staffPath(tenant, "webhooks", webhook, "pause")
}

// StaffWebhookResumeURL takes the POST that goes on with the deliveries.
func StaffWebhookResumeURL(tenant, webhook string) string {
	return staffPath(tenant, "webhooks", webhook, "resume")
}

// StaffWebhookSecretURL says what a new secret does; its POST makes one and shows it.
func StaffWebhookSecretURL(tenant, webhook string) string {
	return staffPath(tenant, "webhooks", webhook, "secret")
}

// StaffWebhookDeleteURL says what deleting does; its POST deletes.
func StaffWebhookDeleteURL(tenant, webhook string) string {
	return staffPath(tenant, "webhooks", webhook, "delete")
}

// StaffAPIPagesURL are the operations of the API, for people who write programs.
func StaffAPIPagesURL() string { return "/api/v1" }
