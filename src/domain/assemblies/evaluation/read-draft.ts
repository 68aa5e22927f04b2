import type { JsonValue } from '#domain/shared/values/json.ts';
import { pointer } from '../spec/problems.ts';
import { DraftUnreadable, type ParsedDraft, parseDraft } from '../spec/text/parse.ts';

/** A parsed draft in a form that a thread can send: instances of classes and functions cannot be sent. */
export type ReadDraft =
  | {
      readonly value: JsonValue;
      /** The lines of members at all levels, by JSON pointer. */
      readonly lines: ReadonlyMap<string, number>;
    }
  | { readonly unreadable: { readonly message: string; readonly line: number; readonly column: number } };

/** Reads the text of a draft in a thread. */
export function readDraft(source: string): ReadDraft {
  try {
    const draft = parseDraft(source);
    return { value: draft.value, lines: findLines(draft) };
  } catch (error) {
    if (!(error instanceof DraftUnreadable)) throw error;
    const { message, line, column } = error;
    return { unreadable: { message, line, column } };
  }
}

/**
 * The maximum depth of members whose lines are kept. Problems concern nodes and their fields, so deeper members get the line of the field.
 */
const maxLineDepth = 4;
const maxLines = 20_000;

function findLines({ value, lineOf }: ParsedDraft): Map<string, number> {
  const lines = new Map<string, number>();
  const add = (member: JsonValue, path: string, depth: number): void => {
    if (lines.size === maxLines) return;
    const line = lineOf(path);
    if (line !== null) lines.set(path, line);
    if (typeof member !== 'object' || member === null || depth === maxLineDepth) return;
    for (const [name, inner] of Object.entries(member)) add(inner, path + pointer(name), depth + 1);
  };
  add(value, '', 0);
  return lines;
}
