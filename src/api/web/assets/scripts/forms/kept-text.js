// Keeps what somebody types into a form through a refresh, an error of the service and the end of the session. It is stored in this tab,
// without passwords and secrets, until the form was carried out, its writer discards it, cancels or signs out, or a day has passed.
(() => {
  const { isControl, isRevision, isPicked, controlsOf, isSameControl, isSame, isChanged } = keptFields;
  const { actionOf, addressOf, namedBy, subjectOf } = keptFields;
  /**
   * `key` is the idempotency key of a form that was sent and whose outcome is unknown.
   * @typedef {{ values: KeptValue[], subject: string, key: string | null, at: number, isSent: boolean }} Kept
   */

  const prefix = 'form:';
  const signedOut = 'signed-out';
  const signOutPath = '/logout';
  const pauseMs = 300;
  /** As long as a session. */
  const longestMs = 24 * 60 * 60 * 1000;
  const visitor = document.body.dataset['visitor'];
  /** The forms in which somebody has typed. @type {Set<HTMLFormElement>} */
  const touched = new Set();
  /** What was typed into a form before the service showed it again. @type {WeakMap<HTMLFormElement, KeptValue[]>} */
  const typedBefore = new WeakMap();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** The storage key of a form: its address, and its index among the page's forms with this address. @param {HTMLFormElement} form */
  function keyOf(form) {
    const same = [...document.forms].filter((each) => addressOf(each) === addressOf(form));
    return `${prefix}${visitor} ${addressOf(form)} ${same.indexOf(form)}`;
  }

  /**
   * What was typed. A form that the service fills in can be restored only from all of its values.
   * @param {HTMLFormElement} form @returns {KeptValue[]}
   */
  function typedIn(form) {
    const all = controlsOf(form);
    const isTyped = (/** @type {{ control: FormControl }} */ { control }) =>
      control.type !== 'hidden' && isChanged(control);
    const isKept = 'edited' in form.dataset && sessionStorage.getItem(keyOf(form)) !== null;
    if (!isKept && !typedBefore.has(form) && !all.some(isTyped)) return [];
    const typed = 'edited' in form.dataset ? all : all.filter((each) => isTyped(each) || isRevision(each.control));
    const now = typed.map(({ value }) => value);
    const before = typedBefore.get(form) ?? [];
    return [...before.filter((each) => !now.some((other) => isSameControl(each, other))), ...now];
  }

  /** @param {string} key @returns {Kept | null} */
  function read(key) {
    const text = sessionStorage.getItem(key);
    return text === null ? null : JSON.parse(text);
  }

  /** @param {string} key @param {Kept} kept */
  function write(key, kept) {
    try {
      sessionStorage.setItem(key, JSON.stringify(kept));
    } catch {
      // It is more than the browser has room for: it is then typed again, as without this script.
      sessionStorage.removeItem(key);
    }
  }

  /** @param {HTMLFormElement} form @param {boolean} isSent */
  function keep(form, isSent) {
    const values = typedIn(form);
    const key = form.elements.namedItem('key');
    const sentKey = isSent && key instanceof HTMLInputElement ? key.value : null;
    if (values.length > 0)
      write(keyOf(form), { values, subject: subjectOf(form), key: sentKey, at: Date.now(), isSent });
    else sessionStorage.removeItem(keyOf(form));
  }

  function allKeys() {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(prefix));
  }

  /** @param {HTMLFormElement} form */
  function forget(form) {
    clearTimeout(timer);
    touched.delete(form);
    sessionStorage.removeItem(keyOf(form));
  }

  function forgetAll() {
    // What is still to be kept after a pause would be kept after the visitor has signed out.
    clearTimeout(timer);
    touched.clear();
    for (const key of allKeys()) sessionStorage.removeItem(key);
  }

  /** Removes what was typed before the visitor signed out in another tab, or more than a day ago. */
  function forgetOld() {
    const until = Math.max(Number(localStorage.getItem(signedOut)), Date.now() - longestMs);
    for (const key of allKeys()) if ((read(key)?.at ?? 0) < until) sessionStorage.removeItem(key);
  }

  /** Removes what another person typed in this tab. */
  function forgetOthers() {
    for (const key of allKeys()) if (!key.startsWith(`${prefix}${visitor} `)) sessionStorage.removeItem(key);
  }

  /** Whether a form contains all values that were kept of it. @param {HTMLFormElement} form @param {Kept} kept */
  function holds(form, { values }) {
    const now = controlsOf(form).map(({ value }) => value);
    return values.every((each) => now.some((other) => isSame(each, other)));
  }

  /** Settles the forms that were sent. A form was carried out if the new page neither shows it again nor reports a problem. */
  function settle() {
    const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));
    const isProblem = 'problem' in document.body.dataset;
    for (const key of allKeys()) {
      const kept = read(key);
      if (!kept?.isSent) continue;
      const form = [...document.forms].find((each) => keyOf(each) === key);
      const isShownAgain = form && (isProblem || holds(form, kept));
      const isOpenedAgain = form && navigation?.type !== 'navigate';
      if (isShownAgain) typedBefore.set(form, kept.values);
      if (isShownAgain || isOpenedAgain) write(key, { ...kept, isSent: false, key: isShownAgain ? null : kept.key });
      else sessionStorage.removeItem(key);
    }
  }

  /** The values to fill in. A field that the address sets stays as the page shows it. @param {HTMLFormElement} form @param {Kept} kept */
  function fillable(form, { values }) {
    const isNamed = namedBy(form);
    const shown = controlsOf(form).flatMap(({ value }) => (isNamed(value[0]) ? [value] : []));
    return [...values.filter(([name]) => !isNamed(name)), ...shown];
  }

  /** @param {HTMLFormElement} form @param {Kept} kept @returns {boolean} whether anything was filled in */
  function fill(form, kept) {
    const { key } = kept;
    const values = fillable(form, kept);
    const ownKey = form.elements.namedItem('key');
    if (key !== null && ownKey instanceof HTMLInputElement) ownKey.value = key;
    // A form whose fields depend on what is typed handles this event, and fills itself in.
    if (!form.dispatchEvent(new CustomEvent('restoreform', { detail: values, cancelable: true }))) return true;
    let isFilled = false;
    for (const { control, value: now } of controlsOf(form)) {
      const typed = values.find((each) => isSameControl(each, now));
      if (!typed || isSame(typed, now)) continue;
      if (isPicked(control)) control.checked = typed[2] === true;
      else control.value = typed[1];
      if (control.type === 'hidden') continue;
      isFilled = true;
      control.dispatchEvent(new Event('input', { bubbles: true }));
    }
    return isFilled;
  }

  /** @param {HTMLFormElement} form @param {(string | Node)[]} content */
  function tell(form, ...content) {
    const note = document.createElement('div');
    note.className = 'notice';
    note.setAttribute('role', 'status');
    note.append(...content);
    form.before(note);
  }

  /** @param {HTMLFormElement} form */
  function discardButton(form) {
    const discard = document.createElement('button');
    discard.className = 'button button-plain';
    discard.type = 'button';
    discard.textContent = 'Discard';
    discard.addEventListener('click', () => {
      forget(form);
      form.reset();
      location.reload();
    });
    return discard;
  }

  /** @param {HTMLFormElement} form */
  function restore(form) {
    const kept = read(keyOf(form));
    if (kept === null || typedBefore.has(form)) return;
    if (kept.subject !== subjectOf(form)) {
      forget(form);
      tell(form, 'What this form is about has changed, so we did not keep what you typed.');
    } else if (fill(form, kept)) {
      const isNamed = namedBy(form);
      const set = kept.values.some(([name]) => isNamed(name))
        ? ' Fields that the address of this page sets are as it says.'
        : '';
      tell(
        form,
        `We kept what you typed. Passwords, secrets and confirmations are not kept.${set}`,
        discardButton(form),
      );
    } else forget(form);
  }

  function open() {
    // A browser cannot show the answer to a form again. With this address, going back to it or reloading it loads the page of the form.
    const { formAddress } = document.body.dataset;
    if (formAddress !== undefined) history.replaceState(history.state, '', formAddress + location.hash);
    forgetOld();
    // Nobody is signed in, or something has failed, so no form is known to have been carried out.
    if (visitor === undefined || document.querySelector('[data-keep-forms]')) {
      for (const key of allKeys()) {
        const kept = read(key);
        if (kept) write(key, { ...kept, isSent: false });
        document.querySelector('[data-kept-note]')?.removeAttribute('hidden');
      }
      return;
    }
    forgetOthers();
    settle();
    for (const form of document.forms) if (form.method === 'post') restore(form);
  }

  /** @param {EventTarget | null} target */
  function touch(target) {
    const form = isControl(target) ? target.form : null;
    if (form?.method !== 'post' || visitor === undefined) return;
    touched.add(form);
    clearTimeout(timer);
    timer = setTimeout(() => keep(form, false), pauseMs);
  }

  document.addEventListener('input', ({ target }) => touch(target));
  document.addEventListener('change', ({ target }) => touch(target));
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method !== 'post' || event.defaultPrevented) return;
    clearTimeout(timer);
    if (actionOf(form).pathname === signOutPath) {
      localStorage.setItem(signedOut, String(Date.now()));
      return forgetAll();
    }
    if (visitor === undefined) return;
    touched.delete(form);
    keep(form, true);
  });
  document.addEventListener('click', ({ target, ctrlKey, metaKey, shiftKey }) => {
    // With these keys, the browser opens the link in another tab or window, and the form stays.
    if (!(target instanceof Element) || ctrlKey || metaKey || shiftKey) return;
    const form = target.closest('a[data-cancel]')?.closest('form');
    if (form) forget(form);
  });
  window.addEventListener('storage', ({ key }) => {
    if (key === signedOut) forgetAll();
  });
  window.addEventListener('pagehide', () => {
    for (const form of touched) keep(form, false);
  });
  // The scripts of the page have run at this event.
  document.addEventListener('DOMContentLoaded', open);
})();
