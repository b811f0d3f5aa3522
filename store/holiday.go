package store

import "time"

// The public holidays of Japan, by the Act on National Holidays
// (国民の祝日に関する法律) in its form since 2007, and the special acts of 2018
// and 2020.
//
// The years 2007 to 2099 are known; the rules before and the sun after are
// others. The days of the equinoxes follow the approximation of 新こよみ便利帳
// (暦計算研究会編、恒星社厚生閣), good for 1980 to 2099. The official day is the
// one that the National Astronomical Observatory gives in its 暦要項 each
// February for the year after; up to 2030 the two agree, as the tests hold.
const (
	firstHolidayYear = 2007
	lastHolidayYear  = 2099
)

// yearly are the holidays of a fixed date.
var yearly = []struct {
	month       time.Month
	day         int
	first, last int
	name        Text
}{
	{time.January, 1, 0, 9999, Text{"ja": "元日", "en": "New Year's Day"}},
	{time.February, 11, 0, 9999, Text{"ja": "建国記念の日", "en": "National Foundation Day"}},
	{time.February, 23, 2020, 9999, emperorsBirthday},
	{time.April, 29, 0, 9999, Text{"ja": "昭和の日", "en": "Showa Day"}},
	{time.May, 3, 0, 9999, Text{"ja": "憲法記念日", "en": "Constitution Memorial Day"}},
	{time.May, 4, 0, 9999, Text{"ja": "みどりの日", "en": "Greenery Day"}},
	{time.May, 5, 0, 9999, Text{"ja": "こどもの日", "en": "Children's Day"}},
	{time.August, 11, 2016, 2019, mountainDay},
	{time.August, 11, 2022, 9999, mountainDay},
	{time.November, 3, 0, 9999, Text{"ja": "文化の日", "en": "Culture Day"}},
	{time.November, 23, 0, 9999, Text{"ja": "勤労感謝の日", "en": "Labour Thanksgiving Day"}},
	{time.December, 23, 0, 2018, emperorsBirthday},

	// The change of reign. Both count as national holidays, so the days between
	// them and their neighbours are days off too.
	{time.May, 1, 2019, 2019, Text{"ja": "即位の日", "en": "Day of the Accession"}},
	{time.October, 22, 2019, 2019, Text{"ja": "即位礼正殿の儀", "en": "Day of the Enthronement"}},

	// Moved for the Olympic Games in Tokyo, twice.
	{time.July, 23, 2020, 2020, marineDay},
	{time.July, 24, 2020, 2020, sportsDay},
	{time.August, 10, 2020, 2020, mountainDay},
	{time.July, 22, 2021, 2021, marineDay},
	{time.July, 23, 2021, 2021, sportsDay},
	{time.August, 8, 2021, 2021, mountainDay},
}

// mondays are the holidays on the n-th Monday of a month.
var mondays = []struct {
	month       time.Month
	nth         int
	first, last int
	name        Text
}{
	{time.January, 2, 0, 9999, Text{"ja": "成人の日", "en": "Coming of Age Day"}},
	{time.July, 3, 0, 2019, marineDay},
	{time.July, 3, 2022, 9999, marineDay},
	{time.September, 3, 0, 9999, Text{"ja": "敬老の日", "en": "Respect for the Aged Day"}},
	{time.October, 2, 0, 2019, Text{"ja": "体育の日", "en": "Health and Sports Day"}},
	{time.October, 2, 2022, 9999, sportsDay},
}

var (
	emperorsBirthday = Text{"ja": "天皇誕生日", "en": "The Emperor's Birthday"}
	mountainDay      = Text{"ja": "山の日", "en": "Mountain Day"}
	marineDay        = Text{"ja": "海の日", "en": "Marine Day"}
	sportsDay        = Text{"ja": "スポーツの日", "en": "Sports Day"}
	springEquinox    = Text{"ja": "春分の日", "en": "Vernal Equinox Day"}
	autumnEquinox    = Text{"ja": "秋分の日", "en": "Autumnal Equinox Day"}
	substitute       = Text{"ja": "振替休日", "en": "Holiday in lieu"}
	between          = Text{"ja": "国民の休日", "en": "Citizens' Holiday"}
)

// JapaneseHoliday names the public holiday of Japan on a calendar day, nil
// where there is none or the year is not between 2007 and 2099. The day is the
// one that stands in the date as it is given, whatever its zone.
func JapaneseHoliday(date time.Time) Text {
	y, m, d := date.Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	if y < firstHolidayYear || y > lastHolidayYear {
		return nil
	}
	if name := nationalHoliday(day); name != nil {
		return name
	}
	// A holiday on a Sunday moves on to the next day that is none (article 3,
	// paragraph 2).
	for back := day.AddDate(0, 0, -1); nationalHoliday(back) != nil; back = back.AddDate(0, 0, -1) {
		if back.Weekday() == time.Sunday {
			return substitute
		}
	}
	// A day between two holidays is one too (paragraph 3).
	if nationalHoliday(day.AddDate(0, 0, -1)) != nil && nationalHoliday(day.AddDate(0, 0, 1)) != nil {
		return between
	}
	return nil
}

// nationalHoliday is a holiday by its own name, before those that follow from others.
func nationalHoliday(day time.Time) Text {
	y, m, d := day.Date()
	for _, h := range yearly {
		if h.month == m && h.day == d && y >= h.first && y <= h.last {
			return h.name
		}
	}
	if day.Weekday() == time.Monday {
		for _, h := range mondays {
			if h.month == m && (d+6)/7 == h.nth && y >= h.first && y <= h.last {
				return h.name
			}
		}
	}
	switch {
	case m == time.March && d == equinox(20.8431, y):
		return springEquinox
	case m == time.September && d == equinox(23.2488, y):
		return autumnEquinox
	}
	return nil
}

// equinox is the day of the month on which the equinox falls in Japan; base is
// its place in 1980.
func equinox(base float64, year int) int {
	since := year - 1980
	return int(base+0.242194*float64(since)) - since/4
}
