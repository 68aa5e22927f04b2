import type { z } from 'zod';
import type { Em } from '#database/database.ts';
import type { JsonValue } from '#domain/runs/model.ts';
import { Conflict, Invalid, NotFound } from '#domain/shared/errors.ts';
import { afterName, type Page, type PageRequest, toNamedPage } from '#domain/shared/paging.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { refuseArchived } from '#domain/tenancy/archiving.ts';
import type { SetVariable, VariableCategory } from './model.ts';
import type { EnvironmentTarget } from './store.ts';
import { explainVariableName } from './variable-names.ts';
import { variableContext } from './variables.ts';

/** A variable as everybody may see it: the value of a sensitive one is never shown again. */
export interface ShownVariable {
  readonly name: string;
  readonly category: VariableCategory;
  readonly sensitive: boolean;
  readonly value: JsonValue;
  readonly revision: number;
  readonly updatedAt: string;
}

const selectVariables = `
  select v.name, v.category, v.sensitive, case when v.sensitive then null else v.value end as value, v.revision,
         v.updated_at as "updatedAt" from environment_variables v where true`;

export async function findVariable(em: Em, environmentId: string, name: string): Promise<ShownVariable | undefined> {
  const rows = await em.execute<ShownVariable[]>(`${selectVariables} and v.environment_id = ? and v.name = ?`, [
    environmentId,
    name,
  ]);
  return rows[0];
}

/** A page of an environment's variables, by name; the cursor is the last name of the page before. */
export async function listVariables(em: Em, environmentId: string, request: PageRequest): Promise<Page<ShownVariable>> {
  const after = afterName(request, (name) => !explainVariableName('template', name));
  const rows = await em.execute<ShownVariable[]>(
    `${selectVariables} and v.environment_id = ? and v.name collate "C" > ? order by v.name collate "C" limit ?`,
    [environmentId, after, request.limit + 1],
  );
  return toNamedPage(rows, request);
}

const maximumVariables = 500;

/**
 * Writes a variable, new or not; the caller holds the environment's row and may do so.
 * @throws Invalid for a name or value that such a variable cannot have
 * @throws Conflict for something archived, a stale revision, or one variable too many
 */
export async function setVariable(
  em: Em,
  keyRing: KeyRing,
  environment: EnvironmentTarget,
  variable: z.output<typeof SetVariable> & { name: string; setBy: string },
  before: ShownVariable | undefined,
): Promise<ShownVariable> {
  const { name, value, category, sensitive, setBy, expected_revision: expected } = variable;
  refuseArchived(environment);
  refuseUnusable(category, name, value);
  refuseStale(before ?? { revision: 0 }, expected);
  if (!before) await refuseTooMany(em, environment.id);
  const sealed = sensitive ? keyRing.sealJson(variableContext(environment.id, name), value) : null;
  const [row] = await em.execute<[ShownVariable]>(
    `insert into environment_variables as v (environment_id, name, category, sensitive, value, sealed_value, set_by, updated_at)
     values (?, ?, ?, ?, ?::jsonb, ?, ?, clock_timestamp())
     on conflict (environment_id, name) do update set category = excluded.category, sensitive = excluded.sensitive,
       value = excluded.value, sealed_value = excluded.sealed_value, set_by = excluded.set_by,
       revision = v.revision + 1, updated_at = excluded.updated_at
     returning v.name, v.category, v.sensitive, v.value, v.revision, v.updated_at as "updatedAt"`,
    [environment.id, name, category, sensitive, sealed ? null : JSON.stringify(value), sealed, setBy],
  );
  return row;
}

/** @throws NotFound where the environment has no such variable */
export async function removeVariable(em: Em, environment: EnvironmentTarget, name: string): Promise<void> {
  refuseArchived(environment);
  const removed = await em.execute<{ name: string }[]>(
    `delete from environment_variables where environment_id = ? and name = ? returning name`,
    [environment.id, name],
  );
  if (removed.length === 0) throw new NotFound('variable');
}

/** A process's environment is text, without NUL, and no longer than systems take. */
const longestText = 64 * 1024;
const longestValue = 256 * 1024;

function refuseUnusable(category: VariableCategory, name: string, value: JsonValue): void {
  const wrong = explainVariableName(category, name);
  if (wrong) throw new Invalid(`name: ${wrong}`);
  if (category === 'env' && typeof value !== 'string') {
    throw new Invalid('value: expected a string, as environment variables are text');
  }
  const longest = category === 'env' ? longestText : longestValue;
  if (Buffer.byteLength(JSON.stringify(value)) > longest) {
    throw new Invalid(`value: must have at most ${longest / 1024} KiB`);
  }
}

async function refuseTooMany(em: Em, environmentId: string): Promise<void> {
  const [row] = await em.execute<[{ count: number }]>(
    `select count(*)::int as count from environment_variables where environment_id = ?`,
    [environmentId],
  );
  if (row.count >= maximumVariables) {
    throw new Conflict(`an environment has at most ${maximumVariables} variables`);
  }
}
