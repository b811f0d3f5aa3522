// Package seed fills a shop's database with a large and busy business, by SQL:
// many resources and slots over a year, bookings, people who wait, and the
// messages sent so far. The people are invented; what is stored is consistent,
// so the invariants hold over it.
package seed

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/store/storetest/shop"
)

// Size is how much is stored.
type Size struct {
	Resources int
	Slots     int // spread evenly over the resources
	PerDay    int // slots of a resource; at most eight
	Bookings  int // at most six a slot
	Entries   int // waiting; at most two for each slot that is full
	Sent      int // messages
}

// Large is the business of a chain that has sold for years.
var Large = Size{Resources: 200, Slots: 50_000, PerDay: 1, Bookings: 200_000, Entries: 20_000, Sent: 200_000}

// Small has the shape of Large and is stored in no time.
var Small = Size{Resources: 20, Slots: 1_000, PerDay: 1, Bookings: 4_000, Entries: 400, Sent: 2_000}

// capacity of every slot; where people wait, all of it is taken.
const capacity = 6

// The parts of a name, as they are written, read, and spelled in Latin letters.
const (
	familySQL = `CREATE TEMP TABLE family AS SELECT row_number() OVER () - 1 AS n, v.* FROM (VALUES
	('佐藤','サトウ','sato'),('鈴木','スズキ','suzuki'),('高橋','タカハシ','takahashi'),('田中','タナカ','tanaka'),('伊藤','イトウ','ito'),('渡辺','ワタナベ','watanabe'),
	('山本','ヤマモト','yamamoto'),('中村','ナカムラ','nakamura'),('小林','コバヤシ','kobayashi'),('加藤','カトウ','kato'),('吉田','ヨシダ','yoshida'),('山田','ヤマダ','yamada'),
	('佐々木','ササキ','sasaki'),('山口','ヤマグチ','yamaguchi'),('松本','マツモト','matsumoto'),('井上','イノウエ','inoue'),('木村','キムラ','kimura'),('林','ハヤシ','hayashi'),
	('斎藤','サイトウ','saito'),('清水','シミズ','shimizu'),('山崎','ヤマザキ','yamazaki'),('森','モリ','mori'),('池田','イケダ','ikeda'),('橋本','ハシモト','hashimoto'),
	('阿部','アベ','abe'),('石川','イシカワ','ishikawa'),('前田','マエダ','maeda'),('藤田','フジタ','fujita'),('小川','オガワ','ogawa'),('岡田','オカダ','okada'),
	('後藤','ゴトウ','goto'),('長谷川','ハセガワ','hasegawa'),('村上','ムラカミ','murakami'),('近藤','コンドウ','kondo'),('石井','イシイ','ishii'),('坂本','サカモト','sakamoto'),
	('遠藤','エンドウ','endo'),('青木','アオキ','aoki'),('藤井','フジイ','fujii'),('西村','ニシムラ','nishimura'),('福田','フクダ','fukuda'),('太田','オオタ','ota')) v (name, kana, latin)`
	givenSQL = `CREATE TEMP TABLE given AS SELECT row_number() OVER () - 1 AS n, v.* FROM (VALUES
	('花子','ハナコ','hanako'),('太郎','タロウ','taro'),('陽菜','ヒナ','hina'),('翔太','ショウタ','shota'),('美咲','ミサキ','misaki'),('健','ケン','ken'),('さくら','サクラ','sakura'),
	('大輔','ダイスケ','daisuke'),('葵','アオイ','aoi'),('蓮','レン','ren'),('由美','ユミ','yumi'),('誠','マコト','makoto'),('千尋','チヒロ','chihiro'),('拓海','タクミ','takumi'),
	('恵','メグミ','megumi'),('直樹','ナオキ','naoki'),('真由美','マユミ','mayumi'),('和也','カズヤ','kazuya'),('麻衣','マイ','mai')) v (name, kana, latin)`
	personSQL = `CREATE TEMP TABLE person AS
	SELECT i, f.name || ' ' || g.name AS name, f.kana || ' ' || g.kana AS kana, g.latin || '.' || f.latin || i || '@example.com' AS email,
		'+8190' || lpad((i::bigint * 7919 % 100000000)::text, 8, '0') AS phone
	FROM generate_series(0, $1::int - 1) i JOIN family f ON f.n = i % (SELECT count(*) FROM family) JOIN given g ON g.n = i / 7 % (SELECT count(*) FROM given)`
)

// Indexes that no constraint owns: they are made again at the end, which is many
// times quicker than keeping them row by row.
const looseIndexesSQL = `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS def FROM pg_index i
WHERE i.indrelid IN ('slots'::regclass, 'events'::regclass, 'reservations'::regclass, 'waitlist_entries'::regclass, 'outbox'::regclass)
	AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = i.indexrelid) ORDER BY 1`

// Fill stores so much in the shop's tenant, on resources of its own, over the
// days around the day of at: half of them before it. Each slot has one event with
// an empty seal, as that of a business that has run until now; nobody can verify it.
func Fill(t testing.TB, s *shop.Shop, size Size, at time.Time) {
	t.Helper()
	// The empty seals keep the sweep from making them. When the test ends the
	// history is judged, and one that is not sealed yet is as good.
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE events SET seal = NULL WHERE seal IS NOT NULL")
			return err
		}); err != nil {
			t.Errorf("seed: %v", err)
		}
	})
	perResource := max(1, size.Slots/size.Resources)
	first := at.UTC().Truncate(24*time.Hour).AddDate(0, 0, -perResource/size.PerDay/2)
	people := max(1, size.Bookings/3)
	conn := s.Conn(t)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("seed: %v\n%s", err, sql)
		}
	}
	exec("SET statement_timeout = 0")
	exec("SET maintenance_work_mem = '256MB'")
	// What the arguments of CREATE TABLE AS can't be typed as is said by casts.
	exec(familySQL)
	exec(givenSQL)
	create(t, conn, personSQL, people)
	exec("CREATE UNIQUE INDEX ON person (i)")
	// The rows are consistent by the way they are made, so no foreign key looks them up one by one.
	exec("SET session_replication_role = replica")
	rows, err := conn.Query(t.Context(), looseIndexesSQL)
	if err != nil {
		t.Fatal(err)
	}
	type index struct{ Name, Def string }
	loose, err := pgx.CollectRows(rows, pgx.RowToStructByName[index])
	if err != nil || len(loose) == 0 {
		t.Fatal("the indexes of the large tables: ", loose, err)
	}
	for _, i := range loose {
		exec("DROP INDEX " + i.Name)
	}

	exec(`INSERT INTO resources (tenant_id, slug, name) SELECT $1, 'seed-' || n, jsonb_build_object('ja', '部屋' || n, 'en', 'Room ' || n) FROM generate_series(1, $2::int) n`, s.Tenant.ID, size.Resources)
	// On the hour, in the eight hours from nine o'clock in Tokyo on.
	create(t, conn, `CREATE TEMP TABLE made AS
		SELECT gen_random_uuid() AS id, r.id AS resource, $3::timestamptz + make_interval(days => n / $4::int, hours => ((n % $4::int + r.nth) % 8)::int) AS starts_at, row_number() OVER (ORDER BY n, r.nth) - 1 AS k
		FROM (SELECT id, row_number() OVER (ORDER BY slug) AS nth FROM resources WHERE tenant_id = $1::uuid AND slug LIKE 'seed-%') r, generate_series(0, $2::int - 1) n`, s.Tenant.ID, perResource, first, size.PerDay)
	create(t, conn, `CREATE TEMP TABLE booked AS SELECT gen_random_uuid() AS id, b.*, row_number() OVER () AS k
		FROM (SELECT m.id AS slot, m.starts_at, (m.k * 31 + n * 17) % $2::int AS person FROM made m, generate_series(0, $3::int - 1) n ORDER BY m.k % 3, m.k, n LIMIT $1::int) b`,
		size.Bookings, people, capacity)
	exec("CREATE INDEX ON booked (slot)")
	exec("ANALYZE booked")
	create(t, conn, `CREATE TEMP TABLE waits AS SELECT gen_random_uuid() AS id, m.id AS slot, m.starts_at, (m.k * 13 + n * 7 + 5) % $2::int AS person, n
		FROM made m, generate_series(0, 1) n
		WHERE m.starts_at > $3::timestamptz + interval '1 day' AND (SELECT count(*) FROM booked b WHERE b.slot = m.id) = $4::int ORDER BY n, m.k LIMIT $1::int`,
		size.Entries, people, at, capacity)
	exec(`INSERT INTO slots (tenant_id, id, service_id, resource_id, starts_at, ends_at, capacity, taken, version, order_until, quiet_from, quiet_until, reminded_at, entries_closed_at, waitlist_erased_at)
		SELECT $1, m.id, $2, m.resource, m.starts_at, m.starts_at + interval '50 minutes', $3::int, b.n, 1, m.starts_at - interval '3 hours', NULL, NULL,
			CASE WHEN m.starts_at < $4::timestamptz + interval '1 day' THEN m.starts_at - interval '1 day' END, CASE WHEN m.starts_at <= $4 THEN m.starts_at END,
			CASE WHEN m.starts_at < $4::timestamptz - interval '7 days' THEN $4::timestamptz END
		FROM made m, LATERAL (SELECT count(*) AS n FROM booked WHERE slot = m.id) b`, s.Tenant.ID, s.Service.ID, capacity, at)
	exec(`INSERT INTO events (tenant_id, slot_id, number, kind, actor, party_size, seats, capacity, mode, at, seal, feed)
		SELECT tenant_id, id, 1, 'capacity_changed', 'system', 0, taken, capacity, 'first_fit', starts_at - interval '200 days', '\x00', row_number() OVER () FROM slots WHERE tenant_id = $1 AND version = 1`, s.Tenant.ID)
	exec(`UPDATE tenants SET feed_head = (SELECT max(feed) FROM events WHERE tenant_id = $1) WHERE id = $1`, s.Tenant.ID)
	exec(`INSERT INTO reservations (tenant_id, id, slot_id, party_size, state, number, name, kana, email, phone, locale, owner, terms_version, one_per_person, link_hash, source, attendance, created_at, confirmed_at)
		SELECT $1, b.id, b.slot, 1, 'confirmed', translate(lpad(to_hex(b.k * 2654435761 % 268435456), 7, '0'), '01abcdef', 'WXABCDEF'), p.name, p.kana, p.email, p.phone, 'ja', 'seed', 1, false,
			sha256(convert_to(b.id::text, 'UTF8')), 'web', CASE WHEN b.starts_at >= $2::timestamptz THEN '' WHEN b.k % 20 = 0 THEN 'no_show' ELSE 'arrived' END, b.starts_at - interval '200 days', b.starts_at - interval '200 days'
		FROM booked b JOIN person p ON p.i = b.person`, s.Tenant.ID, at)
	exec(`INSERT INTO waitlist_entries (tenant_id, id, slot_id, party_size, state, position, name, kana, email, phone, locale, person_key, link_hash, source, joined_at)
		SELECT $1, w.id, w.slot, 1, 'waiting', w.n + 1, p.name, p.kana, p.email, p.phone, 'ja', lower(p.email), sha256(convert_to(w.id::text, 'UTF8')), 'web', w.starts_at - interval '199 days'
		FROM waits w JOIN person p ON p.i = w.person`, s.Tenant.ID)
	exec(`INSERT INTO outbox (tenant_id, kind, slot_id, subject_id, recipient, locale, sent_subject, sent_text, state, attempts, next_attempt_at, sent_at, dedupe_key, created_at)
		SELECT $1, 'reminder', b.slot, b.id, p.email, 'ja', '明日のご予約', repeat('お待ちしています。', 20), 'sent', 1, b.starts_at - interval '1 day', b.starts_at - interval '1 day', 'reminder/' || b.id, b.starts_at - interval '1 day'
		FROM booked b JOIN person p ON p.i = b.person ORDER BY b.k LIMIT $2`, s.Tenant.ID, size.Sent)
	for _, i := range loose {
		exec(i.Def)
	}
	exec("VACUUM (ANALYZE) slots, reservations, waitlist_entries, outbox, events, tenants, resources")
}

// create runs a CREATE TABLE AS with its arguments written in, which the server takes no other way.
func create(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, append([]any{pgx.QueryExecModeSimpleProtocol}, args...)...); err != nil {
		t.Fatalf("seed: %v\n%s", err, sql)
	}
}
