// Copies the value beside a button. If the browser does not allow scripts to use the clipboard, as without HTTPS, the value is selected
// instead.
(() => {
  /** @param {Element} value */
  function select(value) {
    const range = document.createRange();
    range.selectNodeContents(value);
    const selection = getSelection();
    selection?.removeAllRanges();
    selection?.addRange(range);
  }

  /** @param {Element} button */
  async function copy(button) {
    const value = button.closest('[data-copied]')?.querySelector('[data-value]');
    const note = button.closest('[data-copied]')?.querySelector('[role="status"]');
    if (!value) return;
    let said = 'Copied';
    try {
      await navigator.clipboard.writeText(value.textContent ?? '');
    } catch {
      value.closest('details')?.setAttribute('open', '');
      select(value);
      said = 'Selected';
    }
    if (note) note.textContent = said;
  }

  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-do="copy"]') : null;
    if (button) void copy(button);
  });
})();
