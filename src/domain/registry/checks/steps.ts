import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import type { VersionedTool } from '#domain/tools/model.ts';
import type { Egress } from '#domain/workers/pools/egress.ts';
import { readEgress } from '#domain/workers/pools/store.ts';
import { Template, TemplateVersion } from '../entity.ts';
import { maxEventMessage } from '../events.ts';
import { isKeepable } from '../kept-modules/model.ts';
import { TemplateSpec } from '../spec.ts';
import { findTemplateToChange, type TemplateTarget } from '../store.ts';
import { TemplateCheck } from './entity.ts';
import {
  abandonedAfterSeconds,
  type CheckStep,
  checkGraceSeconds,
  checkLimitSeconds,
  checkQueue,
  givenUpAfterDays,
  maxTries,
  maxUnderWay,
  pauseSeconds,
  type SandboxCheck,
  type VersionCheck,
} from './model.ts';
import { type CheckedModules, keepCheckedModules, type ToolModules } from './modules.ts';
import { countChecks, isPointless, lockCheck, lockCounting } from './store.ts';
import { findNoWorker, readKinds, readUsable } from './tools.ts';

/** The steps of a check, which its workflow requests one after another. Each may be repeated. */

const soon: CheckStep = { kind: 'wait', seconds: 1 };
const end: CheckStep = { kind: 'end' };
/** The timeout covers both tools, one after the other, and some overhead. */
const timeoutSeconds = 3 * (checkLimitSeconds + checkGraceSeconds);
const startWithinSeconds = 60;

/** Decides what the workflow of a check does next. */
export async function takeNextCheckStep(tx: Transaction, id: string): Promise<CheckStep> {
  await lockCounting(tx.em);
  if (await isGivenUp(tx, id)) return soon;
  const check = await lockCheck(tx.em, id);
  if (!check) return end;
  const age = secondsSince(check.createdAt);
  const isAbandoned = !check.versionId && age > abandonedAfterSeconds;
  if (isAbandoned || (await isPointless(tx.em, check))) {
    await tx.em.remove(check).flush();
    return end;
  }
  // Waits until the result counts as abandoned, in case its request never takes it.
  if (check.endedAt) return { kind: 'wait', seconds: Math.ceil(abandonedAfterSeconds - age) + 1 };
  const why = await findNoWorkerFor(tx.em, check);
  // Nobody waits for the check of a published version, and there may be thousands of such checks, so these look for a worker less often.
  const later: CheckStep = check.versionId ? { kind: 'wait', seconds: pauseSeconds(age) } : soon;
  if (why !== null) return later;
  const rest = check.startedAt ? 30 * check.tries - secondsSince(check.startedAt) : 0;
  if (rest > 0) return { kind: 'wait', seconds: Math.ceil(rest) };
  if (await isOverLimit(tx.em, check)) return later;
  check.startedAt = new Date();
  check.tries += 1;
  await tx.em.flush();
  return { kind: 'execute', taskQueue: checkQueue(check.pool), timeoutSeconds, startWithinSeconds };
}

/** Ends a check that was tried too often, or waits for too long. */
export async function isGivenUp(tx: Transaction, id: string): Promise<boolean> {
  // The row is not locked here, because `endCheck` locks the template first.
  const check = await tx.em.findOne(TemplateCheck, { id, endedAt: null });
  if (!check || (check.tries < maxTries && secondsSince(check.createdAt) <= givenUpAfterDays * 24 * 3600)) return false;
  const why = (await findNoWorkerFor(tx.em, check)) ?? 'no worker could finish the check';
  await endCheck(tx, id, check.result ?? notDone(why));
  return true;
}

async function findNoWorkerFor(em: Em, { templateId, pool, demand = null }: TemplateCheck): Promise<string | null> {
  const { teamId = null } = await em.findOneOrFail(Template, { id: templateId });
  return findNoWorker(em, { pool, demand, teamId });
}

async function isOverLimit(em: Em, { id, holders }: TemplateCheck): Promise<boolean> {
  for (const holder of holders) {
    const { underWay } = await countChecks(em, holder, id);
    if (underWay >= (holder.startsWith('caller ') ? maxUnderWay.caller : maxUnderWay.owner)) return true;
  }
  return false;
}

/** Everything that a worker needs for a check. */
export interface CheckWork {
  readonly id: string;
  readonly templateId: string;
  readonly pool: string;
  readonly spec: TemplateSpec;
  readonly files: TemplateFiles;
  readonly egress: Egress;
  readonly isUsable: (tool: VersionedTool) => boolean;
  /** The kinds of tools that may run the version and that the workers of the pool have. */
  readonly kinds: readonly string[];
}

/** Reads the work of a check; null if it has ended, or if nobody needs it any longer. */
export async function loadCheckWork(em: Em, id: string): Promise<CheckWork | null> {
  const check = await em.findOne(TemplateCheck, { id }, { populate: ['content'] });
  if (!check || check.endedAt) return null;
  const content = check.content ?? (await readVersionContent(em, check.versionId ?? null));
  if (!content) return null;
  const isUsable = await readUsable(em, check.demand ?? null);
  return {
    id,
    templateId: check.templateId,
    pool: check.pool,
    spec: TemplateSpec.parse(content.spec),
    files: content.files,
    egress: await readEgress(em, check.pool),
    isUsable,
    kinds: await readKinds(em, check.pool, isUsable),
  };
}

async function readVersionContent(em: Em, id: string | null) {
  return id === null ? null : em.findOne(TemplateVersion, { id }, { populate: ['files'] });
}

/**
 * Stores the findings of a worker, for the waiting request or in the version. A second result of the same check changes nothing.
 * @param resolved the external modules, as resolved by the tool of the result and by another tool that may run the version
 */
export async function endCheck(
  tx: Pick<Transaction, 'em' | 'publish'>,
  id: string,
  result: SandboxCheck,
  resolved: readonly ToolModules[] = [],
): Promise<void> {
  const { em } = tx;
  const known = await em.findOne(TemplateCheck, { id });
  // The template is locked before the check, in the same order as in publication.
  const target = known && (await findTemplateToChange(em, known.templateId, true));
  const check = await lockCheck(em, id);
  if (!check || check.endedAt) return;
  if (check.versionId) {
    const version = await readForChange(em, TemplateVersion, { id: check.versionId });
    version.check = joinChecks(version.check?.warnings ?? [], result);
    await em.remove(check).flush();
    const { environmentId = null, startedAt, createdAt } = check;
    const modules = { resolved, environmentId, startedAt: startedAt ?? createdAt };
    if (target) await tellVersion(tx, target, version, { result, ...modules });
    return;
  }
  check.result = result;
  check.endedAt = new Date();
  for (const { tool, modules } of resolved.filter((each) => isKeepable(each.modules))) {
    const { content, ...listed } = modules;
    if (tool === result.tool?.name) Object.assign(check, { modules: listed, modulesContent: content });
    else Object.assign(check, { otherModules: { tool, ...listed }, otherModulesContent: content });
  }
  await em.flush();
}

/** Records why a worker could not complete a check. Another worker may; if none can, this becomes the result. */
export async function noteFailedTry(em: Em, id: string, why: string): Promise<void> {
  const check = await lockCheck(em, id);
  if (!check || check.endedAt) return;
  check.result = notDone(why);
  await em.flush();
}

/** Stores a late result in a version that is already published: keeps its modules, and publishes an event with the errors. */
async function tellVersion(
  { em, publish }: Pick<Transaction, 'em' | 'publish'>,
  { organizationId, teamId, template }: TemplateTarget,
  { id, version }: TemplateVersion,
  { result, ...modules }: CheckedModules & { readonly result: SandboxCheck },
): Promise<void> {
  await keepCheckedModules(em, { id, teamId }, modules);
  const [first] = result.errors;
  if (result.state !== 'failed' || first === undefined) return;
  const { path, file = null, line = null, message } = first;
  publish({
    type: 'template.check_failed',
    subjectId: template.id,
    owners: { organizationId, teamId },
    data: {
      version,
      error_count: result.errors.length,
      first_error: { path, file, line, message: message.slice(0, maxEventMessage) },
    },
  });
}

/** Combines a worker's result with the warnings that were found without a worker. */
export function joinChecks(warnings: VersionCheck['warnings'], result: SandboxCheck): VersionCheck {
  const { state, tool, errors, notChecked } = result;
  return {
    state,
    at: new Date().toISOString(),
    tool,
    errors,
    warnings: [...warnings, ...result.warnings],
    notChecked,
  };
}

export function notDone(why: string): SandboxCheck {
  return { state: 'not_done', tool: null, errors: [], warnings: [], notChecked: [why] };
}

function secondsSince(time: Date): number {
  return (Date.now() - time.getTime()) / 1000;
}
