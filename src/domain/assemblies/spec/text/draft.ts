import type { JsonValue } from '#domain/shared/values/json.ts';

/** Deeper texts are refused before anything recurses into them. */
export const maxDepth = 64;
export const tooDeep = `the spec is nested too deeply: it has more than ${maxDepth} levels`;

/** The text cannot be read. `line` and `column` count from 1. */
export class DraftUnreadable extends Error {
  readonly line: number;
  readonly column: number;

  constructor(message: string, { line, column }: { line: number; column: number }) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

export interface ParsedDraft {
  readonly value: JsonValue;
  /** The line of the member that a JSON pointer names, or of the nearest one around it; null if the text is empty. */
  lineOf(path: string): number | null;
}
