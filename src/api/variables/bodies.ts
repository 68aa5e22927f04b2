import { z } from 'zod';
import { invalidField } from '#domain/shared/errors.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { Json } from '#domain/shared/values/json.ts';
import { largestInteger } from '#domain/shared/values/storable.ts';
import { mostVariables, type NewVariable, variableCategories, variablePhases } from '#domain/variables/model.ts';

/** The bodies of requests about variables of environments and of variable sets. */

/** The phases in which runs get a variable. */
const Phases = z
  .array(z.enum(variablePhases))
  .min(1)
  .refine((phases) => new Set(phases).size === phases.length, { error: 'must not name a phase twice' });

const variableFields = {
  value: Json.optional().describe('Left out, or null as it is shown: a sensitive variable keeps its value.'),
  plan_value: Json.optional().describe(
    'For category `env`: the value that planning gets in place of `value`, such as weaker credentials. Left out: it stays as it is. ' +
      'Null, as it is shown: a sensitive variable keeps its own, and others have none.',
  ),
  has_plan_value: z
    .boolean()
    .optional()
    .describe('False: planning gets `value` too. True: there must be a `plan_value`, or one that is kept.'),
  category: z.enum(variableCategories),
  sensitive: z.boolean().default(false),
  phases: Phases.optional().describe(
    'Left out: an existing variable keeps its phases, and a new one is given in both.',
  ),
  expected_revision: z
    .int()
    .min(0)
    .max(largestInteger)
    .optional()
    .describe('The revision that was read. 0: there must be no such variable yet.'),
  // A variable can be sent back as it was read.
  revision: ExpectedRevision.expected_revision.describe('The same as `expected_revision`.'),
  updated_at: z.iso.datetime().optional().describe('Ignored.'),
  actions: z.array(z.unknown()).optional().describe('Ignored.'),
};

/** A variable's name. Setting a variable checks what its category demands besides. */
export const VariableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/, { error: 'expected letters, digits, "_" and "-", starting with no digit' });

export const SetVariable = z
  .strictObject({ name: VariableName.optional().describe('The same name as in the path.'), ...variableFields })
  .meta({ id: 'SetEnvironmentVariable' });

const ListedVariable = z.strictObject({ name: VariableName, ...variableFields });

export const ReplaceVariables = z
  .strictObject({
    variables: z.array(ListedVariable).max(mostVariables),
    next_cursor: z
      .custom<null>((cursor) => cursor === null, {
        error: 'there are more pages: send the variables of all pages, because all others are removed',
      })
      .optional()
      .meta({ type: 'null', description: 'As the last page of the list has it.' }),
    // Of all variables. A list is refused if a variable was added meanwhile.
    ...ExpectedRevision,
    // The list can be sent back as it was read.
    revision: ExpectedRevision.expected_revision.describe('The same as `expected_revision`.'),
  })
  .meta({ id: 'ReplaceEnvironmentVariables' });

/** The same, as the description of the API names it for variable sets. */
export const ReplaceVariablesOfSet = ReplaceVariables.meta({ id: 'ReplaceVariableSetVariables' });

/** @throws Invalid if the body names two revisions */
export function expectedRevisionOf(
  { expected_revision: expected, revision }: { expected_revision?: number | undefined; revision?: number | undefined },
  place = '',
): number | undefined {
  if (expected !== undefined && revision !== undefined && expected !== revision)
    throw invalidField(`${place}revision`, 'it and expected_revision name different revisions: send one of them');
  return expected ?? revision;
}

/** @throws Invalid if the body names another variable than the path */
export function toNamedVariable(name: string, body: z.output<typeof SetVariable>): NewVariable {
  if (body.name !== undefined && body.name !== name)
    throw invalidField('name', `expected "${name}", as in the path: a variable cannot be renamed`);
  return toNewVariable({ ...body, name });
}

/** The place is where the variable is in the request. @throws Invalid if the body names two revisions */
export function toNewVariable(body: z.output<typeof ListedVariable>, place = ''): NewVariable {
  const { expected_revision: _expected, revision: _revision, updated_at: _at, actions: _actions, ...rest } = body;
  const { plan_value: _planValue, has_plan_value: hasPlanValue, ...variable } = rest;
  const expectedRevision = expectedRevisionOf(body, place);
  // Secrets are shown as null.
  const value = variable.sensitive && variable.value === null ? undefined : variable.value;
  const planValue = toPlanValue(body, place);
  return { ...variable, value, planValue, hasPlanValue, expectedRevision };
}

/** Undefined: the value for planning stays as it is; null: there is none. @throws Invalid for a value that there shall not be */
function toPlanValue(
  { plan_value: value, has_plan_value: has, sensitive }: z.output<typeof ListedVariable>,
  place: string,
) {
  if (has === false && value !== undefined && value !== null)
    throw invalidField(`${place}plan_value`, 'is given, but has_plan_value is false: send one of them');
  if (has === false) return null;
  return sensitive && value === null ? undefined : value;
}
