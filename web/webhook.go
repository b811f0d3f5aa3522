package web

import (
	"encoding/json"
	"maps"
	"reflect"

	"holdfast/store"
)

// WebhookBody is an event as webhooks send it: what the API lists, in one line
// of JSON. A reason that a person has typed is left out, since a name may stand
// in it; the API gives it to those who may read contacts.
func WebhookBody(e store.FeedEvent) ([]byte, error) {
	if _, typed := e.Details["reason"]; typed && e.Kind != store.EventEntryClosed { // whose reasons are codes
		e.Details = maps.Clone(e.Details)
		delete(e.Details, "reason")
	}
	return json.Marshal(apiEventOf(e))
}

// webhookDoc describes what a receiver of webhooks is sent.
func webhookDoc(defs jsonObject) jsonObject {
	header := func(name, text string) jsonObject {
		return jsonObject{"name": name, "in": "header", "required": true, "description": text, "schema": textSchema}
	}
	return jsonObject{
		"operationId": "event", "summary": "An event, as it happens.",
		"description": "Sent to the addresses that owners add on the page Webhooks, event by event in the order of the list of events. " +
			"An answer of 2xx within 10 seconds counts as delivered; anything else is tried again for three days, later events waiting behind it. Redirects are not followed. " +
			"An event can come twice, with the same Holdfast-Delivery. In details a reason that a person typed is left out. A test has the kind ping, and neither cursor nor slot of the venue.",
		"parameters": []any{
			header("Holdfast-Signature", "t=SECONDS,v1=HEX: the time of sending in seconds since 1970, and the HMAC-SHA256, with the webhook's secret as it was shown, of t, a dot and the body as it came. "+
				"While a secret is being replaced v1 stands there twice; one that matches is enough. Compare in constant time, and refuse a t that is more than five minutes away."),
			header("Holdfast-Delivery", "names the delivery, the same at each attempt"),
		},
		"requestBody": jsonObject{"required": true, "content": jsonObject{"application/json": jsonObject{"schema": schemaOf(reflect.TypeFor[apiEvent](), nil, true, defs)}}},
		"responses":   jsonObject{"2XX": jsonObject{"description": "delivered"}, "default": jsonObject{"description": "to be sent again, after Retry-After if it names a time"}},
		"security":    []any{},
	}
}
