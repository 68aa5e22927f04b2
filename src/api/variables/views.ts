import { z } from 'zod';
import { Time } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Json } from '#domain/shared/values/json.ts';
import { variableCategories, variablePhases } from '#domain/variables/model.ts';
import { planGetsSecret } from '#domain/variables/plan-value-rules.ts';
import type { ShownVariable } from '#domain/variables/store.ts';
import { findUnknownDefaults } from '#domain/variables/unknown-defaults-store.ts';

export const VariableView = z
  .object({
    name: z.string(),
    category: z.enum(variableCategories),
    sensitive: z.boolean(),
    phases: z.array(z.enum(variablePhases)).describe('The phases in which the tools of runs get it.'),
    value: Json.nullable().describe('Null for a sensitive variable: its value is never shown again.'),
    plan_value: Json.nullable().describe(
      'What planning gets in place of `value`. Null where there is none, and for a sensitive variable.',
    ),
    has_plan_value: z.boolean(),
    plan_gets_secret: z
      .boolean()
      .describe(
        'True: it is sensitive, and planning gets the value that applying gets, so anyone who may start a plan can have it printed. `phases` or a `plan_value` ' +
          'end this for category `env`; a variable of a template is kept from plans where the template declares it as ephemeral.',
      ),
    revision: z.int(),
    updated_at: Time,
  })
  .meta({ id: 'EnvironmentVariable' });

export const VariableWarnings = z
  .array(z.string())
  .describe(
    'What is probably a mistake, such as a default for a template variable that no template has. Of the set of an organization, only those are told who may read all its teams.',
  );

/** Finds probable mistakes in the variables of an environment, or of a set with this owner. */
export async function findVariableWarnings(
  em: Em,
  reader: Principal,
  owner: Pick<Ownership, 'teamId' | 'organizationId'>,
  { name, category }: Pick<ShownVariable, 'name' | 'category'>,
): Promise<string[]> {
  const unknown = category === 'template' ? await findUnknownDefaults(em, reader, owner, [name]) : [];
  return unknown.map(
    (each) =>
      `no template that can run here has a variable "${each}", so this default does nothing: correct the name, or use the category env if tools shall get it`,
  );
}

export function viewVariable({ phases, planValue, hasPlanValue, updatedAt, ...variable }: ShownVariable) {
  return {
    ...variable,
    phases: [...phases],
    plan_value: planValue,
    has_plan_value: hasPlanValue,
    plan_gets_secret: planGetsSecret({ sensitive: variable.sensitive, phases, hasPlanValue }),
    updated_at: updatedAt,
  };
}

/** A variable as the audit stores it: never with its value. */
export function describeVariable({ name, category, sensitive, phases, hasPlanValue, revision }: ShownVariable) {
  return { name, category, sensitive, phases: [...phases], hasPlanValue, revision };
}
