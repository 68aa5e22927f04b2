// Sends a form only once the service is known to be reachable. Otherwise, the browser would replace the form by an error page, and what was
// typed would be lost.
(() => {
  /** A service that takes longer is slow rather than unreachable, so the form is sent. */
  const maxWaitMs = 3_000;
  const unreachable = new Set([502, 503, 504]);
  /** @type {WeakSet<HTMLFormElement>} */
  const waiting = new WeakSet();
  /** The form that is being submitted. @type {HTMLFormElement | null} */
  let sending = null;

  async function isReachable() {
    try {
      const answer = await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(maxWaitMs) });
      return !unreachable.has(answer.status);
    } catch (error) {
      return error instanceof DOMException && error.name === 'TimeoutError';
    }
  }

  /** @param {HTMLFormElement} form */
  function tell(form) {
    const note = document.createElement('p');
    note.className = 'notice notice-problem';
    note.setAttribute('role', 'alert');
    note.dataset['unreachable'] = '';
    note.textContent =
      'The service cannot be reached. Nothing was sent, and what you typed is still here. Try again in a moment.';
    form.append(note);
    note.scrollIntoView({ block: 'nearest' });
  }

  /** @param {HTMLFormElement} form @param {HTMLElement | null} button */
  async function send(form, button) {
    waiting.add(form);
    const isSendable = await isReachable();
    waiting.delete(form);
    form.querySelector('[data-unreachable]')?.remove();
    if (!isSendable) return tell(form);
    sending = form;
    form.requestSubmit(button);
    sending = null;
  }

  // Captures the event, because other listeners may act only once the form is really sent.
  document.addEventListener(
    'submit',
    (event) => {
      const form = event.target;
      if (!(form instanceof HTMLFormElement) || form.method !== 'post' || form === sending) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (!waiting.has(form)) void send(form, event.submitter);
    },
    { capture: true },
  );
})();
