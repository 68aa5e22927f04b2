import { z } from 'zod';
import type { RequestMetadata } from '#api/pipeline/call.ts';
import { revisionFor } from '#api/pipeline/headers/if-match.ts';
import { ignoringShown, ShownRevision } from '#api/pipeline/written-back.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { Json } from '#domain/shared/values/json.ts';
import { maxInteger } from '#domain/shared/values/storable.ts';
import { maxVariables, type NewVariable, variableCategories, variablePhases } from '#domain/variables/model.ts';
import { VariableView } from './views.ts';

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
    .max(maxInteger)
    .optional()
    .describe('The revision that was read. 0: there must be no such variable yet.'),
  revision: ShownRevision.revision,
};

/** The members of a variable that answers show, in a list or alone. */
const Shown = VariableView.extend({ warnings: z.unknown(), actions: z.unknown() });

/** The name of a variable. Setting a variable also checks what its category requires. */
export const VariableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/, { error: 'expected letters, digits, "_" and "-", starting with no digit' });

export const SetVariable = ignoringShown(
  z.object({ name: VariableName.optional().describe('The same name as in the path.'), ...variableFields }),
  Shown,
).meta({ id: 'SetEnvironmentVariable' });

const ListedVariable = ignoringShown(z.object({ name: VariableName, ...variableFields }), Shown);

export const ReplaceVariables = z
  .strictObject({
    variables: z.array(ListedVariable).max(maxVariables),
    next_cursor: z
      .custom<null>((cursor) => cursor === null, {
        error: 'there are more pages: send the variables of all pages, because all others are removed',
      })
      .optional()
      .meta({ type: 'null', description: 'As the last page of the list has it.' }),
    // The revision of all variables. A list is refused if a variable was added meanwhile.
    ...ShownRevision,
  })
  .meta({ id: 'ReplaceEnvironmentVariables' });

/** The same body, with the name that the API's description has for variable sets. */
export const ReplaceVariablesOfSet = ReplaceVariables.meta({ id: 'ReplaceVariableSetVariables' });

/** @throws Invalid if the body names another variable than the path */
export function toNamedVariable(
  name: string,
  body: z.output<typeof SetVariable>,
  headers: RequestMetadata['headers'],
): NewVariable {
  if (body.name !== undefined && body.name !== name)
    throw invalidField('name', `expected "${name}", as in the path: a variable cannot be renamed`);
  return { ...toNewVariable({ ...body, name }), expectedRevision: revisionFor(body, headers) };
}

/** `place` is the path of the variable in the request. @throws Invalid if the body names two revisions */
export function toNewVariable(body: z.output<typeof ListedVariable>, place = ''): NewVariable {
  const { name, category, sensitive, phases, has_plan_value: hasPlanValue } = body;
  // Answers show secrets as null.
  const value = sensitive && body.value === null ? undefined : body.value;
  const planValue = toPlanValue(body, place);
  const expectedRevision = revisionFor(body, {}, place);
  return { name, category, sensitive, phases, value, planValue, hasPlanValue, expectedRevision };
}

/** The value for planning. Undefined: it stays as it is; null: there is none. @throws Invalid if there must not be a value */
function toPlanValue(
  { plan_value: value, has_plan_value: has, sensitive }: z.output<typeof ListedVariable>,
  place: string,
) {
  if (has === false && value !== undefined && value !== null)
    throw invalidField(`${place}plan_value`, 'is given, but has_plan_value is false: send one of them');
  if (has === false) return null;
  return sensitive && value === null ? undefined : value;
}
