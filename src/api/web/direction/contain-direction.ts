import { directionControls } from '#domain/shared/values/direction-controls.ts';

/**
 * Characters that can change the order in which the text around them is read: letters that are written from right to left, the mark that acts like
 * them, and the controls that turn the direction.
 */
const turning = new RegExp(
  `[\\u0590-\\u08ff\\u200f${directionControls}\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]`,
  'u',
);

/** The controls, and the characters that end a paragraph and every control in it. */
const marks = new RegExp(`[\\n\\r\\u001c-\\u001e\\u0085\\u2029${directionControls}]`, 'g');
const endsOfParagraphs = '\n\r\u001c\u001d\u001e\u0085\u2029';
const startsOfIsolates = '\u2066\u2067\u2068';
const endOfIsolate = '\u2069';
const endOfEmbedding = '\u202c';

/** Whether the text can change the order of what stands beside it. */
export function canTurn(text: string): boolean {
  return turning.test(text);
}

/**
 * The text with an end for every control of direction that it begins, and without ends that it does not begin. Such an end would also end the
 * isolation of the element around the text, because browsers treat that as a pair of the same controls.
 */
export function containDirection(text: string): string {
  const open = new OpenControls();
  const contained = text.replaceAll(marks, (mark) => {
    if (mark === endOfIsolate) return open.endIsolate();
    if (mark === endOfEmbedding) return open.endEmbedding();
    if (startsOfIsolates.includes(mark)) return open.begin(mark, endOfIsolate);
    if (!endsOfParagraphs.includes(mark)) return open.begin(mark, endOfEmbedding);
    // Any other end of a paragraph would end the controls of the page as well, and a page shows none of them as a new line.
    return open.endAll() + (mark === '\n' || mark === '\r' ? mark : ' ');
  });
  return contained + open.endAll();
}

/** A text that keeps its direction to itself where markup cannot, as in a title. Left to right, as the pages are. */
export function isolateWords(text: string): string {
  return canTurn(text) ? `\u2066${containDirection(text)}${endOfIsolate}` : text;
}

/** The ends of the controls that are open, the innermost last. */
class OpenControls {
  readonly #ends: string[] = [];
  #isolates = 0;

  begin(control: string, end: string): string {
    this.#ends.push(end);
    if (end === endOfIsolate) this.#isolates += 1;
    return control;
  }

  endEmbedding(): string {
    return this.#ends.at(-1) === endOfEmbedding ? (this.#ends.pop() ?? '') : '';
  }

  /** It also ends the embeddings inside the isolate. */
  endIsolate(): string {
    if (this.#isolates === 0) return '';
    this.#isolates -= 1;
    while (this.#ends.pop() !== endOfIsolate);
    return endOfIsolate;
  }

  endAll(): string {
    this.#isolates = 0;
    return this.#ends.splice(0).reverse().join('');
  }
}
