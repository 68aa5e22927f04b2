// Searches the whole log through the service, and steps through the lines that were found. It stores the numbers of all of them.

/** The largest number of found lines in one answer. */
const atOnce = 100_000;

export class LogFind {
  #url;
  #onChange;
  /** @type {number[]} */
  #numbers = [];
  #next = 1;
  #search = 0;
  text = '';
  isBegun = false;
  isSearching = false;
  isBroken = false;

  /** @param {string} url @param {() => void} onChange */
  constructor(url, onChange) {
    this.#url = url;
    this.#onChange = onChange;
  }

  get count() {
    return this.#numbers.length;
  }

  /** Starts another search: for a text, or for lines that report an error if the text is empty. @param {string} text */
  async begin(text) {
    this.text = text;
    this.isBegun = true;
    this.#numbers = [];
    this.#next = 1;
    await this.goOn();
  }

  /** Searches the lines that were added since. The last line is searched again, because it may have grown. */
  async goOn() {
    const search = ++this.#search;
    this.isSearching = true;
    this.isBroken = false;
    this.#onChange();
    /** @type {number | null} */
    let next = this.#next;
    while (next !== null && search === this.#search) next = await this.#searchFrom(next, search);
    if (search !== this.#search) return;
    this.isSearching = false;
    this.#next = Math.max(1, this.#numbers.at(-1) ?? 0, this.#next);
    this.#onChange();
  }

  stop() {
    this.#search += 1;
    this.isBegun = false;
    this.text = '';
    this.#numbers = [];
    this.#next = 1;
    this.isSearching = false;
  }

  /** The position of a line among the found lines, from 1; 0 if it is not one of them. @param {number} line */
  placeOf(line) {
    const index = firstFrom(this.#numbers, line);
    return this.#numbers[index] === line ? index + 1 : 0;
  }

  /** The next or previous found line. After the last one comes the first. @param {number} line @param {1 | -1} step */
  step(line, step) {
    const index = step > 0 ? firstFrom(this.#numbers, line + 1) : firstFrom(this.#numbers, line) - 1;
    return this.#numbers.at(index % Math.max(1, this.#numbers.length)) ?? null;
  }

  /** The first found line at or after a line. @param {number} line */
  firstFrom(line) {
    return this.#numbers[firstFrom(this.#numbers, line)] ?? this.#numbers[0] ?? null;
  }

  /** @param {number} from @param {number} search @returns {Promise<number | null>} */
  async #searchFrom(from, search) {
    const wanted = this.text === '' ? '' : `&ignore_case=true&find=${encodeURIComponent(this.text)}`;
    const answer = await fetch(`${this.#url}?from=${from}&limit=${atOnce}${wanted}`, {
      headers: { 'hx-request': 'true' },
    }).catch(() => null);
    if (search !== this.#search) return null;
    if (!answer?.ok) {
      this.isBroken = true;
      return null;
    }
    const found = await answer.json();
    const last = this.#numbers.at(-1) ?? 0;
    for (const number of found.numbers) if (number > last) this.#numbers.push(number);
    this.#next = found.next ?? this.#next;
    this.#onChange();
    return found.next;
  }
}

/** The index of the first number that is not below `wanted`. @param {readonly number[]} numbers @param {number} wanted */
function firstFrom(numbers, wanted) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (/** @type {number} */ (numbers[middle]) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
