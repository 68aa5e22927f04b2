import type { JsonValue } from '#domain/shared/values/json.ts';
import { AttemptFailure } from '../shared/errors.ts';
import { PatternMatcher } from './matcher.ts';
import { collectTexts, secretForms } from './secret-forms.ts';

export const redacted = '[redacted]';
const mark = Buffer.from(redacted);
const nothing = Buffer.alloc(0);
/** All forms of all secrets together. The matcher takes about sixteen times as much memory. */
const maxBytes = 32 * 1024 * 1024;
const tooLargeMessage = "the attempt's secrets are too large to be redacted from its log";

/** The secrets of an attempt. It may learn more while it runs, because plans and states name further secrets. */
export class Redactor {
  readonly #forms = new Map<string, Buffer>();
  #matcher = new PatternMatcher([]);
  #isStale = false;
  #bytes = 0;

  /** @throws AttemptFailure `environment_invalid` if the secrets are too large to be redacted */
  learn(value: JsonValue): void {
    for (const form of collectTexts(value).flatMap(secretForms)) {
      const key = form.toString('latin1');
      if (this.#forms.has(key)) continue;
      this.#bytes += form.length;
      if (this.#bytes > maxBytes) throw new AttemptFailure('environment_invalid', tooLargeMessage);
      this.#forms.set(key, form);
      this.#isStale = true;
    }
  }

  /** The matcher for all secrets that are known now. */
  get matcher(): PatternMatcher {
    if (this.#isStale) {
      this.#matcher = new PatternMatcher([...this.#forms.values()]);
      this.#isStale = false;
    }
    return this.#matcher;
  }

  redactText(text: string): string {
    const stream = new RedactingStream(this);
    return Buffer.concat([stream.push(Buffer.from(text)), stream.end()]).toString();
  }

  contains(value: JsonValue): boolean {
    return collectTexts(value).some((text) => this.redactText(text) !== text);
  }
}

interface Span {
  start: number;
  end: number;
  /** Whether the replacement was already written, before the end of the secret arrived. */
  announced: boolean;
}

/** Redacts a stream of bytes. It holds back bytes that may begin a secret, at most one secret's length. */
export class RedactingStream {
  readonly #redactor: Redactor;
  #matcher: PatternMatcher;
  #state = 0;
  #held: Buffer = nothing;
  /** Redacted ranges within the held bytes. */
  #carried: Span[] = [];

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
    this.#matcher = redactor.matcher;
  }

  /** Takes a piece and returns the bytes that can be released. */
  push(piece: Buffer): Buffer {
    const { matcher } = this.#redactor;
    if (matcher.isEmpty) return piece;
    let start = this.#held.length;
    if (matcher !== this.#matcher) {
      this.#matcher = matcher;
      this.#state = 0;
      start = 0;
    }
    const text = start === 0 && this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    const spans = this.#scan(text, start);
    return this.#release(text, spans, text.length - this.#matcher.heldAt(this.#state));
  }

  /** Releases the rest: a beginning that never continued is not a secret. */
  end(): Buffer {
    const rest = this.#release(this.#held, this.#carried, this.#held.length);
    this.#state = 0;
    return rest;
  }

  #scan(text: Buffer, start: number): Span[] {
    const spans = this.#carried;
    let state = this.#state;
    for (let index = start; index < text.length; index++) {
      state = this.#matcher.step(state, text[index] ?? 0);
      const length = this.#matcher.matchedAt(state);
      if (length > 0) addSpan(spans, index + 1 - length, index + 1);
    }
    this.#state = state;
    return spans;
  }

  #release(text: Buffer, spans: readonly Span[], safeEnd: number): Buffer {
    const pieces: Buffer[] = [];
    let position = 0;
    this.#carried = [];
    for (const { start, end, announced } of spans) {
      if (start < safeEnd) {
        pieces.push(text.subarray(position, start));
        if (!announced) pieces.push(mark);
        position = Math.min(end, safeEnd);
      }
      if (end > safeEnd) {
        const carried = { start: Math.max(0, start - safeEnd), end: end - safeEnd, announced: start < safeEnd };
        this.#carried.push(carried);
      }
    }
    pieces.push(text.subarray(position, safeEnd));
    this.#held = Buffer.from(text.subarray(safeEnd));
    return Buffer.concat(pieces);
  }
}

/** Adds a match. Matches arrive ordered by their ends; overlapping ones are merged. */
function addSpan(spans: Span[], start: number, end: number): void {
  let first = start;
  let announced = false;
  for (let last = spans.at(-1); last !== undefined && last.end > first; last = spans.at(-1)) {
    first = Math.min(first, last.start);
    announced ||= last.announced;
    spans.pop();
  }
  spans.push({ start: first, end, announced });
}
