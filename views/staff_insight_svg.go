package views

import (
	"fmt"
	"strconv"
	"strings"
)

// The geometry of the charts, in units of the drawing. Colours and type sizes are the style sheet's.
const (
	heatLabel  = 56
	heatCell   = 46
	heatRow    = 34
	heatTop    = 26
	barLabel   = 210
	barWidth   = 330
	barValue   = 110
	barRow     = 34
	barHeight  = 20
	chartWidth = barLabel + barWidth + barValue
)

func heatBox(h StaffHeat) string {
	return fmt.Sprintf("0 0 %d %d", heatWidth(h), heatTop+heatRow*len(h.Rows))
}

func heatWidth(h StaffHeat) int { return heatLabel + heatCell*max(1, len(h.Columns)) }

func heatX(column int) string     { return strconv.Itoa(heatLabel + heatCell*column + 1) }
func heatY(row int) string        { return strconv.Itoa(heatTop + heatRow*row + 1) }
func heatTextX(column int) string { return strconv.Itoa(heatLabel + heatCell*column + heatCell/2) }
func heatTextY(row int) string    { return strconv.Itoa(heatTop + heatRow*row + heatRow/2 + 5) }
func heatClass(level int) string  { return "heat heat-" + strconv.Itoa(max(0, min(level, 5))) }
func heatInk(level int) string    { return "heat-text heat-ink-" + strconv.Itoa(max(0, min(level, 5))) }

func barsBox(b []StaffBarRow) string {
	return fmt.Sprintf("0 0 %d %d", chartWidth, barRow*max(1, len(b)))
}
func barY(row int) string     { return strconv.Itoa(barRow*row + (barRow-barHeight)/2) }
func barTextY(row int) string { return strconv.Itoa(barRow*row + barRow/2 + 5) }

// barLength is the length of a bar. What is not nothing is seen.
func barLength(share float64) string {
	share = max(0, min(share, 1))
	length := share * barWidth
	if share > 0 {
		length = max(2, length)
	}
	return fmt.Sprintf("%.1f", length)
}

// barsWords are the bars for those who hear the page.
func barsWords(rows []StaffBarRow) string {
	parts := make([]string, len(rows))
	for i, r := range rows {
		parts[i] = r.Label + ": " + r.Value
	}
	return strings.Join(parts, "; ")
}
