import { redacted } from '#domain/shared/values/comparison/marks.ts';

const lineFeed = 0x0a;
const mark = Buffer.from(redacted);
const lineEnd = Buffer.from([lineFeed]);

/** Replaces each line of a stream that is not empty by one mark, so that only the number of lines is visible. */
export class HiddenLines {
  #isMarked = false;

  push(piece: Buffer): Buffer {
    const shown: Buffer[] = [];
    for (let start = 0; start < piece.length; ) {
      const end = piece.indexOf(lineFeed, start);
      if (end !== start && !this.#isMarked) shown.push(mark);
      this.#isMarked = end < 0;
      if (end < 0) break;
      shown.push(lineEnd);
      start = end + 1;
    }
    return Buffer.concat(shown);
  }
}
