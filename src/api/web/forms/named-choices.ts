import { isId } from '#domain/shared/ids.ts';
import type { Visit } from '../visit/visit.ts';
import { valueOfName } from './fields/choices.ts';
import type { FormField } from './fields/form-field.ts';

/** What was typed, by the name of the field. */
type Values = Readonly<Record<string, string>>;

/**
 * What was typed, with values in place of names in the selects that offer only some of their choices. A name that is not among them is searched among
 * all that the visitor may read. Of one that names nothing or several things the field has the problem, and is empty.
 */
export async function readNamed(visit: Visit<unknown>, fields: readonly FormField[], typed: Values): Promise<Values> {
  const values: Record<string, string> = {};
  for (const { name, kind, isCut, choiceKinds, choices = [] } of fields) {
    const text = typed[name]?.trim() ?? '';
    if (kind !== 'select' || !isCut || text === '') continue;
    values[name] =
      valueOfName(choices, text) ?? (isId(text) ? text : await findOther(visit, { name, choiceKinds }, text));
  }
  return { ...typed, ...values };
}

async function findOther(
  visit: Visit<unknown>,
  { name, choiceKinds }: Pick<FormField, 'name' | 'choiceKinds'>,
  text: string,
): Promise<string> {
  const [only, ...others] = await visit.findNamed(text, choiceKinds);
  if (only !== undefined && others.length === 0) return only;
  const problem =
    only === undefined
      ? 'is the name of nothing that you may choose'
      : 'is the name of several things: choose one from the list, or enter the ID of one';
  visit.addProblem(name, problem);
  return '';
}
