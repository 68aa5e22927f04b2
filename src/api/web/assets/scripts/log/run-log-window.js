// Draws the rows that are visible, and a few around them. The scroll area is as high as all rows together, except in two cases: browsers
// limit the height of an area, and rows that wrap have unknown heights. Then the position of the scrollbar only approximates the place in
// the log, and a small scroll moves the rows by exactly that distance.

import { append, DrawnRows } from './run-log-drawn.js';

/** @typedef {import('./run-log-rows.js').LogRows} LogRows */
/** @typedef {import('./run-log-drawn.js').MadeRow} MadeRow */

/** Firefox ignores heights from 17.9 million pixels on. */
const maxPixels = 16_000_000;
const overscan = 30;
/** Up to this number, all wrapped rows are drawn at once, so that their heights are known. */
const fewRows = 400;
/**
 * How long a scroll counts as the reader's after the last input: somebody who drags the scrollbar has pressed the pointer before, and
 * scrolls for a while.
 */
const inputLastsMs = 10_000;

export class LogWindow {
  #scroller;
  #sizer;
  #drawn;
  /** @type {LogRows} */
  #rows;
  /** The row at the upper edge, and how many pixels of it are above. */
  #anchor = { row: 0, above: 0 };
  #lastTop = 0;
  /** When the reader last touched the scroll area. */
  #inputAt = Number.NEGATIVE_INFINITY;
  #widest = 0;
  #isWrapped = false;
  /** The last row stays at the lower edge while the heights of rows become known. */
  #isPinned = false;
  #frame = 0;
  #timer = 0;
  #lineHeight = 16;
  /** @type {(isUp: boolean) => void} */
  onScroll = () => {};
  onResize = () => this.draw();
  /** @type {(first: number, last: number) => void} */
  onDrawn = () => {};

  /** @param {HTMLElement} scroller @param {LogRows} rows @param {(index: number) => MadeRow} make */
  constructor(scroller, rows, make) {
    this.#scroller = scroller;
    this.#rows = rows;
    this.#sizer = append(scroller, 'log-sizer');
    this.#drawn = new DrawnRows(append(this.#sizer, 'log-rows'), make);
    this.#lineHeight = this.#drawn.lineHeight;
    scroller.addEventListener('scroll', () => this.#followScroll(), { passive: true });
    for (const input of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
      scroller.addEventListener(input, () => this.#noteInput(), { passive: true });
    new ResizeObserver(() => this.onResize()).observe(scroller);
  }

  /** @param {LogRows} rows */
  setRows(rows) {
    this.#rows = rows;
    this.draw();
  }

  /** @param {boolean} isWrapped */
  setWrap(isWrapped) {
    const { row } = this.#anchor;
    this.#isWrapped = isWrapped;
    this.#widest = 0;
    this.#scroller.classList.toggle('log-wrapped', isWrapped);
    this.#size();
    this.goTo(row);
  }

  /** The first row in sight. */
  get top() {
    return this.#anchor.row;
  }

  get rowsInSight() {
    return Math.max(1, Math.floor(this.#scroller.clientHeight / this.#lineHeight));
  }

  get isAtEnd() {
    return this.#pixelsBelow <= this.#lineHeight;
  }

  get #pixelsBelow() {
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller;
    return scrollHeight - scrollTop - clientHeight;
  }

  /** @param {number} row */
  isInSight(row) {
    return row >= this.#anchor.row + 2 && row < this.#anchor.row + this.rowsInSight - 1;
  }

  /** Brings a row to the upper edge, or `below` rows under it. @param {number} row @param {number} [below] */
  goTo(row, below = 0) {
    const index = Math.max(0, Math.min(row, this.#rows.count - 1) - below);
    this.#isPinned = false;
    this.#size();
    this.#anchor = { row: index, above: 0 };
    if (this.#isExact) this.#scroller.scrollTop = this.#rows.unitOfRow(index) * this.#lineHeight;
    else this.#scroller.scrollTop = this.#fractionOf(index) * this.#scrollable;
    if (this.#isExact) this.#anchorAt(this.#scroller.scrollTop);
    this.#lastTop = this.#scroller.scrollTop;
    this.draw();
  }

  goToEnd() {
    this.#isPinned = true;
    this.#size();
    this.#anchor = { row: Math.max(0, this.#rows.count - this.rowsInSight), above: 0 };
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    if (this.#isExact) this.#anchorAt(this.#scroller.scrollTop);
    this.#lastTop = this.#scroller.scrollTop;
    this.draw();
  }

  /** Makes all rows anew, because they look different now. */
  redraw() {
    this.#drawn.clear();
    this.draw();
  }

  /** Gives the focus to the scroll area, so that scroll keys move the rows. */
  focus() {
    this.#scroller.focus({ preventScroll: true });
  }

  /** Draws in the next frame. */
  draw() {
    this.#frame ||= requestAnimationFrame(() => this.#drawNow());
  }

  #drawNow() {
    this.#frame = 0;
    this.#size();
    if (this.#isExact) this.#anchorAt(this.#scroller.scrollTop);
    const [first, last] = this.#range();
    this.#drawn.update(first, last);
    this.#place(first);
    this.#keepWidth();
    this.onDrawn(first, last);
  }

  #range() {
    if (this.#isWhole) return /** @type {const} */ ([0, this.#rows.count - 1]);
    const first = Math.max(0, this.#anchor.row - overscan);
    return /** @type {const} */ ([
      first,
      Math.min(this.#rows.count - 1, this.#anchor.row + this.rowsInSight + overscan),
    ]);
  }

  /** @param {number} first */
  #place(first) {
    const top = this.#scroller.scrollTop;
    let place = 0;
    if (this.#isExact) place = this.#rows.unitOfRow(first) * this.#lineHeight;
    else if (!this.#isWhole) place = this.#placeByAnchor(top);
    this.#drawn.moveTo(place);
  }

  /** Places the rows so that the anchor is at the upper edge, without a gap above the first or below the last row. @param {number} top */
  #placeByAnchor(top) {
    const anchor = this.#drawn.elementOf(this.#anchor.row);
    const place = top - this.#anchor.above - (anchor?.offsetTop ?? 0);
    const lowest = top + this.#scroller.clientHeight - this.#drawn.height;
    const isAtEnd = this.#drawn.has(this.#rows.count - 1) && (this.#isPinned || place < lowest);
    if (isAtEnd) this.#anchorAtHeight(top - lowest);
    return Math.min(isAtEnd ? lowest : place, this.#drawn.has(0) ? top : Number.POSITIVE_INFINITY);
  }

  #followScroll() {
    const top = this.#scroller.scrollTop;
    const moved = top - this.#lastTop;
    if (moved === 0) return;
    this.#lastTop = top;
    this.#isPinned = false;
    if (!this.#isExact && !this.#isWhole) this.#moveAnchor(moved);
    // A scroll area that changes its height moves by itself, so only movements by the reader count.
    const isByReader = performance.now() - this.#inputAt < inputLastsMs;
    this.onScroll(isByReader && moved < 0 && this.#pixelsBelow > 2);
    this.draw();
  }

  #noteInput() {
    this.#inputAt = performance.now();
  }

  /** @param {number} moved */
  #moveAnchor(moved) {
    const isSmall = Math.abs(moved) < 2 * this.#scroller.clientHeight;
    const anchor = this.#drawn.elementOf(this.#anchor.row);
    if (!isSmall || !anchor) {
      const unit = (this.#lastTop / Math.max(1, this.#scrollable)) * (this.#rows.units - this.rowsInSight);
      this.#anchor = { row: this.#rows.rowAtUnit(unit).row, above: 0 };
      return;
    }
    this.#anchorAtHeight(Math.max(0, anchor.offsetTop + this.#anchor.above + moved));
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#moveBar(), 200);
  }

  /** Moves the scrollbar to the position of the rows, which differs after small movements. */
  #moveBar() {
    if (this.#isExact || this.#isWhole || this.#isPinned) return;
    this.#scroller.scrollTop = this.#fractionOf(this.#anchor.row) * this.#scrollable;
    this.#lastTop = this.#scroller.scrollTop;
    this.draw();
  }

  /** @param {number} height of the drawn rows */
  #anchorAtHeight(height) {
    this.#anchor = this.#drawn.rowAtHeight(height) ?? this.#anchor;
  }

  /** @param {number} top */
  #anchorAt(top) {
    const { row, rest } = this.#rows.rowAtUnit(top / this.#lineHeight);
    this.#anchor = { row, above: rest * this.#lineHeight };
  }

  #size() {
    const height = Math.min(maxPixels, this.#rows.units * this.#lineHeight);
    this.#sizer.style.height = this.#isWhole ? 'auto' : `${height}px`;
    this.#drawn.setWhole(this.#isWhole);
  }

  /** Keeps the scroll area from becoming narrower when lines come and go, because it would jump. */
  #keepWidth() {
    if (this.#isWrapped) this.#sizer.style.minWidth = '';
    else if (this.#drawn.width > this.#widest) {
      this.#widest = this.#drawn.width;
      this.#sizer.style.minWidth = `${this.#widest}px`;
    }
  }

  get #isExact() {
    return !this.#isWrapped && this.#rows.units * this.#lineHeight <= maxPixels;
  }

  get #isWhole() {
    return this.#isWrapped && this.#rows.count <= fewRows;
  }

  get #scrollable() {
    return this.#scroller.scrollHeight - this.#scroller.clientHeight;
  }

  /** @param {number} row */
  #fractionOf(row) {
    return Math.min(1, this.#rows.unitOfRow(row) / Math.max(1, this.#rows.units - this.rowsInSight));
  }
}
