package main

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/views"
)

func init() { moreScenes = append(moreScenes, serviceScene) }

// serviceScene gives the shop's service questions and its calendar closed days.
func serviceScene(t *testing.T, p *product) []screenPage {
	t.Helper()
	ctx := t.Context()
	sv, err := p.Store.Service(ctx, p.Tenant.ID, p.Service.ID)
	check(t, err)
	if len(sv.Questions) == 0 {
		sv, err = p.Store.ChangeQuestions(ctx, p.Tenant.ID, sv.ID, sv.Version, "", func(sv *store.Service) error {
			sv.Questions = []store.Question{{ID: "level", Kind: store.QuestionText, Label: store.Text{"ja": "ヨガの経験を教えてください", "en": "How experienced are you?"}}}
			return nil
		})
		check(t, err)
	}
	check(t, p.Store.CloseDays(ctx, p.Tenant.ID, []store.ClosedDay{{Day: p.Start.AddDate(0, 0, 40).Format(time.DateOnly), Note: store.Text{"ja": "設備点検", "en": "Maintenance"}}}, ""))
	page := func(name, path string) screenPage {
		return screenPage{name: "settings-" + name, path: path, staff: true}
	}
	return []screenPage{
		page("services", views.StaffServicesURL("shop")), page("service", views.StaffServiceURL("shop", sv.ID)), page("service-new", views.StaffNewServiceURL("shop")),
		page("service-retire", views.StaffServiceRetireURL("shop", sv.ID)), page("service-picture", views.StaffServicePictureURL("shop", sv.ID)),
		page("questions", views.StaffQuestionsURL("shop", sv.ID)), page("question", views.StaffQuestionURL("shop", sv.ID, sv.Questions[0].ID)),
		page("question-new", views.StaffNewQuestionURL("shop", sv.ID)), page("resources", views.StaffResourcesURL("shop")), page("closed-days", views.StaffClosedURL("shop")),
		page("holidays", views.StaffHolidaysURL("shop")), page("venue", views.StaffVenueURL("shop")), page("changes", views.StaffChangesURL("shop")),
	}
}
