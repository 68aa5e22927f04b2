// Sends a form once, however often its button is pressed.
(() => {
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
    button?.setAttribute('aria-busy', 'true');
    tellWaiting(form, true);
  });
  // When the reader comes back through the browser's history, the page is still in the state in which they left it.
  window.addEventListener('pageshow', () => {
    for (const form of document.forms) {
      delete form.dataset['sent'];
      tellWaiting(form, false);
      for (const busy of form.querySelectorAll('[aria-busy]')) busy.removeAttribute('aria-busy');
    }
  });
  const first = document.querySelector('[data-focus]');
  if (first instanceof HTMLElement) first.focus();
})();
