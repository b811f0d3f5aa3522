package views

import (
	"fmt"
	"strconv"
)

// The geometry of the charts, in units of the drawing. Colours and type sizes are the style sheet's.
const (
	heatLabel = 56
	heatCell  = 46
	heatRow   = 34
	heatTop   = 26
	barWidth  = 100
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

// barLength is the length of a bar. What is not nothing is seen.
func barLength(share float64) string {
	share = max(0, min(share, 1))
	length := share * barWidth
	if share > 0 {
		length = max(1, length)
	}
	return fmt.Sprintf("%.1f", length)
}

// turned gives the grid with its columns as rows, so that what is wide fits a phone.
func turned(h StaffHeat) StaffHeat {
	out := StaffHeat{Desc: h.Desc}
	for _, row := range h.Rows {
		out.Columns = append(out.Columns, row.Label)
	}
	for i, column := range h.Columns {
		row := StaffHeatRow{Label: column}
		for _, of := range h.Rows {
			cell := StaffHeatCell{Level: -1}
			if i < len(of.Cells) {
				cell = of.Cells[i]
			}
			row.Cells = append(row.Cells, cell)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
