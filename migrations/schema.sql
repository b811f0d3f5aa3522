-- What the migrations make, for reading; written by `make schema`.
CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA public;

COMMENT ON EXTENSION btree_gist IS 'support for indexing common datatypes in GiST';

CREATE FUNCTION public.search_fold(typed text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN translate((lower((NORMALIZE(typed, NFKC) COLLATE "und-x-icu")) COLLATE "C"), 'ぁあぃいぅうぇえぉおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめもゃやゅゆょよらりるれろゎわゐゑをんゔゕゖゝゞ髙﨑嵜濱濵邊邉齋齊斎澤櫻廣國嶋嶌龍惠眞德瀨𠮷曾條將榮淺舘冨圓與關黑藏豐佛瀧萬實寶壽峯鐵團鹽學檜槇楳藪籔兒龜曉穗蘆巖總祿禰彌靜鷄檢聰遙凜鷗 ^・.,、-‐‑‒–—−_%\''’‘`=゠()'::text, 'ァアィイゥウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチヂッツヅテデトドナニヌネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョヨラリルレロヮワヰヱヲンヴヵヶヽヾ高崎崎浜浜辺辺斉斉斉沢桜広国島島竜恵真徳瀬吉曽条将栄浅館富円与関黒蔵豊仏滝万実宝寿峰鉄団塩学桧槙梅薮薮児亀暁穂芦巌総禄祢弥静鶏検聡遥凛鴎'::text);

CREATE FUNCTION public.search_grams(tenant uuid, name text, kana text, email text, phone text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY(SELECT (("right"((search_grams.tenant)::text, 8) || pair.a) || pair.b) FROM string_to_array(((((public.search_fold(search_grams.name) || '^'::text) || public.search_fold(search_grams.kana)) || '^'::text) || public.search_fold(split_part(search_grams.email, '@'::text, 1))), NULL::text) c(c), LATERAL UNNEST(array_prepend('^'::text, c.c), c.c) pair(a, b) WHERE (pair.b IS NOT NULL) UNION ALL SELECT ("right"((search_grams.tenant)::text, 8) || substr(search_grams.phone, i.i, 4)) FROM generate_series(2, (length(search_grams.phone) - 3)) i(i));

CREATE FUNCTION public.search_query(tenant uuid, words text[], phones text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (WITH w AS (SELECT public.search_fold(split_part(u.word, '@'::text, 1)) AS folded, u.n FROM unnest(search_query.words) WITH ORDINALITY u(word, n)), g AS (SELECT substr(w.folded, i.i, 2) AS piece FROM w, LATERAL generate_series(1, (length(w.folded) - 1)) i(i) UNION SELECT substr(digits.digits, i.i, 4) AS substr FROM unnest(search_query.phones) digits(digits), LATERAL generate_series(1, (length(digits.digits) - 3)) i(i)) SELECT COALESCE((SELECT array_agg(("right"((search_query.tenant)::text, 8) || g.piece)) AS array_agg FROM g), (SELECT ARRAY[(("right"((search_query.tenant)::text, 8) || '^'::text) || w.folded)] AS "array" FROM w WHERE (w.folded <> ''::text) ORDER BY w.n LIMIT 1), '{}'::text[]) AS "coalesce");

CREATE FUNCTION public.search_text(name text, kana text, email text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((((public.search_fold(name) || ' '::text) || public.search_fold(kana)) || ' '::text) || public.search_fold(email));

CREATE TABLE public.api_keys (
    tenant_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT api_keys_name_check CHECK ((name <> ''::text)),
    CONSTRAINT api_keys_scopes_check CHECK ((scopes <@ ARRAY['read'::text, 'book'::text, 'manage'::text]))
);

CREATE TABLE public.closed_days (
    tenant_id uuid NOT NULL,
    day date NOT NULL,
    note jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.events (
    tenant_id uuid NOT NULL,
    id bigint NOT NULL,
    slot_id uuid NOT NULL,
    number bigint,
    kind text NOT NULL,
    actor text NOT NULL,
    party_size integer DEFAULT 0 NOT NULL,
    seats integer DEFAULT 0 NOT NULL,
    capacity integer,
    mode text DEFAULT ''::text NOT NULL,
    subject_id uuid,
    at timestamp with time zone NOT NULL,
    details jsonb DEFAULT '{}'::jsonb NOT NULL,
    seal bytea,
    feed bigint,
    CONSTRAINT events_feed_check CHECK ((feed > 0)),
    CONSTRAINT events_number_check CHECK ((number > 0))
);

ALTER TABLE public.events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.idempotency_answers (
    tenant_id uuid NOT NULL,
    route text NOT NULL,
    key_hash bytea NOT NULL,
    fingerprint bytea NOT NULL,
    status integer,
    body bytea,
    begun_at timestamp with time zone NOT NULL
);

CREATE TABLE public.line_channels (
    tenant_id uuid NOT NULL,
    basic_id text NOT NULL,
    secret bytea NOT NULL,
    token bytea NOT NULL,
    bot_name text DEFAULT ''::text NOT NULL,
    bot_basic_id text DEFAULT ''::text NOT NULL,
    checked_at timestamp with time zone,
    broken_at timestamp with time zone,
    paused_until timestamp with time zone,
    version integer DEFAULT 1 NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT line_channels_basic_id_check CHECK ((basic_id ~ '^@[a-z0-9][a-z0-9._-]{0,39}$'::text)),
    CONSTRAINT line_channels_version_check CHECK ((version > 0))
);

CREATE TABLE public.line_codes (
    tenant_id uuid NOT NULL,
    subject_id uuid NOT NULL,
    code_hash bytea NOT NULL,
    proven boolean NOT NULL,
    locale text NOT NULL,
    made_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    used_event bytea,
    CONSTRAINT line_codes_locale_check CHECK ((locale = ANY (ARRAY['ja'::text, 'en'::text])))
);

CREATE TABLE public.memberships (
    tenant_id uuid NOT NULL,
    staff_id uuid NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    feed_generation bigint DEFAULT 0 NOT NULL,
    feed_hash bytea,
    CONSTRAINT memberships_feed CHECK (((feed_hash IS NULL) OR (feed_generation > 0))),
    CONSTRAINT memberships_feed_generation_check CHECK ((feed_generation >= 0)),
    CONSTRAINT memberships_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'manager'::text, 'desk'::text])))
);

CREATE TABLE public.message_texts (
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    locale text NOT NULL,
    opening text DEFAULT ''::text NOT NULL,
    extra text DEFAULT ''::text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    changed_by uuid,
    CONSTRAINT message_texts_extra_check CHECK ((char_length(extra) <= 1000)),
    CONSTRAINT message_texts_kind_check CHECK ((kind <> ''::text)),
    CONSTRAINT message_texts_locale_check CHECK ((locale = ANY (ARRAY['ja'::text, 'en'::text]))),
    CONSTRAINT message_texts_opening_check CHECK ((char_length(opening) <= 1000)),
    CONSTRAINT message_texts_version_check CHECK ((version > 0))
);

CREATE TABLE public.outbox (
    tenant_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    kind text NOT NULL,
    slot_id uuid,
    subject_id uuid,
    event_number bigint,
    recipient text NOT NULL,
    locale text NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    sent_subject text DEFAULT ''::text NOT NULL,
    sent_text text DEFAULT ''::text NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone NOT NULL,
    sending_until timestamp with time zone,
    sent_at timestamp with time zone,
    last_error text DEFAULT ''::text NOT NULL,
    dedupe_key text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    erased_at timestamp with time zone,
    given_up_at timestamp with time zone,
    given_up_by text DEFAULT ''::text NOT NULL,
    channel text DEFAULT ''::text NOT NULL,
    line_tries integer DEFAULT 0 NOT NULL,
    line_over text DEFAULT ''::text NOT NULL,
    CONSTRAINT outbox_channel_check CHECK ((channel = ANY (ARRAY[''::text, 'mail'::text, 'line'::text]))),
    CONSTRAINT outbox_check CHECK (((state = 'sending'::text) = (sending_until IS NOT NULL))),
    CONSTRAINT outbox_given_up CHECK ((((given_up_at IS NOT NULL) = (given_up_by <> ''::text)) AND ((given_up_at IS NULL) OR (state = 'obsolete'::text)))),
    CONSTRAINT outbox_locale_check CHECK ((locale = ANY (ARRAY['ja'::text, 'en'::text]))),
    CONSTRAINT outbox_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'sending'::text, 'sent'::text, 'failed'::text, 'obsolete'::text])))
);

CREATE TABLE public.race_runs (
    tenant_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    state text DEFAULT 'asked'::text NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    asked_by uuid,
    started_at timestamp with time zone,
    beat_at timestamp with time zone,
    ended_at timestamp with time zone,
    done integer DEFAULT 0 NOT NULL,
    total integer DEFAULT 0 NOT NULL,
    result jsonb,
    CONSTRAINT race_runs_check CHECK (((state = ANY (ARRAY['done'::text, 'failed'::text])) = (ended_at IS NOT NULL))),
    CONSTRAINT race_runs_check1 CHECK (((state <> 'done'::text) OR (result IS NOT NULL))),
    CONSTRAINT race_runs_state_check CHECK ((state = ANY (ARRAY['asked'::text, 'running'::text, 'done'::text, 'failed'::text])))
);

CREATE TABLE public.rate_limits (
    key text NOT NULL,
    opens_at timestamp with time zone NOT NULL,
    count integer NOT NULL
);

CREATE TABLE public.reservations (
    tenant_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    slot_id uuid NOT NULL,
    party_size integer NOT NULL,
    state text NOT NULL,
    number text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    kana text DEFAULT ''::text NOT NULL,
    email text DEFAULT ''::text NOT NULL,
    phone text DEFAULT ''::text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    locale text NOT NULL,
    owner text NOT NULL,
    shown_until timestamp with time zone,
    expires_at timestamp with time zone,
    terms_version integer NOT NULL,
    one_per_person boolean DEFAULT true NOT NULL,
    extended_at timestamp with time zone,
    extra_seats integer DEFAULT 0 NOT NULL,
    group_id uuid,
    group_size integer,
    idempotency_key text,
    fingerprint bytea,
    link_hash bytea NOT NULL,
    link_generation integer DEFAULT 0 NOT NULL,
    source text NOT NULL,
    entry_id uuid,
    attendance text DEFAULT ''::text NOT NULL,
    consent_version text DEFAULT ''::text NOT NULL,
    consented_at timestamp with time zone,
    cancelled_by text DEFAULT ''::text NOT NULL,
    cancel_reason text DEFAULT ''::text NOT NULL,
    press_addr text DEFAULT ''::text NOT NULL,
    press_agent text DEFAULT ''::text NOT NULL,
    person_key text,
    entry_to_close boolean DEFAULT false NOT NULL,
    sequence integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    ended_at timestamp with time zone,
    erased_at timestamp with time zone,
    answers jsonb DEFAULT '{}'::jsonb NOT NULL,
    email_new text DEFAULT ''::text NOT NULL,
    email_until timestamp with time zone,
    email_hash bytea,
    email_generation integer DEFAULT 0 NOT NULL,
    line_user text DEFAULT ''::text NOT NULL,
    line_address text DEFAULT ''::text NOT NULL,
    line_proven boolean DEFAULT false NOT NULL,
    line_at timestamp with time zone,
    CONSTRAINT reservations_attendance_check CHECK ((attendance = ANY (ARRAY[''::text, 'arrived'::text, 'no_show'::text]))),
    CONSTRAINT reservations_check CHECK (((extra_seats >= 0) AND (extra_seats <= party_size))),
    CONSTRAINT reservations_check1 CHECK (((state <> 'held'::text) OR ((shown_until IS NOT NULL) AND (expires_at IS NOT NULL)))),
    CONSTRAINT reservations_check2 CHECK (((state <> 'confirmed'::text) OR (confirmed_at IS NOT NULL))),
    CONSTRAINT reservations_check3 CHECK (((state = ANY (ARRAY['held'::text, 'confirmed'::text])) = (ended_at IS NULL))),
    CONSTRAINT reservations_check4 CHECK (((group_id IS NULL) = (group_size IS NULL))),
    CONSTRAINT reservations_email_change CHECK (((email_new = ''::text) OR ((email_until IS NOT NULL) AND (email_hash IS NOT NULL)))),
    CONSTRAINT reservations_line CHECK ((((line_user = ''::text) = (line_at IS NULL)) AND ((line_user = ''::text) = (line_address = ''::text)) AND ((line_user <> ''::text) OR (NOT line_proven)))),
    CONSTRAINT reservations_locale_check CHECK ((locale = ANY (ARRAY['ja'::text, 'en'::text]))),
    CONSTRAINT reservations_party_size_check CHECK ((party_size > 0)),
    CONSTRAINT reservations_source_check CHECK ((source = ANY (ARRAY['web'::text, 'staff'::text, 'api'::text, 'waitlist'::text]))),
    CONSTRAINT reservations_state_check CHECK ((state = ANY (ARRAY['held'::text, 'confirmed'::text, 'released'::text, 'expired'::text, 'cancelled'::text])))
);

CREATE TABLE public.resources (
    tenant_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    slug text NOT NULL,
    name jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    active boolean DEFAULT true NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    CONSTRAINT resources_name_check CHECK ((jsonb_typeof(name) = 'object'::text)),
    CONSTRAINT resources_slug_check CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'::text))
);

CREATE TABLE public.schedules (
    tenant_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    service_id uuid NOT NULL,
    resource_id uuid NOT NULL,
    rule text NOT NULL,
    first_day date NOT NULL,
    until_day date,
    starts smallint[] NOT NULL,
    except_days date[] DEFAULT '{}'::date[] NOT NULL,
    skip_closed boolean DEFAULT true NOT NULL,
    skip_holidays boolean DEFAULT false NOT NULL,
    capacity integer NOT NULL,
    state text DEFAULT 'active'::text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    made_until date,
    extend_at timestamp with time zone,
    pending jsonb,
    result jsonb,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT schedules_capacity_check CHECK ((capacity >= 0)),
    CONSTRAINT schedules_days CHECK ((until_day >= first_day)),
    CONSTRAINT schedules_rule_check CHECK ((rule <> ''::text)),
    CONSTRAINT schedules_starts_check CHECK (((cardinality(starts) >= 1) AND (cardinality(starts) <= 300))),
    CONSTRAINT schedules_state_check CHECK ((state = ANY (ARRAY['active'::text, 'stopped'::text, 'ended'::text])))
);

CREATE TABLE public.self_check_findings (
    tenant_id uuid NOT NULL,
    invariant text NOT NULL,
    example text NOT NULL,
    slot_id uuid,
    n integer DEFAULT 1 NOT NULL,
    found_at timestamp with time zone NOT NULL,
    CONSTRAINT self_check_findings_n_check CHECK ((n > 0))
);

CREATE TABLE public.self_checks (
    tenant_id uuid NOT NULL,
    feed bigint DEFAULT 0 NOT NULL,
    turn uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    looked_at timestamp with time zone,
    full_at timestamp with time zone,
    CONSTRAINT self_checks_feed_check CHECK ((feed >= 0))
);

CREATE TABLE public.service_pictures (
    tenant_id uuid NOT NULL,
    service_id uuid NOT NULL,
    media_type text NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    bytes bytea NOT NULL,
    hash text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT service_pictures_bytes_check CHECK (((octet_length(bytes) >= 1) AND (octet_length(bytes) <= 400000))),
    CONSTRAINT service_pictures_hash_check CHECK ((hash ~ '^[0-9a-f]{16,}$'::text)),
    CONSTRAINT service_pictures_height_check CHECK ((height > 0)),
    CONSTRAINT service_pictures_media_type_check CHECK ((media_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/webp'::text]))),
    CONSTRAINT service_pictures_width_check CHECK ((width > 0))
);

CREATE TABLE public.services (
    tenant_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    slug text NOT NULL,
    name jsonb NOT NULL,
    description jsonb DEFAULT '{}'::jsonb NOT NULL,
    price jsonb DEFAULT '{}'::jsonb NOT NULL,
    place jsonb DEFAULT '{}'::jsonb NOT NULL,
    bring jsonb DEFAULT '{}'::jsonb NOT NULL,
    duration interval NOT NULL,
    capacity integer NOT NULL,
    active boolean DEFAULT true NOT NULL,
    policies jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    questions jsonb DEFAULT '[]'::jsonb NOT NULL,
    "position" integer DEFAULT 0 NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    picture_alt jsonb DEFAULT '{}'::jsonb NOT NULL,
    former_questions jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT services_capacity_check CHECK ((capacity >= 0)),
    CONSTRAINT services_duration_check CHECK ((duration > '00:00:00'::interval)),
    CONSTRAINT services_former_questions_check CHECK ((jsonb_typeof(former_questions) = 'array'::text)),
    CONSTRAINT services_name_check CHECK ((jsonb_typeof(name) = 'object'::text)),
    CONSTRAINT services_picture_alt_check CHECK ((jsonb_typeof(picture_alt) = 'object'::text)),
    CONSTRAINT services_questions_check CHECK ((jsonb_typeof(questions) = 'array'::text)),
    CONSTRAINT services_slug_check CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'::text))
);

CREATE TABLE public.sessions (
    token text NOT NULL,
    data bytea NOT NULL,
    expiry timestamp with time zone NOT NULL,
    staff_id uuid,
    handle text DEFAULT ''::text NOT NULL,
    device text DEFAULT ''::text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.setting_changes (
    tenant_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    staff_id uuid,
    area text NOT NULL,
    subject text DEFAULT ''::text NOT NULL,
    fields text[] NOT NULL,
    CONSTRAINT setting_changes_area_check CHECK ((area ~ '^[a-z][a-z_]{0,39}$'::text)),
    CONSTRAINT setting_changes_fields_check CHECK (((cardinality(fields) >= 1) AND (cardinality(fields) <= 60))),
    CONSTRAINT setting_changes_subject_check CHECK ((char_length(subject) <= 80))
);

CREATE TABLE public.slots (
    tenant_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    service_id uuid NOT NULL,
    resource_id uuid NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    capacity integer NOT NULL,
    taken integer DEFAULT 0 NOT NULL,
    status text DEFAULT 'open'::text NOT NULL,
    version bigint DEFAULT 0 NOT NULL,
    terms_version integer DEFAULT 1 NOT NULL,
    kept boolean DEFAULT false NOT NULL,
    order_until timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    waitlist_paused boolean DEFAULT false NOT NULL,
    waitlist_mode text DEFAULT 'sequential'::text NOT NULL,
    fit text DEFAULT 'first_fit'::text NOT NULL,
    hold_shown interval DEFAULT '00:05:00'::interval NOT NULL,
    hold_grace interval DEFAULT '00:01:00'::interval NOT NULL,
    offer_shown interval DEFAULT '00:30:00'::interval NOT NULL,
    offer_grace interval DEFAULT '00:05:00'::interval NOT NULL,
    broadcast_before interval DEFAULT '03:00:00'::interval NOT NULL,
    booking_opens interval DEFAULT '1440:00:00'::interval NOT NULL,
    booking_closes interval DEFAULT '00:00:00'::interval NOT NULL,
    cancel_before interval DEFAULT '24:00:00'::interval NOT NULL,
    least_answer interval DEFAULT '00:10:00'::interval NOT NULL,
    quiet_from smallint DEFAULT 1260,
    quiet_until smallint DEFAULT 480,
    party_max integer DEFAULT 4 NOT NULL,
    waitlist_max integer,
    holds_per_visitor integer DEFAULT 3 NOT NULL,
    few_left integer DEFAULT 3 NOT NULL,
    one_per_person boolean DEFAULT true NOT NULL,
    reminder_before interval DEFAULT '24:00:00'::interval NOT NULL,
    erase_waitlist_after interval DEFAULT '168:00:00'::interval NOT NULL,
    erase_reservations_after interval DEFAULT '9600:00:00'::interval NOT NULL,
    reminded_at timestamp with time zone,
    entries_closed_at timestamp with time zone,
    waitlist_erased_at timestamp with time zone,
    reservations_erased_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    schedule_id uuid,
    schedule_start timestamp without time zone,
    CONSTRAINT slots_few_left_check CHECK ((few_left >= 0)),
    CONSTRAINT slots_fit_check CHECK ((fit = ANY (ARRAY['first_fit'::text, 'strict'::text]))),
    CONSTRAINT slots_holds_per_visitor_check CHECK ((holds_per_visitor > 0)),
    CONSTRAINT slots_occurrence CHECK (((schedule_id IS NULL) = (schedule_start IS NULL))),
    CONSTRAINT slots_party_max_check CHECK ((party_max > 0)),
    CONSTRAINT slots_quiet CHECK (((quiet_from IS NULL) = (quiet_until IS NULL))),
    CONSTRAINT slots_quiet_from_check CHECK (((quiet_from >= 0) AND (quiet_from <= 1439))),
    CONSTRAINT slots_quiet_until_check CHECK (((quiet_until >= 0) AND (quiet_until <= 1439))),
    CONSTRAINT slots_seats CHECK (((taken >= 0) AND (taken <= capacity))),
    CONSTRAINT slots_status_check CHECK ((status = ANY (ARRAY['open'::text, 'closed'::text, 'cancelled'::text]))),
    CONSTRAINT slots_times CHECK ((ends_at > starts_at)),
    CONSTRAINT slots_waitlist_max_check CHECK ((waitlist_max >= 0)),
    CONSTRAINT slots_waitlist_mode_check CHECK ((waitlist_mode = ANY (ARRAY['off'::text, 'sequential'::text, 'broadcast'::text])))
);

CREATE TABLE public.staff (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    email text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    locale text DEFAULT ''::text NOT NULL,
    password_hash text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    signed_in_at timestamp with time zone,
    totp_secret bytea,
    totp_pending bytea,
    totp_step bigint DEFAULT 0 NOT NULL,
    recovery bytea[] DEFAULT '{}'::bytea[] NOT NULL,
    reset_generation integer DEFAULT 0 NOT NULL,
    reset_hash bytea,
    reset_until timestamp with time zone,
    CONSTRAINT staff_check CHECK (((reset_hash IS NULL) = (reset_until IS NULL))),
    CONSTRAINT staff_check1 CHECK (((totp_secret IS NOT NULL) OR (recovery = '{}'::bytea[]))),
    CONSTRAINT staff_locale_check CHECK ((locale = ANY (ARRAY[''::text, 'ja'::text, 'en'::text])))
);

CREATE TABLE public.staff_invitations (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    locale text NOT NULL,
    invited_by text DEFAULT ''::text NOT NULL,
    link_hash bytea NOT NULL,
    generation integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT staff_invitations_check CHECK (((accepted_at IS NULL) OR (revoked_at IS NULL))),
    CONSTRAINT staff_invitations_locale_check CHECK ((locale = ANY (ARRAY['ja'::text, 'en'::text]))),
    CONSTRAINT staff_invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'manager'::text, 'desk'::text])))
);

CREATE TABLE public.staff_notice_cursors (
    tenant_id uuid NOT NULL,
    last_event bigint DEFAULT 0 NOT NULL,
    looked_at timestamp with time zone NOT NULL
);

CREATE TABLE public.staff_notices (
    tenant_id uuid NOT NULL,
    staff_id uuid NOT NULL,
    bookings boolean DEFAULT false NOT NULL,
    cancels boolean DEFAULT false NOT NULL,
    failures boolean DEFAULT false NOT NULL,
    digest_at integer,
    since timestamp with time zone NOT NULL,
    CONSTRAINT staff_notices_digest_at_check CHECK (((digest_at >= 0) AND (digest_at <= 1439)))
);

CREATE TABLE public.tenants (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    time_zone text NOT NULL,
    locale text NOT NULL,
    email text DEFAULT ''::text NOT NULL,
    phone text DEFAULT ''::text NOT NULL,
    address text DEFAULT ''::text NOT NULL,
    map_url text DEFAULT ''::text NOT NULL,
    privacy_url text DEFAULT ''::text NOT NULL,
    legal_url text DEFAULT ''::text NOT NULL,
    policies jsonb DEFAULT '{}'::jsonb NOT NULL,
    secret_fingerprint text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    embed_origins text[] DEFAULT '{}'::text[] NOT NULL,
    privacy_version text DEFAULT ''::text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    trade text DEFAULT ''::text NOT NULL,
    call_rule text DEFAULT ''::text NOT NULL,
    call_note text DEFAULT ''::text NOT NULL,
    setup_done_at timestamp with time zone,
    feed_head bigint DEFAULT 0 NOT NULL,
    CONSTRAINT tenants_call_rule_check CHECK ((call_rule = ANY (ARRAY[''::text, 'waitlist'::text, 'online'::text, 'extra'::text]))),
    CONSTRAINT tenants_locale_check CHECK ((locale = ANY (ARRAY['ja'::text, 'en'::text]))),
    CONSTRAINT tenants_name_check CHECK ((name <> ''::text)),
    CONSTRAINT tenants_slug_check CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'::text))
);

CREATE TABLE public.waitlist_entries (
    tenant_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    slot_id uuid NOT NULL,
    party_size integer NOT NULL,
    state text NOT NULL,
    "position" bigint NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    kana text DEFAULT ''::text NOT NULL,
    email text DEFAULT ''::text NOT NULL,
    phone text DEFAULT ''::text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    locale text NOT NULL,
    person_key text,
    link_hash bytea NOT NULL,
    link_generation integer DEFAULT 0 NOT NULL,
    offer_hash bytea,
    offer_generation integer DEFAULT 0 NOT NULL,
    shown_until timestamp with time zone,
    expires_at timestamp with time zone,
    reservation_id uuid,
    source text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    consent_version text DEFAULT ''::text NOT NULL,
    consented_at timestamp with time zone,
    press_addr text DEFAULT ''::text NOT NULL,
    press_agent text DEFAULT ''::text NOT NULL,
    joined_at timestamp with time zone NOT NULL,
    offered_at timestamp with time zone,
    ended_at timestamp with time zone,
    erased_at timestamp with time zone,
    tell_vacancies boolean DEFAULT true NOT NULL,
    answers jsonb DEFAULT '{}'::jsonb NOT NULL,
    line_user text DEFAULT ''::text NOT NULL,
    line_address text DEFAULT ''::text NOT NULL,
    line_proven boolean DEFAULT false NOT NULL,
    line_at timestamp with time zone,
    CONSTRAINT waitlist_entries_check CHECK (((state <> 'offered'::text) OR ((shown_until IS NOT NULL) AND (expires_at IS NOT NULL) AND (offer_hash IS NOT NULL)))),
    CONSTRAINT waitlist_entries_check1 CHECK (((state = ANY (ARRAY['waiting'::text, 'offered'::text])) = (ended_at IS NULL))),
    CONSTRAINT waitlist_entries_check2 CHECK (((state <> 'accepted'::text) OR (reservation_id IS NOT NULL))),
    CONSTRAINT waitlist_entries_line CHECK ((((line_user = ''::text) = (line_at IS NULL)) AND ((line_user = ''::text) = (line_address = ''::text)) AND ((line_user <> ''::text) OR (NOT line_proven)))),
    CONSTRAINT waitlist_entries_locale_check CHECK ((locale = ANY (ARRAY['ja'::text, 'en'::text]))),
    CONSTRAINT waitlist_entries_party_size_check CHECK ((party_size > 0)),
    CONSTRAINT waitlist_entries_source_check CHECK ((source = ANY (ARRAY['web'::text, 'staff'::text, 'api'::text]))),
    CONSTRAINT waitlist_entries_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'offered'::text, 'accepted'::text, 'lapsed'::text, 'declined'::text, 'withdrawn'::text, 'closed'::text])))
);

CREATE TABLE public.webhook_deliveries (
    tenant_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    number bigint NOT NULL,
    delivery text NOT NULL,
    kind text NOT NULL,
    attempt integer NOT NULL,
    at timestamp with time zone NOT NULL,
    took_ms integer NOT NULL,
    outcome text NOT NULL,
    status integer NOT NULL,
    CONSTRAINT webhook_deliveries_attempt_check CHECK ((attempt > 0)),
    CONSTRAINT webhook_deliveries_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'status'::text, 'redirect'::text, 'timeout'::text, 'connection'::text, 'name'::text, 'certificate'::text, 'address'::text, 'broken'::text]))),
    CONSTRAINT webhook_deliveries_took_ms_check CHECK ((took_ms >= 0))
);

CREATE TABLE public.webhook_endpoints (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    url text NOT NULL,
    kinds text[] DEFAULT '{}'::text[] NOT NULL,
    secret bytea NOT NULL,
    old_secret bytea,
    old_until timestamp with time zone,
    state text DEFAULT 'active'::text NOT NULL,
    paused_why text DEFAULT ''::text NOT NULL,
    paused_at timestamp with time zone,
    cursor bigint NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    next_at timestamp with time zone NOT NULL,
    leased_until timestamp with time zone,
    term bigint DEFAULT 0 NOT NULL,
    delivered_at timestamp with time zone,
    tried bigint DEFAULT 0 NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT webhook_endpoints_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT webhook_endpoints_check CHECK (((old_secret IS NULL) = (old_until IS NULL))),
    CONSTRAINT webhook_endpoints_check1 CHECK ((((state = 'paused'::text) = (paused_why <> ''::text)) AND ((state = 'paused'::text) = (paused_at IS NOT NULL)))),
    CONSTRAINT webhook_endpoints_check2 CHECK (((attempts = 0) = (failing_since IS NULL))),
    CONSTRAINT webhook_endpoints_cursor_check CHECK ((cursor >= 0)),
    CONSTRAINT webhook_endpoints_paused_why_check CHECK ((paused_why = ANY (ARRAY[''::text, 'staff'::text, 'failing'::text]))),
    CONSTRAINT webhook_endpoints_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text]))),
    CONSTRAINT webhook_endpoints_url_check CHECK (((char_length(url) >= 1) AND (char_length(url) <= 2000))),
    CONSTRAINT webhook_endpoints_version_check CHECK ((version > 0))
);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.closed_days
    ADD CONSTRAINT closed_days_pkey PRIMARY KEY (tenant_id, day);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.idempotency_answers
    ADD CONSTRAINT idempotency_answers_pkey PRIMARY KEY (tenant_id, route, key_hash);

ALTER TABLE ONLY public.line_channels
    ADD CONSTRAINT line_channels_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.line_codes
    ADD CONSTRAINT line_codes_pkey PRIMARY KEY (tenant_id, subject_id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (tenant_id, staff_id);

ALTER TABLE ONLY public.message_texts
    ADD CONSTRAINT message_texts_pkey PRIMARY KEY (tenant_id, kind, locale);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.race_runs
    ADD CONSTRAINT race_runs_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.resources
    ADD CONSTRAINT resources_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.self_check_findings
    ADD CONSTRAINT self_check_findings_pkey PRIMARY KEY (tenant_id, invariant, example);

ALTER TABLE ONLY public.self_checks
    ADD CONSTRAINT self_checks_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.service_pictures
    ADD CONSTRAINT service_pictures_pkey PRIMARY KEY (tenant_id, service_id);

ALTER TABLE ONLY public.services
    ADD CONSTRAINT services_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (token);

ALTER TABLE ONLY public.setting_changes
    ADD CONSTRAINT setting_changes_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_no_overlap EXCLUDE USING gist (tenant_id WITH =, resource_id WITH =, tstzrange(starts_at, ends_at) WITH &&) WHERE ((status <> 'cancelled'::text));

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.staff
    ADD CONSTRAINT staff_email_key UNIQUE (email);

ALTER TABLE ONLY public.staff_invitations
    ADD CONSTRAINT staff_invitations_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.staff_notice_cursors
    ADD CONSTRAINT staff_notice_cursors_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.staff_notices
    ADD CONSTRAINT staff_notices_pkey PRIMARY KEY (tenant_id, staff_id);

ALTER TABLE ONLY public.staff
    ADD CONSTRAINT staff_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_slug_key UNIQUE (slug);

ALTER TABLE ONLY public.waitlist_entries
    ADD CONSTRAINT waitlist_entries_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (tenant_id, endpoint_id, number);

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (tenant_id, id);

CREATE UNIQUE INDEX api_keys_hash ON public.api_keys USING btree (tenant_id, hash);

CREATE UNIQUE INDEX events_feed ON public.events USING btree (tenant_id, feed) WHERE (feed IS NOT NULL);

CREATE INDEX events_freed ON public.events USING btree (tenant_id, slot_id) WHERE (kind = ANY (ARRAY['cancelled'::text, 'moved_out'::text, 'party_changed'::text]));

CREATE UNIQUE INDEX events_number ON public.events USING btree (tenant_id, slot_id, number) WHERE (number IS NOT NULL);

CREATE INDEX events_slot ON public.events USING btree (tenant_id, slot_id, id);

CREATE INDEX events_subject ON public.events USING btree (tenant_id, subject_id);

CREATE INDEX events_unfed ON public.events USING btree (tenant_id, id) WHERE (feed IS NULL);

CREATE INDEX events_unsealed ON public.events USING btree (tenant_id, slot_id, number) WHERE ((number IS NOT NULL) AND (seal IS NULL));

CREATE INDEX idempotency_answers_begun ON public.idempotency_answers USING btree (begun_at);

CREATE UNIQUE INDEX line_codes_hash ON public.line_codes USING btree (tenant_id, code_hash);

CREATE UNIQUE INDEX memberships_feed_hash ON public.memberships USING btree (tenant_id, feed_hash) WHERE (feed_hash IS NOT NULL);

CREATE INDEX memberships_staff ON public.memberships USING btree (staff_id);

CREATE UNIQUE INDEX outbox_dedupe ON public.outbox USING btree (tenant_id, dedupe_key);

CREATE INDEX outbox_due ON public.outbox USING btree (tenant_id, next_attempt_at) WHERE (state = 'pending'::text);

CREATE INDEX outbox_leases ON public.outbox USING btree (tenant_id, sending_until) WHERE (state = 'sending'::text);

CREATE INDEX outbox_newest ON public.outbox USING btree (tenant_id, created_at, id);

CREATE INDEX outbox_open ON public.outbox USING btree (tenant_id, created_at) WHERE (state = ANY (ARRAY['pending'::text, 'sending'::text, 'failed'::text]));

CREATE INDEX outbox_recipient ON public.outbox USING btree (tenant_id, lower(recipient)) WHERE (recipient <> ''::text);

CREATE INDEX outbox_slot ON public.outbox USING btree (tenant_id, slot_id);

CREATE INDEX outbox_sorted ON public.outbox USING btree (tenant_id, state, kind, created_at, id);

CREATE INDEX outbox_subject ON public.outbox USING btree (tenant_id, subject_id);

CREATE INDEX race_runs_newest ON public.race_runs USING btree (tenant_id, asked_at DESC);

CREATE UNIQUE INDEX race_runs_open ON public.race_runs USING btree (tenant_id) WHERE (state = ANY (ARRAY['asked'::text, 'running'::text]));

CREATE INDEX rate_limits_opens ON public.rate_limits USING btree (opens_at);

CREATE INDEX reservations_due ON public.reservations USING btree (expires_at) WHERE (state = 'held'::text);

CREATE INDEX reservations_email ON public.reservations USING btree (tenant_id, lower(email)) WHERE (email <> ''::text);

CREATE UNIQUE INDEX reservations_email_link ON public.reservations USING btree (tenant_id, email_hash) WHERE (email_hash IS NOT NULL);

CREATE INDEX reservations_email_new ON public.reservations USING btree (tenant_id, lower(email_new)) WHERE (email_new <> ''::text);

CREATE UNIQUE INDEX reservations_entry ON public.reservations USING btree (tenant_id, entry_id) WHERE (entry_id IS NOT NULL);

CREATE INDEX reservations_entry_to_close ON public.reservations USING btree (tenant_id, slot_id) WHERE entry_to_close;

CREATE INDEX reservations_group ON public.reservations USING btree (tenant_id, group_id) WHERE (group_id IS NOT NULL);

CREATE INDEX reservations_held ON public.reservations USING btree (tenant_id, slot_id, expires_at) WHERE (state = 'held'::text);

CREATE UNIQUE INDEX reservations_key ON public.reservations USING btree (tenant_id, slot_id, idempotency_key) WHERE (state = ANY (ARRAY['held'::text, 'confirmed'::text]));

CREATE INDEX reservations_line_user ON public.reservations USING btree (tenant_id, line_user) WHERE (line_user <> ''::text);

CREATE UNIQUE INDEX reservations_link ON public.reservations USING btree (tenant_id, link_hash);

CREATE INDEX reservations_newest ON public.reservations USING btree (tenant_id, confirmed_at, id) WHERE ((email <> ''::text) AND (confirmed_at IS NOT NULL));

CREATE UNIQUE INDEX reservations_number ON public.reservations USING btree (tenant_id, number);

CREATE INDEX reservations_owner ON public.reservations USING btree (tenant_id, owner) WHERE (state = 'held'::text);

CREATE UNIQUE INDEX reservations_person ON public.reservations USING btree (tenant_id, slot_id, person_key) WHERE (state = ANY (ARRAY['held'::text, 'confirmed'::text]));

CREATE INDEX reservations_search ON public.reservations USING gin (public.search_grams(tenant_id, name, kana, email, phone) COLLATE "C") WITH (gin_pending_list_limit='512') WHERE ((((name || kana) || email) || phone) <> ''::text);

CREATE INDEX reservations_slot ON public.reservations USING btree (tenant_id, slot_id);

CREATE UNIQUE INDEX resources_slug ON public.resources USING btree (tenant_id, slug);

CREATE INDEX schedules_to_extend ON public.schedules USING btree (extend_at) WHERE (extend_at IS NOT NULL);

CREATE UNIQUE INDEX services_slug ON public.services USING btree (tenant_id, slug);

CREATE INDEX sessions_expiry ON public.sessions USING btree (expiry);

CREATE INDEX sessions_staff ON public.sessions USING btree (staff_id) WHERE (staff_id IS NOT NULL);

CREATE INDEX setting_changes_newest ON public.setting_changes USING btree (tenant_id, at DESC, id DESC);

CREATE INDEX setting_changes_subject ON public.setting_changes USING btree (tenant_id, area, subject, at DESC, id DESC);

CREATE INDEX slots_calendar ON public.slots USING btree (tenant_id, starts_at, id);

CREATE INDEX slots_erase_reservations_due ON public.slots USING btree ((((ends_at AT TIME ZONE 'UTC'::text) + erase_reservations_after))) WHERE (reservations_erased_at IS NULL);

CREATE INDEX slots_erase_waitlist_due ON public.slots USING btree ((((ends_at AT TIME ZONE 'UTC'::text) + erase_waitlist_after))) WHERE (waitlist_erased_at IS NULL);

CREATE UNIQUE INDEX slots_once ON public.slots USING btree (tenant_id, schedule_id, schedule_start) WHERE (schedule_id IS NOT NULL);

CREATE INDEX slots_remind_due ON public.slots USING btree ((((starts_at AT TIME ZONE 'UTC'::text) - reminder_before))) WHERE ((reminded_at IS NULL) AND (status <> 'cancelled'::text));

CREATE INDEX slots_service ON public.slots USING btree (tenant_id, service_id, starts_at);

CREATE UNIQUE INDEX slots_start ON public.slots USING btree (tenant_id, resource_id, starts_at) WHERE (status <> 'cancelled'::text);

CREATE INDEX slots_switch ON public.slots USING btree (order_until) WHERE kept;

CREATE INDEX slots_to_close ON public.slots USING btree (starts_at) WHERE (entries_closed_at IS NULL);

CREATE UNIQUE INDEX staff_invitations_link ON public.staff_invitations USING btree (tenant_id, link_hash);

CREATE UNIQUE INDEX staff_invitations_open ON public.staff_invitations USING btree (tenant_id, email) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));

CREATE UNIQUE INDEX staff_reset ON public.staff USING btree (reset_hash) WHERE (reset_hash IS NOT NULL);

CREATE INDEX waitlist_entries_due ON public.waitlist_entries USING btree (expires_at) WHERE (state = 'offered'::text);

CREATE INDEX waitlist_entries_email ON public.waitlist_entries USING btree (tenant_id, lower(email)) WHERE (email <> ''::text);

CREATE INDEX waitlist_entries_line_user ON public.waitlist_entries USING btree (tenant_id, line_user) WHERE (line_user <> ''::text);

CREATE UNIQUE INDEX waitlist_entries_link ON public.waitlist_entries USING btree (tenant_id, link_hash);

CREATE UNIQUE INDEX waitlist_entries_offer_link ON public.waitlist_entries USING btree (tenant_id, offer_hash) WHERE (offer_hash IS NOT NULL);

CREATE INDEX waitlist_entries_offered ON public.waitlist_entries USING btree (tenant_id, slot_id, expires_at) WHERE (state = 'offered'::text);

CREATE UNIQUE INDEX waitlist_entries_person ON public.waitlist_entries USING btree (tenant_id, slot_id, person_key) WHERE (state = ANY (ARRAY['waiting'::text, 'offered'::text]));

CREATE INDEX waitlist_entries_queue ON public.waitlist_entries USING btree (tenant_id, slot_id, "position") WHERE (state = 'waiting'::text);

CREATE INDEX waitlist_entries_search ON public.waitlist_entries USING gin (public.search_grams(tenant_id, name, kana, email, phone) COLLATE "C") WITH (gin_pending_list_limit='512') WHERE (state = ANY (ARRAY['waiting'::text, 'offered'::text]));

CREATE INDEX waitlist_entries_slot ON public.waitlist_entries USING btree (tenant_id, slot_id, "position");

CREATE INDEX webhook_endpoints_next ON public.webhook_endpoints USING btree (next_at, id) WHERE (state = 'active'::text);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.closed_days
    ADD CONSTRAINT closed_days_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_tenant_id_slot_id_fkey FOREIGN KEY (tenant_id, slot_id) REFERENCES public.slots(tenant_id, id);

ALTER TABLE ONLY public.idempotency_answers
    ADD CONSTRAINT idempotency_answers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.line_channels
    ADD CONSTRAINT line_channels_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.line_codes
    ADD CONSTRAINT line_codes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES public.staff(id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.message_texts
    ADD CONSTRAINT message_texts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_tenant_id_slot_id_fkey FOREIGN KEY (tenant_id, slot_id) REFERENCES public.slots(tenant_id, id);

ALTER TABLE ONLY public.race_runs
    ADD CONSTRAINT race_runs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_tenant_id_entry_id_fkey FOREIGN KEY (tenant_id, entry_id) REFERENCES public.waitlist_entries(tenant_id, id);

ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_tenant_id_slot_id_fkey FOREIGN KEY (tenant_id, slot_id) REFERENCES public.slots(tenant_id, id);

ALTER TABLE ONLY public.resources
    ADD CONSTRAINT resources_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_tenant_id_resource_id_fkey FOREIGN KEY (tenant_id, resource_id) REFERENCES public.resources(tenant_id, id);

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_tenant_id_service_id_fkey FOREIGN KEY (tenant_id, service_id) REFERENCES public.services(tenant_id, id);

ALTER TABLE ONLY public.self_check_findings
    ADD CONSTRAINT self_check_findings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.self_checks
    ADD CONSTRAINT self_checks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.service_pictures
    ADD CONSTRAINT service_pictures_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.service_pictures
    ADD CONSTRAINT service_pictures_tenant_id_service_id_fkey FOREIGN KEY (tenant_id, service_id) REFERENCES public.services(tenant_id, id);

ALTER TABLE ONLY public.services
    ADD CONSTRAINT services_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES public.staff(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.setting_changes
    ADD CONSTRAINT setting_changes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_schedule FOREIGN KEY (tenant_id, schedule_id) REFERENCES public.schedules(tenant_id, id);

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_tenant_id_resource_id_fkey FOREIGN KEY (tenant_id, resource_id) REFERENCES public.resources(tenant_id, id);

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_tenant_id_service_id_fkey FOREIGN KEY (tenant_id, service_id) REFERENCES public.services(tenant_id, id);

ALTER TABLE ONLY public.staff_invitations
    ADD CONSTRAINT staff_invitations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.staff_notice_cursors
    ADD CONSTRAINT staff_notice_cursors_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

ALTER TABLE ONLY public.staff_notices
    ADD CONSTRAINT staff_notices_tenant_id_staff_id_fkey FOREIGN KEY (tenant_id, staff_id) REFERENCES public.memberships(tenant_id, staff_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.waitlist_entries
    ADD CONSTRAINT waitlist_entries_tenant_id_reservation_id_fkey FOREIGN KEY (tenant_id, reservation_id) REFERENCES public.reservations(tenant_id, id);

ALTER TABLE ONLY public.waitlist_entries
    ADD CONSTRAINT waitlist_entries_tenant_id_slot_id_fkey FOREIGN KEY (tenant_id, slot_id) REFERENCES public.slots(tenant_id, id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_tenant_id_endpoint_id_fkey FOREIGN KEY (tenant_id, endpoint_id) REFERENCES public.webhook_endpoints(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);
