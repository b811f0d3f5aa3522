package main

import "testing"

func init() {
	moreScenes = append(moreScenes, func(*testing.T, *product) []screenPage {
		return []screenPage{{"staff-import", "/staff/shop/import", true}, {"staff-import-bookings", "/staff/shop/import?kind=bookings", true}}
	})
}
