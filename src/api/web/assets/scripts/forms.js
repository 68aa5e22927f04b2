// A form is sent once, however often its button is pressed. What was typed survives the end of a session: it waits in this tab, without
// passwords and secrets, until the form is opened again.
(() => {
  const prefix = 'form:';

  /** @param {HTMLFormElement} form */
  function keyOf(form) {
    return prefix + new URL(form.action).pathname;
  }

  /** @param {Element} control */
  function isKept(control) {
    if (
      !(
        control instanceof HTMLInputElement ||
        control instanceof HTMLTextAreaElement ||
        control instanceof HTMLSelectElement
      )
    )
      return false;
    return (
      control.name !== '' &&
      control.type !== 'password' &&
      control.type !== 'file' &&
      (control.type !== 'hidden' || 'kept' in control.dataset) &&
      !('secret' in control.dataset)
    );
  }

  /** @param {HTMLFormElement} form */
  function keep(form) {
    const values = [...form.elements].filter(isKept).map((control) => {
      const { name, value, type, checked } = /** @type {HTMLInputElement} */ (control);
      return [name, value, type === 'checkbox' || type === 'radio' ? checked : null];
    });
    if (values.length > 0) sessionStorage.setItem(keyOf(form), JSON.stringify({ values, at: Date.now() }));
  }

  /** Fills in what was typed before the visitor had to sign in again. @param {HTMLFormElement} form */
  function restore(form) {
    const kept = sessionStorage.getItem(keyOf(form));
    sessionStorage.removeItem(keyOf(form));
    if (kept === null || !location.search.includes('restored=')) return;
    const { values } = JSON.parse(kept);
    // A form whose fields depend on what is typed fills itself in.
    if (!form.dispatchEvent(new CustomEvent('restoreform', { detail: values, cancelable: true }))) return;
    for (const [name, value, checked] of values) {
      for (const control of [...form.elements].filter(isKept)) {
        const input = /** @type {HTMLInputElement} */ (control);
        if (input.name !== name) continue;
        if (input.type === 'checkbox' || input.type === 'radio') {
          if (input.value === value) input.checked = checked;
        } else input.value = value;
      }
    }
  }

  /** On the way over the sign-in page, what was typed waits. Any other page shows that it is no longer needed. */
  function forgetOthers() {
    if (document.querySelector('[data-keep-forms]')) return;
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  }

  /** Says what the service does meanwhile, or no longer. @param {HTMLFormElement} form @param {boolean} isSent */
  function tellWaiting(form, isSent) {
    const note = form.querySelector('[data-waiting]');
    if (!(note instanceof HTMLElement)) return;
    note.hidden = !isSent;
    if (isSent) note.scrollIntoView({ block: 'nearest' });
  }

  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method !== 'post') return;
    const button = event.submitter;
    if (form.dataset['sent'] !== undefined) return event.preventDefault();
    form.dataset['sent'] = '';
    keep(form);
    button?.setAttribute('aria-busy', 'true');
    tellWaiting(form, true);
  });
  // The page comes back from the browser's history as it was left.
  window.addEventListener('pageshow', () => {
    for (const form of document.forms) {
      delete form.dataset['sent'];
      tellWaiting(form, false);
      for (const busy of form.querySelectorAll('[aria-busy]')) busy.removeAttribute('aria-busy');
    }
  });
  // The scripts of the page have run by then.
  document.addEventListener('DOMContentLoaded', () => {
    for (const form of document.forms) if (form.method === 'post') restore(form);
    forgetOthers();
  });
  const first = document.querySelector('[data-focus]');
  if (first instanceof HTMLElement) first.focus();
})();
