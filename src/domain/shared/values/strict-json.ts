import { createScanner, type JSONScanner, type JSONVisitor, visit } from 'jsonc-parser';
import { type FieldPath, formatPath } from '../validation/field-path.ts';
import { keepsDigits } from './decimal.ts';

/** The token kinds of jsonc-parser, whose enum exists only as a type. */
export const token = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  colon: 6,
  null: 7,
  true: 8,
  false: 9,
  string: 10,
  number: 11,
  end: 17,
} as const;

type JsonProblemKind = 'empty' | 'syntax' | 'trailing' | 'duplicate_key' | 'refused_key' | 'depth' | 'text' | 'number';

/** Why a text is not accepted as JSON. `line` and `column` count from 1; `path` is the member with the problem. */
type JsonProblem = {
  kind: JsonProblemKind;
  message: string;
  path: FieldPath;
  line: number;
  column: number;
};

type StrictJson = { ok: true; value: unknown } | { ok: false; problem: JsonProblem };

/** The deepest nesting that is accepted: far above any real body, and far below what overflows a recursive parser. */
const maxNesting = 100;
/** How many decimal digits a JavaScript number always keeps exactly. */
export const maxDigits = 15;

/**
 * Parses exactly one JSON value, as `JSON.parse` does, and rejects what `JSON.parse` accepts silently: repeated keys, keys
 * that reach a prototype, nesting deeper than `maxNesting`, text that cannot be stored (NUL, half of a surrogate pair) and
 * numbers that a JavaScript number does not hold to the last digit. Takes linear time and is not recursive. (specification, *Conventions*)
 */
export function parseStrictJson(text: string): StrictJson {
  if (text.trim() === '') return refuse('empty', 'a JSON value is required, but the body is empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Only V8's message distinguishes content after the value from a syntax error inside it.
    const trailing = error instanceof SyntaxError && error.message.includes('after JSON');
    return { ok: false, problem: explainSyntax(text, trailing ? 'trailing' : 'syntax') };
  }
  const problem = new Inspection(text).findProblem();
  return problem ? { ok: false, problem } : { ok: true, value };
}

/** An object (`keys` seen so far) or array (`keys` is null) that encloses the current token. */
type Frame = { keys: Set<string> | null; part: string | number; inValue: boolean };

/** Scans the tokens of a text that is valid JSON for problems that `JSON.parse` does not report. */
class Inspection {
  readonly #scanner: JSONScanner;
  readonly #frames: Frame[] = [];

  constructor(text: string) {
    this.#scanner = createScanner(text, true);
  }

  findProblem(): JsonProblem | undefined {
    for (let kind = this.#scanner.scan(); Number(kind) !== token.end; kind = this.#scanner.scan()) {
      const problem = this.#inspect(Number(kind));
      if (problem) return problem;
    }
    return undefined;
  }

  #inspect(kind: number): JsonProblem | undefined {
    const frame = this.#frames.at(-1);
    switch (kind) {
      case token.openBrace:
        return this.#enter({ keys: new Set(), part: '', inValue: false });
      case token.openBracket:
        return this.#enter({ keys: null, part: 0, inValue: true });
      case token.closeBrace:
      case token.closeBracket:
        this.#frames.pop();
        return undefined;
      case token.colon:
        if (frame) frame.inValue = true;
        return undefined;
      case token.comma:
        if (frame?.keys) frame.inValue = false;
        else if (frame) frame.part = Number(frame.part) + 1;
        return undefined;
      case token.string:
        return this.#inspectString(frame);
      case token.number:
        return this.#inspectNumber();
      default:
        return undefined;
    }
  }

  #enter(frame: Frame): JsonProblem | undefined {
    if (this.#frames.length >= maxNesting) {
      return this.#problem('depth', `the body is nested deeper than ${maxNesting} levels`);
    }
    this.#frames.push(frame);
    return undefined;
  }

  #inspectString(frame: Frame | undefined): JsonProblem | undefined {
    const text = this.#scanner.getTokenValue();
    const isKey = frame?.keys && !frame.inValue;
    if (isKey) frame.part = text;
    if (!text.isWellFormed())
      return this.#problem('text', '%s contains half of a surrogate pair, which is not valid text');
    if (text.includes('\0')) return this.#problem('text', '%s contains a NUL character, which cannot be stored');
    if (!isKey || !frame.keys) return undefined;
    if (this.#reachesPrototype(text)) return this.#problem('refused_key', 'the key %s is not allowed');
    if (frame.keys.has(text)) return this.#problem('duplicate_key', 'the key %s is given more than once');
    frame.keys.add(text);
    return undefined;
  }

  #reachesPrototype(key: string): boolean {
    return key === '__proto__' || (key === 'prototype' && this.#frames.at(-2)?.part === 'constructor');
  }

  #inspectNumber(): JsonProblem | undefined {
    const literal = this.#scanner.getTokenValue();
    if (literal.length < 4) return undefined;
    const value = Number(literal);
    if (!Number.isFinite(value)) return this.#problem('number', '%s is a number out of range');
    const isInteger = !/[.eE]/.test(literal);
    if (isInteger && !Number.isSafeInteger(value)) {
      return this.#problem(
        'number',
        '%s is an integer beyond 2^53, which would lose digits: send a smaller one, or a string where the field takes text',
      );
    }
    if (isInteger || keepsDigits(literal)) return undefined;
    return this.#problem(
      'number',
      `%s is a number that would lose digits: send at most ${maxDigits} of them, or a string where the field takes text`,
    );
  }

  #problem(kind: JsonProblemKind, message: string): JsonProblem {
    const path = this.#frames.map((frame) => frame.part);
    const text = message.replace('%s', () => formatPath(path) || 'the body');
    const line = this.#scanner.getTokenStartLine() + 1;
    return { kind, message: text, path, line, column: this.#scanner.getTokenStartCharacter() + 1 };
  }
}

/** A problem as the end of a sentence, for a value that is not a body. */
export function describeJsonProblem({ kind, message, line, column }: JsonProblem): string {
  return kind === 'syntax' ? message.replace(/^the body /, '') : `line ${line}, column ${column}: ${message}`;
}

/** The value of `ParseErrorCode` of the parser, which is a constant enum and does not exist at run time. */
const unexpectedEndOfString = 12;
const brokenText = ': a text in quotes cannot contain a line break: write \\n in its place';

/** Whether the syntax error is a line break inside a string. */
function isBrokenText(text: string, code: number, end: number): boolean {
  return code === unexpectedEndOfString && /[\r\n]/.test(text.charAt(end));
}

/** Locates the first syntax error, without repeating any of the text. */
function explainSyntax(text: string, kind: 'syntax' | 'trailing'): JsonProblem {
  const what =
    kind === 'trailing' ? 'exactly one JSON value is expected, but more follows it' : 'the body is not valid JSON';
  const problems: JsonProblem[] = [];
  const onError: JSONVisitor['onError'] = (code, offset, length, startLine, startCharacter) => {
    if (problems.length > 0) return;
    const [line, column] = [startLine + 1, startCharacter + 1];
    const why = isBrokenText(text, code, offset + length) ? brokenText : '';
    problems.push({ kind, message: `${what} at line ${line}, column ${column}${why}`, path: [], line, column });
  };
  try {
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false });
  } catch (error) {
    // The visitor is recursive, and a text that JSON.parse rejected may be nested to any depth.
    if (!(error instanceof RangeError)) throw error;
  }
  return problems[0] ?? { kind, message: what, path: [], line: 1, column: 1 };
}

function refuse(kind: JsonProblemKind, message: string): StrictJson {
  return { ok: false, problem: { kind, message, path: [], line: 1, column: 1 } };
}
