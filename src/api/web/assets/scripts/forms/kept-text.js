// What somebody types into a form survives a refresh, an error of the service and the end of the session: it waits in this tab, without passwords and
// secrets, until the form has been carried out, or its writer discards it or signs out.
(() => {
  /**
   * The name of a control, its value, whether it is checked (null: it cannot be), and its place among the controls of that name.
   * @typedef {[name: string, value: string, checked: boolean | null, place: number]} KeptValue
   */
  /** `key` is that of a form that was sent without a known outcome. @typedef {{ values: KeptValue[], key: string | null, at: number, isSent: boolean }} Kept */
  /** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Control */

  const prefix = 'form:';
  const signedOut = 'signed-out';
  const pauseMs = 300;
  const visitor = document.body.dataset['visitor'];
  /** The forms in which somebody has typed. @type {Set<HTMLFormElement>} */
  const touched = new Set();
  /** What was typed into a form before the service showed it again. @type {WeakMap<HTMLFormElement, KeptValue[]>} */
  const typedBefore = new WeakMap();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** A form of a page is known by its address, and by its place among those of the same address. @param {HTMLFormElement} form */
  function keyOf(form) {
    const addressOf = (/** @type {HTMLFormElement} */ each) => each.getAttribute('action')?.split(/[?#]/)[0];
    const same = [...document.forms].filter((each) => addressOf(each) === addressOf(form));
    return `${prefix}${visitor} ${addressOf(form)} ${same.indexOf(form)}`;
  }

  /** @param {Element} control @returns {control is Control} */
  function isControl(control) {
    return (
      control instanceof HTMLInputElement ||
      control instanceof HTMLTextAreaElement ||
      control instanceof HTMLSelectElement
    );
  }

  /** The revision for which a form was opened stays with what was typed, so that nobody overwrites a newer one unawares. @param {Control} control */
  function isRevision({ type, name }) {
    return type === 'hidden' && name.startsWith('expected_');
  }

  /** @param {Control} control */
  function isKept(control) {
    const { name, type, dataset } = control;
    if (name === '' || type === 'password' || type === 'file' || type === 'submit') return false;
    if ('secret' in dataset || /passw|passphrase|secret|token|credential|private.?key/i.test(name)) return false;
    return type !== 'hidden' || 'kept' in dataset || isRevision(control);
  }

  /** @param {Control} control @returns {control is HTMLInputElement} */
  function isPicked(control) {
    return control.type === 'checkbox' || control.type === 'radio';
  }

  /** Every control of a form whose value is kept. @param {HTMLFormElement} form @returns {{ control: Control, value: KeptValue }[]} */
  function controlsOf(form) {
    const controls = [...form.elements].filter(isControl);
    return controls.filter(isKept).map((control) => {
      const same = controls.filter(
        ({ name, value }) => name === control.name && (!isPicked(control) || value === control.value),
      );
      const checked = isPicked(control) ? control.checked : null;
      return { control, value: [control.name, control.value, checked, same.indexOf(control)] };
    });
  }

  /** @param {KeptValue} one @param {KeptValue} other */
  function isSameControl([name, value, checked, place], [otherName, otherValue, , otherPlace]) {
    return name === otherName && place === otherPlace && (checked === null || value === otherValue);
  }

  /** @param {Control} control */
  function isChanged(control) {
    if (control instanceof HTMLSelectElement) {
      const chosen = [...control.options].findIndex(({ defaultSelected }) => defaultSelected);
      return control.selectedIndex !== Math.max(chosen, 0);
    }
    return isPicked(control) ? control.checked !== control.defaultChecked : control.value !== control.defaultValue;
  }

  /** What was typed. A form that the service fills in needs all of its values to be filled in again. @param {HTMLFormElement} form @returns {KeptValue[]} */
  function typedIn(form) {
    const all = controlsOf(form);
    const isTyped = (/** @type {{ control: Control }} */ { control }) =>
      control.type !== 'hidden' && isChanged(control);
    if (!typedBefore.has(form) && !all.some(isTyped)) return [];
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
    if (values.length > 0) write(keyOf(form), { values, key: sentKey, at: Date.now(), isSent });
    else sessionStorage.removeItem(keyOf(form));
  }

  function allKeys() {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(prefix));
  }

  function forgetAll() {
    touched.clear();
    for (const key of allKeys()) sessionStorage.removeItem(key);
  }

  /** Removes what another person has typed in this tab, and what was typed before the visitor signed out in another one. */
  function forgetOthers() {
    const until = Number(localStorage.getItem(signedOut));
    for (const key of allKeys())
      if (!key.startsWith(`${prefix}${visitor} `) || (read(key)?.at ?? 0) < until) sessionStorage.removeItem(key);
  }

  /** Whether a form holds all that was kept of it. @param {HTMLFormElement} form @param {Kept} kept */
  function holds(form, { values }) {
    const now = controlsOf(form).map(({ value }) => value);
    return values.every((each) =>
      now.some(
        (other) => isSameControl(each, other) && (each[2] === null ? each[1] === other[1] : each[2] === other[2]),
      ),
    );
  }

  /** What became of a form that was sent: a page that neither shows it again nor says that something failed shows that it was carried out. */
  function settle() {
    const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));
    const isProblem = document.title.startsWith('Problem: ');
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

  /** @param {HTMLFormElement} form @param {Kept} kept @returns {boolean} whether anything was filled in */
  function fill(form, { values, key }) {
    const ownKey = form.elements.namedItem('key');
    if (key !== null && ownKey instanceof HTMLInputElement) ownKey.value = key;
    // A form whose fields depend on what is typed fills itself in.
    if (!form.dispatchEvent(new CustomEvent('restoreform', { detail: values, cancelable: true }))) return true;
    let isFilled = false;
    for (const { control, value: now } of controlsOf(form)) {
      const kept = values.find((each) => isSameControl(each, now));
      if (!kept || (kept[2] === null ? kept[1] === now[1] : kept[2] === now[2])) continue;
      if (isPicked(control)) control.checked = kept[2] === true;
      else control.value = kept[1];
      if (control.type === 'hidden') continue;
      isFilled = true;
      control.dispatchEvent(new Event('input', { bubbles: true }));
    }
    return isFilled;
  }

  /** @param {HTMLFormElement} form */
  function tell(form) {
    const note = document.createElement('div');
    note.className = 'notice';
    note.setAttribute('role', 'status');
    const discard = document.createElement('button');
    discard.className = 'button button-plain';
    discard.type = 'button';
    discard.textContent = 'Discard';
    discard.addEventListener('click', () => {
      clearTimeout(timer);
      touched.delete(form);
      sessionStorage.removeItem(keyOf(form));
      form.reset();
      location.reload();
    });
    note.append('We kept what you typed. Passwords and secrets are not kept.', discard);
    form.before(note);
  }

  /** @param {HTMLFormElement} form */
  function restore(form) {
    const kept = read(keyOf(form));
    if (kept === null || typedBefore.has(form)) return;
    if (fill(form, kept)) tell(form);
    else sessionStorage.removeItem(keyOf(form));
  }

  function open() {
    // Nobody is signed in, or something has failed: nothing was carried out as far as anybody knows.
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
    const form = isControl(/** @type {Element} */ (target)) ? /** @type {Control} */ (target).form : null;
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
    if ('forgetForms' in form.dataset) {
      localStorage.setItem(signedOut, String(Date.now()));
      return forgetAll();
    }
    if (visitor === undefined) return;
    touched.delete(form);
    keep(form, true);
  });
  window.addEventListener('storage', ({ key }) => {
    if (key === signedOut) forgetAll();
  });
  window.addEventListener('pagehide', () => {
    for (const form of touched) keep(form, false);
  });
  // The scripts of the page have run by then.
  document.addEventListener('DOMContentLoaded', open);
})();
