import { createScanner } from 'jsonc-parser';
import { nestingOf } from './comparison/nesting.ts';
import { Decimal } from './decimal.ts';
import type { JsonValue } from './json.ts';
import { token } from './strict-json.ts';

/** Reads JSON without loss. Use it for all JSON from tools, templates and the database. `JSON.stringify` writes it. */

/** Deeper values would overflow the functions that walk through them. */
export const maxReadDepth = 1_000;

/** The error for a text that cannot be read. Its message contains nothing of the content except a key. */
export class UnreadableJson extends Error {}

export interface ReadOptions {
  /** Refuses an object that repeats a key, since its meaning is unclear. By default the last value counts, as in `JSON.parse`. */
  readonly refusesRepeatedKeys?: boolean;
}

/**
 * Finds texts that may contain a number that `JSON.parse` changes: one of 16 characters or more, one with an exponent, or -0. It may also
 * match inside strings.
 */
const mayLoseNumbers = /(?:^|[\s:,[])(?:-0|-?\d[\d.]{15,}|-?[\d.]+[eE])/;

/**
 * Parses one JSON value as `JSON.parse` does, but keeps every digit of its numbers (`Decimal`).
 * @throws UnreadableJson
 */
export function parseExactJson(text: string, { refusesRepeatedKeys = false }: ReadOptions = {}): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UnreadableJson('it is not valid JSON');
  }
  if (nestingOf(text) > maxReadDepth) throw new UnreadableJson(`it is nested deeper than ${maxReadDepth} levels`);
  return refusesRepeatedKeys || mayLoseNumbers.test(text) ? new Reading(text, refusesRepeatedKeys).read() : value;
}

/** `parseExactJson` for a text that the service wrote, such as a value of the database. */
export function parseWrittenJson(text: string): JsonValue {
  return mayLoseNumbers.test(text) ? new Reading(text, false).read() : JSON.parse(text);
}

type JsonObject = { [name: string]: JsonValue };

/** An object or list that is being read. `name` is the key of the next value; null in a list, and before a key. */
interface Open {
  readonly value: JsonObject | JsonValue[];
  name: string | null;
}

/** Reads the tokens of a text that is known to be valid JSON. Not recursive. */
class Reading {
  readonly #scanner;
  readonly #open: Open[] = [];
  readonly #refusesRepeatedKeys: boolean;
  #result: JsonValue = null;

  constructor(text: string, refusesRepeatedKeys: boolean) {
    this.#scanner = createScanner(text, true);
    this.#refusesRepeatedKeys = refusesRepeatedKeys;
  }

  read(): JsonValue {
    for (let kind = Number(this.#scanner.scan()); kind !== token.end; kind = Number(this.#scanner.scan())) {
      this.#take(kind);
    }
    return this.#result;
  }

  #take(kind: number): void {
    switch (kind) {
      case token.openBrace:
        this.#enter({});
        break;
      case token.openBracket:
        this.#enter([]);
        break;
      case token.closeBrace:
      case token.closeBracket:
        this.#open.pop();
        break;
      case token.string:
        this.#takeText(this.#scanner.getTokenValue());
        break;
      case token.number:
        this.#add(Decimal.read(this.#scanner.getTokenValue()));
        break;
      case token.true:
      case token.false:
        this.#add(kind === token.true);
        break;
      case token.null:
        this.#add(null);
        break;
    }
  }

  #enter(value: JsonObject | JsonValue[]): void {
    this.#add(value);
    this.#open.push({ value, name: null });
  }

  /** A string is a key if the open object has no key yet for its next value. */
  #takeText(text: string): void {
    const open = this.#open.at(-1);
    if (open === undefined || Array.isArray(open.value) || open.name !== null) this.#add(text);
    else {
      if (this.#refusesRepeatedKeys && Object.hasOwn(open.value, text))
        throw new UnreadableJson(`it has the key ${shorten(text)} twice in one object`);
      open.name = text;
    }
  }

  #add(value: JsonValue): void {
    const open = this.#open.at(-1);
    if (open === undefined) this.#result = value;
    else if (Array.isArray(open.value)) open.value.push(value);
    else if (open.name !== null) {
      setMember(open.value, open.name, value);
      open.name = null;
    }
  }
}

/** Assigning to `__proto__` would set the prototype instead. */
function setMember(object: JsonObject, name: string, value: JsonValue): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

function shorten(key: string): string {
  return JSON.stringify(key.length > 64 ? `${key.slice(0, 64)}…` : key);
}
