// Sends a file byte for byte to an operation of the API, and then opens the page that shows the result.
(() => {
  /** @param {HTMLFormElement} form @param {SubmitEvent} event */
  async function upload(form, event) {
    event.preventDefault();
    const input = form.querySelector('input[type="file"]');
    const file = input instanceof HTMLInputElement ? input.files?.[0] : undefined;
    const problem = form.querySelector('[data-upload-problem]');
    if (!file || !(problem instanceof HTMLElement)) return;
    const button = event.submitter;
    button?.setAttribute('aria-busy', 'true');
    const text = await send(form.dataset['upload'] ?? '', file);
    button?.removeAttribute('aria-busy');
    if (text === null) location.assign(form.dataset['then'] ?? location.pathname);
    problem.hidden = text === null;
    problem.textContent = text ?? '';
  }

  /** Resolves to the problem, or to null. @param {string} address @param {File} file */
  async function send(address, file) {
    try {
      const answer = await fetch(address, {
        method: 'POST',
        body: file,
        headers: { 'content-type': 'application/json' },
      });
      if (answer.ok) return null;
      const { error } = await answer.json();
      return typeof error === 'string' ? error : `The service answered ${answer.status}.`;
    } catch {
      return 'The service could not be reached. Nothing is known about the import: look at the instance before you try again.';
    }
  }

  for (const form of document.querySelectorAll('form[data-upload]')) {
    if (!(form instanceof HTMLFormElement)) continue;
    form.hidden = false;
    form.addEventListener('submit', (event) => void upload(form, event));
  }
})();
