package web

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"holdfast/views"
	"holdfast/views/i18n"
)

// apiDoc is what the OpenAPI document says of an operation. The schemas are
// made of the very structs that are written and read.
type apiDoc struct {
	id, text string
	query    []apiParam
	body     any      // nil: none
	required []string // fields of the body
	match    bool     // takes If-Match
	etag     bool     // answers with an ETag
	answer   any
	faults   []int // statuses of refusals, besides those that every operation may answer
}

type apiParam struct {
	name, text string
	schema     jsonObject
}

type jsonObject = map[string]any

var (
	textSchema = jsonObject{"type": "string"}
	timeSchema = jsonObject{"type": "string", "format": "date-time"}
)

func countSchema(least, most int) jsonObject {
	return jsonObject{"type": "integer", "minimum": least, "maximum": most}
}

// everyFault are the statuses that any operation may answer.
var everyFault = []int{401, 403, 429, 503}

// schemaOf is the JSON schema of a Go value as package json writes it. What is
// answered has all its fields, but for those that are left out when empty.
func schemaOf(t reflect.Type, required []string, answered bool, defs jsonObject) jsonObject {
	switch t {
	case reflect.TypeFor[apiTime]():
		return timeSchema
	}
	switch t.Kind() {
	case reflect.Pointer:
		inner := schemaOf(t.Elem(), nil, answered, defs)
		if ref, named := inner["$ref"]; named {
			return jsonObject{"oneOf": []any{jsonObject{"$ref": ref}, jsonObject{"type": "null"}}}
		}
		nullable := jsonObject{}
		for name, value := range inner {
			nullable[name] = value
		}
		nullable["type"] = []any{inner["type"], "null"}
		return nullable
	case reflect.String:
		return textSchema
	case reflect.Bool:
		return jsonObject{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return jsonObject{"type": "integer"}
	case reflect.Slice:
		return jsonObject{"type": "array", "items": schemaOf(t.Elem(), nil, answered, defs)}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return jsonObject{"type": "object"}
		}
		return jsonObject{"type": "object", "additionalProperties": schemaOf(t.Elem(), nil, answered, defs)}
	case reflect.Struct:
		return structSchema(t, required, answered, defs)
	}
	panic("web: no schema for " + t.String())
}

func structSchema(t reflect.Type, required []string, answered bool, defs jsonObject) jsonObject {
	name := strings.TrimPrefix(t.Name(), "api")
	if strings.Contains(name, "[") { // a list of something
		name = ""
	}
	if name != "" {
		if !answered {
			name += "Input"
		}
		if _, known := defs[name]; known {
			return jsonObject{"$ref": "#/components/schemas/" + name}
		}
		defs[name] = nil // it may contain itself
	}
	properties := jsonObject{}
	needed := append([]string{}, required...)
	for i := range t.NumField() {
		f := t.Field(i)
		tag, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
		properties[tag] = schemaOf(f.Type, nil, answered, defs)
		if answered && omit != "omitempty" {
			needed = append(needed, tag)
		}
	}
	schema := jsonObject{"type": "object", "properties": properties, "additionalProperties": false}
	if len(needed) > 0 {
		slices.Sort(needed)
		schema["required"] = needed
	}
	if name == "" {
		return schema
	}
	defs[name] = schema
	return jsonObject{"$ref": "#/components/schemas/" + name}
}

// openAPI makes the document.
var openAPI = sync.OnceValue(func() []byte {
	defs := jsonObject{}
	problem := schemaOf(reflect.TypeFor[apiProblem](), nil, true, defs)
	header := func(text, kind string) jsonObject {
		return jsonObject{"description": text, "schema": jsonObject{"type": kind}}
	}
	limits := jsonObject{
		"RateLimit-Limit": header("requests per minute", "integer"), "RateLimit-Remaining": header("requests left in this minute", "integer"),
		"RateLimit-Reset": header("seconds until the next minute begins", "integer"), "RateLimit-Policy": header("the limit with its window in seconds", "string"),
	}
	paths := jsonObject{}
	for i := range apiOperations {
		op := &apiOperations[i]
		var parameters []any
		for part := range strings.SplitSeq(op.path, "/") {
			if name, found := strings.CutPrefix(part, "{"); found {
				parameters = append(parameters, jsonObject{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": textSchema})
			}
		}
		for _, p := range op.doc.query {
			parameters = append(parameters, jsonObject{"name": p.name, "in": "query", "description": p.text, "schema": p.schema})
		}
		if op.doc.match {
			parameters = append(parameters, jsonObject{"name": "If-Match", "in": "header", "description": "the slot's version as seen, in quotes, or *", "schema": textSchema})
		}
		if op.method == http.MethodPost {
			parameters = append(parameters, jsonObject{"name": "Idempotency-Key", "in": "header", "description": "the same key for the same request is carried out once; kept for 24 hours", "schema": textSchema})
		}
		headers := jsonObject{}
		for name, h := range limits {
			headers[name] = h
		}
		if op.doc.etag {
			headers["ETag"] = header("the slot's version, in quotes", "string")
		}
		if op.kept {
			headers["Idempotent-Replayed"] = header("true: the answer was given before", "string")
		}
		responses := jsonObject{strconv.Itoa(op.status): jsonObject{
			"description": "done", "headers": headers,
			"content": jsonObject{"application/json": jsonObject{"schema": schemaOf(reflect.TypeOf(op.doc.answer), nil, true, defs)}},
		}}
		for _, status := range slices.Concat(everyFault, op.doc.faults) {
			responses[strconv.Itoa(status)] = jsonObject{
				"description": http.StatusText(status), "content": jsonObject{"application/problem+json": jsonObject{"schema": problem}},
			}
		}
		doc := jsonObject{
			"operationId": op.doc.id, "summary": op.doc.text, "responses": responses, "security": []any{jsonObject{"key": []any{}}},
			"description": "Scope: " + strings.Join(op.scopes, " or ") + ".",
		}
		if parameters != nil {
			doc["parameters"] = parameters
		}
		if op.doc.body != nil {
			doc["requestBody"] = jsonObject{"required": len(op.doc.required) > 0, "content": jsonObject{
				"application/json": jsonObject{"schema": schemaOf(reflect.TypeOf(op.doc.body), op.doc.required, false, defs)},
			}}
		}
		path, _ := paths["/api/v1"+op.path].(jsonObject)
		if path == nil {
			path = jsonObject{}
		}
		path[strings.ToLower(op.method)] = doc
		paths["/api/v1"+op.path] = path
	}
	text, err := json.MarshalIndent(jsonObject{
		"openapi": "3.1.0",
		"info": jsonObject{
			"title": "Holdfast", "version": "1",
			"description": "Reservations for places where seats run out. Times are RFC 3339 in UTC with milliseconds; a time without an offset is refused. A refusal is application/problem+json with a stable reason. Unknown fields and parameters are refused. A body is at most 1 MB.",
		},
		"paths":    paths,
		"webhooks": jsonObject{"event": jsonObject{"post": webhookDoc(defs)}},
		"components": jsonObject{
			"schemas":         defs,
			"securitySchemes": jsonObject{"key": jsonObject{"type": "http", "scheme": "bearer", "description": "a key of the tenant: hf_{tenant}_{secret}"}},
		},
	}, "", " ")
	if err != nil {
		panic(err) // plain maps always marshal
	}
	return append(text, '\n')
})

// getOpenAPI serves the document to anybody: it tells nothing of any tenant.
func (s *Server) getOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(openAPI()) // the caller may have left
}

// getAPIPages shows the document to people.
func (s *Server) getAPIPages(w http.ResponseWriter, r *http.Request) {
	lang := i18n.EN
	if named := i18n.Match(r.Header.Get("Accept-Language")); named != "" {
		lang = named
	}
	w.Header().Set("Vary", "Accept-Language")
	r = r.WithContext(i18n.WithLang(r.Context(), lang))
	s.handle(func(w http.ResponseWriter, r *http.Request) error {
		v := views.APIPage{DocumentURL: views.OpenAPIURL()}
		for _, op := range apiOperations {
			o := views.APIOperation{ID: op.doc.id, Method: op.method, Path: "/api/v1" + op.path, Text: op.doc.text, Scopes: op.scopes, Status: op.status}
			for _, p := range op.doc.query {
				o.Fields = append(o.Fields, views.APIField{Name: p.name, Text: p.text})
			}
			if op.doc.body != nil {
				o.Body = exampleOf(reflect.TypeOf(op.doc.body))
			}
			o.Answer = exampleOf(reflect.TypeOf(op.doc.answer))
			for _, status := range slices.Sorted(slices.Values(slices.Concat(everyFault, op.doc.faults))) {
				o.Faults = append(o.Faults, strconv.Itoa(status)+" "+http.StatusText(status))
			}
			v.Operations = append(v.Operations, o)
		}
		return s.render(w, r, http.StatusOK, views.API(v))
	})(w, r)
}

// exampleOf writes the shape of a value: names with the kinds of their values.
func exampleOf(t reflect.Type) string {
	text, err := json.MarshalIndent(shapeOf(t), "", "  ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

func shapeOf(t reflect.Type) any {
	switch {
	case t == reflect.TypeFor[apiTime]():
		return "2027-03-14T01:00:00.000Z"
	case t.Kind() == reflect.Pointer:
		return shapeOf(t.Elem())
	case t.Kind() == reflect.Slice:
		return []any{shapeOf(t.Elem())}
	case t.Kind() == reflect.Struct:
		out := jsonObject{}
		for i := range t.NumField() {
			tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			out[tag] = shapeOf(t.Field(i).Type)
		}
		return out
	case t.Kind() == reflect.Map:
		return jsonObject{}
	case t.Kind() == reflect.Bool:
		return false
	case t.Kind() == reflect.String:
		return "…"
	}
	return 1
}
