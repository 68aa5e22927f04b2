import { Invalid } from '#domain/shared/errors.ts';

/** The hidden field with the revision for which a form was opened. */
export const revisionName = 'expected_revision';

/**
 * Reads the fields of a submitted form. A field that was left out is empty, and line breaks are converted as by `toLines`.
 * @throws Invalid for an unknown or repeated field
 */
export function readForm<Name extends string>(body: unknown, names: readonly Name[]): Record<Name, string> {
  const given = new Map(Object.entries(body ?? {}));
  const unknown = [...given.keys()].find((name) => !(names as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Invalid(`the form has no field ${JSON.stringify(unknown)}`);
  const fields = names.map((name) => {
    const value = given.get(name) ?? '';
    if (typeof value !== 'string') throw new Invalid(`the field "${name}" was sent more than once`);
    return [name, toLines(value)];
  });
  return Object.fromEntries(fields);
}

/** Converts CR LF to LF. Browsers send every line break as CR LF, while texts that come through the API have LF. */
export function toLines(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

/** The problem of each field, by name, if the error is only about these fields of the body; otherwise undefined. */
export function fieldProblems(error: unknown, names: readonly string[]): Record<string, string> | undefined {
  if (!(error instanceof Invalid)) return undefined;
  const problems = error.details?.['errors'];
  if (!Array.isArray(problems) || problems.length === 0) return undefined;
  if (!problems.every(({ in: part, path }) => part === 'body' && names.includes(path))) return undefined;
  return Object.fromEntries(problems.map(({ path, message }) => [path, message]));
}

/** Reads a number in digits. Any other text stays as it was typed, so that the operation says what is wrong with it. */
export function readWholeNumber(text: string): number | string {
  const typed = text.trim();
  return /^\d{1,16}$/.test(typed) ? Number(typed) : typed;
}

/** Converts the time of a form's field, which has no time zone and means UTC. */
export function toUtc(local: string): string | null {
  return local === '' ? null : `${local.length === 16 ? `${local}:00` : local}Z`;
}
