import type { JsonValue } from '#domain/shared/values/json.ts';
import { pointer } from '../spec/problems.ts';
import { DraftUnreadable, type ParsedDraft, parseDraft } from '../spec/text/parse.ts';

/** A draft as a thread reads it. A class and a function cannot leave their thread. */
export type ReadDraft =
  | {
      readonly value: JsonValue;
      /** By JSON pointer, of members and of those inside them. */
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

/** Problems lie in nodes and their fields: deeper members have the line of the field. */
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
