import type { Em, Orm } from '#database/database.ts';
import { type Access, decide } from '#domain/shared/access/decide.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { type Command, runCommand } from '#domain/shared/commands/command.ts';
import type { Transaction, Transactions } from '#domain/shared/commands/transaction.ts';
import { Conflict, Forbidden, HiddenResource, ServiceError, Unavailable } from '#domain/shared/errors.ts';
import { pluginAdministration } from '../authority.ts';
import { findInstallation } from '../installations/store.ts';
import { refuseRestoration, restoreResource } from '../resources/resources.ts';
import { findResourceWithPlace } from '../resources/store.ts';
import { type RootAccess, type RootsFound, verifyRoots } from './roots-store.ts';
import { endRestoration, findRestoration, type RestorationDetails } from './store.ts';
import type { ExpectedResource, StoredRestore } from './stored-request.ts';

/**
 * The steps of a restoration, which its workflow calls one after another. Each may be repeated, and does nothing once the restoration has
 * ended. Each returns whether the next step follows.
 */

export interface RestorationDeps {
  readonly orm: Orm;
  readonly transactions: Transactions;
  readonly bindingKey: Buffer;
  readonly pluginRoots: RootAccess;
}

/** Checks the facts of the registry: the resource, its owners, and the declarations of the active release. */
export function checkRestoration({ orm }: RestorationDeps, id: string): Promise<boolean> {
  return endingIfRefused(orm, id, ({ resourceId, request }) =>
    refuseByRegistry(orm.em.fork(), resourceId, request.expected),
  );
}

/** @throws Conflict if the registry refuses to restore the resource. It does not check roots. */
export async function refuseByRegistry(em: Em, resourceId: string, expected: ExpectedResource): Promise<void> {
  const found = await findResourceWithPlace(em, resourceId);
  if (!found) throw new HiddenResource('plugin resource');
  const target = await findInstallation(em, found.resource.installationId);
  await refuseRestoration(em, { resource: found.resource, place: found, target }, expected);
}

/** Checks the roots of the resource. */
export function checkRoots({ orm, pluginRoots }: RestorationDeps, id: string): Promise<boolean> {
  return endingIfRefused(orm, id, async ({ resourceId }) => {
    const found = await findResourceWithPlace(orm.em.fork(), resourceId);
    if (!found) throw new HiddenResource('plugin resource');
    refuseRoots(await verifyRoots(pluginRoots, found.resource));
  });
}

function refuseRoots(found: RootsFound): void {
  if (found.kind === 'intact') return;
  const { schema, table } = found.root;
  const where = `the root ${schema}.${table}`;
  if (found.kind === 'missing')
    throw new Conflict(`nothing was restored: ${where} is missing: ${found.why}`, 'plugin_root_missing');
  throw new Unavailable(
    `nothing was restored: ${where} could not be verified: ${found.why}; try again with a fresh key`,
  );
}

/** Restores the resource and ends the restoration in the transaction of the command. The present authority of the caller is checked. */
export function commitRestoration({ orm, transactions, bindingKey }: RestorationDeps, id: string): Promise<boolean> {
  return endingIfRefused(orm, id, async ({ resourceId, request }) => {
    const command = toCommand(id, request);
    await runCommand(transactions, bindingKey, command, {
      find: (tx) => findResourceWithPlace(tx.em, resourceId, true),
      act: (tx, caller, target) => restoreFor(tx, caller, target, { id, request }),
      answer: ({ members }) => ({ ...request.answer, members }),
    });
  });
}

async function restoreFor(
  tx: Transaction,
  caller: Principal,
  target: Awaited<ReturnType<typeof findResourceWithPlace>>,
  { id, request }: Pick<RestorationDetails, 'id' | 'request'>,
) {
  if (!target || !isAllowed(caller, 'team.metadata.read', target)) throw new HiddenResource('plugin resource');
  if (!isAllowed(caller, pluginAdministration.teamAction, target)) throw new Forbidden();
  const { resource } = target;
  const installation = await findInstallation(tx.em, resource.installationId, 'share');
  await refuseRestoration(tx.em, { resource, place: target, target: installation }, request.expected);
  await restoreResource(tx, resource);
  // If the restoration has ended meanwhile, its request was already answered, so nothing may be restored.
  if (!(await endRestoration(tx.em, id, 'restored', null))) throw new Error('the restoration has ended meanwhile');
  const members = { eligibility_generation: resource.eligibilityGeneration + 1 };
  return { id: resource.id, revision: resource.revision + 1, after: members, members };
}

function isAllowed(
  caller: Principal,
  teamAction: NonNullable<Access['teamAction']>,
  target: Parameters<typeof decide>[2],
): boolean {
  return decide(caller, { ...pluginAdministration, teamAction }, target).allowed;
}

function toCommand(key: string, { caller, expected: _, answer: __, ...command }: StoredRestore): Command {
  return { ...command, key, caller: { ...anonymous, ...caller } };
}

/** Ends a restoration whose workflow the engine has lost. False if it has ended. */
export async function endLostRestoration({ transactions }: Pick<RestorationDeps, 'transactions'>, id: string) {
  const message = 'nothing was restored: the workflow engine has lost the restoration; try again with a fresh key';
  const problem = { kind: 'unavailable', code: 'unavailable', message } as const;
  return transactions.run((tx) => endRestoration(tx.em, id, 'refused', problem));
}

/**
 * Does a step, unless the restoration has ended. A refusal by a rule ends the restoration; other errors are thrown, and the step is tried
 * again.
 */
async function endingIfRefused(
  orm: Orm,
  id: string,
  step: (restoration: RestorationDetails) => Promise<void>,
): Promise<boolean> {
  const restoration = await findRestoration(orm.em.fork(), id);
  if (restoration?.status !== 'running') return false;
  try {
    await step(restoration);
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.details?.outcome === 'unknown') throw error;
    const { kind, code, message } = error;
    await endRestoration(orm.em.fork(), id, 'refused', { kind, code, message });
    return false;
  }
}
