import { setTimeout as sleep } from 'node:timers/promises';
import type { Em, Orm } from '#database/database.ts';
import { storedAuthorityOf } from '#domain/identity/stored-authority.ts';
import { readSettings } from '#domain/settings/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction, Transactions } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import { holdersOf } from '#domain/shared/tasks/limit-subject.ts';
import { defaultPool } from '#domain/shared/vocabulary/pools.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import { isEmptyDemand, type ToolDemand } from '#domain/tools/demand.ts';
import type { TemplateSpec } from '../spec.ts';
import type { TemplateTarget } from '../store.ts';
import { demandOf, filesToolsOf } from '../tools/usable-tools.ts';
import { TemplateCheck } from './entity.ts';
import { maxWaiting, requestWaitMs, type SandboxCheck, templateCheckWorkflow, type VersionCheck } from './model.ts';
import { type CheckedModules, keepCheckedModules } from './modules.ts';
import { joinChecks, notDone } from './steps.ts';
import { countChecks, type EndedCheck, forgetCheck, lockCheck, lockCounting, readCheckResult } from './store.ts';
import { findNoWorker } from './tools.ts';

export interface CheckDeps {
  readonly orm: Orm;
  readonly transactions: Transactions;
}

export interface CheckRequest {
  readonly target: TemplateTarget;
  readonly principal: Principal;
  readonly spec: TemplateSpec;
  readonly files: TemplateFiles;
  /** The environment whose connections open private modules; null: none. The caller has the authority of `checkPlaceAccess` there. */
  readonly environmentId: string | null;
}

/** The outcome of a request to a worker. */
export interface RequestedCheck {
  readonly result: SandboxCheck;
  /** The modules that the version must use from now on; null if they are not known. */
  readonly modules: CheckedModules | null;
  /** The data for a later check, if the version is published without a result; null: there is a result, or there cannot be one. */
  readonly later: LaterCheck | null;
}

interface LaterCheck extends Pick<NewCheck, 'pool' | 'demand' | 'environmentId'> {
  readonly id: string | null;
}

/**
 * Requests a check of a spec with its files from a worker in a sandbox, and waits at most 30 seconds for the result. It does not wait if
 * there is no worker. Afterwards the caller must either take over the check by `attachCheck` or give it up by `dropCheck`.
 */
export async function requestCheck(
  { orm, transactions }: CheckDeps,
  request: CheckRequest,
  withinMs = requestWaitMs,
): Promise<RequestedCheck> {
  const { target, principal, spec, files, environmentId } = request;
  const demand = demandOf(spec, filesToolsOf(spec, files));
  if (demand !== null && isEmptyDemand(demand)) return { result: notDone(demand.conflict), modules: null, later: null };
  const pool = spec.pool ?? (await readSettings(orm.em.fork())).document.default_pool ?? defaultPool;
  const later = { id: null, pool, demand, environmentId };
  const why = await findNoWorker(orm.em.fork(), { pool, demand, teamId: target.teamId });
  if (why !== null) return { result: notDone(why), modules: null, later };
  const id = await transactions.run(async (tx) => {
    await lockCounting(tx.em);
    if (!(await mayWait(tx.em, request))) return null;
    const content = { spec, files };
    return insertCheck(tx, { pool, demand, environmentId, target, principal, versionId: null, content });
  });
  if (id === null) return { result: notDone(tooManyWait), modules: null, later };
  const ended = await awaitResult(orm, id, withinMs);
  if (ended === 'late')
    return {
      result: notDone(`no worker checked it within ${withinMs / 1000} seconds`),
      modules: null,
      later: { ...later, id },
    };
  if (ended === null) return { result: notDone('its check was given up'), modules: null, later };
  await dropCheck(orm.em.fork(), id);
  return { ...ended, later: null };
}

const tooManyWait = `${maxWaiting} of your checks are under way already`;

async function mayWait(em: Em, { target, principal }: CheckRequest): Promise<boolean> {
  const [caller = ''] = holdersOf(principal, target);
  return (await countChecks(em, caller)).waiting < maxWaiting;
}

/** The result; `late` if it did not arrive in time, null if the check no longer exists. */
async function awaitResult(orm: Orm, id: string, withinMs: number): Promise<EndedCheck | 'late' | null> {
  const deadline = Date.now() + withinMs;
  for (let pauseMs = 50; Date.now() < deadline; pauseMs = Math.min(pauseMs * 1.5, 500)) {
    await sleep(pauseMs);
    const ended = await readCheckResult(orm.em.fork(), id);
    if (ended !== undefined) return ended;
  }
  return 'late';
}

/** Gives up a check that no version has taken over. The result of its worker is then discarded. */
export function dropCheck(em: Em, id: string): Promise<void> {
  return forgetCheck(em, id);
}

/**
 * Takes the result of a check for a version that is being published. Without a result, the check continues for the version, or a new one
 * begins with the commit.
 * @param warnings the findings without a worker
 */
export async function attachCheck(
  tx: Transaction,
  version: { readonly id: string; readonly warnings: VersionCheck['warnings'] },
  { result, modules, later }: RequestedCheck,
  { target, principal }: Pick<CheckRequest, 'target' | 'principal'>,
): Promise<VersionCheck> {
  const check = later?.id ? await lockCheck(tx.em, later.id) : null;
  const ended = check?.endedAt ? await readCheckResult(tx.em, check.id) : { result, modules };
  if (ended?.modules) await keepCheckedModules(tx.em, { id: version.id, teamId: target.teamId }, ended.modules);
  if (check?.endedAt && ended) {
    await tx.em.remove(check).flush();
    return joinChecks(version.warnings, ended.result);
  }
  if (check) {
    check.versionId = version.id;
    check.content = null;
    await tx.em.flush();
  } else if (later) {
    const { id: _, ...wanted } = later;
    await insertCheck(tx, { ...wanted, target, principal, versionId: version.id, content: null });
  }
  return joinChecks(version.warnings, result);
}

interface NewCheck extends Pick<CheckRequest, 'target' | 'principal'> {
  readonly pool: string;
  readonly demand: ToolDemand | null;
  readonly environmentId: string | null;
  readonly versionId: string | null;
  readonly content: Pick<CheckRequest, 'spec' | 'files'> | null;
}

async function insertCheck(tx: Transaction, { target, principal, ...row }: NewCheck): Promise<string> {
  const id = newId();
  const holders = [...holdersOf(principal, target)];
  const { authorityId: requestedBy, credentialId = null, responsibleUserId = null } = storedAuthorityOf(principal);
  const authority = { requestedBy, credentialId, responsibleUserId };
  tx.em.persist(tx.em.create(TemplateCheck, { id, templateId: target.template.id, holders, ...authority, ...row }));
  await tx.em.flush();
  tx.notifyEngine(id, { kind: 'start', workflow: templateCheckWorkflow, input: { check_id: id } });
  return id;
}
