import { isId } from '#domain/shared/ids.ts';
import type { Visit } from '../visit/visit.ts';
import { valuesOfName } from './fields/choices.ts';
import type { FormField } from './fields/form-field.ts';

/** What a select was sent with: the value that the text stands for, or why it stands for none. */
type ReadChoice = { readonly value: string } | { readonly problem: string };

/**
 * Reads what a select was sent with. One that offers only some of its choices sends names, since that is what `renderControl` makes of it. A name is looked
 * up among all that the visitor may read, also one of a listed choice: something else that is not listed may have it, too.
 */
export async function readChoice(visit: Visit<unknown>, field: FormField, typed = ''): Promise<ReadChoice> {
  const { kind, isCut, choiceKinds, choices = [] } = field;
  const text = typed.trim();
  if (kind !== 'select' || !isCut || text === '') return { value: typed };
  const listed = valuesOfName(choices, text);
  // Without kinds, any text is a value.
  if (listed[0] === text || isId(text) || choiceKinds?.length === 0) return { value: listed[0] ?? text };
  const found = await visit.findNamed([text], choiceKinds);
  const [only, ...others] = new Set([...listed, ...found(text)]);
  if (only === undefined) return { problem: 'matches nothing that you may choose' };
  if (others.length === 0) return { value: only };
  return { problem: 'matches several: enter the ID of the one that you mean' };
}

/**
 * What was typed, with values in place of names. Every handler of a form that may have such a select reads it by this or by `readChoice`.
 * The field of a name that stands for nothing, or for several things, has that problem and is empty, so that the form names its other faults, too.
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
