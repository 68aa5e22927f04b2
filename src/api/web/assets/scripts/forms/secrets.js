// Copies what a page shows only once, and confirms that. Without this script, people select and copy the text themselves.
(() => {
  /** @param {HTMLInputElement} input */
  async function copy(input) {
    input.select();
    try {
      await navigator.clipboard.writeText(input.value);
      return true;
    } catch {
      // Without HTTPS a browser has no clipboard for scripts, but still copies what is selected.
      return document.execCommand('copy');
    }
  }

  for (const button of document.querySelectorAll('[data-copy]')) {
    if (!(button instanceof HTMLButtonElement)) continue;
    button.hidden = false;
    button.addEventListener('click', async () => {
      const id = button.dataset['copy'] ?? '';
      const input = document.getElementById(id);
      const state = document.getElementById(`${id}-state`);
      if (!(input instanceof HTMLInputElement) || !state) return;
      const isCopied = await copy(input);
      state.textContent = isCopied ? 'Copied.' : 'Not copied: the text is selected, press Ctrl+C.';
      state.classList.toggle('secret-copied', isCopied);
    });
  }
})();
