// The bar above a log: search results, errors, how lines are shown, and what a screen reader announces.

/** @typedef {'find-next' | 'find-previous' | 'error-next' | 'error-previous' | 'top' | 'end' | 'wrap' | 'times' | 'follow'} BarAction */

export class LogBar {
  #root;
  #input;
  #news;
  /** @type {Map<string, string>} */
  #said = new Map();

  /** @param {HTMLElement} root @param {{ act: (action: BarAction) => void, find: (text: string) => void }} actions */
  constructor(root, { act, find }) {
    this.#root = root;
    this.#input = /** @type {HTMLInputElement} */ (root.querySelector('input[name="find"]'));
    this.#news = /** @type {HTMLElement} */ (root.querySelector('[data-log="news"]'));
    for (const button of root.querySelectorAll('[data-log-do]')) {
      const action = /** @type {BarAction} */ (button.getAttribute('data-log-do'));
      button.addEventListener('click', () => act(action));
    }
    this.#input.form?.addEventListener('submit', (event) => event.preventDefault());
    this.#input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') act(event.shiftKey ? 'find-previous' : 'find-next');
      if (event.key === 'Escape') this.#clear(find);
      if (event.key === 'Enter' || event.key === 'Escape') event.preventDefault();
    });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    this.#input.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(() => find(this.text), 250);
    });
  }

  get text() {
    return this.#input.value.slice(0, 200);
  }

  /** @param {(text: string) => void} find */
  #clear(find) {
    this.#input.value = '';
    find('');
    this.#input.blur();
  }

  /** @param {'find' | 'errors'} what @param {string} text */
  say(what, text) {
    const element = this.#root.querySelector(`[data-log="${what}"]`);
    if (!element || this.#said.get(what) === text) return;
    this.#said.set(what, text);
    element.textContent = text;
  }

  /** @param {BarAction} action @param {boolean} isOn */
  press(action, isOn) {
    this.#button(action)?.setAttribute('aria-pressed', String(isOn));
  }

  /**
   * The button that takes the reader back to the end, with the number of lines that were added meanwhile.
   * @param {number | null} added null hides the button
   */
  showNews(added) {
    const text = added === null ? '' : added === 0 ? '↓ Follow' : `↓ ${added.toLocaleString('en')} new`;
    this.#news.hidden = added === null;
    if (this.#news.textContent !== text) this.#news.textContent = text;
  }

  /** @param {BarAction} action */
  #button(action) {
    return this.#root.querySelector(`[data-log-do="${action}"]`);
  }
}

/**
 * "3 of 1,922 lines", or why there are none.
 * @param {import('./run-log-find.js').LogFind} found @param {number} line @param {string} noun
 */
export function describeFound(found, line, noun) {
  if (found.isBroken) return 'The search failed: type again to retry';
  const count = `${found.count.toLocaleString('en')} ${noun}${found.count === 1 ? '' : 's'}`;
  if (found.isSearching) return `${count} so far …`;
  if (found.count === 0) return `No ${noun}s`;
  const place = found.placeOf(line);
  return place > 0 ? `${place.toLocaleString('en')} of ${count}` : count;
}
