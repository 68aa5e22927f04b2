// The rows that the log shows: a head for each section and, while it is open, its lines. Positions are counted in units of the height of a
// line. Nothing here grows with the number of lines.

/**
 * @typedef {{ key: string, label: string, outcome: string, tone: string, icon: string, took: string, first: number, lines: number,
 *   isSettled: boolean }} Section
 * @typedef {{ kind: 'section', section: Section, isOpen: boolean } | { kind: 'line', number: number }} Row
 * @typedef {{ section: Section | null, first: number, lines: number, isOpen: boolean, heads: number, row: number, unit: number }} Part
 */

/** The height of a head, in lines. */
export const headUnits = 2;

export class LogRows {
  /** @type {Part[]} */
  #parts = [];
  count = 0;
  units = 0;

  /** @param {readonly Section[]} sections @param {number} total @param {(section: Section) => boolean} isOpen */
  constructor(sections, total, isOpen) {
    const all = sections.length > 0 ? sections : [null];
    for (const section of all) {
      const open = section === null || isOpen(section);
      const part = {
        section,
        first: section?.first ?? 1,
        lines: section?.lines ?? total,
        isOpen: open,
        heads: section ? 1 : 0,
        row: this.count,
        unit: this.units,
      };
      this.#parts.push(part);
      const shown = open ? part.lines : 0;
      this.count += part.heads + shown;
      this.units += part.heads * headUnits + shown;
    }
  }

  /** @param {number} index @returns {Row} */
  row(index) {
    const part = this.#partAtRow(index);
    const inside = index - part.row - part.heads;
    if (inside < 0 && part.section) return { kind: 'section', section: part.section, isOpen: part.isOpen };
    return { kind: 'line', number: part.first + inside };
  }

  /** @param {number} index */
  unitOfRow(index) {
    const part = this.#partAtRow(index);
    const inside = index - part.row;
    return part.unit + (inside === 0 ? 0 : inside + part.heads * (headUnits - 1));
  }

  /** The row at a position, and how far below the beginning of the row the position is. @param {number} unit */
  rowAtUnit(unit) {
    const place = Math.max(0, Math.min(unit, this.units - 1));
    const part = this.#parts.findLast((each) => each.unit <= place) ?? this.#first;
    const inside = place - part.unit;
    const headEnd = part.heads * headUnits;
    if (inside < headEnd) return { row: part.row, rest: inside };
    const line = Math.min(Math.floor(inside - headEnd), Math.max(0, part.lines - 1));
    return { row: part.row + part.heads + line, rest: inside - headEnd - line };
  }

  /** The row of a line; null if its section is closed. @param {number} number */
  rowOfLine(number) {
    const part = this.#partOfLine(number);
    return part?.isOpen ? part.row + part.heads + number - part.first : null;
  }

  /** @param {number} number */
  sectionOfLine(number) {
    return this.#partOfLine(number)?.section ?? null;
  }

  /** The section of a row that is a line, so that its head can stay visible. @param {number} index */
  sectionOfRow(index) {
    const part = this.#partAtRow(index);
    return part.section && index > part.row ? part.section : null;
  }

  /** @param {string} key */
  rowOfSection(key) {
    return this.#parts.find(({ section }) => section?.key === key)?.row ?? 0;
  }

  get #first() {
    return /** @type {Part} */ (this.#parts[0]);
  }

  /** @param {number} index */
  #partAtRow(index) {
    return this.#parts.findLast(({ row }) => row <= index) ?? this.#first;
  }

  /** @param {number} number */
  #partOfLine(number) {
    return this.#parts.findLast(({ first, lines }) => first <= number && number < first + lines);
  }
}
