-- +goose Up
-- How a search finds a customer among hundreds of thousands without reading
-- them all: an index of pieces of the text, two characters long each, because a
-- Japanese family name often has two and pg_trgm's three would find none of them.
--
-- The pieces are the index's own and stand in no column: no writer can forget
-- them, what is stored already has them, and they go when a contact is erased.
-- They begin with the end of the tenant's id, so that a search reads its own
-- tenant's only. Bodies in standard form keep their meaning under any search_path.

-- What is alike to somebody who searches: widths, capitals, hiragana and
-- katakana, old and new forms of the characters of names, spaces and punctuation. Small
-- letters are those of Unicode, whatever the language of the database.
-- +goose StatementBegin
CREATE FUNCTION search_fold(typed text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN translate(lower(normalize(typed, NFKC) COLLATE "und-x-icu") COLLATE "C",
    'ぁあぃいぅうぇえぉおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめもゃやゅゆょよらりるれろゎわゐゑをんゔゕゖゝゞ髙﨑嵜濱濵邊邉齋齊斎澤櫻廣國嶋嶌龍惠眞德瀨𠮷曾條將榮淺舘冨圓與關黑藏豐佛瀧萬實寶壽峯鐵團鹽學檜槇楳藪籔兒龜曉穗蘆巖總祿禰彌靜鷄檢聰遙凜鷗 ^・.,、-‐‑‒–—−_%\''’‘`=゠()',
    'ァアィイゥウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチヂッツヅテデトドナニヌネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョヨラリルレロヮワヰヱヲンヴヵヶヽヾ高崎崎浜浜辺辺斉斉斉沢桜広国島島竜恵真徳瀬吉曽条将栄浅館富円与関黒蔵豊仏滝万実宝寿峰鉄団塩学桧槙梅薮薮児亀暁穂芦巌総禄祢弥静鶏検聡遥凛鴎');
-- +goose StatementEnd

-- The text in which a piece that was found is looked up once more, as a whole.
-- +goose StatementBegin
CREATE FUNCTION search_text(name text, kana text, email text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN search_fold(name) || ' ' || search_fold(kana) || ' ' || search_fold(email);
-- +goose StatementEnd

-- The pieces of a customer: pairs of characters of the name, of its reading and
-- of the e-mail up to its @, with a ^ before the first of each; and four digits
-- each of the telephone number, which begins with a plus.
-- +goose StatementBegin
CREATE FUNCTION search_grams(tenant uuid, name text, kana text, email text, phone text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(
    SELECT right(tenant::text, 8) || pair.a || pair.b
    FROM string_to_array(search_fold(name) || '^' || search_fold(kana) || '^' || search_fold(split_part(email, '@', 1)), NULL) AS c,
        unnest(array_prepend('^', c), c) AS pair (a, b)
    WHERE pair.b IS NOT NULL
    UNION ALL
    SELECT right(tenant::text, 8) || substr(phone, i, 4) FROM generate_series(2, length(phone) - 3) AS i
);
-- +goose StatementEnd

-- The pieces that a search needs: of words as typed, and of telephone numbers as
-- digits. A word of one character gives none but where there is nothing else.
-- +goose StatementBegin
CREATE FUNCTION search_query(tenant uuid, words text[], phones text[]) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    WITH w AS (
        SELECT search_fold(split_part(u.word, '@', 1)) AS folded, u.n FROM unnest(words) WITH ORDINALITY AS u (word, n)
    ), g AS (
        SELECT substr(w.folded, i, 2) AS piece FROM w, generate_series(1, length(w.folded) - 1) AS i
        UNION
        SELECT substr(digits, i, 4) FROM unnest(phones) AS digits, generate_series(1, length(digits) - 3) AS i
    )
    SELECT coalesce(
        (SELECT array_agg(right(tenant::text, 8) || g.piece) FROM g),
        (SELECT ARRAY[right(tenant::text, 8) || '^' || w.folded] FROM w WHERE w.folded <> '' ORDER BY w.n LIMIT 1),
        '{}')
);
-- +goose StatementEnd

-- Holds have no contact yet and stay out, so a hold pays nothing for the index.
-- Pieces are compared as bytes, which is many times quicker than in the order of a language.
-- The list of what is not yet sorted in is short: every search goes through it.
CREATE INDEX reservations_search ON reservations USING gin (search_grams(tenant_id, name, kana, email, phone) COLLATE "C") WITH (gin_pending_list_limit = 512)
    WHERE name || kana || email || phone <> '';
CREATE INDEX waitlist_entries_search ON waitlist_entries USING gin (search_grams(tenant_id, name, kana, email, phone) COLLATE "C") WITH (gin_pending_list_limit = 512)
    WHERE state IN ('waiting', 'offered');

-- +goose Down
DROP INDEX waitlist_entries_search, reservations_search;
DROP FUNCTION search_query, search_grams, search_text, search_fold;
