// The editor of a draft: checks it after each pause in typing, keeps the line numbers, and lets Tab indent.
(() => {
  const pauseMs = 700;

  /**
   * @param {HTMLFormElement} form
   * @param {HTMLTextAreaElement} text
   */
  function follow(form, text) {
    let checked = text.value;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    /** @type {AbortController | undefined} */
    let asking;

    /** Sends the text to the service for a check, and shows the messages and the drawing of the answer. It saves nothing. */
    async function check() {
      if (text.value === checked) return;
      asking?.abort();
      asking = new AbortController();
      const sent = text.value;
      const fields = new URLSearchParams({
        spec: sent,
        expected_revision: String(new FormData(form).get('expected_revision') ?? ''),
        do: 'validate',
      });
      try {
        const answer = await fetch(form.action, { method: 'POST', body: fields, signal: asking.signal });
        if (!answer.ok) return;
        takeOver(new DOMParser().parseFromString(await answer.text(), 'text/html'));
        checked = sent;
      } catch {
        // The check failed. The next pause in typing, or the button, checks again.
      }
    }

    /** @param {Document} page */
    function takeOver(page) {
      for (const id of ['draft-report', 'draft-numbers', 'draft-notes']) {
        const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
        if (old && fresh && old.outerHTML !== fresh.outerHTML) old.replaceWith(document.adoptNode(fresh));
      }
      const editor = page.querySelector('.draft-editor');
      document.dispatchEvent(new Event('graph:drawn'));
      document.querySelector('.draft-editor')?.classList.toggle('has-notes', editor?.classList.contains('has-notes'));
    }

    /** Numbers the lines at once, without waiting for the check. */
    function number() {
      const numbers = document.getElementById('draft-numbers');
      const lines = text.value.split('\n').length;
      text.rows = Math.max(24, lines + 1);
      if (numbers && numbers.textContent?.split('\n').length !== lines + 1) {
        numbers.textContent = Array.from({ length: Math.min(lines, 5000) }, (_, index) => `${index + 1}\n`).join('');
      }
    }

    text.addEventListener('input', () => {
      number();
      clearTimeout(timer);
      timer = setTimeout(() => void check(), pauseMs);
    });

    // After Esc, Tab leaves the editor. Otherwise, people who use the keyboard could not leave it.
    let leaves = false;
    text.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') leaves = true;
      else if (event.key !== 'Tab') leaves = false;
      else if (!leaves && !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey) {
        event.preventDefault();
        text.setRangeText('  ', text.selectionStart, text.selectionEnd, 'end');
        text.dispatchEvent(new Event('input'));
      }
    });
    text.addEventListener('blur', () => {
      leaves = false;
    });

    // A click on a message puts the cursor into its line.
    document.addEventListener('click', (event) => {
      const link = event.target instanceof Element ? event.target.closest('[data-line]') : null;
      if (!(link instanceof HTMLElement)) return;
      event.preventDefault();
      const line = Number(link.dataset['line']);
      const before = text.value.split('\n').slice(0, line - 1);
      const start = before.reduce((sum, each) => sum + each.length + 1, 0);
      const end = text.value.indexOf('\n', start);
      text.focus({ preventScroll: true });
      document.getElementById(`L${line}`)?.scrollIntoView({ block: 'nearest' });
      text.setSelectionRange(start, end < 0 ? text.value.length : end);
    });
  }

  const form = document.querySelector('form[data-draft]');
  const text = document.getElementById('spec');
  if (form instanceof HTMLFormElement && text instanceof HTMLTextAreaElement) follow(form, text);
})();
