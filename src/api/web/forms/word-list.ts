import { toFieldProblem } from '../text.ts';
import type { FormField } from './fields/form-field.ts';
import type { FormProblems } from './problems.ts';

/** The words of a text area that holds a list. Line ends, spaces, commas and semicolons separate them. */
export function readWords(text: string | undefined): string[] {
  return (text ?? '').split(/[\s,;]+/).filter(Boolean);
}

/**
 * Names the line of each wrong word of a list. The operation names the word by its index in the body, which a person who fills in a form never sees.
 * A line with several words that have the same problem is named once.
 */
export function nameLines(
  problems: FormProblems,
  fields: readonly FormField[],
  typed: Readonly<Record<string, string>>,
): FormProblems {
  const said = fields
    .filter(({ isWordList }) => isWordList)
    .flatMap(({ name }) => {
      const inside = (problems.details ?? []).filter(({ path }) => path === name || path.startsWith(`${name}[`));
      // The form already shows problems of the whole list.
      if (inside.every(({ path }) => path === name)) return [];
      const texts = inside.map(({ path, message }) => {
        const index = /^\[(\d+)\]/.exec(path.slice(name.length))?.[1];
        const line = index === undefined ? null : lineOf(typed[name] ?? '', Number(index));
        return `${line === null ? '' : `Line ${line}: `}${toFieldProblem(message, path)}`;
      });
      return [[name, [...new Set(texts)].join('\n')] as const];
    });
  return { ...problems, fields: { ...problems.fields, ...Object.fromEntries(said) } };
}

/** The number of the line on which a word stands, from 1; null if there is no such word. */
function lineOf(text: string, index: number): number | null {
  const lines = text.split('\n').flatMap((line, at) => readWords(line).map(() => at + 1));
  return lines[index] ?? null;
}
