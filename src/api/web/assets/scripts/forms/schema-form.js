// Forms that are made from a schema. A button that changes the form requests the changed form from the service and shows it in place. What
// was typed into secret fields stays in the browser. Without scripts, the same buttons reload the page.
(() => {
  const found = document.querySelector('form[data-edited]');
  if (!(found instanceof HTMLFormElement)) return;
  const form = found;

  /** @param {ParentNode} parent @returns {HTMLInputElement[]} */
  function secretsIn(parent) {
    return /** @type {HTMLInputElement[]} */ ([...parent.querySelectorAll('input[type="password"], [data-secret]')]);
  }

  /**
   * Fills in a field. A field of one line becomes a text area if the value has line breaks.
   * @param {HTMLInputElement} control @param {string} value
   */
  function enter(control, value) {
    if (control instanceof HTMLInputElement && value.includes('\n'))
      control.dispatchEvent(new CustomEvent('widen', { detail: value, bubbles: true }));
    else control.value = value;
  }

  /** All controls that can be filled in, by their identity. @returns {Map<string, HTMLInputElement>} */
  function controls() {
    const found = /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll('input, select, textarea'));
    const isPicked = (/** @type {HTMLInputElement} */ { type }) => type === 'radio' || type === 'checkbox';
    return new Map(
      [...found].map((control) => [control.name + (isPicked(control) ? ` ${control.value}` : ''), control]),
    );
  }

  /** @returns {Map<string, string>} */
  function entered() {
    return new Map([...controls()].map(([key, { value, checked }]) => [key, `${value} ${checked}`]));
  }

  /**
   * Shows the form as the service returns it. Secrets and opened parts stay as they are.
   * @param {URLSearchParams} fields
   * @param {string} [moved] the slot whose secrets no longer belong to the same items
   * @returns {Promise<boolean>} false if the service answered something else
   */
  async function show(fields, moved) {
    const sent = entered();
    const answer = await fetch(form.action, { method: 'POST', body: fields }).catch(() => null);
    if (!answer?.ok || answer.redirected) return false;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const next = page.querySelector('form[data-edited]');
    if (!next) return false;
    // A page that a script has parsed contains the parts for browsers without scripts.
    for (const part of next.querySelectorAll('noscript')) part.remove();
    const isMoved = (/** @type {string} */ name) => moved !== undefined && `${name.slice(1)}/`.startsWith(`${moved}/`);
    const kept = secretsIn(form).filter(({ name }) => !isMoved(name));
    const typed = new Map(kept.map((control) => [control.name, control.value]));
    // What was typed while the request was running.
    const later = [...controls()].filter(
      ([key, { name, value, checked, type }]) =>
        type !== 'hidden' && sent.get(key) !== `${value} ${checked}` && !isMoved(name),
    );
    const open = [...form.querySelectorAll('details')].map((part) => part.open);
    const takeUp = leaveOff();
    form.replaceChildren(...next.childNodes);
    // The title says whether something is wrong with the form.
    document.title = page.title;
    for (const control of secretsIn(form)) enter(control, typed.get(control.name) ?? '');
    const now = controls();
    for (const [key, { value, checked }] of later) {
      const control = now.get(key);
      if (control) enter(Object.assign(control, { checked }), value);
    }
    for (const [index, part] of [...form.querySelectorAll('details')].entries()) if (open[index]) part.open = true;
    hideUpdates();
    takeUp();
    return true;
  }

  /** Remembers the focused field and its cursor, for the same field in the form that replaces this one. */
  function leaveOff() {
    const field = document.activeElement;
    if (!(field instanceof HTMLElement) || !form.contains(field) || !field.id) return () => {};
    const text = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement ? field : null;
    const [start, end] = [text?.selectionStart ?? null, text?.selectionEnd ?? null];
    return () => {
      const same = document.getElementById(field.id);
      same?.focus({ preventScroll: true });
      const isText = same instanceof HTMLInputElement || same instanceof HTMLTextAreaElement;
      if (isText && start !== null) same.setSelectionRange(start, end);
    };
  }

  /** Edits run one after the other: each starts from the form that the one before it returned. */
  let last = Promise.resolve();

  /** @param {HTMLButtonElement} button */
  function edit(button) {
    const { value, formAction } = button;
    button.setAttribute('aria-busy', 'true');
    last = last.then(() => carryOut(value, new URL(formAction).hash.slice(1)));
  }

  /** @param {string} value what the button asks for @param {string} group the id of the part */
  async function carryOut(value, group) {
    const focused = document.activeElement?.id ?? '';
    const fields = new URLSearchParams({ do: value });
    for (const [name, each] of new FormData(form)) if (typeof each === 'string') fields.append(name, each);
    for (const control of secretsIn(form)) fields.delete(control.name);
    const moved = /^(remove|forget):/.test(value) ? value.slice(value.indexOf('@') + 1) : undefined;
    const isShown = await show(fields, moved);
    // If somebody has moved to another field meanwhile, the focus stays there.
    const now = document.activeElement?.id ?? '';
    if (isShown && now !== '' && now !== focused) return;
    if (isShown) return focusAfter(value, group, focused);
    // Loads the page, on which the service says what is wrong.
    const buttons = [...form.querySelectorAll('[data-edit]')];
    const again = buttons.find((button) => button instanceof HTMLButtonElement && button.value === value);
    if (again instanceof HTMLButtonElement) form.requestSubmit(again);
  }

  /** @param {string} value the edit @param {string} group the id of the part @param {string} before the id that had the focus */
  function focusAfter(value, group, before) {
    const part = document.getElementById(group);
    const same = before ? document.getElementById(before) : null;
    const items = part ? [...part.children].filter((child) => child.classList.contains('item')) : [];
    const control = 'input:not([type="hidden"]), select, textarea';
    const target = value.startsWith('add:')
      ? items.at(-1)?.querySelector(control)
      : (same ?? part?.querySelector(value.startsWith('remove:') ? '[data-edit]' : control) ?? part);
    if (target instanceof HTMLElement) target.focus();
  }

  /** A choice updates the form by itself, so its update button is not needed. */
  function hideUpdates() {
    for (const button of form.querySelectorAll('[data-edit-for], [data-edits] + [data-edit]'))
      button.setAttribute('hidden', '');
  }

  form.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button[data-edit]') : null;
    if (!(button instanceof HTMLButtonElement)) return;
    event.preventDefault();
    edit(button);
  });
  form.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLSelectElement)) return;
    const own =
      'edits' in target.dataset ? target.nextElementSibling : form.querySelector(`[data-edit-for~="${target.name}"]`);
    if (own instanceof HTMLButtonElement) edit(own);
  });
  // What was typed before the visitor had to sign in again. The service returns a form that has fields for all of it.
  form.addEventListener('restoreform', (event) => {
    if (!(event instanceof CustomEvent)) return;
    event.preventDefault();
    const fields = new URLSearchParams({ do: 'show:0@' });
    for (const [name, value, checked] of event.detail) if (checked !== false) fields.append(name, value);
    void show(fields);
  });
  hideUpdates();
})();
