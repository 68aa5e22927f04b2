import { toFieldProblem } from '../text.ts';
import type { FormField } from './fields/form-field.ts';
import type { FormProblems } from './problems.ts';

/** Splits the text of a text area into words, at line breaks, spaces, commas and semicolons. */
export function readWords(text: string | undefined): string[] {
  return (text ?? '').split(/[\s,;]+/).filter(Boolean);
}

/**
 * Adds the line number to the problem of each wrong word in a list. The operation identifies the word by its index in the body, which
 * people who fill in a form never see. If several words of a line have the same problem, the line is named once.
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

/** The number of the line that contains a word, from 1; null if there is no such word. */
function lineOf(text: string, index: number): number | null {
  const lines = text.split('\n').flatMap((line, at) => readWords(line).map(() => at + 1));
  return lines[index] ?? null;
}
