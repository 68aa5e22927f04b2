import { isId } from '#domain/shared/ids.ts';
import type { Visit } from '../visit/visit.ts';
import { valuesOfName } from './fields/choices.ts';
import type { FormField } from './fields/form-field.ts';

/** What was sent for a select: the value that the text stands for, or the problem if there is no such value. */
type ReadChoice = { readonly value: string } | { readonly problem: string };

/**
 * Reads what was sent for a select. A select that offers only some of its choices sends names, because `renderControl` renders it as a text
 * field. A name is searched among everything that the visitor may read, even if a listed choice has it, because other things may have the
 * same name.
 */
export async function readChoice(visit: Visit<unknown>, field: FormField, typed = ''): Promise<ReadChoice> {
  const { kind, isCut, choiceKinds, choices = [] } = field;
  const text = typed.trim();
  if (kind !== 'select' || !isCut || text === '') return { value: typed };
  const listed = valuesOfName(choices, text);
  // If choices have no kinds, any text is valid.
  if (listed[0] === text || isId(text) || choiceKinds?.length === 0) return { value: listed[0] ?? text };
  const found = await visit.findNamed([text], choiceKinds);
  const [only, ...others] = new Set([...listed, ...found(text)]);
  if (only === undefined) return { problem: 'matches nothing that you may choose' };
  if (others.length === 0) return { value: only };
  return { problem: 'matches several: enter the ID of the one that you mean' };
}

/**
 * Replaces names by values in what was typed. Every handler of a form that may have such a select reads it with this function or with
 * `readChoice`. A name that matches nothing, or several things, adds a problem, and its field becomes empty, so that the form can report
 * its other problems as well.
 */
export async function resolveNames<Typed extends object>(
  visit: Visit<unknown>,
  fields: readonly FormField[],
  typed: Typed,
): Promise<Typed> {
  const values: Record<string, string> = {};
  for (const field of fields) {
    const text = (typed as Readonly<Record<string, unknown>>)[field.name];
    if (typeof text !== 'string') continue;
    const read = await readChoice(visit, field, text);
    if ('problem' in read) visit.addProblem(field.name, read.problem);
    values[field.name] = 'value' in read ? read.value : '';
  }
  return { ...typed, ...values };
}
