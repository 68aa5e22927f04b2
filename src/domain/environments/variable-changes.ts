import type { Em } from '#database/database.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { Conflict, Invalid, NotFound } from '#domain/shared/errors.ts';
import type { JsonValue } from '#domain/shared/json.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { NewVariable, VariableCategory } from './model.ts';
import type { EnvironmentTarget } from './store.ts';
import { explainVariableName } from './variable-names.ts';
import { countVariables, deleteVariable, type ShownVariable, writeVariable } from './variable-store.ts';
import { variableContext } from './variables.ts';

const maximumVariables = 500;

/**
 * Sets a variable, which may exist already. The caller holds the environment's row and has checked the authority.
 * @throws Invalid for a name or value that a variable of this category cannot have
 * @throws Conflict for something archived, a stale revision, or one variable too many
 */
export async function setVariable(
  em: Em,
  keyRing: KeyRing,
  environment: EnvironmentTarget,
  variable: NewVariable & { readonly setBy: string },
  before: ShownVariable | undefined,
): Promise<ShownVariable> {
  const { name, value, category, sensitive, setBy, expectedRevision } = variable;
  refuseArchived(environment);
  refuseUnusable(category, name, value);
  refuseStale(before ?? { revision: 0 }, expectedRevision);
  if (!before) await refuseTooMany(em, environment.id);
  const sealed = sensitive ? keyRing.sealJson(variableContext(environment.id, name), value) : null;
  return writeVariable(em, { environmentId: environment.id, name, category, sensitive, value, sealed, setBy });
}

/** Removes a variable. @throws NotFound if the environment has no such variable; Conflict for something archived */
export async function removeVariable(em: Em, environment: EnvironmentTarget, name: string): Promise<void> {
  refuseArchived(environment);
  if (!(await deleteVariable(em, environment.id, name))) throw new NotFound('variable');
}

/** Operating systems take no longer text into a process's environment. */
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
  if ((await countVariables(em, environmentId)) < maximumVariables) return;
  throw new Conflict(`an environment has at most ${maximumVariables} variables: remove one first`);
}
