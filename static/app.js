// What the pages gain by a script. Each part stands for itself: without it, or
// without any script, every form still posts and every page still says what is so.
(() => {
	"use strict";

	const $ = (selector, within = document) => within.querySelector(selector);
	const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
	const say = (text) => {
		const box = $("#say");
		if (!box || !text) return;
		box.textContent = "";
		setTimeout(() => (box.textContent = text), 50);
	};

	// --- A form that is on its way cannot be sent again.

	const rest = (form) => {
		delete form.dataset.busy;
		for (const b of $$("[aria-busy]", form)) {
			b.removeAttribute("aria-busy");
			const text = $(".button-text", b);
			if (text && b.dataset.idle) text.textContent = b.dataset.idle;
		}
	};

	document.addEventListener("submit", (e) => {
		const form = e.target;
		if (form.dataset.busy) {
			e.preventDefault();
			e.stopImmediatePropagation();
			return;
		}
		form.dataset.busy = "1";
		const b = e.submitter;
		if (!b) return;
		b.setAttribute("aria-busy", "true");
		const text = $(".button-text", b);
		if (text && b.dataset.working) {
			b.dataset.idle = text.textContent;
			text.textContent = b.dataset.working;
			say(b.dataset.working);
		}
	}, true);

	addEventListener("pageshow", () => $$("form[data-busy]").forEach(rest));
	document.addEventListener("htmx:finally:request", (e) => {
		// Only the form that was sent: a page that polls has other requests.
		const form = (e.detail?.ctx?.sourceElement || e.target).closest?.("form");
		if (form) rest(form);
	});

	// --- What was typed outlives a change of language, an extension, and the end of
	// a hold. It is kept in memory only: the tablet may be the shop's.

	let kept = null;
	let inField = "";

	const typed = () => $$("#main input, #main textarea, #main select").filter((f) => f.name && !["hidden", "password"].includes(f.type));

	const keep = () => {
		inField = document.activeElement?.closest?.("#main input, #main textarea")?.name || "";
		kept = typed().filter((f) => !["radio", "checkbox"].includes(f.type) || f.checked).map((f) => [f.name, f.value]);
	};

	const giveBack = () => {
		if (!kept) return;
		const carry = $("form[data-carry]");
		for (const [name, value] of kept) {
			const same = $$(`#main [name="${CSS.escape(name)}"]`);
			const radio = same.find((f) => ["radio", "checkbox"].includes(f.type) && f.value === value);
			const text = same.find((f) => !["radio", "checkbox", "hidden"].includes(f.type));
			if (radio) radio.checked = true;
			else if (text) text.value ||= value;
			else if (carry && value && !same.length) {
				const h = document.createElement("input");
				h.type = "hidden";
				h.name = name;
				h.value = value;
				carry.append(h);
			}
		}
		kept = null;
	};

	document.addEventListener("submit", (e) => {
		if (e.target.matches("[data-keep-input]")) keep();
	});

	// --- Who somebody is, kept on this device where they wish it: per venue, and
	// never unless the box was ticked.

	const details = ["name", "kana", "email", "phone"];
	const shelf = (box) => "holdfast details " + box.dataset.remember;
	const field = (form, name) => $(`input[name="${name}"]:not([type=hidden])`, form);

	// Storage may be forbidden, full, or hold what we did not write: then nothing is kept.
	const onShelf = (box) => {
		try {
			const found = JSON.parse(localStorage.getItem(shelf(box)));
			return found && typeof found === "object" ? found : null;
		} catch {
			return null;
		}
	};
	const shelve = (box, what) => {
		try {
			if (what) localStorage.setItem(shelf(box), JSON.stringify(what));
			else localStorage.removeItem(shelf(box));
		} catch {
			return;
		}
	};

	const recall = () => {
		const box = $("[data-remember]");
		if (!box || !box.hidden) return;
		box.hidden = false;
		const form = box.closest("form");
		const known = onShelf(box);
		if (!known) return;
		$("[data-remember-me]", box).checked = true;
		// What was typed comes first: a form that came back is left as it is.
		if (details.some((name) => field(form, name)?.value)) return;
		for (const name of details) {
			const f = field(form, name);
			if (f && typeof known[name] === "string") f.value = known[name].slice(0, f.maxLength > 0 ? f.maxLength : 254);
		}
		$("[data-remembered]", box).hidden = false;
	};

	document.addEventListener("submit", (e) => {
		const box = $("[data-remember]", e.target);
		if (!box || box.hidden) return;
		const ticked = $("[data-remember-me]", box).checked;
		shelve(box, ticked ? Object.fromEntries(details.map((name) => [name, field(e.target, name)?.value || ""])) : null);
	});

	document.addEventListener("click", (e) => {
		const b = e.target.closest?.("[data-forget]");
		if (!b) return;
		const box = b.closest("[data-remember]");
		const known = onShelf(box) || {};
		shelve(box, null);
		for (const name of details) {
			const f = field(box.closest("form"), name);
			if (f && f.value === known[name]) f.value = "";
		}
		$("[data-remember-me]", box).checked = false;
		$("[data-remembered]", box).hidden = true;
		const told = $("[data-forgotten]", box);
		told.textContent = told.dataset.forgotten;
		field(box.closest("form"), "name")?.focus();
	});

	// --- Time that runs out. Counted from the seconds that the server gave, never
	// from the visitor's clock.

	const marks = [120, 60, 30, 10];
	const clocks = new WeakMap();

	const words = (el, s) => {
		const of = (name) => (el.closest("[data-" + name + "]") || document.body).dataset[name] || "";
		return s < 60 ? of("seconds").replace("{s}", s) : of("minutes").replace("{m}", Math.floor(s / 60)).replace("{s}", s % 60);
	};

	const left = (el) => {
		let c = clocks.get(el);
		// A morphed page may have changed the number in place: then count anew.
		if (!c || c.given !== el.dataset.secondsLeft) {
			c = { given: el.dataset.secondsLeft, since: performance.now(), wall: Date.now(), last: Infinity };
			clocks.set(el, c);
		}
		return Math.ceil(Number(c.given) - (performance.now() - c.since) / 1000);
	};

	const tick = () => {
		for (const el of $$("[data-seconds-left]")) {
			const s = Math.max(0, left(el));
			const c = clocks.get(el);
			if (s === c.last) continue;
			const out = $("[data-left], [data-countdown]", el);
			if (out) out.textContent = words(el, s);
			const line = $("[data-left-line]", el);
			if (line) line.hidden = s === 0;
			const bar = $("[data-bar]", el);
			if (bar) bar.value = s;
			el.dataset.phase = s > 120 ? "calm" : s > 60 ? "near" : s ? "soon" : "over";
			if (el.matches(".countdown")) {
				const mark = marks.find((m) => c.last > m && s <= m && c.last !== Infinity);
				if (mark) say(el.dataset.said.replace("{left}", words(el, s)));
				if (s === 0) over(el);
			}
			c.last = s;
		}
	};

	// The server's page is the truth: it is asked once for each deadline.
	const asked = new Set();

	const over = (el) => {
		const at = el.dataset.shownUntil;
		if (asked.has(at)) return;
		asked.add(at);
		ended(at);
		const seen = "over " + at;
		try {
			if (sessionStorage.getItem(seen)) return;
			sessionStorage.setItem(seen, "1");
		} catch {
			// Storage may be forbidden; then the set above has to do.
		}
		say(el.dataset.over);
		refresh();
	};

	// After the deadline that was shown the page may stay as it is for a while;
	// quietly the server is asked until it has another.
	const ended = async (at) => {
		for (let i = 0; i < 20; i++) {
			await new Promise((go) => setTimeout(go, 30000));
			const shown = `data-shown-until="${at}"`;
			if (!$(`.countdown[${shown}]`)) return;
			try {
				const answer = await fetch(location.href, { credentials: "same-origin" });
				if (answer.ok && !(await answer.text()).includes(shown)) return refresh();
			} catch {
				// No network just now: the next turn asks again.
			}
		}
	};

	const refresh = () => {
		if (!window.htmx) return location.reload();
		keep();
		htmx.ajax("GET", location.pathname + location.search, { target: "#main", select: "#main", swap: "outerHTML" });
	};

	setInterval(tick, 250);

	// A device that slept may have stopped the clock that we count by.
	document.addEventListener("visibilitychange", () => {
		if (document.hidden) return;
		const el = $(".countdown[data-seconds-left]");
		const c = el && clocks.get(el);
		if (c && Math.abs(Date.now() - c.wall - (performance.now() - c.since)) > 5000) refresh();
	});

	// --- After a swap: language, focus, scroll.

	const arrive = () => {
		recall();
		settle();
		const strip = $(".strip");
		const day = strip && $(".day-tab.current", strip);
		if (day) strip.scrollLeft = day.offsetLeft - (strip.clientWidth - day.offsetWidth) / 2;
		zones();
		tick();
		follow();
	};

	// --- The venue's clock is named beside its times where the visitor's shows
	// another time at that instant.

	const zones = () => {
		for (const el of $$("[data-zone]")) {
			try {
				const clock = (timeZone) => new Intl.DateTimeFormat("en", { timeZone, dateStyle: "short", timeStyle: "short" }).format(new Date(el.dataset.zoneAt));
				el.toggleAttribute("data-shown", clock(el.dataset.zone) !== clock(undefined));
			} catch {
				// A zone that this browser does not know: the foot names it.
			}
		}
	};

	// --- In the month the arrows go by day and by week.

	document.addEventListener("keydown", (e) => {
		const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[e.key];
		const from = e.target.closest?.("[data-month] a[data-date]");
		if (!step || !from || e.ctrlKey || e.metaKey || e.altKey) return;
		const days = $$("[data-date]", from.closest("[data-month]"));
		const to = days[days.indexOf(from) + step];
		if (!to?.matches("a")) return;
		e.preventDefault();
		to.focus();
	});

	let main = $("#main");

	document.addEventListener("htmx:after:swap", () => {
		const now = $("#main");
		if (!now || now === main) return arrive();
		main = now;
		if (now.dataset.lang) document.documentElement.lang = now.dataset.lang;
		const typing = kept !== null;
		giveBack();
		arrive();
		const field = typing && inField && $(`input[name="${CSS.escape(inField)}"]:not([type=hidden]), textarea[name="${CSS.escape(inField)}"]`, now);
		const target = field || $("[data-focus]", now) || $("[data-heading]", now) || $("h1", now) || now;
		if (!field && !target.hasAttribute("tabindex")) target.tabIndex = -1;
		target.focus({ preventScroll: true });
		if (!typing) scrollTo(0, 0);
	});

	// A form that came back with mistakes stays under the address of its page; an
	// answer that has an address of its own says so in Content-Location.
	document.addEventListener("htmx:before:history:update", (e) => {
		const { history: step, sourceElement: source, response } = e.detail;
		if (!source?.matches?.("form[method=post]") || !response?.raw || response.raw.redirected) return;
		const at = response.raw.headers.get("Content-Location");
		if (at) step.path = at;
		else e.preventDefault();
	});

	const failed = () => {
		const text = document.body.dataset.failed;
		if (!text || !$("#main")) return;
		$("#main > [data-failed-note]")?.remove();
		const box = document.createElement("div");
		box.className = "banner bad";
		box.setAttribute("role", "alert");
		box.dataset.failedNote = "";
		const p = document.createElement("p");
		p.textContent = text;
		box.append(p);
		$("#main").prepend(box);
		box.scrollIntoView({ block: "center" });
	};

	document.addEventListener("htmx:error", failed);

	// An answer that is none of our pages (a proxy's, say) must not empty the page.
	document.addEventListener("htmx:before:swap", (e) => {
		const ctx = e.detail?.ctx;
		if (ctx?.select === "#main" && !/id="?main"?/.test(ctx.text || "")) {
			e.preventDefault();
			failed();
		}
	});

	// --- A page follows what happens: the server sends a part of it again, finished
	// and in its language, or says that there is something to fetch. In a hidden tab
	// nothing is followed; coming back asks anew.

	let stream = null;
	let followed = "";
	let comeBack = 0;
	let reloaded = -Infinity;

	const unfollow = () => {
		stream?.close();
		stream = null;
		followed = "";
		clearTimeout(comeBack);
	};

	const follow = () => {
		const url = (!document.hidden && $("[data-live]")?.dataset.live) || "";
		if (url === followed) return;
		unfollow();
		if (!url || !window.EventSource) return;
		followed = url;
		const s = (stream = new EventSource(url));
		let opened = false;
		s.onopen = () => {
			// What happened while the line was down was not heard.
			if (opened && $("[data-live][hx-get]")) fetchAgain();
			opened = true;
		};
		s.onerror = () => {
			// A browser comes back by itself, unless it was refused.
			if (s.readyState !== EventSource.CLOSED || s !== stream) return;
			unfollow();
			comeBack = setTimeout(follow, 20000 + 20000 * Math.random());
		};
		s.addEventListener("now", (e) => show(e.data));
		s.addEventListener("tick", () => fetchAgain());
		s.addEventListener("reload", () => {
			s.close();
			const wait = Math.max(0, reloaded + 4000 - performance.now()) + 500 * Math.random();
			comeBack = setTimeout(() => {
				reloaded = performance.now();
				unfollow();
				refresh();
			}, wait);
		});
	};

	const show = (html) => {
		const box = $("[data-live]");
		const fresh = document.createElement("template");
		fresh.innerHTML = html;
		if (!box || box.innerHTML.trim() === fresh.innerHTML.trim()) return;
		for (const el of $$("[data-live-for]", fresh.content)) {
			const out = $(`[data-live-text="${el.dataset.liveFor}"]`);
			if (out && out.textContent !== el.textContent) out.textContent = el.textContent;
		}
		const was = $("[data-key]", box)?.dataset.key;
		const inside = box.contains(document.activeElement);
		box.replaceChildren(fresh.content);
		const now = $("[data-key]", box);
		if (now && now.dataset.key !== was) say(now.dataset.said);
		if (inside) $("a", box)?.focus({ preventScroll: true });
	};

	// Not while a finger is on the page: what it is about to press must not move.
	let pressing = false;
	let touched = -Infinity;
	let under = null;
	const touch = (e) => {
		touched = performance.now();
		under = e.target;
	};
	addEventListener("pointerdown", (e) => {
		pressing = true;
		touch(e);
	}, true);
	for (const done of ["pointerup", "pointercancel"]) addEventListener(done, () => setTimeout(() => (pressing = false), 300), true);
	for (const kind of ["pointermove", "keydown", "wheel"]) addEventListener(kind, touch, { capture: true, passive: true });

	let asking = 0;
	const fetchAgain = () => {
		clearTimeout(asking);
		asking = setTimeout(() => (pressing ? fetchAgain() : $("[data-live][hx-get]")?.dispatchEvent(new CustomEvent("live"))), pressing ? 400 : 50);
	};

	// A part that comes anew leaves what somebody has opened as it is, and what
	// they have just moved to, or have the focus on, where it is on the screen.
	// Whoever only looks on sees the top of the page, where what is urgent comes in.
	const partOf = (e) => {
		const part = e.detail?.ctx?.sourceElement;
		return part?.matches?.("[hx-get][hx-trigger^=every]") ? part : null;
	};
	let still = null;

	document.addEventListener("htmx:before:swap", (e) => {
		const part = partOf(e);
		if (!part) return;
		if (pressing) {
			e.preventDefault();
			return fetchAgain();
		}
		const focus = part.contains(document.activeElement) ? document.activeElement : null;
		const near = performance.now() - touched < 5000 && part.contains(under) ? under : null;
		const anchor = (near || focus)?.closest("[id]");
		still = { open: $$("details[open][id]", part).map((d) => d.id), id: anchor?.id, top: anchor?.getBoundingClientRect().top };
	});

	document.addEventListener("htmx:after:swap", (e) => {
		const was = partOf(e) && still;
		if (!was) return;
		still = null;
		for (const id of was.open) {
			const d = document.getElementById(id);
			if (d) d.open = true;
		}
		const anchor = was.id && document.getElementById(was.id);
		const by = anchor ? anchor.getBoundingClientRect().top - was.top : 0;
		if (by) scrollBy({ top: by, behavior: "instant" });
	});

	document.addEventListener("visibilitychange", () => {
		if (document.hidden) return unfollow();
		follow();
		fetchAgain();
	});
	addEventListener("pagehide", unfollow);
	addEventListener("pageshow", () => follow());

	// --- Keys of the staff's pages. Single letters can be turned off, since speech
	// input may type them; the list of keys has the switch.

	const shelfOfKeys = "holdfast keys";
	const keysAreOn = () => {
		try {
			return localStorage.getItem(shelfOfKeys) !== "off";
		} catch {
			return true; // storage is forbidden: then nothing was turned off
		}
	};

	const keySwitches = (within) => {
		for (const box of $$("[data-keys-switch]", within)) {
			box.hidden = false;
			$("[data-keys-on]", box).checked = keysAreOn();
		}
	};

	document.addEventListener("change", (e) => {
		if (!e.target.matches?.("[data-keys-on]")) return;
		try {
			if (e.target.checked) localStorage.removeItem(shelfOfKeys);
			else localStorage.setItem(shelfOfKeys, "off");
		} catch {
			e.target.checked = true; // it can't be kept, so it is not so
		}
	});

	// The list is the page of its own, shown over this one.
	const listKeys = async (url) => {
		if ($("dialog[open]")) return;
		const back = document.activeElement;
		let list = null;
		try {
			const answer = await fetch(url, { credentials: "same-origin" });
			list = answer.ok ? $("#keys", new DOMParser().parseFromString(await answer.text(), "text/html")) : null;
		} catch {
			list = null; // no network: the browser's own page says so
		}
		if (!list) return location.assign(url);
		const box = document.createElement("dialog");
		box.className = "staff-dialog staff";
		box.setAttribute("aria-labelledby", "keys-title");
		box.append(document.importNode(list, true));
		$("noscript", box)?.remove();
		document.body.append(box);
		keySwitches(box);
		const close = $("[data-keys-close]", box);
		close.hidden = false;
		$("button", close).addEventListener("click", () => box.close());
		box.addEventListener("click", (e) => e.target === box && box.close());
		box.addEventListener("close", () => {
			box.remove();
			back?.focus?.({ preventScroll: true });
		});
		box.showModal();
		$("button", close).focus();
	};

	document.addEventListener("click", (e) => {
		const link = e.target.closest?.("[data-keys]");
		if (!link || e.ctrlKey || e.metaKey || e.shiftKey || !window.HTMLDialogElement) return;
		e.preventDefault();
		e.stopImmediatePropagation();
		link.closest("details")?.removeAttribute("open");
		listKeys(link.href);
	}, true);

	const seen = (el) => el.checkVisibility?.() ?? el.offsetParent !== null;
	const goTo = (el) => {
		el.focus();
		el.scrollIntoView({ block: "nearest", inline: "nearest" });
	};

	// In a week left and right go to the next day that has a slot, to the one at about the same height.
	const acrossTheWeek = (from, step) => {
		const days = $$("[data-week] [data-date]");
		const middle = from.getBoundingClientRect().top;
		for (let i = days.indexOf(from.closest("[data-date]")) + step; days[i]; i += step) {
			const items = $$("[data-key-item]", days[i]).filter(seen);
			if (items.length) return items.reduce((a, b) => (Math.abs(b.getBoundingClientRect().top - middle) < Math.abs(a.getBoundingClientRect().top - middle) ? b : a));
		}
		return null;
	};

	const keys = {
		"/": () => {
			const search = $("[data-search]");
			search?.focus();
			search?.select();
			return search;
		},
		"?": () => {
			const link = $("[data-keys]");
			if (link) listKeys(link.href);
			return link;
		},
		t: () => press($("[data-key=now]")),
		ArrowLeft: (at) => along(at, -1),
		ArrowRight: (at) => along(at, 1),
		ArrowUp: (at) => through(at, -1),
		ArrowDown: (at) => through(at, 1),
		k: (at) => through(at, -1),
		j: (at) => through(at, 1),
	};

	const press = (link) => {
		link?.click();
		return link;
	};

	const through = (at, step) => {
		const items = $$("#main [data-key-item], #main [data-month] a[data-date]").filter(seen);
		if (!items.length) return null;
		const now = items.indexOf(at.closest?.("[data-key-item], [data-month] a[data-date]"));
		const to = now < 0 ? startAt(items, step) : items[now + step];
		if (to) goTo(to);
		return true;
	};

	// The first step goes to what is on: today in a month, else the first that is not over.
	const startAt = (items, step) => {
		if (step < 0) return items.at(-1);
		return items.find((i) => i.closest(".staff-month-today, .staff-slot-running, .staff-slot-next")) || items.find((i) => !i.closest("[data-state=over], .staff-month-past")) || items[0];
	};

	const along = (at, step) => {
		const item = at.closest?.("[data-week] [data-key-item]");
		const to = item && acrossTheWeek(item, step);
		if (to) {
			goTo(to);
			return true;
		}
		if (!item && at !== document.body && at.matches?.("a, button, summary, [tabindex='0']") && !at.matches("[data-key]")) return null;
		return press($(step < 0 ? "[data-key=prev]" : "[data-key=next]"));
	};

	document.addEventListener("keydown", (e) => {
		if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || !document.body.classList.contains("staff")) return;
		if (e.target.closest?.("input, textarea, select, [contenteditable], dialog") || $("dialog[open]") || !keysAreOn()) return;
		const does = Object.hasOwn(keys, e.key) && keys[e.key];
		if (does && does(e.target)) e.preventDefault();
	});

	// --- A press copies what stands in a field; by hand it can be selected as well.

	document.addEventListener("click", async (e) => {
		const b = e.target.closest?.("[data-copy]");
		const from = b && document.getElementById(b.dataset.copy);
		if (!from) return;
		from.focus();
		from.select();
		try {
			// The older way asks nobody; the newer one may wait for an answer for ever.
			if (!document.execCommand("copy")) await navigator.clipboard.writeText(from.value);
		} catch {
			return; // it is selected: the keys copy it
		}
		const text = $(".button-text", b);
		b.dataset.idle ||= text.textContent;
		text.textContent = b.dataset.done;
		say(b.dataset.done);
		setTimeout(() => (text.textContent = b.dataset.idle), 3000);
	});

	// What a script makes of the staff's pages as they come.
	const settle = () => {
		keySwitches(document);
		const here = $(".staff-nav [aria-current]");
		const menu = here?.parentElement;
		if (menu && menu.scrollWidth > menu.clientWidth) menu.scrollLeft = here.offsetLeft - menu.offsetLeft - (menu.clientWidth - here.offsetWidth) / 2;
		const week = $("[data-week]");
		const today = week && $(".staff-weekday-today", week);
		if (today && week.scrollWidth > week.clientWidth && !week.scrollLeft) week.scrollLeft = today.offsetLeft - (week.clientWidth - today.offsetWidth) / 2;
	};

	addEventListener("load", () => {
		const first = $("[data-focus]");
		if (first) first.focus();
	});
	arrive();
})();
