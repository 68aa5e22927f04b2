// Searches a log for texts and errors, steps through the results, and shows the reader's position among them.
import { describeFound } from './run-log-bar.js';
import { LogFind } from './run-log-find.js';

const again = 3_000;

/** @typedef {{ bar: import('./run-log-bar.js').LogBar, topLine: () => number, show: (line: number) => void, mark: (text: string) => void }} Reader */

export class LogSearch {
  #reader;
  #found;
  #errors;
  #hasAskedForErrors = false;
  #current = 0;
  #timer = 0;

  /** @param {string} url @param {Reader} reader */
  constructor(url, reader) {
    this.#reader = reader;
    this.#found = new LogFind(url, () => this.#say());
    this.#errors = new LogFind(url, () => this.#say());
  }

  /** @param {string} text */
  async find(text) {
    keepInAddress(text);
    this.#current = 0;
    this.#reader.mark(text);
    if (text === '') {
      this.#found.stop();
      return this.#say();
    }
    await this.#found.begin(text);
    const line = this.#found.firstFrom(this.#reader.topLine());
    if (line !== null && this.#found.text === text) this.#show(line);
  }

  /** @param {'find' | 'error'} what @param {1 | -1} step */
  async step(what, step) {
    if (what === 'error' && !this.#hasAskedForErrors) await this.#findErrors();
    const found = what === 'error' ? this.#errors : this.#found;
    const line = found.step(this.#current || this.#reader.topLine(), step);
    if (line !== null) this.#show(line);
  }

  /** Shows the first error from a line on. @param {number} from */
  async showError(from) {
    await this.#findErrors();
    const line = this.#errors.firstFrom(from);
    if (line !== null && location.hash === '') this.#show(line);
  }

  /** Searches lines that were added meanwhile, but not after every line. */
  goOn() {
    const open = [this.#found, this.#errors].filter(({ isBegun }) => isBegun);
    if (this.#timer !== 0 || open.length === 0) return;
    this.#timer = window.setTimeout(() => {
      this.#timer = 0;
      for (const each of open) if (!each.isSearching) void each.goOn();
    }, again);
  }

  #findErrors() {
    this.#hasAskedForErrors = true;
    return this.#errors.begin('');
  }

  /** @param {number} line */
  #show(line) {
    this.#current = line;
    this.#reader.show(line);
    this.#say();
  }

  #say() {
    const { bar } = this.#reader;
    bar.say('find', this.#found.isBegun ? describeFound(this.#found, this.#current, 'line') : '');
    bar.say('errors', this.#hasAskedForErrors ? describeFound(this.#errors, this.#current, 'error') : '');
  }
}

/** Stores the search in the address, so that a link to the page shows the same results. @param {string} text */
function keepInAddress(text) {
  const address = new URL(location.href);
  if (text === '') address.searchParams.delete('find');
  else address.searchParams.set('find', text);
  if (address.href !== location.href) history.replaceState(history.state, '', address);
}
