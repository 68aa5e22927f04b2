// A field of one line drops the line breaks of what is pasted into it, and a key without them is none. Where a value may have lines, the field becomes
// a text area. A field that is scripted elsewhere asks for it by the event `widen`, with the value. Without scripts, the field has another one beside it.
(() => {
  const left = new Set(['type', 'value', 'list', 'pattern']);

  /** @param {HTMLInputElement} field @param {string} value @returns {HTMLTextAreaElement} */
  function widen(field, value) {
    const area = document.createElement('textarea');
    for (const each of field.attributes) if (!left.has(each.name)) area.setAttribute(each.name, each.value);
    area.rows = 4;
    area.className = 'area';
    if (field.type === 'password') {
      area.dataset['secret'] = '';
      area.classList.add('secret');
    }
    area.value = value;
    field.replaceWith(area);
    return area;
  }

  /** @param {EventTarget | null} target @returns {HTMLInputElement | null} */
  function withLines(target) {
    return target instanceof HTMLInputElement && 'lines' in target.dataset ? target : null;
  }

  document.addEventListener('paste', (event) => {
    const field = withLines(event.target);
    const text = event.clipboardData?.getData('text/plain').replaceAll(/\r\n?/g, '\n') ?? '';
    // A line that was copied as a whole ends with a break that nobody means.
    if (!field || !text.trimEnd().includes('\n')) return;
    event.preventDefault();
    const [start, end] = [field.selectionStart ?? field.value.length, field.selectionEnd ?? field.value.length];
    const area = widen(field, field.value.slice(0, start) + text + field.value.slice(end));
    area.focus();
    area.setSelectionRange(start + text.length, start + text.length);
    area.dispatchEvent(new Event('input', { bubbles: true }));
  });
  document.addEventListener('widen', (event) => {
    const field = withLines(event.target);
    if (field && event instanceof CustomEvent) widen(field, String(event.detail));
  });
})();
