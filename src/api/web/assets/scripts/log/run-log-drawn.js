// The rows of the log that are in the page now. A row whose look has not changed keeps its element, so that a selection in it stays.

/** @typedef {{ element: () => HTMLElement, look: unknown }} MadeRow */

export class DrawnRows {
  #list;
  #make;
  /** @type {Map<number, { element: HTMLElement, look: unknown }>} */
  #rows = new Map();

  /** @param {HTMLElement} list @param {(index: number) => MadeRow} make */
  constructor(list, make) {
    this.#list = list;
    this.#make = make;
  }

  get lineHeight() {
    return Number.parseFloat(getComputedStyle(this.#list).lineHeight) || 16;
  }

  get height() {
    return this.#list.offsetHeight;
  }

  get width() {
    return this.#list.offsetWidth;
  }

  /** @param {number} index */
  has(index) {
    return this.#rows.has(index);
  }

  /** @param {number} index */
  elementOf(index) {
    return this.#rows.get(index)?.element;
  }

  clear() {
    this.#list.replaceChildren();
    this.#rows.clear();
  }

  /** Draws exactly these rows. @param {number} first @param {number} last */
  update(first, last) {
    for (const [index, { element }] of this.#rows) {
      if (index >= first && index <= last) continue;
      element.remove();
      this.#rows.delete(index);
    }
    let next = this.#list.firstChild;
    for (let index = first; index <= last; index++) {
      const made = this.#make(index);
      const drawn = this.#rows.get(index);
      if (drawn && drawn.look === made.look) {
        next = drawn.element.nextSibling;
        continue;
      }
      const element = made.element();
      if (drawn) drawn.element.replaceWith(element);
      else this.#list.insertBefore(element, next);
      next = element.nextSibling;
      this.#rows.set(index, { element, look: made.look });
    }
  }

  /**
   * The row at a height of the list, and how many of its pixels are above that height. Null if the rows end before it.
   * @param {number} height
   */
  rowAtHeight(height) {
    for (const [row, { element }] of [...this.#rows].sort(([a], [b]) => a - b)) {
      if (element.offsetTop + element.offsetHeight <= height) continue;
      return { row, above: Math.max(0, height - element.offsetTop) };
    }
    return null;
  }

  /** @param {number} top in pixels */
  moveTo(top) {
    this.#list.style.transform = `translateY(${Math.round(top)}px)`;
  }

  /** @param {boolean} isWhole Whether all rows of the log are drawn. */
  setWhole(isWhole) {
    this.#list.classList.toggle('log-whole', isWhole);
  }
}

/** @param {HTMLElement} parent @param {string} name */
export function append(parent, name) {
  const made = document.createElement('div');
  made.className = name;
  parent.append(made);
  return made;
}
