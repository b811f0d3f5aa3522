package worker

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func sample(to string) Mail {
	return Mail{
		ID: "11111111-2222-4333-8444-555555555555", Host: "reserve.example", At: time.Date(2026, 10, 8, 9, 30, 0, 0, time.UTC),
		From: "mail@reserve.example", FromName: "スタジオ みなも", ReplyTo: "hello@minamo.example", To: to,
		Subject: "【スタジオ みなも】ご予約を承りました：日本語講座：入門 🎌 & \"Q\"/A 10月8日（木）", Text: "髙橋 𠮷郎 👩‍👩‍👧 様\n\nお席は確定しています。\n",
	}
}

func TestAMailArrivesAsItWasWritten(t *testing.T) {
	t.Parallel()
	server := startMail(t)
	mail := sample("guest@example.com")
	if err := server.transport(t).Send(t.Context(), mail); err != nil {
		t.Fatal(err)
	}
	got := server.all()
	if len(got) != 1 || got[0].to != "guest@example.com" {
		t.Fatalf("received %d", len(got))
	}
	header, text := read(t, got[0].raw)
	for name, want := range map[string]string{
		"Subject": mail.Subject, "Message-Id": "<" + mail.ID + "@reserve.example>", "Date": "Thu, 08 Oct 2026 09:30:00 +0000",
		"To": "<guest@example.com>", "Auto-Submitted": "auto-generated", "User-Agent": "", "X-Mailer": "",
	} {
		if is := decoded(t, header.Get(name)); is != want {
			t.Errorf("%s is %q, want %q", name, is, want)
		}
	}
	from, err := header.AddressList("From")
	if err != nil || from[0].Name != "スタジオ みなも" || from[0].Address != "mail@reserve.example" {
		t.Errorf("From is %v %v", from, err)
	}
	reply, err := header.AddressList("Reply-To")
	if err != nil || reply[0].Address != "hello@minamo.example" {
		t.Errorf("Reply-To is %v %v", reply, err)
	}
	if text != mail.Text {
		t.Errorf("the text is %q", text)
	}
	for line := range bytes.SplitSeq(got[0].raw, []byte("\r\n")) {
		if len(line) > 78 {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
		for _, c := range line {
			if c > 126 {
				t.Fatalf("a line is not ASCII: %q", line)
			}
		}
	}
}

func TestAddressesOfCarriersThatTheStandardRefusesAreServed(t *testing.T) {
	t.Parallel()
	server := startMail(t)
	for _, to := range []string{"a..b@docomo.ne.jp", "a.@docomo.ne.jp"} {
		if err := server.transport(t).Send(t.Context(), sample(to)); err != nil {
			t.Errorf("%s: %v", to, err)
		}
	}
	var reached []string
	for _, r := range server.all() {
		reached = append(reached, strings.ReplaceAll(r.to, `"`, ""))
	}
	if strings.Join(reached, " ") != "a..b@docomo.ne.jp a.@docomo.ne.jp" {
		t.Errorf("reached %v", reached)
	}
}

func TestARefusalSaysWhoseTroubleItIs(t *testing.T) {
	t.Parallel()
	server := startMail(t)
	send := func(to string) error { return server.transport(t).Send(t.Context(), sample(to)) }
	var refused *Refusal
	if err := send("bounce@example.com"); !errors.As(err, &refused) || !refused.Permanent || !strings.Contains(refused.Reason, "550") {
		t.Errorf("550: %#v", err)
	}
	if strings.Contains(refused.Reason, "bounce@example.com") {
		t.Errorf("an address stands in the error: %s", refused.Reason)
	}
	if err := send("later@example.com"); !errors.As(err, &refused) || refused.Permanent || !strings.Contains(refused.Reason, "451") {
		t.Errorf("451: %#v", err)
	}
	if strings.Contains(refused.Reason, "later@example.com") {
		t.Errorf("an address stands in the error: %s", refused.Reason)
	}
	slow := server.transport(t)
	slow.timeout = 200 * time.Millisecond
	if err := slow.Send(t.Context(), sample("slow@example.com")); !errors.As(err, &refused) || refused.Permanent {
		t.Errorf("no answer: %#v", err)
	}

	l := listenTCP(t, "127.0.0.1:0")
	closed, err := ParseSMTP("smtp://"+l.Addr().String(), "")
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	if err := closed.Send(t.Context(), sample("guest@example.com")); err == nil || errors.As(err, &refused) {
		t.Errorf("a closed port: %#v", err)
	}
	mute := listenTCP(t, "127.0.0.1:0") // takes connections and says nothing
	t.Cleanup(func() {
		if err := mute.Close(); err != nil {
			t.Error(err)
		}
	})
	silent, err := ParseSMTP("smtp://"+mute.Addr().String(), "")
	if err != nil {
		t.Fatal(err)
	}
	silent.timeout = 200 * time.Millisecond
	if err := silent.Send(t.Context(), sample("guest@example.com")); err == nil || errors.As(err, &refused) {
		t.Errorf("a silent server: %#v", err)
	}
	wrong, err := ParseSMTP("smtp://user:wrong@"+server.addr+"?starttls=never", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := wrong.Send(t.Context(), sample("guest@example.com")); err == nil || errors.As(err, &refused) {
		t.Errorf("a wrong password: %#v", err)
	}
	always, err := ParseSMTP("smtp://"+server.addr+"?starttls=always", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := always.Send(t.Context(), sample("guest@example.com")); err == nil || errors.As(err, &refused) {
		t.Errorf("no TLS where it is demanded: %#v", err)
	}
	if got := server.all(); len(got) != 0 {
		t.Errorf("%d mails arrived", len(got))
	}
}

func TestSigningInToTheMailServer(t *testing.T) {
	t.Parallel()
	server := startMail(t)
	s, err := ParseSMTP("smtp://me:p%40ss@"+server.addr+"?starttls=never", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), sample("guest@example.com")); err != nil {
		t.Fatal(err)
	}
	if server.user != "me" || server.password != "p@ss" || len(server.all()) != 1 {
		t.Errorf("signed in as %s %s", server.user, server.password)
	}
}

func TestTheAddressOfTheMailServerIsRead(t *testing.T) {
	t.Parallel()
	for text, port := range map[string]int{
		"smtp://host": 587, "smtps://host": 465, "smtp://host:2525/?starttls=never": 2525, "smtp://u:p@host:25?starttls=always": 25, "smtp://[::1]:25": 25,
	} {
		s, err := ParseSMTP(text, "")
		if err != nil || s.port != port {
			t.Errorf("%s: %v %v", text, s, err)
		}
	}
	for _, text := range []string{
		"host:25", "http://host", "smtp://", "smtp://u:geheim@host:port", "smtp://u:geheim@host?starttls=maybe", "smtp://u:geheim@host?tls=on", "smtp://u:geheim@host/path",
	} {
		if _, err := ParseSMTP(text, ""); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestNothingBreaksOutOfAHeader(t *testing.T) {
	t.Parallel()
	server := startMail(t)
	mail := sample("guest@example.com")
	mail.FromName, mail.Subject = "Studio\r\nBcc: evil@example.com", "Hello\r\nX-Evil: yes\r\n\r\nbody"
	if err := server.transport(t).Send(t.Context(), mail); err != nil {
		t.Fatal(err)
	}
	header, text := read(t, server.all()[0].raw)
	if header.Get("Bcc") != "" || header.Get("X-Evil") != "" || text != mail.Text {
		t.Errorf("it broke out: %v", header)
	}
	var refused *Refusal
	for _, to := range []string{"a@example.com\r\nRCPT TO:<b@example.com>", "a@example.com> <b@example.com", "", "nobody", "a b@example.com", "客@example.com"} {
		if err := server.transport(t).Send(t.Context(), sample(to)); !errors.As(err, &refused) || !refused.Permanent {
			t.Errorf("%q: %v", to, err)
		}
	}
	if len(server.all()) != 1 {
		t.Error("a broken address was served")
	}
}

func TestTheMailboxKeepsWhatWouldHaveBeenSent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	box := NewMailbox(dir)
	mail := sample("guest@example.com")
	for range 2 { // sent twice is kept once
		if err := box.Send(t.Context(), mail); err != nil {
			t.Fatal(err)
		}
	}
	file := dir + "/mail/" + mail.ID + ".eml"
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	server := startMail(t)
	if err := server.transport(t).Send(t.Context(), mail); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(raw, server.all()[0].raw) {
		t.Errorf("the file differs from what is sent (%v):\n%s\n%s", err, raw, server.all()[0].raw)
	}
	header, text := read(t, raw)
	if text != mail.Text || decoded(t, header.Get("Subject")) != mail.Subject {
		t.Errorf("kept as %v %q", header, text)
	}
	if files, err := os.ReadDir(dir + "/mail"); err != nil || len(files) != 1 {
		t.Errorf("left over: %v %v", files, err)
	}
	mail.ID = "../../escape"
	if err := box.Send(t.Context(), mail); err == nil {
		t.Error("an id led out of the folder")
	}
}
