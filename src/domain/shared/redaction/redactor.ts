import { redacted } from '#domain/shared/values/comparison/marks.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { ByteQueue } from './byte-queue.ts';
import { EscapedMatches } from './escaped-matches.ts';
import { PatternMatcher } from './matcher.ts';
import { collectTexts, minSecretLength, secretForms, textsAndNames, unescapedForms } from './secret-forms.ts';
import { SkippedBytes } from './skipped-bytes.ts';
import { HiddenLines, Spans } from './spans.ts';
import { withoutControls, withoutSkipped } from './unseen.ts';

const mark = Buffer.from(redacted);
const defaultMaxBytes = 32 * 1024 * 1024;
const tooLargeMessage = "the attempt's secrets are too large to be redacted from its log";

/** All forms of all secrets together are larger than a redactor can handle. */
export class SecretsTooLarge extends Error {
  constructor() {
    super(tooLargeMessage);
  }
}

/**
 * Two matchers for secrets: `forms` finds the encoded forms in a text as it is, and `unescaped` finds plain secrets in a text whose escapes
 * were removed.
 */
interface Matchers {
  readonly forms: PatternMatcher;
  readonly unescaped: PatternMatcher;
}

/** The secrets of an attempt or of states. It may learn more while an attempt runs, because plans and states name further secrets. */
export class Redactor {
  readonly #forms = new Map<string, Buffer>();
  readonly #unescaped = new Map<string, Buffer>();
  /** The texts whose forms are known: a plan repeats the same secrets in many places. */
  readonly #texts = new Set<string>();
  #matchers: Matchers = { forms: new PatternMatcher([]), unescaped: new PatternMatcher([]) };
  #isStale = false;
  #bytes = 0;
  #hidesAll = false;
  readonly #maxBytes: number;

  /** @param maxBytes of all forms of all secrets together; the matcher takes about sixteen times as much memory */
  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Whether there is nothing to redact. */
  get isEmpty(): boolean {
    return !this.#hidesAll && this.matchers.forms.isEmpty;
  }

  /** Whether it redacts every text, because there are secrets that it does not know. */
  get hidesAll(): boolean {
    return this.#hidesAll;
  }

  /** Redacts every text as a whole from now on. Call it before anything is redacted. */
  hideAll(): void {
    this.#hidesAll = true;
  }

  /** Whether the redactor could learn as many secrets again. */
  get hasRoom(): boolean {
    return this.#bytes <= this.#maxBytes / 2;
  }

  /** @throws SecretsTooLarge */
  learn(value: JsonValue): void {
    if (this.#hidesAll) return;
    for (const text of collectTexts(value)) {
      if (this.#texts.has(text)) continue;
      for (const form of secretForms(text)) this.#add(this.#forms, form);
      for (const form of unescapedForms(text)) this.#add(this.#unescaped, form);
      this.#texts.add(text);
    }
  }

  #add(forms: Map<string, Buffer>, given: Buffer): void {
    const key = withoutSkipped(given.toString('latin1'));
    if (key.length < minSecretLength || forms.has(key)) return;
    const form = Buffer.from(key, 'latin1');
    this.#bytes += form.length;
    if (this.#bytes > this.#maxBytes) throw new SecretsTooLarge();
    forms.set(key, form);
    this.#isStale = true;
  }

  /** The matchers for all secrets that are known now. */
  get matchers(): Matchers {
    if (this.#isStale) {
      const [forms, unescaped] = [this.#forms, this.#unescaped].map((each) => new PatternMatcher([...each.values()]));
      if (forms && unescaped) this.#matchers = { forms, unescaped };
      this.#isStale = false;
    }
    return this.#matchers;
  }

  /**
   * Redacts a text. If control characters interrupt a secret, which would be complete where they are not displayed, it also removes the
   * control characters.
   */
  redactText(text: string): string {
    if (this.#hidesAll) return text === '' ? '' : redacted;
    const shown = this.#redact(text);
    const plain = withoutControls(shown);
    if (plain === shown) return shown;
    const redactedPlain = this.#redact(plain);
    return redactedPlain === plain ? shown : redactedPlain;
  }

  /** Whether any text or member name in the value contains a secret. */
  contains(value: JsonValue): boolean {
    return textsAndNames(value).some((text) => this.redactText(text) !== text);
  }

  #redact(text: string): string {
    const stream = new RedactingStream(this);
    return Buffer.concat([stream.push(Buffer.from(text)), stream.end()]).toString();
  }
}

/**
 * Redacts a stream of bytes. It holds back bytes that may begin a secret, at most one secret's length. Control characters and colours do
 * not count as part of it, unless there are very many in a row.
 */
export class RedactingStream {
  readonly #redactor: Redactor;
  #matchers: Matchers;
  #escaped: EscapedMatches | null;
  #state = 0;
  readonly #held = new ByteQueue();
  readonly #skipped = new SkippedBytes();
  /** The matcher's state before the bytes that may become a colour. */
  #stateBefore = 0;
  /** How many bytes have been released, replaced ones included: the position of the first held byte. */
  #released = 0;
  readonly #spans = new Spans();
  #scanned = 0;
  readonly #hidden = new HiddenLines();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
    this.#matchers = redactor.matchers;
    this.#escaped = findEscaped(this.#matchers);
  }

  /** How many bytes were scanned and copied, as a measure of the work. */
  get work(): number {
    return this.#scanned + this.#held.copied;
  }

  /** Takes a piece and returns the bytes that can be released. */
  push(piece: Buffer): Buffer {
    if (this.#redactor.hidesAll) return this.#hidden.push(piece);
    const { matchers } = this.#redactor;
    if (matchers.forms.isEmpty) return piece;
    if (matchers !== this.#matchers) this.#scanAgain(matchers);
    this.#scan(piece, this.#released + this.#held.length);
    this.#held.append(piece);
    return this.#release(this.#firstUndecided());
  }

  /** Releases the rest: a beginning that was never completed is not a secret. */
  end(): Buffer {
    if (this.#redactor.hidesAll) return Buffer.alloc(0);
    this.#state = 0;
    this.#escaped = findEscaped(this.#matchers);
    this.#skipped.reset();
    return this.#release(this.#released + this.#held.length);
  }

  /** Where the bytes begin that may be the beginning of a secret. */
  #firstUndecided(): number {
    const { forms } = this.#matchers;
    const end = this.#released + this.#held.length;
    const { colourStart } = this.#skipped;
    if (colourStart === null) this.#escaped?.forget();
    const begun = Math.min(this.#skipped.before(end, forms.heldAt(this.#state)), this.#escaped?.heldFrom(end) ?? end);
    if (colourStart === null) return begun;
    return Math.min(begun, this.#skipped.before(colourStart, forms.heldAt(this.#stateBefore)));
  }

  /** Looks for more secrets in the held bytes. It finds the earlier matches again, except one whose beginning was already released. */
  #scanAgain(matchers: Matchers): void {
    this.#matchers = matchers;
    this.#escaped = findEscaped(matchers);
    this.#state = 0;
    this.#spans.keepAnnounced();
    this.#skipped.reset();
    this.#scan(this.#held.peek(), this.#released);
  }

  #scan(bytes: Buffer, position: number): void {
    const { forms } = this.#matchers;
    let state = this.#state;
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] ?? 0;
      const end = position + index + 1;
      const kind = this.#skipped.take(byte, end - 1);
      if (kind === 'colour') {
        state = this.#stateBefore;
        this.#escaped?.restore();
      }
      if (kind === 'escape') {
        this.#stateBefore = state;
        this.#escaped?.save();
      }
      if (kind !== null) continue;
      state = forms.step(state, byte);
      const length = forms.matchedAt(state);
      if (length > 0) this.#spans.add(this.#skipped.before(end, length), end);
      const start = this.#escaped?.take(byte, end - 1) ?? null;
      if (start !== null) this.#spans.add(start, end);
    }
    this.#state = state;
    this.#scanned += bytes.length;
  }

  /** Releases the bytes before a position, and the marks of the secrets that begin before it. */
  #release(safeEnd: number): Buffer {
    const pieces: Buffer[] = [];
    for (let span = this.#spans.first; span && span.start < safeEnd; span = this.#spans.first) {
      pieces.push(this.#takeUntil(span.start));
      if (!span.announced) pieces.push(mark);
      span.announced = true;
      this.#dropUntil(Math.min(span.end, safeEnd));
      if (span.end > safeEnd) break;
      this.#spans.shift();
    }
    pieces.push(this.#takeUntil(safeEnd));
    this.#spans.forget();
    this.#skipped.forget(this.#released);
    return Buffer.concat(pieces);
  }

  #takeUntil(position: number): Buffer {
    const taken = this.#held.take(Math.max(0, position - this.#released));
    this.#released += taken.length;
    return taken;
  }

  #dropUntil(position: number): void {
    const length = Math.max(0, position - this.#released);
    this.#held.drop(length);
    this.#released += length;
  }
}

function findEscaped({ unescaped }: Matchers): EscapedMatches | null {
  return unescaped.isEmpty ? null : new EscapedMatches(unescaped);
}
