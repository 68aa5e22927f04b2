import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { connectionReading } from '#domain/connections/authority.ts';
import { type BindingTarget, placeOf } from '#domain/connections/bindings/bind.ts';
import { findBindingProblems } from '#domain/connections/bindings/binding-problems.ts';
import { phasesOf, readBindings } from '#domain/connections/bindings/store.ts';
import { connectionKinds } from '#domain/connections/kinds/kinds.ts';
import { decidePermission, isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import { variablePhases } from '#domain/variables/model.ts';

/** What a caller may do with the bindings of a project or an environment. */
export const bindingActions = {
  project: actionsOf<BindingTarget>()({
    update: { operation: 'project_connections.replace', findRefusal: findArchivedRefusal },
  }),
  environment: actionsOf<BindingTarget>()({
    update: { operation: 'environment_connections.replace', findRefusal: findArchivedRefusal },
  }),
};

export const BindingView = z.object({
  connection_id: AnswerId.nullable().describe('Null for those who may not read the connection.'),
  connection: z
    .string()
    .nullable()
    .describe('The name of the connection; null for those who may not read the connection.'),
  kind: z.enum(connectionKinds),
  phases: z.array(z.enum(variablePhases)),
  provides: z.array(z.string()).describe('The environment variables that a run gets from it.'),
  bound_by: z.object({ type: z.enum(['user', 'service_account']), id: AnswerId, name: z.string().nullable() }),
  bound_at: Time,
  problem: z
    .enum(['connection_elsewhere', 'connection_unauthorized'])
    .nullable()
    .describe('Why runs that need it are refused; null: nothing keeps them from being given it.'),
});

export const BindingsView = z
  .object({
    connections: z.record(z.string(), BindingView),
    revision: z.int().describe('The revision of the project or the environment.'),
    actions: bindingActions.environment.view,
  })
  .meta({ id: 'ConnectionBindings' });

export async function showBindings(
  em: Em,
  context: ActionContext,
  target: BindingTarget,
  revision = target.revision,
): Promise<z.input<typeof BindingsView>> {
  const place = placeOf(target);
  const bindings = await readBindings(em, place);
  const problems = await findBindingProblems(em, place, bindings);
  const mayRead = decidePermission(context.principal, connectionReading).allowed;
  const isAdministrator = isPlatformAdministrator(context.principal);
  // After a transfer, a place may still bind a connection of its former owners, which its readers may not read.
  const isShown = (row: (typeof bindings)[number]) => mayRead && (row.isCovered || isAdministrator);
  const view = (row: (typeof bindings)[number]): z.input<typeof BindingView> => ({
    connection_id: isShown(row) ? row.connectionId : null,
    connection: isShown(row) ? row.connection : null,
    kind: row.kind,
    phases: phasesOf(row),
    provides: row.isCovered || isAdministrator ? row.provides : [],
    bound_by: {
      type: row.boundByKind === 'service_account' ? 'service_account' : 'user',
      id: row.boundBy,
      name: row.boundByName,
    },
    bound_at: row.boundAt,
    problem: problems.get(row.id) ?? null,
  });
  return {
    connections: Object.fromEntries(bindings.map((row) => [row.name, view(row)])),
    revision,
    actions: bindingActions[place.environmentId === null ? 'project' : 'environment'].describe(context, target),
  };
}
