// Single keys move through a page and open things, and never change anything. They can be turned off (WCAG 2.1.4), and do nothing while
// somebody types. Elements have their key in `data-key`, and its description in `data-key-says`.
(() => {
  const setting = 'single-keys';

  function areOn() {
    try {
      return localStorage.getItem(setting) !== 'off';
    } catch {
      return true;
    }
  }

  /** @param {EventTarget | null} target */
  function isTyping(target) {
    return (
      target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
    );
  }

  /** Moves the focus to the next or previous row of the page. @param {number} step */
  function moveThroughRows(step) {
    const links = [...document.querySelectorAll('[data-row]')].flatMap((row) => row.querySelector('a[href]') ?? []);
    const current = links.findIndex((link) => link.closest('[data-row]')?.contains(document.activeElement));
    const next = links[current < 0 ? (step > 0 ? 0 : links.length - 1) : current + step];
    if (next instanceof HTMLElement) next.focus();
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === 'Escape') {
      closeTips();
      return closeMenus();
    }
    if (isTyping(event.target) || !areOn()) return;
    if (event.key === '?') return showKeys();
    if (event.key === 'j') return moveThroughRows(1);
    if (event.key === 'k') return moveThroughRows(-1);
    const element = [...document.querySelectorAll('[data-key]')].find(
      (each) => each.getAttribute('data-key') === event.key,
    );
    if (!(element instanceof HTMLElement)) return;
    event.preventDefault();
    element.focus();
    if (!isTyping(element)) element.click();
  }

  /** Closes a tooltip that covers something, until the pointer or the focus leaves its button (WCAG 1.4.13). */
  function closeTips() {
    for (const tipped of document.querySelectorAll('.tipped:is(:hover, :focus-within)')) {
      tipped.setAttribute('data-closed', '');
      for (const leaving of ['pointerleave', 'focusout'])
        tipped.addEventListener(leaving, () => tipped.removeAttribute('data-closed'), { once: true });
    }
  }

  function closeMenus() {
    for (const menu of document.querySelectorAll('details.menu[open]')) {
      menu.removeAttribute('open');
      menu.querySelector('summary')?.focus();
    }
  }

  function showKeys() {
    const dialog = document.querySelector('#keys') ?? makeDialog();
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
  }

  function makeDialog() {
    const dialog = document.createElement('dialog');
    dialog.id = 'keys';
    dialog.className = 'dialog';
    dialog.setAttribute('aria-labelledby', 'keys-title');
    const title = document.createElement('h2');
    title.id = 'keys-title';
    title.textContent = 'Keys of this page';
    dialog.append(title, listKeys(), makeSwitch(), makeCloser());
    document.body.append(dialog);
    return dialog;
  }

  function listKeys() {
    const list = document.createElement('dl');
    list.className = 'facts';
    const rows = document.querySelector('[data-row]')
      ? [
          ['j, k', 'Next and previous row'],
          ['Enter', 'Open the row'],
        ]
      : [];
    const named = [...document.querySelectorAll('[data-key]')].map((element) => [
      element.getAttribute('data-key') ?? '',
      element.getAttribute('data-key-says') ?? element.getAttribute('aria-label') ?? element.textContent?.trim() ?? '',
    ]);
    for (const [key = '', says = ''] of [['?', 'Show these keys'], ...rows, ...named]) {
      const term = document.createElement('dt');
      const symbol = document.createElement('kbd');
      symbol.textContent = key;
      term.append(symbol);
      const meaning = document.createElement('dd');
      meaning.textContent = says;
      list.append(term, meaning);
    }
    return list;
  }

  function makeSwitch() {
    const label = document.createElement('label');
    label.className = 'choice';
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.checked = areOn();
    box.addEventListener('change', () => localStorage.setItem(setting, box.checked ? 'on' : 'off'));
    label.append(box, ' Use single keys');
    return label;
  }

  function makeCloser() {
    const form = document.createElement('form');
    form.method = 'dialog';
    const button = document.createElement('button');
    button.className = 'button button-plain';
    button.textContent = 'Close';
    form.append(button);
    return form;
  }

  for (const box of document.querySelectorAll(`[data-setting="${setting}"]`)) {
    if (!(box instanceof HTMLInputElement)) continue;
    box.disabled = false;
    box.checked = areOn();
    box.addEventListener('change', () => localStorage.setItem(setting, box.checked ? 'on' : 'off'));
  }
  document.addEventListener('keydown', onKey);
  // A menu closes when the reader clicks somewhere else.
  document.addEventListener('click', (event) => {
    for (const menu of document.querySelectorAll('details.menu[open]')) {
      if (event.target instanceof Node && !menu.contains(event.target)) menu.removeAttribute('open');
    }
  });
  for (const button of document.querySelectorAll('[data-do="show-keys"]')) {
    button.removeAttribute('hidden');
    button.addEventListener('click', () => {
      closeMenus();
      showKeys();
    });
  }
})();
