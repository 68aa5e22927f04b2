import { slots } from '#api/web/forms/schema/slots.ts';
import { shorten } from '#api/web/forms/schema/view/hints.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { get } from '../operations.ts';
import { list } from '../variable-operations.ts';

/** The defaults of template variables that an environment sets, in words, by the slots of the variables; null: the visitor may not read it. */
export async function readInherited(visit: Visit<unknown>, id: string): Promise<ReadonlyMap<string, string> | null> {
  const [environment, variables] = await Promise.all([
    orNull(visit.read(get, { params: { id } })),
    orNull(readVariables(visit, id)),
  ]);
  if (!environment || !variables) return null;
  const defaults = variables.filter(({ category }) => category === 'template');
  return new Map(
    defaults.map(({ name, sensitive, value }) => {
      const shown = sensitive ? 'a secret value' : shorten(value as JsonValue);
      return [slots.member('', name), `${environment.name} sets ${shown}`];
    }),
  );
}

/** All variables of an environment. A form that knew only some would ask for what the environment gives. */
async function readVariables(visit: Visit<unknown>, id: string) {
  const read = (cursor?: string) => visit.read(list, { params: { id }, query: { limit: '200', cursor } });
  let page = await read();
  const all = [...page.variables];
  while (page.next_cursor !== null) {
    page = await read(page.next_cursor);
    all.push(...page.variables);
  }
  return all;
}
