import type { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { comparedIf } from '#api/pipeline/audit/unchanged.ts';
import type { TargetLookup } from '#api/pipeline/call.ts';
import { command } from '#api/pipeline/operation.ts';
import { Nothing } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import type { Access, Ownership } from '#domain/shared/access/decide.ts';
import type { Archivable, TenantLevel } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { archive, unarchive } from '#domain/shared/ownership-graph/archiving.ts';
import { deleteOwned } from '#domain/shared/ownership-graph/deletion.ts';
import { readBack, refuseStale } from '#domain/shared/revisions.ts';
import { namesShownTo } from '#domain/tenancy/use.ts';
import type { Common, CommonAnswer } from './views.ts';

type LevelTarget = Common & Archivable & Ownership;
type OperationName = 'archive' | 'unarchive' | 'delete';

/** The differences between the archiving and deletion of organizations, teams, projects and environments. */
export interface ArchivingOperations<Params, Target extends LevelTarget> {
  readonly level: TenantLevel;
  /** The path of one resource. */
  readonly path: `/${string}`;
  readonly params: z.ZodType<Params>;
  readonly view: z.ZodType<CommonAnswer>;
  readonly show: (em: Em, context: ActionContext, target: Target) => Promise<CommonAnswer>;
  readonly summaries: Readonly<Record<OperationName, string>>;
  readonly access: Readonly<Record<OperationName, Access>>;
  readonly find: (em: Em, id: string) => Promise<Target | undefined>;
  /** Finds the target that the path names. Inside a command, locks it for a change. */
  readonly findToChange: (em: Em, params: Params, lock: boolean) => Promise<Target | undefined>;
}

export function archivingOperations<Params, Target extends LevelTarget>(declared: ArchivingOperations<Params, Target>) {
  return {
    archive: archiveOperation(declared),
    unarchive: unarchiveOperation(declared),
    remove: deleteOperation(declared),
  };
}

function archiveOperation<Params, Target extends LevelTarget>(declared: ArchivingOperations<Params, Target>) {
  const { level, path, params, view, summaries, access } = declared;
  return command({
    id: `${level}s.archive`,
    route: `POST ${path}/archive`,
    summary: summaries.archive,
    params,
    responses: { 200: view },
    access: access.archive,
    target: (lookup) => findTarget(declared, lookup),
    targetName: level,
    resourceId: ({ target }) => target?.id,
    idempotency: 'none',
    ifMatch: true,
    audit: `${level}.archived`,
    handle: async ({ tx, target, expectedRevision, operations, principal }) => {
      refuseStale(target, expectedRevision);
      await archive(tx.em, level, target);
      return archivedChange(declared, { operations, principal }, tx, target);
    },
  });
}

function unarchiveOperation<Params, Target extends LevelTarget>(declared: ArchivingOperations<Params, Target>) {
  const { level, path, params, view, summaries, access } = declared;
  return command({
    id: `${level}s.unarchive`,
    route: `POST ${path}/unarchive`,
    summary: summaries.unarchive,
    params,
    responses: { 200: view },
    access: access.unarchive,
    target: (lookup) => findTarget(declared, lookup),
    targetName: level,
    resourceId: ({ target }) => target?.id,
    idempotency: 'none',
    ifMatch: true,
    audit: `${level}.unarchived`,
    handle: async ({ tx, target, expectedRevision, operations, principal }) => {
      refuseStale(target, expectedRevision);
      await unarchive(tx.em, level, target);
      return archivedChange(declared, { operations, principal }, tx, target);
    },
  });
}

function deleteOperation<Params, Target extends LevelTarget>(declared: ArchivingOperations<Params, Target>) {
  const { level, path, params, summaries, access } = declared;
  return command({
    id: `${level}s.delete`,
    route: `DELETE ${path}`,
    summary: summaries.delete,
    params,
    responses: { 204: Nothing },
    access: access.delete,
    target: (lookup) => findTarget(declared, lookup),
    targetName: level,
    resourceId: ({ target }) => target?.id,
    idempotency: 'required',
    ifMatch: true,
    audit: `${level}.deleted`,
    handle: async ({ tx, principal, target, expectedRevision }) => {
      const { id, name, slug } = target;
      refuseStale(target, expectedRevision);
      const revision = await deleteOwned(tx.em, level, { id }, namesShownTo(principal, target));
      return { id, before: { name, slug }, revision };
    },
  });
}

function findTarget<Params, Target extends LevelTarget>(
  { findToChange }: ArchivingOperations<Params, Target>,
  { em, params, lock }: TargetLookup<Params, undefined, undefined>,
) {
  return findToChange(em, params, lock);
}

/** The change that archived or unarchived the target. */
async function archivedChange<Params, Target extends LevelTarget>(
  { find, show }: ArchivingOperations<Params, Target>,
  context: ActionContext,
  { em }: Transaction,
  { id, archivedAt, revision }: Target,
) {
  const archived = await readBack(find(em, id));
  return {
    id,
    revision: archived.revision,
    answer: await show(em, context, archived),
    ...comparedIf(archived.revision !== revision, {
      before: { archivedAt },
      after: { archivedAt: archived.archivedAt },
    }),
  };
}
