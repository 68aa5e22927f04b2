// Shows the log of a run: which sections are open, where the reader is, and whether the window follows what is written.
import { adoptLines } from './run-log-adopt.js';
import { LogBar } from './run-log-bar.js';
import { LogLines } from './run-log-lines.js';
import { makeHead, makeLine } from './run-log-row.js';
import { LogRows } from './run-log-rows.js';
import { LogSearch } from './run-log-search.js';
import { isKept, keep } from './run-log-settings.js';
import { followLog } from './run-log-stream.js';
import { LogWindow } from './run-log-window.js';

/** @typedef {import('./run-log-lines.js').Part} Part */
/** @typedef {import('./run-log-rows.js').Section} Section */

export class LogView {
  #root;
  #rows = new LogRows([], 0, () => true);
  /** @type {readonly Section[]} */
  #sections = [];
  /** Which sections the reader has opened or closed. @type {Map<string, boolean>} */
  #folds = new Map();
  #isFollowing = false;
  #isLive;
  /** The length of the log when the reader left its end. */
  #seenTotal = 0;
  #look;
  #lines;
  #window;
  #bar;
  #search;
  #sticky = document.createElement('div');

  /** @param {HTMLElement} root */
  constructor(root) {
    const { linesUrl = '', matchesUrl = '', lineUrl = '', icons = '', live } = root.dataset;
    this.#root = root;
    this.#isLive = live !== undefined;
    const [hasTimes, isUtc] = [isKept('log-times'), isKept('time-zone', 'utc')];
    this.#look = { digits: 3, find: '', hasTimes, isUtc, target: 0, current: 0, lineUrl, icons };
    this.#bar = new LogBar(root, { act: (action) => this.#act(action), find: (text) => void this.#search.find(text) });
    this.#search = new LogSearch(matchesUrl, {
      bar: this.#bar,
      topLine: () => this.#topLine,
      show: (line) => this.#showFound(line),
      mark: (text) => this.#mark(text),
    });
    this.#lines = new LogLines(
      linesUrl,
      (part) => this.#take(part),
      () => showPaused(true),
    );
    const part = adoptLines(root);
    const scroller = /** @type {HTMLElement} */ (root.querySelector('.log-scroller'));
    this.#sticky.className = 'log-sticky';
    scroller.replaceChildren(this.#sticky);
    scroller.style.setProperty('--log-top', `${scroller.getBoundingClientRect().top + window.scrollY}px`);
    this.#window = new LogWindow(scroller, this.#rows, (index) => this.#makeRow(index));
    this.#window.onScroll = (isUp) => this.#afterScroll(isUp);
    this.#window.onResize = () => (this.#isFollowing ? this.#window.goToEnd() : this.#window.draw());
    this.#window.onDrawn = (first, last) => this.#afterDraw(first, last);
    this.#lines.add(part, part.lines[0]?.[0] ?? 1);
    this.#seenTotal = part.total;
    this.#take(part);
    this.#listen(scroller);
  }

  /**
   * Shows the place where the reader starts: the line in the address, the end of a log that is being written, the first error, or the top.
   */
  begin() {
    if (isKept('log-wrap')) this.#switchWrap();
    this.#bar.press('times', this.#look.hasTimes);
    if (this.#isLive) this.#follow();
    const isAtLine = this.#goToHash();
    if (this.#isLive && !isAtLine) this.#setFollowing(true);
    if (this.#bar.text !== '') void this.#search.find(this.#bar.text);
    else if (!isAtLine && this.#root.dataset['start'] === 'error')
      void this.#search.showError(this.#sections.at(-1)?.first ?? 1);
  }

  #follow() {
    const { streamUrl = '', revision = '0' } = this.#root.dataset;
    const announce = () => document.querySelector('#stream')?.dispatchEvent(new CustomEvent('changed'));
    followLog(streamUrl, revision, {
      position: () => Math.max(0, this.#lines.total - 1),
      log: (part) => {
        this.#lines.add(part, part.lines[0]?.[0] ?? part.to + 1);
        this.#take(part);
      },
      changed: announce,
      ended: (status) => {
        announce();
        const wasFollowing = this.#isFollowing;
        this.#isLive = false;
        this.#setFollowing(false);
        const hasFailed = status === 'failed' || status === 'timed_out';
        if (hasFailed && wasFollowing) void this.#search.showError(this.#sections.at(-1)?.first ?? 1);
      },
      paused: showPaused,
    });
  }

  /** Applies the length of the log and its sections from an answer. @param {Part} part */
  #take({ total, sections, hasLostColours }) {
    if (hasLostColours) this.#root.querySelector('[data-log="plain"]')?.removeAttribute('hidden');
    const hasGrown = total !== this.#lines.total;
    this.#lines.total = total;
    this.#sections = sections;
    this.#look.digits = Math.max(3, String(total).length);
    this.#arrange();
    if (this.#isFollowing) {
      this.#seenTotal = total;
      this.#window.goToEnd();
    }
    this.#bar.showNews(this.#isLive && !this.#isFollowing ? Math.max(0, total - this.#seenTotal) : null);
    if (hasGrown) this.#search.goOn();
  }

  #arrange() {
    this.#rows = new LogRows(this.#sections, this.#lines.total, (section) => this.#isOpen(section));
    this.#window.setRows(this.#rows);
  }

  /** @param {Section} section */
  #isOpen({ key, isSettled }) {
    return this.#folds.get(key) ?? !isSettled;
  }

  /** @param {number} index */
  #makeRow(index) {
    const row = this.#rows.row(index);
    if (row.kind === 'section') {
      const { section, isOpen } = row;
      return { look: JSON.stringify([section, isOpen]), element: () => makeHead(section, isOpen, this.#look.icons) };
    }
    const line = this.#lines.get(row.number);
    const look = line ?? `${line === null ? 'missing' : 'unknown'} ${row.number}`;
    return { look, element: () => makeLine(row.number, line, this.#look) };
  }

  /** @param {HTMLElement} scroller */
  #listen(scroller) {
    window.addEventListener('hashchange', () => this.#goToHash());
    scroller.addEventListener('click', ({ target }) => {
      const key = target instanceof Element ? target.closest('[data-section]')?.getAttribute('data-section') : null;
      if (key) this.#fold(key);
    });
    for (const button of document.querySelectorAll('[data-do="switch-time-zone"]')) {
      button.addEventListener('click', () => {
        this.#look.isUtc = isKept('time-zone', 'utc');
        this.#window.redraw();
      });
    }
  }

  /** @param {string} key */
  #fold(key) {
    const section = this.#sections.find((each) => each.key === key);
    if (!section) return;
    this.#folds.set(key, !this.#isOpen(section));
    this.#setFollowing(false);
    const isAbove = this.#rows.rowOfSection(key) < this.#window.top;
    this.#arrange();
    if (isAbove) this.#window.goTo(this.#rows.rowOfSection(key));
    const head = this.#root.querySelector(`.log-rows [data-section="${CSS.escape(key)}"]`);
    requestAnimationFrame(() => {
      const drawn = this.#root.querySelector(`.log-rows [data-section="${CSS.escape(key)}"]`);
      if (drawn instanceof HTMLElement && drawn !== head) drawn.focus({ preventScroll: true });
    });
  }

  /** Shows a line, with the section that it belongs to open. @param {number} number */
  #goToLine(number) {
    const section = this.#rows.rowOfLine(number) === null ? this.#rows.sectionOfLine(number) : null;
    if (section) {
      this.#folds.set(section.key, true);
      this.#arrange();
    }
    const row = this.#rows.rowOfLine(number);
    if (row === null) return;
    this.#setFollowing(false);
    if (!this.#window.isInSight(row)) this.#window.goTo(row, Math.floor(this.#window.rowsInSight / 3));
    this.#window.redraw();
  }

  #goToHash() {
    const number = Number(/^#L(\d{1,9})$/.exec(location.hash)?.[1] ?? 0);
    if (number < 1 || number > this.#lines.total) return false;
    this.#look.target = number;
    this.#goToLine(number);
    return true;
  }

  /** @param {import('./run-log-bar.js').BarAction} action */
  #act(action) {
    const [what, way] = action.split('-');
    const step = way === 'next' ? 1 : -1;
    if (what === 'find' || what === 'error') void this.#search.step(what, step);
    else if (action === 'top') this.#goToTop();
    else if (action === 'end' || action === 'follow') this.#goToEnd();
    else if (action === 'times') this.#switchTimes();
    else if (action === 'wrap') this.#switchWrap();
  }

  #goToEnd() {
    if (this.#isLive) this.#setFollowing(true);
    this.#window.goToEnd();
    this.#window.focus();
  }

  #goToTop() {
    this.#setFollowing(false);
    this.#window.goTo(0);
    this.#window.focus();
  }

  #switchTimes() {
    this.#look.hasTimes = !this.#look.hasTimes;
    keep('log-times', this.#look.hasTimes);
    this.#bar.press('times', this.#look.hasTimes);
    this.#window.redraw();
  }

  #switchWrap() {
    const isWrapped = this.#root.querySelector('.log-wrapped') === null;
    keep('log-wrap', isWrapped);
    this.#bar.press('wrap', isWrapped);
    this.#window.setWrap(isWrapped);
    if (this.#isFollowing) this.#window.goToEnd();
  }

  /** @param {number} line */
  #showFound(line) {
    this.#look.current = line;
    this.#goToLine(line);
  }

  /** @param {string} text */
  #mark(text) {
    this.#look.find = text;
    this.#look.current = 0;
    this.#window.redraw();
  }

  /** The first line in sight. */
  get #topLine() {
    for (let row = this.#window.top; row < this.#rows.count; row++) {
      const shown = this.#rows.row(row);
      if (shown.kind === 'line') return shown.number;
    }
    return 1;
  }

  /** @param {boolean} isUp */
  #afterScroll(isUp) {
    if (isUp) this.#setFollowing(false);
    else if (this.#isLive && this.#window.isAtEnd) this.#setFollowing(true);
  }

  /** @param {boolean} isFollowing */
  #setFollowing(isFollowing) {
    const follows = isFollowing && this.#isLive;
    if (follows !== this.#isFollowing) this.#seenTotal = this.#lines.total;
    this.#isFollowing = follows;
    this.#bar.press('follow', follows);
    this.#bar.showNews(this.#isLive && !follows ? Math.max(0, this.#lines.total - this.#seenTotal) : null);
    if (follows) this.#window.goToEnd();
  }

  /** @param {number} first @param {number} last */
  #afterDraw(first, last) {
    const lines = [this.#rows.row(first), this.#rows.row(last)].map((row) =>
      row.kind === 'line' ? row.number : row.section.first,
    );
    if (this.#lines.total > 0) this.#lines.want(lines[0] ?? 1, lines[1] ?? 1);
    this.#showSticky();
  }

  /** Keeps the head of a section visible while its lines are at the upper edge. */
  #showSticky() {
    const section = this.#rows.sectionOfRow(this.#window.top);
    const look = section ? JSON.stringify(section) : '';
    if (this.#sticky.dataset['look'] === look) return;
    this.#sticky.dataset['look'] = look;
    this.#sticky.replaceChildren(...(section ? [makeHead(section, true, this.#look.icons)] : []));
  }
}

/** @param {boolean} isPaused */
function showPaused(isPaused) {
  const note = document.querySelector('#live-note');
  if (note instanceof HTMLElement) note.hidden = !isPaused;
}
