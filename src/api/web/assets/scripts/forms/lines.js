// Turns a field of one line into a text area when somebody pastes a value of several lines: a field of one line drops line breaks, and a
// key without them is not valid. Other scripts request it by the event `widen`, with the value. Without scripts, the page has a second
// field for such values.
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
    // A copied line often ends with a line break that is not part of the value.
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
