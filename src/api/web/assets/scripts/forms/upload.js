// Sends a file byte for byte to an operation of the API, and then opens the page that shows the result.
(() => {
  /**
   * What is wrong, and whether the file is to blame.
   * @typedef {{ readonly text: string, readonly isOfFile: boolean }} Problem
   */

  /** The statuses of refusals that are about the file. */
  const statusesOfFile = [400, 413, 415, 422];

  /** @param {HTMLFormElement} form @param {SubmitEvent} event */
  async function upload(form, event) {
    event.preventDefault();
    const input = form.querySelector('input[type="file"]');
    const file = input instanceof HTMLInputElement ? input.files?.[0] : undefined;
    if (!file || !(input instanceof HTMLInputElement)) return;
    const button = event.submitter;
    button?.setAttribute('aria-busy', 'true');
    const problem = findProblem(form, file) ?? (await send(form, file));
    button?.removeAttribute('aria-busy');
    if (problem === null) location.assign(form.dataset['then'] ?? location.pathname);
    show(form, input, problem);
  }

  /**
   * Shows the problem at the field of the file, or above the form.
   * @param {HTMLFormElement} form @param {HTMLInputElement} input @param {Problem | null} problem
   */
  function show(form, input, problem) {
    const ofFile = problem?.isOfFile ? problem.text : null;
    const place = document.getElementById(`${input.id}-problem`);
    if (ofFile === null) input.removeAttribute('aria-invalid');
    else input.setAttribute('aria-invalid', 'true');
    input.setAttribute('aria-describedby', `${input.id}-hint${ofFile === null ? '' : ` ${input.id}-problem`}`);
    say(place, place?.querySelector('span'), ofFile);
    const above = form.querySelector('[data-upload-problem]');
    say(above, above, problem && !problem.isOfFile ? problem.text : null);
    if (ofFile !== null) input.focus();
  }

  /** @param {Element | null} place @param {Element | null | undefined} line @param {string | null} text */
  function say(place, line, text) {
    if (line) line.textContent = text ?? '';
    if (place instanceof HTMLElement) place.hidden = text === null;
  }

  /** Problems that can be found before the file is sent. @param {HTMLFormElement} form @param {File} file @returns {Problem | null} */
  function findProblem(form, file) {
    if (file.size === 0) return { text: 'The file is empty.', isOfFile: true };
    if (file.size > Number(form.dataset['maxBytes'])) return { text: wordsOf(form)['too_large'] ?? '', isOfFile: true };
    return null;
  }

  /** @param {HTMLFormElement} form @param {File} file @returns {Promise<Problem | null>} */
  async function send(form, file) {
    try {
      const answer = await fetch(form.dataset['upload'] ?? '', {
        method: 'POST',
        body: file,
        headers: { 'content-type': 'application/json' },
      });
      if (answer.ok) return null;
      const { error } = await answer.json();
      const code = answer.headers.get('x-error-code') ?? '';
      const text = wordsOf(form)[code] ?? toSentence(String(error ?? `The service answered ${answer.status}.`));
      return { text, isOfFile: statusesOfFile.includes(answer.status) };
    } catch {
      const text =
        'The service could not be reached. Nothing is known about the import: look at the instance before you try again.';
      return { text, isOfFile: false };
    }
  }

  /** @param {HTMLFormElement} form @returns {Record<string, string>} */
  function wordsOf(form) {
    return JSON.parse(form.dataset['words'] ?? '{}');
  }

  /**
   * Turns a message of the API into a sentence: it is about the body, which is the file here, or begins with the name of a member of the
   * body.
   * @param {string} message
   */
  function toSentence(message) {
    const said = message.replace(/^the body /, 'the file ').replace(/^([a-z_]+): /, 'in the file, “$1”: ');
    const sentence = said.charAt(0).toUpperCase() + said.slice(1);
    return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
  }

  for (const form of document.querySelectorAll('form[data-upload]')) {
    if (!(form instanceof HTMLFormElement)) continue;
    form.hidden = false;
    form.addEventListener('submit', (event) => void upload(form, event));
  }
})();
